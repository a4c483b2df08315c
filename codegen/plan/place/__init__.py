"""Where every buffer lies: planners, lower bounds, and what to say when nothing fits.

In: a `Problem`. Out: a `MemoryPlan`, proved optimal where it meets the bound.
Start with `planners`, the table of them; `exact` holds the planner behind `--planner optimal`.
"""
