"""Operators: `OPS` maps a name to its declaration. Attribute sets are plain values beside it."""

from collections.abc import Mapping
from types import MappingProxyType

from codegen.ir.operator import Activation, Attrs, Op, Padding2D
from codegen.ir.ops import (
    convolution,
    elementwise,
    functions,
    layout,
    nonlinear,
    pairwise,
    pooling,
    reducing,
    signal,
)
from codegen.ir.ops.base.attrs import (
    ArgAttrs,
    BatchMatMulAttrs,
    BinaryAttrs,
    BroadcastToAttrs,
    ConcatAttrs,
    ConvAttrs,
    DepthwiseConvAttrs,
    FullyConnectedAttrs,
    GatherAttrs,
    LeakyReluAttrs,
    LstmAttrs,
    MeanAttrs,
    PadAttrs,
    PoolAttrs,
    ReshapeAttrs,
    ResizeAttrs,
    SoftmaxAttrs,
    StridedSliceAttrs,
    TransposeAttrs,
    WindowAttrs,
)
from codegen.ir.ops.inserted import DEVICE_COPY, SHIFT
from codegen.ir.ops.nonlinear import Pointwise
from codegen.ir.ops.recurrent import LSTM
from codegen.ir.ops.user import User, UserAttrs, UserKernel

_FAMILIES = (convolution, pooling, elementwise, pairwise, layout, nonlinear, functions, reducing, signal)

OPS: Mapping[str, Op] = MappingProxyType({op.name: op for family in _FAMILIES for op in family.OPERATORS})
"""Operators of files, all with a reference."""

POINTWISE: tuple[Pointwise, ...] = tuple(op for op in OPS.values() if isinstance(op, Pointwise))
"""Those whose result has element i from element i of their only argument."""

USER = User()
"""Not one of them: what it computes is known to a function of the user's alone."""


def find_op(name: str) -> Op | None:
    """The operator `name` of the IR's text form: one of `OPS`, or one that has state or no reference."""
    return next((op for op in (USER, SHIFT, LSTM, DEVICE_COPY) if op.name == name), OPS.get(name))


__all__ = [
    "DEVICE_COPY",
    "LSTM",
    "OPS",
    "POINTWISE",
    "SHIFT",
    "USER",
    "Activation",
    "ArgAttrs",
    "Attrs",
    "BatchMatMulAttrs",
    "BinaryAttrs",
    "BroadcastToAttrs",
    "ConcatAttrs",
    "ConvAttrs",
    "DepthwiseConvAttrs",
    "FullyConnectedAttrs",
    "GatherAttrs",
    "LeakyReluAttrs",
    "LstmAttrs",
    "MeanAttrs",
    "Op",
    "PadAttrs",
    "Padding2D",
    "Pointwise",
    "PoolAttrs",
    "ReshapeAttrs",
    "ResizeAttrs",
    "SoftmaxAttrs",
    "StridedSliceAttrs",
    "TransposeAttrs",
    "UserAttrs",
    "UserKernel",
    "WindowAttrs",
    "find_op",
]
