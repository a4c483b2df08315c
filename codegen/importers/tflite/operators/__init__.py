"""Operators of the file, each translated to one of ours: a module a family.

In: a `Site`, one operator with its operands. Out: `Translated`, or a reason. Start with `translators`, the
table.
"""
