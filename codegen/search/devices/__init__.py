"""Which memory each value lies in and which device runs each call; copies where scopes meet.

In: a function, its PrimFuncs, a board. Out: the function with devices on every value. Start with
`device_plan`.
"""
