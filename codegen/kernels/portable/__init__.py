"""Kernels in plain C, for every core: each operator has one here, and user kernels are bound here too.

In: a call. Out: its PrimFunc. Start with `elementwise`; runtime_c/kernels/portable has the C.
"""
