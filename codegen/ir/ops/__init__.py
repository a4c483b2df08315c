"""Operators: `OPS` maps a name to its declaration. Attribute sets are plain values beside it."""

from collections.abc import Mapping
from types import MappingProxyType

from codegen.ir.operator import Activation, Attrs, Op, Padding2D
from codegen.ir.ops.base.attrs import (
    BinaryAttrs,
    ConcatAttrs,
    ConvAttrs,
    DepthwiseConvAttrs,
    FullyConnectedAttrs,
    LeakyReluAttrs,
    MeanAttrs,
    PadAttrs,
    PoolAttrs,
    ReshapeAttrs,
    SoftmaxAttrs,
    StridedSliceAttrs,
    TransposeAttrs,
)
from codegen.ir.ops.convolution import Conv2D, DepthwiseConv2D, FullyConnected
from codegen.ir.ops.device_copy import DEVICE_COPY
from codegen.ir.ops.elementwise import Add, Mul, Sub
from codegen.ir.ops.layout import Concatenation, Pad, Reshape, StridedSlice, Transpose
from codegen.ir.ops.nonlinear import Dequantize, LeakyRelu, Logistic, Quantize, Relu, Relu6, Softmax, Tanh
from codegen.ir.ops.pooling import AveragePool2D, MaxPool2D, Mean
from codegen.ir.ops.user import User, UserAttrs, UserKernel

_ALL: tuple[Op, ...] = (
    Conv2D(),
    DepthwiseConv2D(),
    FullyConnected(),
    AveragePool2D(),
    MaxPool2D(),
    Mean(),
    Add(),
    Sub(),
    Mul(),
    Concatenation(),
    Pad(),
    Reshape(),
    Transpose(),
    StridedSlice(),
    Softmax(),
    Logistic(),
    Tanh(),
    Relu(),
    Relu6(),
    LeakyRelu(),
    Quantize(),
    Dequantize(),
)

OPS: Mapping[str, Op] = MappingProxyType({op.name: op for op in _ALL})
"""Operators of files, all with a reference."""

USER = User()
"""Not one of them: what it computes is known to a function of the user's alone."""


def find_op(name: str) -> Op | None:
    """The operator `name` of the IR's text form: one of `OPS`, USER or DEVICE_COPY."""
    return next((op for op in (USER, DEVICE_COPY) if op.name == name), OPS.get(name))


__all__ = [
    "DEVICE_COPY",
    "OPS",
    "USER",
    "Activation",
    "Attrs",
    "BinaryAttrs",
    "ConcatAttrs",
    "ConvAttrs",
    "DepthwiseConvAttrs",
    "FullyConnectedAttrs",
    "LeakyReluAttrs",
    "MeanAttrs",
    "Op",
    "PadAttrs",
    "Padding2D",
    "PoolAttrs",
    "ReshapeAttrs",
    "SoftmaxAttrs",
    "StridedSliceAttrs",
    "TransposeAttrs",
    "UserAttrs",
    "UserKernel",
    "find_op",
]
