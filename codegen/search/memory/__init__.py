"""Attempts at a plan and the choice between them: by peak, by work, under the user's limits.

In: a function with kernels to choose from. Out: the attempt that `--optimize` asks for. Start with `attempt`.
"""
