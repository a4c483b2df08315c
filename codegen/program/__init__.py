"""The values that stages hand on: the planning problem, the planned program, the linked image, a run of it.

In: nothing but what `ir` and `kernels` define. Out: frozen values that `plan`, `search`, `emit`, `toolchain`
and
`board` read. Start with `problem` (buffers, pools, placements), then `program`.
"""
