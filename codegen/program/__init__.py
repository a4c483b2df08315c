"""The values that stages hand on: the planned program, the linked image, a run of it.

In: nothing but what `ir`, `kernels` and `problem` define. Out: frozen values that `search`, `emit`,
`toolchain` and `board` read. Start with `program`.
"""
