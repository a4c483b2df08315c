"""Layers whose scales are simple fractions of each other (1/2, 3/8, equal, ...): results fall on halves.

There it shows which arithmetic an engine takes for a quotient of scales: 0.3 / 0.1 is 3 in float32 and less
in double, and a half is rounded up or down by the last bit of a multiplier.
"""

import math
from dataclasses import replace

import numpy as np

from codegen.ir import DType, TensorType
from tests.engines import TFLITE_RUNTIME
from tests.fuzz.models import engine_for
from tests.kernels.layers import Layer, float32
from tests.tensor_types import per_channel

_PRODUCTS = ("BATCH_MATMUL", "CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "MUL", "TRANSPOSE_CONV")
_SCALED = ("PRELU", "DIV")
"""Operators whose second operand has a scale of its own: a ratio."""
_LIKE = (
    *(
        "ABS",
        "ADD",
        "ADD_N",
        "CUMSUM",
        "HARD_SWISH",
        "LEAKY_RELU",
        "MEAN",
        "NEG",
        "QUANTIZE",
        "RELU",
        "RELU6",
    ),
    *("RELU_N1_TO_1", "SQUARED_DIFFERENCE", "SUB", "SUM"),
    *("EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL", "NOT_EQUAL"),
)
"""Operators whose operands and result have scales of one unit."""
OPERATORS = (*_PRODUCTS, *_SCALED, *_LIKE)
_QUANTISED = (DType.INT4, DType.INT8, DType.INT16)
_SHARE = 3
"""One layer in so many."""


def is_tied(op: str, seed: int) -> bool:
    """True if layer `seed` of `op` has such scales."""
    return op in OPERATORS and seed % _SHARE == 1


def tied(op: str, found: Layer, seed: int) -> Layer:
    """`found` with its scales moved to the nearest simple fraction of each other."""
    call, result = found.let.call, found.let.var.type
    types = [None if arg is None else arg.type for arg in call.args]
    first = types[0]
    if first is None or first.dtype not in _QUANTISED or first.quantization is None:
        return found
    if op == "BATCH_MATMUL" and engine_for(found) != TFLITE_RUNTIME:
        return found  # the installed tflite-micro multiplies in double, TFLite and its own source in float32
    unit = _first_scale(result)
    second_unit = _first_scale(types[1]) if op in _PRODUCTS and seed % 2 else 1.0
    has_ratio = op in (*_PRODUCTS, *_SCALED)
    moved = [_moved(first, unit / second_unit if op in _PRODUCTS else unit)]
    moved += [_moved(type_, second_unit if has_ratio else unit) for type_ in types[1:]]
    if op in ("CONV_2D", "DEPTHWISE_CONV_2D") and types[1] is not None and any(_zero_points(types[1])):
        moved[1] = _rounded_product(moved[0], moved[1])
    if op in _PRODUCTS and len(moved) > 2:
        moved[2] = _of_products(types[2], moved[0], moved[1])
    args = tuple(
        None if arg is None or type_ is None else replace(arg, type=type_)
        for arg, type_ in zip(call.args, moved, strict=True)
    )
    let = replace(found.let, call=replace(call, args=args))
    try:
        call.op.check(call.attrs, let.call.types, result)
    except ValueError:  # a factor that no kernel takes
        return found
    return replace(found, let=let)


def _rounded_product(image: TensorType | None, weights: TensorType | None) -> TensorType | None:
    """Weights of uint8 as the importer has them: their product with the image's scale is one in float32."""
    assert image is not None and weights is not None
    assert weights.quantization is not None
    product = float(np.float32(image.scale) * np.float32(weights.scale))
    return replace(weights, quantization=replace(weights.quantization, scales=(product / image.scale,)))


def _zero_points(type_: TensorType) -> tuple[int, ...]:
    return () if type_.quantization is None else type_.quantization.zero_points


def _first_scale(type_: TensorType | None) -> float:
    return 1.0 if type_ is None or type_.quantization is None else type_.quantization.scales[0]


def _moved(type_: TensorType | None, unit: float) -> TensorType | None:
    """Scales that are multiples of a quarter of a power of two of `unit`."""
    if type_ is None or type_.quantization is None or type_.dtype not in _QUANTISED:
        return type_
    scales = tuple(float32(unit * _simple(scale / unit)) for scale in type_.quantization.scales)
    return replace(type_, quantization=replace(type_.quantization, scales=scales))


def _simple(ratio: float) -> float:
    """The nearest number of three binary digits."""
    fraction, exponent = math.frexp(ratio)
    return math.ldexp(round(fraction * 8) / 8, exponent)


def _of_products(
    bias: TensorType | None, image: TensorType | None, weights: TensorType | None
) -> TensorType | None:
    """The bias in units of the products of image and weights."""
    if bias is None or bias.quantization is None or image is None or weights is None:
        return bias
    if weights.quantization is None:
        return bias
    scales = tuple(
        float(np.float32(image.scale) * np.float32(scale)) for scale in weights.quantization.scales
    )
    quantization = per_channel(scales)
    return replace(bias, quantization=quantization)
