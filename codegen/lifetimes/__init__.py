"""When bytes are in use: from a function and its kernels to the problem of planning them.

In: a function, its PrimFuncs. Out: a `Problem`. Start with `liveness`; `ties` says which variables share
bytes, `occupancy` which bytes of a buffer a value holds. `replay` and `memories` check a plan against the
same steps, by code of their own.
"""
