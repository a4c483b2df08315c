"""Which options each operator takes and where the TFLite schema (schema.fbs, version 3) keeps them."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, cast

from tflite.BuiltinOperator import BuiltinOperator
from tflite.BuiltinOptions import BuiltinOptions

PADDINGS: Mapping[str, int] = MappingProxyType({"SAME": 0, "VALID": 1})
ACTIVATIONS: Mapping[str, int] = MappingProxyType(
    {"none": 0, "relu": 1, "relu_n1_to_1": 2, "relu6": 3, "tanh": 4, "sign_bit": 5}
)
TENSOR_TYPES: Mapping[str, int] = MappingProxyType(
    {
        "float32": 0,
        "float16": 1,
        "int32": 2,
        "uint8": 3,
        "int64": 4,
        "bool": 6,
        "int16": 7,
        "int8": 9,
        "int4": 17,
        "float64": 10,
        "uint64": 12,
        "resource": 13,
        "uint32": 15,
        "uint16": 16,
    }
)


class OptionStorage(enum.Enum):
    """How an option is stored."""

    INT = "integer"
    BOOL = "bool"
    FLOAT = "float"
    INTS = "list of integers"
    PADDING = "SAME or VALID"
    ACTIVATION = "activation"
    TYPE = "element type"
    TEXT = "text"


@dataclass(frozen=True, kw_only=True, slots=True)
class Field:
    """One option: its field number in the options table and the schema's default (0 unless said)."""

    number: int
    kind: OptionStorage
    default: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class OptionsTable:
    """The options of an operator: the union member that holds them and its fields by name."""

    union: str
    fields: Mapping[str, Field]

    @property
    def union_code(self) -> int:
        """Number of the member in the union `BuiltinOptions`."""
        return int(getattr(cast(Any, BuiltinOptions), self.union))


def _table(union: str, **kinds: OptionStorage | tuple[OptionStorage, int] | None) -> OptionsTable:
    """Fields in schema order; None skips a field number that this writer does not set."""
    fields: dict[str, Field] = {}
    for number, (name, kind) in enumerate(kinds.items()):
        if isinstance(kind, tuple):
            fields[name] = Field(number=number, kind=kind[0], default=kind[1])
        elif kind is not None:
            fields[name] = Field(number=number, kind=kind)
    return OptionsTable(union=union, fields=MappingProxyType(fields))


_POOL = _table(
    "Pool2DOptions",
    padding=OptionStorage.PADDING,
    stride_w=OptionStorage.INT,
    stride_h=OptionStorage.INT,
    filter_width=OptionStorage.INT,
    filter_height=OptionStorage.INT,
    activation=OptionStorage.ACTIVATION,
)
_REDUCER = _table("ReducerOptions", keep_dims=OptionStorage.BOOL)

OPTIONS: Mapping[str, OptionsTable] = MappingProxyType(
    {
        "CONV_2D": _table(
            "Conv2DOptions",
            padding=OptionStorage.PADDING,
            stride_w=OptionStorage.INT,
            stride_h=OptionStorage.INT,
            activation=OptionStorage.ACTIVATION,
            dilation_w=(OptionStorage.INT, 1),
            dilation_h=(OptionStorage.INT, 1),
        ),
        "DEPTHWISE_CONV_2D": _table(
            "DepthwiseConv2DOptions",
            padding=OptionStorage.PADDING,
            stride_w=OptionStorage.INT,
            stride_h=OptionStorage.INT,
            depth_multiplier=OptionStorage.INT,
            activation=OptionStorage.ACTIVATION,
            dilation_w=(OptionStorage.INT, 1),
            dilation_h=(OptionStorage.INT, 1),
        ),
        "FULLY_CONNECTED": _table(
            "FullyConnectedOptions",
            activation=OptionStorage.ACTIVATION,
            weights_format=None,
            keep_num_dims=OptionStorage.BOOL,
            asymmetric_quantize_inputs=OptionStorage.BOOL,
        ),
        "AVERAGE_POOL_2D": _POOL,
        "MAX_POOL_2D": _POOL,
        "MEAN": _REDUCER,
        "SUM": _REDUCER,
        "ADD": _table(
            "AddOptions", activation=OptionStorage.ACTIVATION, pot_scale_int16=(OptionStorage.BOOL, 1)
        ),
        "SUB": _table(
            "SubOptions", activation=OptionStorage.ACTIVATION, pot_scale_int16=(OptionStorage.BOOL, 1)
        ),
        "MUL": _table("MulOptions", activation=OptionStorage.ACTIVATION),
        "CONCATENATION": _table(
            "ConcatenationOptions", axis=OptionStorage.INT, activation=OptionStorage.ACTIVATION
        ),
        "PAD": _table("PadOptions"),
        "PADV2": _table("PadV2Options"),
        "RESHAPE": _table("ReshapeOptions", new_shape=OptionStorage.INTS),
        "SQUEEZE": _table("SqueezeOptions", squeeze_dims=OptionStorage.INTS),
        "EXPAND_DIMS": _table("ExpandDimsOptions"),
        "TRANSPOSE": _table("TransposeOptions"),
        "STRIDED_SLICE": _table(
            "StridedSliceOptions",
            begin_mask=OptionStorage.INT,
            end_mask=OptionStorage.INT,
            ellipsis_mask=OptionStorage.INT,
            new_axis_mask=OptionStorage.INT,
            shrink_axis_mask=OptionStorage.INT,
            offset=OptionStorage.BOOL,
        ),
        "SPLIT": _table("SplitOptions", num_splits=OptionStorage.INT),
        "SPLIT_V": _table("SplitVOptions", num_splits=OptionStorage.INT),
        "SHAPE": _table("ShapeOptions", out_type=OptionStorage.TYPE),
        "PACK": _table("PackOptions", values_count=OptionStorage.INT, axis=OptionStorage.INT),
        "UNPACK": _table("UnpackOptions", num=OptionStorage.INT, axis=OptionStorage.INT),
        "GATHER": _table("GatherOptions", axis=OptionStorage.INT, batch_dims=OptionStorage.INT),
        "SPACE_TO_DEPTH": _table("SpaceToDepthOptions", block_size=OptionStorage.INT),
        "DEPTH_TO_SPACE": _table("DepthToSpaceOptions", block_size=OptionStorage.INT),
        "MIRROR_PAD": _table("MirrorPadOptions", mode=OptionStorage.INT),
        "DIV": _table("DivOptions", activation=OptionStorage.ACTIVATION),
        "CAST": _table("CastOptions", in_data_type=OptionStorage.TYPE, out_data_type=OptionStorage.TYPE),
        "ARG_MAX": _table("ArgMaxOptions", output_type=OptionStorage.TYPE),
        "ARG_MIN": _table("ArgMinOptions", output_type=OptionStorage.TYPE),
        "REDUCE_MAX": _REDUCER,
        "REDUCE_MIN": _REDUCER,
        "REDUCE_ALL": _REDUCER,
        "REDUCE_ANY": _REDUCER,
        "CUMSUM": _table("CumsumOptions", exclusive=OptionStorage.BOOL, reverse=OptionStorage.BOOL),
        "L2_NORMALIZATION": _table("L2NormOptions", activation=OptionStorage.ACTIVATION),
        "L2_POOL_2D": _POOL,
        "BATCH_MATMUL": _table(
            "BatchMatMulOptions",
            adj_x=OptionStorage.BOOL,
            adj_y=OptionStorage.BOOL,
            asymmetric_quantize_inputs=OptionStorage.BOOL,
        ),
        "RESIZE_BILINEAR": _table(
            "ResizeBilinearOptions",
            _0=None,
            _1=None,
            align_corners=OptionStorage.BOOL,
            half_pixel_centers=OptionStorage.BOOL,
        ),
        "RESIZE_NEAREST_NEIGHBOR": _table(
            "ResizeNearestNeighborOptions",
            align_corners=OptionStorage.BOOL,
            half_pixel_centers=OptionStorage.BOOL,
        ),
        "SVDF": _table(
            "SVDFOptions",
            rank=OptionStorage.INT,
            activation=OptionStorage.ACTIVATION,
            asymmetric_quantize_inputs=OptionStorage.BOOL,
        ),
        "UNIDIRECTIONAL_SEQUENCE_LSTM": _table(
            "UnidirectionalSequenceLSTMOptions",
            activation=OptionStorage.ACTIVATION,
            cell_clip=OptionStorage.FLOAT,
            proj_clip=OptionStorage.FLOAT,
            time_major=OptionStorage.BOOL,
        ),
        "TRANSPOSE_CONV": _table(
            "TransposeConvOptions",
            padding=OptionStorage.PADDING,
            stride_w=OptionStorage.INT,
            stride_h=OptionStorage.INT,
            activation=OptionStorage.ACTIVATION,
        ),
        "SOFTMAX": _table("SoftmaxOptions", beta=OptionStorage.FLOAT),
        "GELU": _table("GeluOptions", approximate=OptionStorage.BOOL),
        "LEAKY_RELU": _table("LeakyReluOptions", alpha=OptionStorage.FLOAT),
        "QUANTIZE": _table("QuantizeOptions"),
        "DEQUANTIZE": _table("DequantizeOptions"),
        "IF": _table(
            "IfOptions", then_subgraph_index=OptionStorage.INT, else_subgraph_index=OptionStorage.INT
        ),
        "WHILE": _table(
            "WhileOptions", cond_subgraph_index=OptionStorage.INT, body_subgraph_index=OptionStorage.INT
        ),
        "CALL_ONCE": _table("CallOnceOptions", init_subgraph_index=OptionStorage.INT),
        "VAR_HANDLE": _table(
            "VarHandleOptions", container=OptionStorage.TEXT, shared_name=OptionStorage.TEXT
        ),
    }
)
"""Operators that have an options table. Every other operator of the schema is written without options."""

INT8_VERSIONS: Mapping[str, int] = MappingProxyType(
    {
        "CONV_2D": 3,
        "DEPTHWISE_CONV_2D": 3,
        "FULLY_CONNECTED": 4,
        "AVERAGE_POOL_2D": 2,
        "MAX_POOL_2D": 2,
        "MEAN": 2,
        "ADD": 2,
        "SUB": 2,
        "MUL": 2,
        "CONCATENATION": 2,
        "PAD": 2,
        "PADV2": 2,
        "TRANSPOSE": 2,
        "STRIDED_SLICE": 2,
        "SPLIT": 2,
        "SPLIT_V": 2,
        "SOFTMAX": 2,
        "LOGISTIC": 2,
        "TANH": 2,
        "RELU": 2,
        "RELU6": 2,
        "LEAKY_RELU": 2,
        "DEQUANTIZE": 2,
        "BROADCAST_TO": 2,
        "DIV": 1,
    }
)
"""First operator version with int8, as the schema's operator versioning has it; 1 where int8 always was."""


def builtin_code(name: str) -> int:
    """Number of an operator in the schema; raises ValueError for a name the schema does not know."""
    code: object = getattr(cast(Any, BuiltinOperator), name, None)
    if not name.isidentifier() or not isinstance(code, int):
        raise ValueError(f"{name!r} is not an operator of the TFLite schema")
    return code
