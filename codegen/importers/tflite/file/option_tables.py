"""Options of the operators as the TFLite schema keeps them (schema.fbs, version 3): one row an options table.

The check of a file, the importer and the writer take fields, numbers and defaults from here.
"""

import enum
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, cast

from tflite.BuiltinOptions import BuiltinOptions


class OptionStorage(enum.Enum):
    """How an option is stored; the value says it in words."""

    INT = "integer"
    BYTE = "integer of one byte"
    BOOL = "bool"
    FLOAT = "float"
    INTS = "list of integers"
    PADDING = "SAME or VALID"
    ACTIVATION = "activation"
    TYPE = "element type"
    TEXT = "text"


FORMATS: Mapping[OptionStorage, str] = {
    OptionStorage.INT: "<i",
    OptionStorage.FLOAT: "<f",
    **dict.fromkeys(
        (
            OptionStorage.BYTE,
            OptionStorage.BOOL,
            OptionStorage.PADDING,
            OptionStorage.ACTIVATION,
            OptionStorage.TYPE,
        ),
        "<b",
    ),
}
"""Formats of numbers inside the table, for `struct`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OptionField:
    """One option: its field number in the options table and the schema's default (0 unless said)."""

    number: int
    kind: OptionStorage
    default: int = 0

    @property
    def size_bytes(self) -> int | None:
        """Bytes of a number inside the table; None for what an offset leads to."""
        return struct.calcsize(FORMATS[self.kind]) if self.kind in FORMATS else None


@dataclass(frozen=True, kw_only=True, slots=True)
class OptionTable:
    """A member of the union BuiltinOptions, its fields by name, and the operators that take it."""

    union: str
    operators: tuple[str, ...]
    fields: Mapping[str, OptionField]

    @property
    def union_code(self) -> int:
        """Its number in the union."""
        return int(getattr(cast(Any, BuiltinOptions), self.union))


def _table(
    union: str, operators: str, **kinds: OptionStorage | tuple[OptionStorage, int] | None
) -> OptionTable:
    """Fields in the schema's order, with the default where it is not 0; None skips an obsolete field."""
    fields: dict[str, OptionField] = {}
    for number, (name, kind) in enumerate(kinds.items()):
        if isinstance(kind, tuple):
            fields[name] = OptionField(number=number, kind=kind[0], default=kind[1])
        elif kind is not None:
            fields[name] = OptionField(number=number, kind=kind)
    return OptionTable(union=union, operators=tuple(operators.split()), fields=MappingProxyType(fields))


_INT, _BYTE, _BOOL, _FLOAT = OptionStorage.INT, OptionStorage.BYTE, OptionStorage.BOOL, OptionStorage.FLOAT
_PADDING, _ACTIVATION, _TYPE = OptionStorage.PADDING, OptionStorage.ACTIVATION, OptionStorage.TYPE
_INTS, _TEXT = OptionStorage.INTS, OptionStorage.TEXT

_WINDOW = {"padding": _PADDING, "stride_w": _INT, "stride_h": _INT}
_DILATION = {"dilation_w": (_INT, 1), "dilation_h": (_INT, 1)}

TABLES: tuple[OptionTable, ...] = (
    _table(
        "Conv2DOptions",
        "CONV_2D",
        **_WINDOW,
        activation=_ACTIVATION,
        **_DILATION,
        quantized_bias_type=_TYPE,
    ),
    _table(
        "DepthwiseConv2DOptions",
        "DEPTHWISE_CONV_2D",
        **_WINDOW,
        depth_multiplier=_INT,
        activation=_ACTIVATION,
        **_DILATION,
    ),
    _table(
        "Pool2DOptions",
        "AVERAGE_POOL_2D L2_POOL_2D MAX_POOL_2D",
        **_WINDOW,
        filter_width=_INT,
        filter_height=_INT,
        activation=_ACTIVATION,
    ),
    _table(
        "FullyConnectedOptions",
        "FULLY_CONNECTED",
        activation=_ACTIVATION,
        weights_format=_BYTE,
        keep_num_dims=_BOOL,
        asymmetric_quantize_inputs=_BOOL,
        quantized_bias_type=_TYPE,
    ),
    _table(
        "TransposeConvOptions", "TRANSPOSE_CONV", **_WINDOW, activation=_ACTIVATION, quantized_bias_type=_TYPE
    ),
    _table("SVDFOptions", "SVDF", rank=_INT, activation=_ACTIVATION, asymmetric_quantize_inputs=_BOOL),
    _table(
        "UnidirectionalSequenceLSTMOptions",
        "UNIDIRECTIONAL_SEQUENCE_LSTM",
        activation=_ACTIVATION,
        cell_clip=_FLOAT,
        proj_clip=_FLOAT,
        time_major=_BOOL,
    ),
    _table("BatchMatMulOptions", "BATCH_MATMUL", adj_x=_BOOL, adj_y=_BOOL, asymmetric_quantize_inputs=_BOOL),
    _table("AddOptions", "ADD", activation=_ACTIVATION, pot_scale_int16=(_BOOL, 1)),
    _table("SubOptions", "SUB", activation=_ACTIVATION, pot_scale_int16=(_BOOL, 1)),
    _table("MulOptions", "MUL", activation=_ACTIVATION),
    _table("DivOptions", "DIV", activation=_ACTIVATION),
    _table("SoftmaxOptions", "SOFTMAX", beta=_FLOAT),
    _table("GeluOptions", "GELU", approximate=_BOOL),
    _table("LeakyReluOptions", "LEAKY_RELU", alpha=_FLOAT),
    _table("L2NormOptions", "L2_NORMALIZATION", activation=_ACTIVATION),
    _table("ReducerOptions", "MEAN SUM REDUCE_MAX REDUCE_MIN REDUCE_ALL REDUCE_ANY", keep_dims=_BOOL),
    _table("ArgMaxOptions", "ARG_MAX", output_type=_TYPE),
    _table("ArgMinOptions", "ARG_MIN", output_type=_TYPE),
    _table("CumsumOptions", "CUMSUM", exclusive=_BOOL, reverse=_BOOL),
    _table("ConcatenationOptions", "CONCATENATION", axis=_INT, activation=_ACTIVATION),
    _table("PackOptions", "PACK", values_count=_INT, axis=_INT),
    _table("UnpackOptions", "UNPACK", num=_INT, axis=_INT),
    _table("SplitOptions", "SPLIT", num_splits=_INT),
    _table("SplitVOptions", "SPLIT_V", num_splits=_INT),
    _table("GatherOptions", "GATHER", axis=_INT, batch_dims=_INT),
    _table(
        "StridedSliceOptions",
        "STRIDED_SLICE",
        begin_mask=_INT,
        end_mask=_INT,
        ellipsis_mask=_INT,
        new_axis_mask=_INT,
        shrink_axis_mask=_INT,
        offset=_BOOL,
    ),
    _table("ReshapeOptions", "RESHAPE", new_shape=_INTS),
    _table("SqueezeOptions", "SQUEEZE", squeeze_dims=_INTS),
    _table("ExpandDimsOptions", "EXPAND_DIMS"),
    _table("TransposeOptions", "TRANSPOSE"),
    _table("ShapeOptions", "SHAPE", out_type=_TYPE),
    _table("PadOptions", "PAD"),
    _table("PadV2Options", "PADV2"),
    _table("MirrorPadOptions", "MIRROR_PAD", mode=_BYTE),
    _table("SpaceToDepthOptions", "SPACE_TO_DEPTH", block_size=_INT),
    _table("DepthToSpaceOptions", "DEPTH_TO_SPACE", block_size=_INT),
    _table(
        "ResizeBilinearOptions",
        "RESIZE_BILINEAR",
        _height=None,
        _width=None,
        align_corners=_BOOL,
        half_pixel_centers=_BOOL,
    ),
    _table(
        "ResizeNearestNeighborOptions",
        "RESIZE_NEAREST_NEIGHBOR",
        align_corners=_BOOL,
        half_pixel_centers=_BOOL,
    ),
    _table("CastOptions", "CAST", in_data_type=_TYPE, out_data_type=_TYPE),
    _table("QuantizeOptions", "QUANTIZE"),
    _table("DequantizeOptions", "DEQUANTIZE"),
    _table("IfOptions", "IF", then_subgraph_index=_INT, else_subgraph_index=_INT),
    _table("WhileOptions", "WHILE", cond_subgraph_index=_INT, body_subgraph_index=_INT),
    _table("CallOnceOptions", "CALL_ONCE", init_subgraph_index=_INT),
    _table("VarHandleOptions", "VAR_HANDLE", container=_TEXT, shared_name=_TEXT),
)

BY_OPERATOR: Mapping[str, OptionTable] = MappingProxyType(
    {operator: table for table in TABLES for operator in table.operators}
)
"""The table of each operator that has one."""

BY_CODE: Mapping[int, OptionTable] = MappingProxyType({table.union_code: table for table in TABLES})
"""The tables by their number in the union."""
