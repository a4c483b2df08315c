"""CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED, int8 and float32."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.opgen.dice import Dice
from tests.opgen.sketch import Affine, Drawn, Sketch, Value

MOST_MACS = 50_000
ACTIVATIONS = ("none",) * 6 + ("relu", "relu_n1_to_1", "relu6")
_ACCUMULATOR = 73.0 * 73.0
"""Standard deviation of a product of two random int8 values."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """Geometry of a sliding window over an image, per axis (height, width)."""

    kernel: tuple[int, int]
    stride: tuple[int, int]
    dilation: tuple[int, int]
    padding: str
    image: tuple[int, int]

    @property
    def result(self) -> tuple[int, int]:
        """Extents of the result."""
        height, width = (self._extent(axis) for axis in (0, 1))
        return height, width

    def _extent(self, axis: int) -> int:
        covered = (self.kernel[axis] - 1) * self.dilation[axis] + 1
        free = self.image[axis] if self.padding == "SAME" else self.image[axis] - covered + 1
        return -(-free // self.stride[axis])

    def options(self) -> dict[str, Any]:
        """Options of a convolution."""
        return {
            "padding": self.padding,
            "stride_h": self.stride[0],
            "stride_w": self.stride[1],
            "dilation_h": self.dilation[0],
            "dilation_w": self.dilation[1],
        }


def draw_window(dice: Dice, *, largest_image: int = 11, dilated: bool = True) -> Window:
    """A random window that fits its image; under SAME it may also be larger than the image."""
    kernel = (dice.integer(1, 4), dice.integer(1, 5)) if dice.chance(70) else dice.pick(((1, 1), (3, 3)))
    dilation = (dice.integer(1, 3), dice.integer(1, 2)) if dilated and dice.chance(30) else (1, 1)
    padding = dice.pick(("SAME", "VALID"))
    least = [1, 1] if padding == "SAME" else [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    height, width = (dice.integer(extent, max(extent, largest_image)) for extent in least)
    return Window(
        kernel=kernel,
        stride=(dice.integer(1, 3), dice.integer(1, 3)) if dice.chance(60) else (1, 1),
        dilation=dilation,
        padding=padding,
        image=(height, width),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Weights:
    """Constants of a convolution (one without bias has weights only) and the quantisation of its result."""

    operands: tuple[int, ...]
    result: Affine | None


def draw_weights(
    sketch: Sketch, image: Affine | None, shape: Sequence[int], *, axis: int | None, taps: int, bias: int
) -> Weights:
    """Weights of `shape`, quantised along `axis` (None: per tensor), and a bias of that many or none."""
    dice = sketch.dice
    if image is None:
        shapes = [shape, (bias,)] if bias else [shape]
        reals = [dice.reals(each) for each in shapes]
        if sketch.weights == "float16":
            tiny = np.float32(2.0 ** -dice.pick((0, 0, 12, 18)))
            operands = [sketch.half_floats(data * tiny) for data in reals]
        else:
            operands = [sketch.tensor(data.shape, None, data=data) for data in reals]
            if sketch.weights == "int8":
                operands[0] = _dynamic_range(sketch, shape, axis)
        return Weights(operands=tuple(each.index for each in operands), result=None)
    is_int4 = sketch.weights == "int4"
    style = dice.pick(("usual",) * 13 + ("left shift", "tiny", "zero"))
    base = dice.float32(-10, -5)
    scales = _draw_scales(dice, base, 1 if axis is None else shape[axis])
    multiplier = _draw_multiplier(dice, style, taps) * (16 if is_int4 else 1)
    limit = 3 if style == "left shift" else 7 if is_int4 else 127
    data = dice.int8(shape, -limit - is_int4, limit)
    weights = sketch.model.tensor(
        sketch.name, shape, sketch.weights or "int8", scale=scales, axis=axis or 0, data=data
    )
    most = int(limit * 73 * math.sqrt(taps))
    result = Affine(scale=float(np.float32(image.scale * base / multiplier)), zero_point=dice.zero_point())
    if not bias:
        return Weights(operands=(weights,), result=result)
    products = [float(np.float32(image.scale * scale)) for scale in scales]
    added = dice.integers(-most, most, bias)
    return Weights(
        operands=(weights, sketch.model.tensor(sketch.name, (bias,), "int32", scale=products, data=added)),
        result=result,
    )


def _dynamic_range(sketch: Sketch, shape: Sequence[int], axis: int | None) -> Value:
    """int8 weights of a layer whose image is float32."""
    scales = _draw_scales(sketch.dice, sketch.dice.float32(-10, -5), 1 if axis is None else shape[axis])
    if len(scales) > 1 and len(set(scales)) == 1:  # tflite-runtime then takes a scale of 0
        scales[0] /= 2
    data = sketch.dice.int8(shape, -127, 127)
    index = sketch.model.tensor(sketch.name, shape, "int8", scale=scales, axis=axis or 0, data=data)
    return Value(index=index, shape=tuple(shape), affine=None)


def _draw_scales(dice: Dice, base: float, channels: int) -> list[float]:
    if channels == 1:
        return [base]
    scales = [base * 2.0 ** dice.integer(-3, 0) for _ in range(channels)]
    if dice.chance(15):
        scales[dice.integer(0, channels - 1)] = base * 2.0**-40  # this channel's multiplier becomes 0
    return scales


def _draw_multiplier(dice: Dice, style: str, taps: int) -> float:
    """Ratio of accumulator to result: the usual one spreads results over int8, the others are its limits."""
    if style == "left shift":
        return dice.float32(0, 4)
    if style == "tiny":
        return dice.float32(-31, -18)
    if style == "zero":
        return dice.float32(-45, -34)
    return 64.0 / (_ACCUMULATOR * math.sqrt(taps)) * dice.float32(-1, 1)


def append_conv(
    sketch: Sketch, x: Value, window: Window, *, groups: int = 1, bias: bool = True, **options: Any
) -> Value:
    """CONV_2D of `x`, whose extents are the window's image."""
    dice = sketch.dice
    batch, depth = x.shape[0], x.shape[3] // groups
    channels = groups * dice.integer(1, 9 // groups)
    taps = window.kernel[0] * window.kernel[1] * depth
    results = batch * window.result[0] * window.result[1]
    channels = max(groups, min(channels, MOST_MACS // (results * taps * groups) * groups))
    # tflite-runtime reads beyond the image of a hybrid layer of several groups and one scale.
    whole = dice.chance(25) and (groups == 1 or sketch.weights != "int8")
    w = draw_weights(
        sketch,
        x.affine,
        (channels, *window.kernel, depth),
        axis=None if whole else 0,
        taps=taps,
        bias=channels if bias else 0,
    )
    y = sketch.tensor((batch, *window.result, channels), w.result)
    return sketch.op("CONV_2D", [x, *w.operands], y, **(window.options() | options))


def append_depthwise(sketch: Sketch, x: Value, window: Window, **options: Any) -> Value:
    """DEPTHWISE_CONV_2D of `x`, whose extents are the window's image."""
    dice = sketch.dice
    multiplier = dice.pick((1, 1, 1, 2, 3, 4))
    channels = x.shape[3] * multiplier
    w = draw_weights(
        sketch,
        x.affine,
        (1, *window.kernel, channels),
        axis=None if dice.chance(25) and sketch.weights != "int8" else 3,
        taps=window.kernel[0] * window.kernel[1],
        bias=channels if dice.chance(85) else 0,
    )
    y = sketch.tensor((x.shape[0], *window.result, channels), w.result)
    options = window.options() | {"depth_multiplier": multiplier} | options
    return sketch.op("DEPTHWISE_CONV_2D", [x, *w.operands], y, **options)


def draw_image(sketch: Sketch, window: Window, depth: int, *, quantised: bool) -> Value:
    """A graph input that the window fits."""
    batch = 2 if sketch.dice.chance(10) else 1
    return sketch.input((batch, *window.image, depth), sketch.affine() if quantised else None)


def conv(dice: Dice, quantised: bool, bias: bool = True, weights: str = "") -> Drawn:
    """CONV_2D; one in ten is grouped."""
    sketch, window = Sketch(dice, weights=weights), draw_window(dice)
    groups = dice.integer(2, 3) if dice.chance(10) else 1
    x = draw_image(sketch, window, groups * dice.integer(1, 9), quantised=quantised)
    activation = dice.pick(ACTIVATIONS)
    return sketch.finish(append_conv(sketch, x, window, groups=groups, bias=bias, activation=activation))


def depthwise(dice: Dice, quantised: bool, weights: str = "") -> Drawn:
    """DEPTHWISE_CONV_2D with multipliers 1 to 4."""
    sketch, window = Sketch(dice, weights=weights), draw_window(dice)
    x = draw_image(sketch, window, dice.integer(1, 11), quantised=quantised)
    return sketch.finish(append_depthwise(sketch, x, window, activation=dice.pick(ACTIVATIONS)))


def fully_connected(dice: Dice, quantised: bool, per_channel: bool = False, weights: str = "") -> Drawn:
    """FULLY_CONNECTED on rows of rank 2 to 4; with keep_num_dims the leading axes stay."""
    sketch = Sketch(dice, weights=weights)
    depth, channels = dice.integer(1, 60), dice.integer(1, 17)
    keep = dice.chance(30)
    leading = dice.pick(((1,), (4,), (3,), (2, 2), (1, 2, 3)) if keep else ((1,), (1,), (2,), (4,), (3,)))
    split = not keep and depth % 2 == 0 and dice.chance(40)
    shape = (*leading, 2, depth // 2) if split else (*leading, depth)
    x = sketch.input(shape, sketch.affine() if quantised else None)
    w = draw_weights(
        sketch,
        x.affine,
        (channels, depth),
        axis=0 if per_channel else None,
        taps=depth,
        bias=channels if dice.chance(80) else 0,
    )
    y = sketch.tensor((*leading, channels), w.result)
    options: dict[str, Any] = {"version": 5, "keep_num_dims": True} if keep else {}
    if weights == "int8":
        options |= {"version": 9, "asymmetric_quantize_inputs": dice.chance(50)}
    operands = [x, *w.operands] if len(w.operands) == 2 or dice.chance(50) else [x, *w.operands, None]
    sketch.op("FULLY_CONNECTED", operands, y, activation=dice.pick(ACTIVATIONS), **options)
    return sketch.finish(y)
