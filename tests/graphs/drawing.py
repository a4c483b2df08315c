"""Random `.tflite` graphs of 3 to 25 operators on int8: branches, several outputs, scales far apart."""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from tests.opgen.convolutions import ACTIVATIONS, Window, append_conv, append_depthwise, draw_weights
from tests.opgen.dice import Dice
from tests.opgen.elementwise import append_unary, broadcast_shape
from tests.opgen.pooling import append_pool
from tests.opgen.shapes import append_pad
from tests.opgen.sketch import Affine, Drawn, Sketch, Value

FEWEST, MOST = 3, 25
"""Operators of a graph."""
_STREAM = 38
_MOST_ELEMENTS = 900
"""Of a value: graphs are for small boards too."""


def graph(seed: int) -> Drawn:
    """Graph number `seed`, always the same, with two cases of inputs."""
    dice = Dice(_STREAM, seed)
    growing = _Growing(dice)
    left = dice.integer(FEWEST, MOST)
    while left > 0:
        left -= growing.grow()
    return growing.finish()


class _Growing:
    """A graph under construction."""

    def __init__(self, dice: Dice) -> None:
        self.dice, self.sketch = dice, Sketch(dice)
        self._values: list[Value] = []
        self._read: set[int] = set()
        self._inputs = [self._input() for _ in range(dice.pick((1, 1, 1, 2)))]

    def _input(self) -> Value:
        batch = 2 if self.dice.chance(8) else 1
        shape = (batch, *self.dice.integers(1, 10, 2), self.dice.integer(1, 8))
        value = self.sketch.input(shape, self._affine())
        self._values.append(value)
        return value

    def _affine(self) -> Affine:
        return self.sketch.affine(*self.dice.pick(((-8, -3),) * 6 + ((-20, -10), (0, 8))))

    def scaled(self, affine: Affine, factor: float = 1.0) -> Affine:
        """A quantisation whose scale is about `factor` times as large; now and then far from that."""
        far = self.dice.integer(-12, 12) if self.dice.chance(7) else 0
        scale = affine.scale * factor * self.dice.float32(-1, 0) * 2.0**far
        scale = min(max(scale, 2.0**-24), 2.0**40)  # below, engines refuse a limit of 6; above, squares end
        return Affine(scale=float(np.float32(scale)), zero_point=self.dice.zero_point())

    def grow(self) -> int:
        """Append an operator; how many were appended: none if what was picked suits nothing here."""
        x = self._values[-1] if self.dice.chance(60) else self.dice.pick(self._values)
        step = STEPS[self.dice.pick(tuple(STEPS))]
        found = step(self, x)
        if found is None:
            return 0
        self.reads(x)
        self._values.append(found)
        return 1

    def reads(self, value: Value) -> None:
        """Note that an operator reads a value."""
        self._read.add(value.index)

    def other(self, x: Value) -> Value:
        """A second operand for `x`: another value of its shape, itself, or a constant that is broadcast."""
        alike = [value for value in self._values if value.shape == x.shape]
        if self.dice.chance(65):
            found = self.dice.pick(alike)
            self.reads(found)
            return found
        shape = self.dice.pick(((1,), x.shape[-1:], x.shape))
        affine = self._affine()
        return self.sketch.tensor(shape, affine, data=self.sketch.values(shape, affine))

    def concatenated(self, x: Value) -> Value | None:
        """With others of its quantisation and, but along an axis, of its shape."""
        axis = self.dice.integer(1, len(x.shape) - 1) if len(x.shape) > 1 else 0
        alike = [
            value
            for value in self._values
            if value.affine == x.affine
            and len(value.shape) == len(x.shape)
            and all(
                one == two
                for at, (one, two) in enumerate(zip(value.shape, x.shape, strict=True))
                if at != axis
            )
        ]
        parts = [x, *(self.dice.pick(alike) for _ in range(self.dice.integer(1, 2)))]
        shape = list(x.shape)
        shape[axis] = sum(part.shape[axis] for part in parts)
        if math.prod(shape) > _MOST_ELEMENTS:
            return None
        for part in parts:
            self.reads(part)
        return self.sketch.op("CONCATENATION", parts, self.sketch.tensor(shape, x.affine), axis=axis)

    def finish(self) -> Drawn:
        """What nobody reads is an output, and a few of what is read; inputs are none."""
        computed = [value for value in self._values if value not in self._inputs]
        outputs = [value for value in computed if value.index not in self._read or self.dice.chance(10)]
        return self.sketch.finish(*outputs)


_Step = Callable[[_Growing, Value], Value | None]


def _known(value: Value) -> Affine:
    assert value.affine is not None, "every value is int8"
    return value.affine


def _window(growing: _Growing, x: Value, *, dilated: bool) -> Window | None:
    dice = growing.dice
    if len(x.shape) != 4:
        return None
    kernel = (dice.integer(1, 4), dice.integer(1, 4)) if dice.chance(60) else dice.pick(((1, 1), (3, 3)))
    window = Window(
        kernel=kernel,
        stride=(dice.integer(1, 2), dice.integer(1, 2)) if dice.chance(40) else (1, 1),
        dilation=(dice.integer(1, 2), dice.integer(1, 2)) if dilated and dice.chance(15) else (1, 1),
        padding=dice.pick(("SAME", "SAME", "VALID")),
        image=(x.shape[1], x.shape[2]),
    )
    return window if min(window.result) > 0 else None


def _conv(growing: _Growing, x: Value) -> Value | None:
    window = _window(growing, x, dilated=True)
    if window is None:
        return None
    return append_conv(growing.sketch, x, window, activation=growing.dice.pick(ACTIVATIONS))


def _depthwise(growing: _Growing, x: Value) -> Value | None:
    window = _window(growing, x, dilated=True)
    if window is None or 4 * math.prod(x.shape) > _MOST_ELEMENTS:
        return None
    return append_depthwise(growing.sketch, x, window, activation=growing.dice.pick(ACTIVATIONS))


def _pool(name: str) -> _Step:
    def step(growing: _Growing, x: Value) -> Value | None:
        window = _window(growing, x, dilated=False)
        return None if window is None else append_pool(growing.sketch, name, x, window)

    return step


def _connected(growing: _Growing, x: Value) -> Value | None:
    dice, sketch, depth = growing.dice, growing.sketch, math.prod(x.shape[1:])
    if depth > 400:
        return None
    channels = dice.integer(1, 12)
    w = draw_weights(sketch, x.affine, (channels, depth), axis=None, taps=depth, bias=channels)
    y = sketch.tensor((x.shape[0], channels), w.result)
    return sketch.op("FULLY_CONNECTED", [x, *w.operands], y, activation=dice.pick(ACTIVATIONS))


def _pair(name: str, factor: Callable[[Affine, Affine], float]) -> _Step:
    """`factor`: about how much larger the result's scale is than the first operand's."""

    def step(growing: _Growing, x: Value) -> Value:
        other = growing.other(x)
        operands = [x, other] if growing.dice.chance(70) else [other, x]
        result = growing.scaled(_known(x), factor(_known(x), _known(other)))
        y = growing.sketch.tensor(broadcast_shape(x.shape, other.shape), result)
        has_activation = name != "SQUARED_DIFFERENCE"
        options = {"activation": growing.dice.pick(ACTIVATIONS)} if has_activation else {}
        return growing.sketch.op(name, operands, y, **options)

    return step


def _sum_factor(first: Affine, second: Affine) -> float:
    return max(first.scale, second.scale) / first.scale


def _choice(name: str) -> _Step:
    """MAXIMUM, MINIMUM: operands and result have one quantisation."""

    def step(growing: _Growing, x: Value) -> Value:
        data = growing.sketch.values(x.shape, x.affine)
        other = growing.sketch.tensor(x.shape, x.affine, data=data)
        return growing.sketch.op(name, [x, other], growing.sketch.tensor(x.shape, x.affine))

    return step


def _prelu(growing: _Growing, x: Value) -> Value:
    slope = growing.sketch.affine(-8, -6)
    shape = (*(1 for _ in x.shape[1:-1]), x.shape[-1])
    alpha = growing.sketch.tensor(shape, slope, data=growing.sketch.values(shape, slope))
    return growing.sketch.op("PRELU", [x, alpha], growing.sketch.tensor(x.shape, growing.scaled(_known(x))))


def _function(name: str, **options: float) -> _Step:
    """An operator of one operand with any scale of the result."""

    def step(growing: _Growing, x: Value) -> Value:
        return append_unary(growing.sketch, name, x, growing.scaled(_known(x)), **options)

    return step


def _squashed(name: str, scale: float, zero_point: int) -> _Step:
    """An operator whose result has one quantisation."""

    def step(growing: _Growing, x: Value) -> Value | None:
        if name == "SOFTMAX" and not 2.0**-12 < _known(x).scale < 1:
            return None
        options = {"beta": 1.0} if name == "SOFTMAX" else {}
        return append_unary(growing.sketch, name, x, Affine(scale=scale, zero_point=zero_point), **options)

    return step


def _mean(name: str) -> _Step:
    def step(growing: _Growing, x: Value) -> Value | None:
        if len(x.shape) != 4:
            return None
        keep, axes = growing.dice.chance(60), growing.dice.pick(((1, 2), (1, 2), (3,), (2,)))
        shape = [1 if at in axes else size for at, size in enumerate(x.shape) if keep or at not in axes]
        result = growing.scaled(_known(x), 0.5) if name == "MEAN" and growing.dice.chance(60) else x.affine
        y = growing.sketch.tensor(shape, result)
        return growing.sketch.op(name, [x, growing.sketch.constant(axes)], y, keep_dims=keep)

    return step


def _pad(growing: _Growing, x: Value) -> Value | None:
    dice = growing.dice
    paddings = [(0, 0), *((dice.integer(0, 2), dice.integer(0, 2)) for _ in x.shape[1:])]
    size = math.prod(extent + sum(pair) for extent, pair in zip(x.shape, paddings, strict=True))
    if size > _MOST_ELEMENTS or not 2 <= len(x.shape) <= 4:
        return None
    return append_pad(growing.sketch, x, paddings)


def _reshape(growing: _Growing, x: Value) -> Value:
    rest = math.prod(x.shape[1:])
    sizes = [size for size in range(1, rest + 1) if rest % size == 0]
    first = growing.dice.pick(sizes)
    shape = growing.dice.pick(((x.shape[0], rest), (x.shape[0], 1, first, rest // first)))
    y = growing.sketch.tensor(shape, x.affine)
    return growing.sketch.op("RESHAPE", [x, growing.sketch.constant(shape)], y, new_shape=shape)


def _transpose(growing: _Growing, x: Value) -> Value:
    order = [0, *growing.dice.shuffled(range(1, len(x.shape)))]
    y = growing.sketch.tensor([x.shape[axis] for axis in order], x.affine)
    return growing.sketch.op("TRANSPOSE", [x, growing.sketch.constant(order)], y)


def _slice(growing: _Growing, x: Value) -> Value:
    dice = growing.dice
    begins = [0, *(dice.integer(0, extent - 1) for extent in x.shape[1:])]
    sizes = [dice.integer(1, extent - begin) for begin, extent in zip(begins, x.shape, strict=True)]
    sizes[0] = x.shape[0]
    constants = [growing.sketch.constant(numbers) for numbers in (begins, sizes)]
    return growing.sketch.op("SLICE", [x, *constants], growing.sketch.tensor(sizes, x.affine))


def _resized(name: str) -> _Step:
    def step(growing: _Growing, x: Value) -> Value | None:
        if len(x.shape) != 4:
            return None
        size = growing.dice.integers(1, 12, 2)
        shape = (x.shape[0], *size, x.shape[3])
        if math.prod(shape) > _MOST_ELEMENTS:
            return None
        options: dict[str, Any] = growing.dice.pick(
            ({}, {"align_corners": True}, {"half_pixel_centers": True})
        )
        y = growing.sketch.tensor(shape, x.affine)
        return growing.sketch.op(name, [x, growing.sketch.constant(size)], y, **options)

    return step


STEPS: Mapping[str, _Step] = MappingProxyType(
    {
        "CONV_2D": _conv,
        "CONV_2D again": _conv,
        "CONV_2D once more": _conv,
        "DEPTHWISE_CONV_2D": _depthwise,
        "DEPTHWISE_CONV_2D again": _depthwise,
        "FULLY_CONNECTED": _connected,
        "AVERAGE_POOL_2D": _pool("AVERAGE_POOL_2D"),
        "MAX_POOL_2D": _pool("MAX_POOL_2D"),
        "MEAN": _mean("MEAN"),
        "REDUCE_MAX": _mean("REDUCE_MAX"),
        "ADD": _pair("ADD", _sum_factor),
        "ADD again": _pair("ADD", _sum_factor),
        "SUB": _pair("SUB", _sum_factor),
        "MUL": _pair("MUL", lambda first, second: 64 * second.scale),
        "SQUARED_DIFFERENCE": _pair(
            "SQUARED_DIFFERENCE", lambda first, second: 64 * max(first.scale, second.scale) ** 2 / first.scale
        ),
        "MAXIMUM": _choice("MAXIMUM"),
        "MINIMUM": _choice("MINIMUM"),
        "PRELU": _prelu,
        "RELU": _function("RELU"),
        "RELU6": _function("RELU6"),
        "LEAKY_RELU": _function("LEAKY_RELU", alpha=0.3),
        "QUANTIZE": _function("QUANTIZE"),
        "LOGISTIC": _squashed("LOGISTIC", 1 / 256, -128),
        "TANH": _squashed("TANH", 1 / 128, 0),
        "SOFTMAX": _squashed("SOFTMAX", 1 / 256, -128),
        "CONCATENATION": _Growing.concatenated,
        "CONCATENATION again": _Growing.concatenated,
        "PAD": _pad,
        "RESHAPE": _reshape,
        "TRANSPOSE": _transpose,
        "SLICE": _slice,
        "RESIZE_NEAREST_NEIGHBOR": _resized("RESIZE_NEAREST_NEIGHBOR"),
        "RESIZE_BILINEAR": _resized("RESIZE_BILINEAR"),
    }
)
"""How an operator is appended to a value, by name; some are picked more often."""
