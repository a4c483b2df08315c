"""Operators of ONNX alone: integers that round by a float32 scale, halves to even; numbers without scales.

No `.tflite` file has them, so `OPS` does not list them.
"""

from codegen.ir.ops.qlinear import elements, plain, resizing
from codegen.ir.ops.qlinear.plain import ConvertAttrs, PlainAttrs
from codegen.ir.ops.qlinear.resizing import QLinearResizeAttrs

OPERATORS = (*elements.OPERATORS, *plain.OPERATORS, *resizing.OPERATORS)
"""All of this family."""

__all__ = ["OPERATORS", "ConvertAttrs", "PlainAttrs", "QLinearResizeAttrs"]
