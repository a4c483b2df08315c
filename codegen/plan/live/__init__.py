"""When bytes are in use: from a function and its kernels to buffers on one time axis.

In: a function, its PrimFuncs. Out: a `Problem`. Start with `liveness`; `ties` says which variables share
bytes,
`occupancy` which bytes of a buffer a value holds.
"""
