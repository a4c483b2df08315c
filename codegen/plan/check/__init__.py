"""The independent checkers, run on every plan: they share no code with any planner.

In: a problem or a program with its plan. Out: a list of what is wrong, empty for every plan that leaves.
`validate` checks placements, `replay` owners of bytes, `memories` scopes and devices.
"""
