"""Sizes as ranges: one program for all of them.

In: a program at the largest sizes, and the module at any. Out: the program with formulas in place of every
number that depends on the sizes. Start with `ranged`.
"""
