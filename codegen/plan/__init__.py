"""Memory planning: liveness, the problem, planners, independent checkers, linked constants.

In: a function with its PrimFuncs, or a bare `Problem`. Out: a checked `MemoryPlan` and linked constants.
Rooms, lowest first: check, place, order, live, constants, models, draw.
"""
