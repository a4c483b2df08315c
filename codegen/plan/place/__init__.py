"""Placement of every buffer: planners, lower bounds, and messages when nothing fits.

In: a `Problem`. Out: a `MemoryPlan`, proved optimal where it meets the bound. Start with `planners`, the
table of them; `exact` holds the planner behind `--planner optimal`.
"""
