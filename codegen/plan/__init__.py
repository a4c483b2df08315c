"""Memory planning: where every buffer lies, and in which order steps run.

In: a `Problem`, or an `OrderGraph` of steps and bytes. Out: a `MemoryPlan` that `validate` finds no fault
with, or an order. No network, kernel or program is known here. Start with `place.planners`.
"""
