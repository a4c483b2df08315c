"""The problem that planning solves: buffers, the pairs that conflict, pools; and what to say if nothing fits.

In: nothing, no stage is known here. Out: `Problem`, `MemoryPlan`, `DoesNotFit`. Start with `problem`.
"""
