"""The test link: what host and target say to each other over a serial line, and what may go wrong.

In: a port. Out: inputs written, runs measured, faults in words. Start with `linked_board`.
"""
