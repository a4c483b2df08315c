"""Contents of <model>.h and <model>.c: the interface, one commented call a step, blocks, parameter structs.

In: a program. Out: the fields of the templates. Start with `header`, then `entry`.
"""
