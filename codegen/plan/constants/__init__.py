"""Linked constants: merged, spread over constant pools, laid out, staged in faster memory, coded.

In: constants of PrimFuncs, constant pools. Out: offsets in every constant pool. Start with `linking`.
"""
