"""What <model>.c says: one commented call a step, blocks, parameter structs, the second core.

In: a program. Out: the fields of the source's template. Start with `entry`.
"""
