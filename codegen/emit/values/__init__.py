"""Places of values and constants in C: pools, struct members, staged copies, state, the model's inputs.

In: a program. Out: C expressions, and what templates say of pools and tensors. Start with `locations`.
"""
