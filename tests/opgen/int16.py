"""Operators on int16 activations (weights int8, zero points 0), of every operator that has them."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from tests.opgen.convolutions import ACTIVATIONS, Window, draw_window
from tests.opgen.dice import Dice
from tests.opgen.elementwise import append_unary, broadcast_shape, draw_operand_shapes, draw_shape
from tests.opgen.pooling import append_pool
from tests.opgen.sketch import Affine, Drawn, Sketch, Value

_PRODUCT = 18918.0 * 73.0
"""Standard deviation of a product of a random int16 and a random int8 value."""


def _affine(dice: Dice, low_exponent: int = -16, high_exponent: int = -11) -> Affine:
    return Affine(scale=dice.float32(low_exponent, high_exponent), zero_point=0, dtype="int16")


def _near(dice: Dice, affine: Affine) -> Affine:
    """Another scale, an eighth to twice as large."""
    scale = float(np.float32(affine.scale * dice.float32(-3, 0)))
    return Affine(scale=scale, zero_point=0, dtype="int16")


def _weights(
    sketch: Sketch, image: Affine, shape: Sequence[int], *, axis: int | None, taps: int, bias: str
) -> tuple[list[int], Affine]:
    """(weights and a bias of type `bias`, if that is not empty; quantisation of the result)."""
    dice = sketch.dice
    base = dice.float32(-10, -5)
    channels = 1 if axis is None else shape[axis]
    scales = [base * 2.0 ** dice.integer(-3, 0) if axis is not None else base for _ in range(channels)]
    if channels > 1 and dice.chance(15):
        scales[dice.integer(0, channels - 1)] = base * 2.0**-40  # this channel's multiplier becomes 0
    style = dice.pick(("usual",) * 12 + ("left shift", "tiny", "zero"))
    multiplier = {
        "usual": 16384.0 / (_PRODUCT * math.sqrt(taps)) * dice.float32(-1, 1),
        "left shift": dice.float32(0, 4),
        "tiny": dice.float32(-31, -24),
        "zero": dice.float32(-45, -34),
    }[style]
    limit = 3 if style == "left shift" else 127
    name = sketch.name
    data = dice.int8(shape, -limit, limit)
    operands = [sketch.model.tensor(name, shape, scale=scales, axis=axis or 0, data=data)]
    if bias:
        outputs = shape[0] if len(shape) == 2 or shape[0] != 1 or axis != 3 else shape[3]
        most = int(limit * 18918 * math.sqrt(taps)) * (1000 if bias == "int64" and dice.chance(20) else 1)
        products = [float(np.float32(image.scale * scale)) for scale in scales]
        added = dice.integers(-most, most, outputs)
        operands.append(sketch.model.tensor(sketch.name, (outputs,), bias, scale=products, data=added))
    return operands, Affine(
        scale=float(np.float32(image.scale * base / multiplier)), zero_point=0, dtype="int16"
    )


def _image(sketch: Sketch, window: Window, depth: int) -> Value:
    batch = 2 if sketch.dice.chance(10) else 1
    return sketch.input((batch, *window.image, depth), _affine(sketch.dice))


def conv(dice: Dice, bias: str = "int64") -> Drawn:
    """CONV_2D; one in ten is grouped."""
    sketch, window = Sketch(dice), draw_window(dice, largest_image=9)
    groups = dice.integer(2, 3) if dice.chance(10) else 1
    x = _image(sketch, window, groups * dice.integer(1, 9))
    assert x.affine is not None
    depth, channels = x.shape[3] // groups, groups * dice.integer(1, 5)
    shape = (channels, *window.kernel, depth)
    axis = None if dice.chance(25) else 0
    operands, result = _weights(sketch, x.affine, shape, axis=axis, taps=math.prod(shape[1:]), bias=bias)
    y = sketch.tensor((x.shape[0], *window.result, channels), result)
    options = window.options() | {"activation": dice.pick(ACTIVATIONS)}
    return sketch.finish(sketch.op("CONV_2D", [x, *operands], y, **options))


def depthwise(dice: Dice) -> Drawn:
    """DEPTHWISE_CONV_2D with multipliers 1 to 4."""
    sketch, window = Sketch(dice), draw_window(dice, largest_image=9)
    x = _image(sketch, window, dice.integer(1, 9))
    assert x.affine is not None
    multiplier = dice.pick((1, 1, 1, 2, 3, 4))
    shape = (1, *window.kernel, x.shape[3] * multiplier)
    operands, result = _weights(sketch, x.affine, shape, axis=3, taps=math.prod(window.kernel), bias="int64")
    y = sketch.tensor((x.shape[0], *window.result, shape[3]), result)
    options: dict[str, Any] = window.options() | {"depth_multiplier": multiplier}
    options["activation"] = dice.pick(ACTIVATIONS)
    return sketch.finish(sketch.op("DEPTHWISE_CONV_2D", [x, *operands], y, **options))


def fully_connected(dice: Dice, bias: str = "int64", per_channel: bool = False) -> Drawn:
    """FULLY_CONNECTED; some rows longer than 32 bits hold the sums of."""
    sketch = Sketch(dice)
    depth = dice.integer(500, 1300) if dice.chance(20) else dice.integer(1, 60)
    channels, rows = dice.integer(1, 9), dice.pick((1, 1, 2, 4))
    x = sketch.input((rows, depth), _affine(dice))
    assert x.affine is not None
    axis = 0 if per_channel else None
    operands, result = _weights(sketch, x.affine, (channels, depth), axis=axis, taps=depth, bias=bias)
    y = sketch.tensor((rows, channels), result)
    activation = dice.pick(ACTIVATIONS)
    return sketch.finish(sketch.op("FULLY_CONNECTED", [x, *operands], y, activation=activation))


def _pool(dice: Dice, name: str) -> Drawn:
    sketch, window = Sketch(dice), draw_window(dice, dilated=False)
    return sketch.finish(append_pool(sketch, name, _image(sketch, window, dice.integer(1, 5)), window))


def mean(dice: Dice) -> Drawn:
    """MEAN over any axes."""
    sketch = Sketch(dice)
    rank = dice.pick((4, 4, 4, 3, 2, 1))
    shape = dice.integers(1, 7, rank)
    axes = [1, 2] if rank == 4 and dice.chance(60) else dice.shuffled(range(rank))[: max(1, rank - 2)]
    keep = dice.chance(50)
    result = [1 if axis in axes else extent for axis, extent in enumerate(shape) if keep or axis not in axes]
    x = sketch.input(shape, _affine(dice))
    assert x.affine is not None
    y = sketch.tensor(result, _near(dice, x.affine) if dice.chance(60) else x.affine)
    return sketch.finish(sketch.op("MEAN", [x, sketch.constant(axes)], y, keep_dims=keep))


def _binary(dice: Dice, name: str) -> Drawn:
    sketch = Sketch(dice)
    shapes = list(draw_operand_shapes(dice, (4, 4, 3, 2, 1)))
    if dice.chance(30):
        shapes.reverse()
    constant = dice.pick((None, None, None, 0, 1))
    affines = [_affine(dice, *dice.pick(((-16, -11), (-13, -12), (-13, -12), (-24, -8)))) for _ in shapes]
    operands: list[Value] = []
    for number, (shape, affine) in enumerate(zip(shapes, affines, strict=True)):
        if number == constant:
            operands.append(sketch.tensor(shape, affine, data=sketch.values(shape, affine)))
        else:
            operands.append(sketch.input(shape, affine))
    first, second = (affine.scale for affine in affines)
    whole = first * second * 16384 if name == "MUL" else max(first, second)
    exponent = dice.pick((0,) * 8 + (1, -2, 6))
    scale = max(float(np.float32(whole * 2.0**exponent * dice.float32(0, 0))), 2.0**-24)
    y = sketch.tensor(broadcast_shape(*shapes), Affine(scale=scale, zero_point=0, dtype="int16"))
    options: dict[str, Any] = {} if name == "MUL" else {"pot_scale_int16": False}
    return sketch.finish(sketch.op(name, operands, y, activation=dice.pick(ACTIVATIONS), **options))


def _rectifier(dice: Dice, name: str, **options: float) -> Drawn:
    sketch = Sketch(dice)
    affine = _affine(dice, -15, -9)
    x = sketch.input(draw_shape(dice), affine)
    other = _near(dice, affine) if dice.chance(60) else affine
    return sketch.finish(append_unary(sketch, name, x, other, **options))


def curve(dice: Dice, name: str) -> Drawn:
    """LOGISTIC and TANH, at times of the scales without a product; SOFTMAX."""
    sketch = Sketch(dice)
    own = (
        _affine(dice, -14, -8)
        if dice.chance(70)
        else Affine(scale=dice.pick((2.0**-12, 2.0**-11)), zero_point=0, dtype="int16")
    )
    shape = draw_shape(dice, ranks=(4, 3, 2, 2, 1), most=200)
    options = {"beta": dice.pick((1.0, 1.0, 0.5, 2.0))} if name == "SOFTMAX" else {}
    result = Affine(scale=2.0**-15, zero_point=0, dtype="int16")
    return sketch.finish(append_unary(sketch, name, sketch.input(shape, own), result, **options))


def leaky_relu(dice: Dice) -> Drawn:
    """LEAKY_RELU; slopes above 1 and below 0 as well."""
    return _rectifier(dice, "LEAKY_RELU", alpha=dice.pick((0.01, 0.1, 0.3, 1.5, -0.5, dice.float32(-12, 0))))


def quantize(dice: Dice) -> Drawn:
    """QUANTIZE of float32, int16 and int32 to int16, or of int16 and int32 to int8."""
    sketch, kind = Sketch(dice), dice.pick(("float32", "int8", "int16", "int32"))
    shape, own = draw_shape(dice), _affine(dice)
    if kind == "float32":
        x = sketch.input(shape, None, sixteenths=dice.pick((20, 200, 3000)))
        own = Affine(
            scale=dice.pick((0.125, 0.0625, 2.0**-9, dice.float32(-12, -4))), zero_point=0, dtype="int16"
        )
        return sketch.finish(append_unary(sketch, "QUANTIZE", x, own))
    ratio = dice.float32(-2, 1)
    if kind == "int8":
        other = Affine(scale=float(np.float32(own.scale * 256 * ratio)), zero_point=dice.zero_point())
        return sketch.finish(append_unary(sketch, "QUANTIZE", sketch.input(shape, own), other))
    if kind == "int32":
        wide = Affine(scale=float(np.float32(own.scale / 65536 * ratio)), zero_point=0, dtype="int32")
        result = own
        if dice.chance(30):
            result = Affine(scale=own.scale * 256, zero_point=dice.zero_point())
        return sketch.finish(append_unary(sketch, "QUANTIZE", sketch.input(shape, wide), result))
    return sketch.finish(append_unary(sketch, "QUANTIZE", sketch.input(shape, own), _near(dice, own)))


def widen(dice: Dice) -> Drawn:
    """QUANTIZE of int8 to int16."""
    sketch, own = Sketch(dice), _affine(dice)
    scale = float(np.float32(own.scale * 256 * dice.float32(-2, 1)))
    x = sketch.input(draw_shape(dice), Affine(scale=scale, zero_point=dice.zero_point()))
    return sketch.finish(append_unary(sketch, "QUANTIZE", x, own))


def dequantize(dice: Dice) -> Drawn:
    """DEQUANTIZE of int16."""
    sketch = Sketch(dice)
    return sketch.finish(
        append_unary(sketch, "DEQUANTIZE", sketch.input(draw_shape(dice), _affine(dice)), None)
    )


def _moved(dice: Dice, name: str) -> Drawn:
    """An operator that only moves elements."""
    sketch = Sketch(dice)
    shape = draw_shape(dice, ranks=(4, 3, 2), most=120)
    x = sketch.input(shape, _affine(dice))
    if name == "TRANSPOSE":
        order = dice.shuffled(range(len(shape)))
        y = sketch.tensor([shape[axis] for axis in order], x.affine)
        return sketch.finish(sketch.op(name, [x, sketch.constant(order)], y))
    if name == "CONCATENATION":
        other = sketch.input(shape, x.affine)
        y = sketch.tensor((*shape[:-1], 2 * shape[-1]), x.affine)
        return sketch.finish(sketch.op(name, [x, other], y, axis=-1))
    if name == "RESHAPE":
        wanted = [math.prod(shape)]
        y = sketch.tensor(wanted, x.affine)
        return sketch.finish(sketch.op(name, [x, sketch.constant(wanted)], y, new_shape=wanted))
    around = [(dice.integer(0, 2), dice.integer(0, 2)) for _ in shape]
    y = sketch.tensor([extent + sum(pair) for extent, pair in zip(shape, around, strict=True)], x.affine)
    amounts = sketch.constant([amount for pair in around for amount in pair], (len(around), 2))
    return sketch.finish(sketch.op("PAD", [x, amounts], y))


def network(dice: Dice) -> Drawn:
    """float32 edges, convolution, RELU, a depthwise one with a sum around it, a mean, a classifier."""
    sketch = Sketch(dice)
    extent, depth, channels = dice.integer(4, 9), dice.integer(1, 3), dice.integer(1, 9)
    real = sketch.input((1, extent, extent, depth), None)
    x = append_unary(sketch, "QUANTIZE", real, _affine(dice, -12, -11))
    padded = sketch.tensor((1, extent + 2, extent + 2, depth), x.affine)
    sketch.op("PAD", [x, sketch.constant([0, 0, 1, 1, 1, 1, 0, 0], (4, 2))], padded)
    assert x.affine is not None
    operands, made = _weights(sketch, x.affine, (channels, 3, 3, depth), axis=0, taps=9 * depth, bias="int64")
    image = (1, extent, extent, channels)
    y = sketch.op("CONV_2D", [padded, *operands], sketch.tensor(image, made), padding="VALID")
    y = append_unary(sketch, "RELU", y, made)
    operands, other = _weights(sketch, made, (1, 3, 3, channels), axis=3, taps=9, bias="int64")
    z = sketch.op("DEPTHWISE_CONV_2D", [y, *operands], sketch.tensor(image, other), padding="SAME")
    largest = max(made.scale, other.scale)
    total = sketch.tensor(image, Affine(scale=largest, zero_point=0, dtype="int16"))
    sketch.op("ADD", [y, z], total, pot_scale_int16=False)
    assert total.affine is not None
    flat = sketch.tensor((1, channels), total.affine)
    sketch.op("MEAN", [total, sketch.constant([1, 2])], flat, keep_dims=False)
    operands, last = _weights(sketch, total.affine, (5, channels), axis=None, taps=channels, bias="int64")
    scores = sketch.op("FULLY_CONNECTED", [flat, *operands], sketch.tensor((1, 5), last))
    return sketch.finish(append_unary(sketch, "DEQUANTIZE", scores, None))


_NETWORK = "QUANTIZE+PAD+CONV_2D+RELU+DEPTHWISE_CONV_2D+ADD+MEAN+FULLY_CONNECTED+DEQUANTIZE"

INT16: Mapping[str, tuple[tuple[str, Callable[[Dice], Drawn], int], ...]] = MappingProxyType(
    {
        "CONV_2D": (("int16", conv, 40), ("int16_b32", partial(conv, bias="int32"), 15)),
        "CONV_2D without bias": (("int16", partial(conv, bias=""), 8),),
        "DEPTHWISE_CONV_2D": (("int16", depthwise, 40),),
        "FULLY_CONNECTED": (
            ("int16", fully_connected, 20),
            ("int16_b32", partial(fully_connected, bias="int32"), 10),
        ),
        "FULLY_CONNECTED int16 without bias": (("", partial(fully_connected, bias=""), 6),),
        "FULLY_CONNECTED per channel": (("int16", partial(fully_connected, per_channel=True), 10),),
        "AVERAGE_POOL_2D": (("int16", partial(_pool, name="AVERAGE_POOL_2D"), 20),),
        "MAX_POOL_2D": (("int16", partial(_pool, name="MAX_POOL_2D"), 12),),
        "MEAN": (("int16", mean, 20),),
        "ADD": (("int16", partial(_binary, name="ADD"), 25),),
        "SUB": (("int16", partial(_binary, name="SUB"), 25),),
        "MUL": (("int16", partial(_binary, name="MUL"), 20),),
        "RELU": (("int16", partial(_rectifier, name="RELU"), 8),),
        "RELU6": (("int16", partial(_rectifier, name="RELU6"), 8),),
        "LEAKY_RELU": (("int16", leaky_relu, 15),),
        "QUANTIZE": (("int16", quantize, 30),),
        "QUANTIZE int8 to int16": (("", widen, 8),),
        "DEQUANTIZE": (("int16", dequantize, 8),),
        _NETWORK: (("int16", network, 12),),
        "CONCATENATION": (("int16", partial(_moved, name="CONCATENATION"), 6),),
        "PAD": (("int16", partial(_moved, name="PAD"), 8),),
        "RESHAPE": (("int16", partial(_moved, name="RESHAPE"), 4),),
        "TRANSPOSE": (("int16", partial(_moved, name="TRANSPOSE"), 8),),
    }
)
"""By operator under test: (label, how to draw one, how many)."""
