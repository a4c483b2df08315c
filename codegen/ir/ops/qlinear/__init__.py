"""Operators of ONNX alone: integers that round by a float32 scale, halves to even; numbers without scales.

No `.tflite` file has them, so `OPS` does not list them. The rule of those with scales is onnxruntime's:
clip(rint(float32(sum) * scale) + zero point), in float32 and in that order.
"""

from codegen.ir.ops.qlinear import elements, plain, resizing, weighted
from codegen.ir.ops.qlinear.plain import ConvertAttrs, PlainAttrs
from codegen.ir.ops.qlinear.resizing import QLinearResizeAttrs
from codegen.ir.ops.qlinear.weighted import QLinearConvAttrs, QLinearDepthwiseAttrs, QLinearRowsAttrs

OPERATORS = (*weighted.OPERATORS, *elements.OPERATORS, *plain.OPERATORS, *resizing.OPERATORS)
"""All of this family."""

__all__ = [
    "OPERATORS",
    "ConvertAttrs",
    "PlainAttrs",
    "QLinearConvAttrs",
    "QLinearDepthwiseAttrs",
    "QLinearResizeAttrs",
    "QLinearRowsAttrs",
]
