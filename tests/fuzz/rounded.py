"""Layers that are rounded as ONNX does, made of drawn ones: the same numbers, one float32 scale a channel.

NumPy's result of these operators is compared with onnxruntime's by tests/importers/onnx/test_integer.py.
"""

from dataclasses import fields, replace

import numpy as np

from codegen.ir import ConstRef, DType
from codegen.ir.ops import find_op
from codegen.ir.ops.base.operands import operand
from codegen.ir.ops.qlinear import QLinearConvAttrs, QLinearDepthwiseAttrs, QLinearRowsAttrs
from tests.kernels.layers import Layer, symmetric

ROUNDED = {
    "QLINEAR_CONV_2D": "CONV_2D",
    "QLINEAR_DEPTHWISE_CONV_2D": "DEPTHWISE_CONV_2D",
    "QLINEAR_FULLY_CONNECTED": "FULLY_CONNECTED",
}
"""The operators, and those whose layers are drawn for them."""
_ATTRS = {
    "QLINEAR_CONV_2D": QLinearConvAttrs,
    "QLINEAR_DEPTHWISE_CONV_2D": QLinearDepthwiseAttrs,
    "QLINEAR_FULLY_CONNECTED": QLinearRowsAttrs,
}


def rounded(op: str, found: Layer, seed: int) -> Layer:
    """`found` as a layer of `op`. One in four has scales that are powers of two: their halves go to even."""
    call, result = found.let.call, found.let.var.type
    weights = call.args[1]
    assert isinstance(weights, ConstRef) and weights.type.quantization is not None
    numbers = np.broadcast_to(weights.type.quantization.scales, result.shape[-1]).astype(np.float32)
    scales = np.float32(operand(call.types, 0, "image").scale) * numbers / np.float32(result.scale)
    if seed % 4 == 3:
        scales = np.exp2(np.round(np.log2(scales))).astype(np.float32)
    declared, kind = find_op(op), _ATTRS[op]
    assert declared is not None
    shared = {field.name: getattr(call.attrs, field.name) for field in fields(call.attrs)}
    attrs = kind(**shared, scales=tuple(scales.tolist()))
    args = (call.args[0], replace(weights, type=replace(weights.type, dtype=DType.INT8)), *call.args[2:])
    let = replace(found.let, call=replace(call, args=args))
    plain = symmetric(replace(found, let=let)).let
    let = replace(plain, call=replace(plain.call, op=declared, attrs=attrs))
    declared.check(attrs, let.call.types, let.var.type)
    return replace(found, let=let)
