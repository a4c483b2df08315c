"""Linked constants: pieces, then the choice of how they are stored and read, then the layout of every pool.

In: a planned program and its constant pools. Out: the program with its constants linked, some of them
compressed or copied to faster memory. Start with `compressing`, then `copying`.
"""
