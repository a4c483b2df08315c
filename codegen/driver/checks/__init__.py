"""Checks between the stages: the interface, the linked image, code beside constants, the lock.

In: a program or an image. Out: messages, or nothing. Start with `image_checks`.
"""
