"""Steps that run together row by row: which runs of steps, in how many stripes.

In: a function and its PrimFuncs. Out: segments, and the function rewritten to them. Start with `tiling`.
"""
