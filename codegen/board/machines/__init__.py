"""Machines that run an image: QEMU, this machine, and the ports to reach them.

In: an image. Out: a port or a result. Start with `qemu`.
"""
