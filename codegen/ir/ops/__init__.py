"""Operators: `OPS` maps a name to its declaration. Attribute sets are plain values beside it."""

from collections.abc import Mapping
from types import MappingProxyType

from codegen.ir.operator import Attrs, Op, Padding2D
from codegen.ir.ops import (
    audio,
    conversions,
    convolution,
    detection,
    elementwise,
    gathering,
    layout,
    lookup,
    nonlinear,
    normalizing,
    pairwise,
    plain,
    pooling,
    reducing,
    resizing,
    scalar_functions,
)
from codegen.ir.ops.base.activation import ActivatedAttrs, Activation
from codegen.ir.ops.base.attrs import (
    ArgAttrs,
    BatchMatMulAttrs,
    BinaryAttrs,
    BroadcastToAttrs,
    ConcatAttrs,
    ConvAttrs,
    CumsumAttrs,
    DepthwiseConvAttrs,
    DetectionAttrs,
    EnergyAttrs,
    FftAttrs,
    FilterBankAttrs,
    FullyConnectedAttrs,
    GatedAttrs,
    GatherAttrs,
    GeluAttrs,
    LayerNormAttrs,
    LeakyReluAttrs,
    LogAttrs,
    LstmAttrs,
    MeanAttrs,
    NoiseAttrs,
    OverlapAttrs,
    PadAttrs,
    PaddedAttrs,
    PoolAttrs,
    ReshapeAttrs,
    ResizeAttrs,
    ShiftAttrs,
    SoftmaxAttrs,
    StridedSliceAttrs,
    TransposeAttrs,
)
from codegen.ir.ops.base.rounding import (
    ONNX,
    TFLITE,
    HalvesUp,
    HybridRounding,
    OnnxRounding,
    RoundedAttrs,
    Rounding,
    TfliteRounding,
    rounding_of,
)
from codegen.ir.ops.gated import GATED
from codegen.ir.ops.inserted import DEVICE_COPY, LOOP, SHIFT, LoopAttrs
from codegen.ir.ops.nonlinear import Pointwise
from codegen.ir.ops.npu_layers import OPERATORS as NPU
from codegen.ir.ops.plain import ConvertAttrs, PlainAttrs, PlainConvert
from codegen.ir.ops.recurrent import LSTM, SVDF_STEPS
from codegen.ir.ops.resizing import TableResizeAttrs
from codegen.ir.ops.user import User, UserAttrs, UserKernel

_FAMILIES = (
    convolution,
    pooling,
    elementwise,
    pairwise,
    layout,
    gathering,
    nonlinear,
    conversions,
    scalar_functions,
    reducing,
    audio,
    detection,
)

OPS: Mapping[str, Op] = MappingProxyType({op.name: op for family in _FAMILIES for op in family.OPERATORS})
"""Operators of files, all with a reference."""

POINTWISE: tuple[Pointwise, ...] = tuple(op for op in OPS.values() if isinstance(op, Pointwise))
"""Operators whose result has element i from element i of their only argument."""
ELEMENT_BY_ELEMENT = (Pointwise, PlainConvert)
"""Classes of operators of which that is true."""

USER = User()
"""Not one of them: what it computes is known to a function of the user's alone."""


_OF_ONNX = (*lookup.OPERATORS, *normalizing.OPERATORS, *plain.OPERATORS, *resizing.OPERATORS)
_UNLISTED = (USER, SHIFT, LSTM, *GATED, *SVDF_STEPS, DEVICE_COPY, LOOP, *_OF_ONNX, *audio.PARTS, *NPU)


def find_op(name: str) -> Op | None:
    """The operator `name` of the IR's text form: one of `OPS`, or one that has state or no reference."""
    return OPS.get(name) or next((op for op in _UNLISTED if op.name == name), None)


__all__ = [
    "DEVICE_COPY",
    "ELEMENT_BY_ELEMENT",
    "LOOP",
    "LSTM",
    "ONNX",
    "OPS",
    "POINTWISE",
    "SHIFT",
    "TFLITE",
    "USER",
    "ActivatedAttrs",
    "Activation",
    "ArgAttrs",
    "Attrs",
    "BatchMatMulAttrs",
    "BinaryAttrs",
    "BroadcastToAttrs",
    "ConcatAttrs",
    "ConvAttrs",
    "ConvertAttrs",
    "CumsumAttrs",
    "DepthwiseConvAttrs",
    "DetectionAttrs",
    "EnergyAttrs",
    "FftAttrs",
    "FilterBankAttrs",
    "FullyConnectedAttrs",
    "GatedAttrs",
    "GatherAttrs",
    "GeluAttrs",
    "HalvesUp",
    "HybridRounding",
    "LayerNormAttrs",
    "LeakyReluAttrs",
    "LogAttrs",
    "LoopAttrs",
    "LstmAttrs",
    "MeanAttrs",
    "NoiseAttrs",
    "OnnxRounding",
    "Op",
    "OverlapAttrs",
    "PadAttrs",
    "PaddedAttrs",
    "Padding2D",
    "PlainAttrs",
    "Pointwise",
    "PoolAttrs",
    "ReshapeAttrs",
    "ResizeAttrs",
    "RoundedAttrs",
    "Rounding",
    "ShiftAttrs",
    "SoftmaxAttrs",
    "StridedSliceAttrs",
    "TableResizeAttrs",
    "TfliteRounding",
    "TransposeAttrs",
    "UserAttrs",
    "UserKernel",
    "find_op",
    "rounding_of",
]
