"""Which kernel runs each step, and how far its result may reach into its argument.

In: a function and a target. Out: PrimFuncs. Start with `selection`; `binding` binds each call once.
"""
