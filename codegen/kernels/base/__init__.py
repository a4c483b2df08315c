"""Parts that kernels of every instruction set share: registry, windows, walks, overlap, code sizes.

In: a call and a target. Out: the parts from which a family binds its PrimFunc.
Start with `registry`, then `c_kernel`, the base of kernels that are C functions.
"""
