"""The part of the TFLite schema that is read, as data for the verifier: tables and where they point.

A field's number is its position in schema.fbs (version 3). Tables and fields that nothing reads are
left out; they may hold anything.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from codegen.importers import limits


@dataclass(frozen=True, kw_only=True, slots=True)
class Scalar:
    """A number of `size_bytes` inside the table."""

    size_bytes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Text:
    """An offset to a string."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Scalars:
    """An offset to a vector of numbers of `size_bytes` each."""

    size_bytes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Child:
    """An offset to a table; `layout` None: only whether it is there matters."""

    layout: "Table | None" = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Children:
    """An offset to a vector of at most `limit` tables, of which the first `visited` are read."""

    layout: "Table"
    limit: int
    visited: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """An offset to a table whose kind field `tag` (one byte) tells; unlisted kinds are not read."""

    tag: int
    layouts: "Mapping[int, Table]"


Field = Scalar | Text | Scalars | Child | Children | Choice


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """A table of the schema; `fields` by number, with the schema's name for messages."""

    name: str
    fields: Mapping[int, tuple[str, Field]]


_BYTE, _INT, _LONG = Scalar(size_bytes=1), Scalar(size_bytes=4), Scalar(size_bytes=8)
_BYTES, _INTS = Scalars(size_bytes=1), Scalars(size_bytes=4)


def _numbers(name: str, *fields: tuple[str, Field]) -> Table:
    return Table(name=name, fields=dict(enumerate(fields)))


_ACTIVATION = ("fused_activation_function", _BYTE)
_WINDOW = (("padding", _BYTE), ("stride_w", _INT), ("stride_h", _INT))
_BIAS_TYPE = ("quantized_bias_type", _BYTE)
_DILATION = (("dilation_w_factor", _INT), ("dilation_h_factor", _INT))

OPTIONS: Mapping[int, Table] = {
    1: _numbers("Conv2DOptions", *_WINDOW, _ACTIVATION, *_DILATION, _BIAS_TYPE),
    2: _numbers("DepthwiseConv2DOptions", *_WINDOW, ("depth_multiplier", _INT), _ACTIVATION, *_DILATION),
    5: _numbers("Pool2DOptions", *_WINDOW, ("filter_width", _INT), ("filter_height", _INT), _ACTIVATION),
    8: _numbers(
        "FullyConnectedOptions",
        _ACTIVATION,
        ("weights_format", _BYTE),
        ("keep_num_dims", _BYTE),
        ("asymmetric_quantize_inputs", _BYTE),
        _BIAS_TYPE,
    ),
    9: _numbers("SoftmaxOptions", ("beta", _INT)),
    10: _numbers("ConcatenationOptions", ("axis", _INT), _ACTIVATION),
    11: _numbers("AddOptions", _ACTIVATION, ("pot_scale_int16", _BYTE)),
    17: _numbers("ReshapeOptions", ("new_shape", _INTS)),
    21: _numbers("MulOptions", _ACTIVATION),
    27: _numbers("ReducerOptions", ("keep_dims", _BYTE)),
    28: _numbers("SubOptions", _ACTIVATION, ("pot_scale_int16", _BYTE)),
    30: _numbers("SqueezeOptions", ("squeeze_dims", _INTS)),
    32: _numbers(
        "StridedSliceOptions",
        ("begin_mask", _INT),
        ("end_mask", _INT),
        ("ellipsis_mask", _INT),
        ("new_axis_mask", _INT),
        ("shrink_axis_mask", _INT),
        ("offset", _BYTE),
    ),
    59: _numbers("PackOptions", ("values_count", _INT), ("axis", _INT)),
    75: _numbers("LeakyReluOptions", ("alpha", _INT)),
}
"""Option tables by their number in the union BuiltinOptions."""

_OPERATOR_CODE = _numbers(
    "OperatorCode",
    ("deprecated_builtin_code", _BYTE),
    ("custom_code", Text()),
    ("version", _INT),
    ("builtin_code", _INT),
)

_QUANTIZATION = Table(
    name="QuantizationParameters",
    fields={
        2: ("scale", _INTS),
        3: ("zero_point", Scalars(size_bytes=8)),
        4: ("details_type", _BYTE),
        6: ("quantized_dimension", _INT),
    },
)

_TENSOR = Table(
    name="Tensor",
    fields={
        0: ("shape", _INTS),
        1: ("type", _BYTE),
        2: ("buffer", _INT),
        3: ("name", Text()),
        4: ("quantization", Child(layout=_QUANTIZATION)),
        5: ("is_variable", _BYTE),
        6: ("sparsity", Child()),
        7: ("shape_signature", _INTS),
    },
)

_OPERATOR = Table(
    name="Operator",
    fields={
        0: ("opcode_index", _INT),
        1: ("inputs", _INTS),
        2: ("outputs", _INTS),
        3: ("builtin_options_type", _BYTE),
        4: ("builtin_options", Choice(tag=3, layouts=OPTIONS)),
        5: ("custom_options", _BYTES),
        9: ("large_custom_options_offset", _LONG),
        10: ("large_custom_options_size", _LONG),
    },
)

_SUBGRAPH = Table(
    name="SubGraph",
    fields={
        0: ("tensors", Children(layout=_TENSOR, limit=limits.MAX_TENSORS)),
        1: ("inputs", _INTS),
        2: ("outputs", _INTS),
        3: ("operators", Children(layout=_OPERATOR, limit=limits.MAX_OPERATORS)),
    },
)

_BUFFER = _numbers("Buffer", ("data", _BYTES), ("offset", _LONG), ("size", _LONG))

_SIGNATURE = Table(name="SignatureDef", fields={4: ("subgraph_index", _INT)})

_CODES = ("operator_codes", Children(layout=_OPERATOR_CODE, limit=limits.MAX_OPERATOR_CODES))

OPERATOR_CODES = Table(name="Model", fields={1: _CODES})
"""Root table of a file of which nothing but the kinds of operators is read."""

MODEL = Table(
    name="Model",
    fields={
        0: ("version", _INT),
        1: _CODES,
        2: ("subgraphs", Children(layout=_SUBGRAPH, limit=limits.MAX_SUBGRAPHS, visited=1)),
        4: ("buffers", Children(layout=_BUFFER, limit=limits.MAX_BUFFERS)),
        7: ("signature_defs", Children(layout=_SIGNATURE, limit=limits.MAX_ENTRY_POINTS)),
    },
)
"""Root table of a TFLite file."""
