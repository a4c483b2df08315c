"""The models of int8, written as uint8: elements, constants and zero points are 128 more.

Weights get a zero point of their own in some of them.
"""

import struct
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np
from tflite.Model import Model
from tflite.TensorType import TensorType

from tests.opgen import convolutions, elementwise, pooling, shapes
from tests.opgen.dice import Dice
from tests.opgen.families import functions, pairwise, rearranged, reduced, resized
from tests.opgen.sketch import Affine, Drawn, Sketch, Value

LABEL = "uint8"
_HALF = 128
_SCALES, _ZERO_POINTS, _TYPE = 2, 3, 1
"""Numbers of fields in the schema's tables."""


def as_unsigned(drawn: Drawn) -> Drawn | None:
    """The same model with uint8 in place of int8; None where scales go by channel, which uint8 does not."""
    data = bytearray(drawn.model)
    model: Any = Model.GetRootAs(drawn.model, 0)
    graph = model.Subgraphs(0)
    for index in range(graph.TensorsLength()):
        tensor = graph.Tensors(index)
        if tensor.Type() != TensorType.INT8:
            continue
        if tensor.Quantization() is not None and tensor.Quantization().ScaleLength() > 1:
            return None
        _rewrite(data, tensor)
        buffer = model.Buffers(tensor.Buffer())
        if buffer.DataLength():
            start = buffer._tab.Vector(buffer._tab.Offset(4))
            for place in range(start, start + buffer.DataLength()):
                data[place] ^= 0x80
    random, extreme = (tuple(_unsigned(each) for each in case) for case in drawn.inputs)
    return Drawn(model=bytes(data), inputs=(random, extreme))


def _rewrite(data: bytearray, tensor: Any) -> None:
    """Type and zero points of one tensor; each int8 tensor has a buffer of its own, or none."""
    table = tensor._tab
    data[table.Pos + table.Offset(4 + 2 * _TYPE)] = TensorType.UINT8
    if tensor.Quantization() is not None and tensor.Quantization().ZeroPointLength():
        _set_zero_point(data, tensor, tensor.Quantization().ZeroPoint(0) + _HALF)


def _set_zero_point(data: bytearray, tensor: Any, zero: int) -> None:
    meaning = tensor.Quantization()
    struct.pack_into("<q", data, meaning._tab.Vector(meaning._tab.Offset(4 + 2 * _ZERO_POINTS)), zero)


def _unsigned(values: np.ndarray) -> np.ndarray:
    return cast(np.ndarray, values.view(np.uint8) ^ 0x80) if values.dtype == np.int8 else values


def _drawn(dice: Dice, draw: Callable[[Dice], Drawn]) -> Drawn:
    """One that can be of uint8."""
    while True:
        found = as_unsigned(draw(dice))
        if found is not None:
            return found


def _weighted(dice: Dice, draw: Callable[[Dice], Drawn]) -> Drawn:
    """The same, half of them by weights whose zero point is not 128: near it, or anywhere."""
    found = _drawn(dice, draw)
    if dice.chance(50):
        return found
    zero = _HALF + dice.integer(-9, 9) if dice.chance(70) else dice.integer(0, 255)
    data = bytearray(found.model)
    graph: Any = cast(Any, Model.GetRootAs(found.model, 0)).Subgraphs(0)
    _set_zero_point(data, graph.Tensors(graph.Operators(0).Inputs(1)), zero)
    return replace(found, model=bytes(data))


def _rescaling(dice: Dice, draw: Callable[[Dice], Drawn]) -> Drawn:
    """Arguments of other quantisations than the result."""
    found = _drawn(dice, draw)
    data = bytearray(found.model)
    graph: Any = cast(Any, Model.GetRootAs(found.model, 0)).Subgraphs(0)
    operator = graph.Operators(0)
    for position in range(operator.InputsLength()):
        tensor = graph.Tensors(operator.Inputs(position))
        meaning = tensor.Quantization()
        if dice.chance(60):
            _set_zero_point(data, tensor, dice.integer(0, 255))
            place = meaning._tab.Vector(meaning._tab.Offset(4 + 2 * _SCALES))
            struct.pack_into("<f", data, place, meaning.Scale(0) * dice.float32(-3, 2))
    return replace(found, model=bytes(data))


NETWORK = "CONV_2D+DEPTHWISE_CONV_2D+AVERAGE_POOL_2D+CONCATENATION+FULLY_CONNECTED+SOFTMAX"


def network(dice: Dice) -> Drawn:
    """Two branches over a depthwise layer, joined with another scale; weights with zero points."""
    while True:
        found = as_unsigned(_network(dice))
        if found is not None:
            break
    data = bytearray(found.model)
    graph: Any = cast(Any, Model.GetRootAs(found.model, 0)).Subgraphs(0)
    for index in range(graph.OperatorsLength()):
        operator = graph.Operators(index)
        if operator.InputsLength() == 3:  # image, weights, bias
            _set_zero_point(data, graph.Tensors(operator.Inputs(1)), _HALF + dice.integer(-12, 12))
    return replace(found, model=bytes(data))


def _network(dice: Dice) -> Drawn:
    sketch = Sketch(dice)
    size = dice.pick((8, 9))
    image = sketch.input((1, size, size, dice.integer(1, 3)), sketch.affine())
    half = -(-size // 2)
    first = _append(convolutions.append_conv, sketch, image, (3, 3), 2, activation="relu6")
    middle = _append(convolutions.append_depthwise, sketch, first, (3, 3), 1, activation="relu6")
    one = _append(convolutions.append_conv, sketch, middle, (1, 1), 1)
    other = sketch.tensor(middle.shape, middle.affine)
    sketch.op("AVERAGE_POOL_2D", [middle], other, padding="SAME", filter_width=2, filter_height=2)
    channels = one.shape[3] + other.shape[3]
    joined = sketch.tensor((1, half, half, channels), one.affine)
    sketch.op("CONCATENATION", [one, other], joined, axis=3)
    count = half * half * channels
    flat = sketch.tensor((1, count), one.affine)
    sketch.op("RESHAPE", [joined, sketch.constant([1, count])], flat)
    last = convolutions.draw_weights(sketch, flat.affine, (10, count), axis=None, taps=count, bias=10)
    scores = sketch.tensor((1, 10), last.result)
    sketch.op("FULLY_CONNECTED", [flat, *last.operands], scores)
    result = sketch.tensor((1, 10), Affine(scale=1 / 256, zero_point=-128))
    return sketch.finish(sketch.op("SOFTMAX", [scores], result, beta=1.0))


def _append(
    layer: Callable[..., Value],
    sketch: Sketch,
    x: Value,
    kernel: tuple[int, int],
    stride: int,
    **options: Any,
) -> Value:
    """A layer that keeps the image's size, or halves it."""
    window = convolutions.Window(
        kernel=kernel,
        stride=(stride, stride),
        dilation=(1, 1),
        padding="SAME",
        image=(x.shape[1], x.shape[2]),
    )
    return layer(sketch, x, window, **options)


_DRAWN_BY: Mapping[str, Callable[[Dice, Callable[[Dice], Drawn]], Drawn]] = {
    **dict.fromkeys(("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "TRANSPOSE_CONV"), _weighted),
    "CONCATENATION": _rescaling,
}

_DRAW: Mapping[str, Callable[[Dice], Drawn]] = {
    **{
        name: partial(draw, quantised=True)
        for name, draw in {
            "CONV_2D": convolutions.conv,
            "DEPTHWISE_CONV_2D": convolutions.depthwise,
            "FULLY_CONNECTED": convolutions.fully_connected,
            "AVERAGE_POOL_2D": pooling.average_pool,
            "MAX_POOL_2D": pooling.max_pool,
            "MEAN": pooling.mean,
            "ADD": elementwise.add,
            "SUB": elementwise.sub,
            "MUL": elementwise.mul,
            "CONCATENATION": shapes.concatenation,
            "PAD": shapes.pad,
            "RESHAPE": shapes.reshape,
            "TRANSPOSE": shapes.transpose,
            "STRIDED_SLICE": shapes.strided_slice,
            "SOFTMAX": elementwise.softmax,
            "LOGISTIC": elementwise.logistic,
            "TANH": elementwise.tanh,
            "RELU": elementwise.relu,
            "RELU6": elementwise.relu6,
            "LEAKY_RELU": elementwise.leaky_relu,
            "QUANTIZE": elementwise.quantize,
        }.items()
    },
    "DEQUANTIZE": elementwise.dequantize,
    **{
        name: family.DRAWN[name]["int8"]
        for family, names in {
            rearranged: (
                *("BATCH_TO_SPACE_ND", "BROADCAST_TO", "DEPTH_TO_SPACE", "EMBEDDING_LOOKUP", "GATHER"),
                *("GATHER_ND", "MIRROR_PAD", "PACK", "REVERSE_V2", "SLICE", "SPACE_TO_BATCH_ND"),
                *("SPACE_TO_DEPTH", "TILE", "UNPACK"),
            ),
            pairwise: (
                *("EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL", "MAXIMUM", "MINIMUM"),
                *("NOT_EQUAL", "PRELU", "SELECT", "SELECT_V2"),
            ),
            functions: ("HARD_SWISH", "RELU_N1_TO_1"),
            reduced: ("ARG_MAX", "ARG_MIN", "REDUCE_MAX", "REDUCE_MIN"),
            resized: ("RESIZE_NEAREST_NEIGHBOR", "TRANSPOSE_CONV"),
        }.items()
        for name in names
    },
}

DRAWN: Mapping[str, Mapping[str, Callable[[Dice], Drawn]]] = {
    operator: {LABEL: partial(_DRAWN_BY.get(operator, _drawn), draw=draw)} for operator, draw in _DRAW.items()
}
"""By operator: those of `codegen.importers.tflite.unsigned.OF_UINT8` that compute or move something."""
