"""Which steps run, and when: their order, what is computed twice, what is alive at each.

In: a function. Out: the same steps in another order, some of them twice. Start with `schedule`.
"""
