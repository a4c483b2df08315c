"""Several models in one firmware: one set of pools, constants linked once.

In: programs. Out: a `Bundle` and where each model's bytes begin. Start with `joint`.
"""
