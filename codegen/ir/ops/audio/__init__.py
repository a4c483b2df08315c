"""Operators of TFLM's audio front end behind the window: spectrum, filter bank, gain, logarithm.

In: `codegen.ir.operator`, `codegen.ir.ops.base`. Out: `OPERATORS` of each module. Start with `spectrum`.
"""
