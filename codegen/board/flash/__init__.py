"""Programs that write a board's flash and reset it: one table, command lines, calls with limits.

In: a board and firmware.elf. Out: exact command lines, run or only shown. Start with `tools`.
"""
