"""Operators of TFLM's audio front end: window, spectrum, filter bank, gain, logarithm, overlapping sums.

In: `codegen.ir.operator`, `codegen.ir.ops.base`. Out: `OPERATORS`, and `PARTS` of them. Start with `frames`.
"""

from codegen.ir.ops.audio.frames import OPERATORS, PARTS

__all__ = ["OPERATORS", "PARTS"]
