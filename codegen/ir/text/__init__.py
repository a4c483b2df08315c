"""The text form of a module: what `--dump-ir` writes and tests read.

In: a module. Out: its text, which reads back to an equal module. Start with `printer`; `parser` is its
inverse.
"""
