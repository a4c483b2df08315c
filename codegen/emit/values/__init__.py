"""Where values and constants lie in C: pools, struct members, staged copies, state, the model's inputs.

In: a program. Out: C expressions and declarations. Start with `locations`.
"""
