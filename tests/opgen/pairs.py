"""Two or three operators: what a compiler may fold or fuse, and look-alikes that it must not."""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

from tests.opgen.convolutions import (
    ACTIVATIONS,
    Window,
    append_conv,
    append_depthwise,
    draw_image,
    draw_window,
)
from tests.opgen.dice import Dice
from tests.opgen.elementwise import append_unary, draw_shape
from tests.opgen.pooling import append_pool
from tests.opgen.shapes import append_pad
from tests.opgen.sketch import Drawn, Sketch, Value


def _padded(sketch: Sketch, *, channels: bool = False) -> tuple[Value, Window]:
    """A padded image and a window that fits it."""
    dice = sketch.dice
    window = draw_window(dice, largest_image=9)
    top, left = dice.integer(0, min(2, window.image[0] - 1)), dice.integer(0, min(2, window.image[1] - 1))
    inner = Window(
        kernel=window.kernel,
        stride=window.stride,
        dilation=window.dilation,
        padding=window.padding,
        image=(window.image[0] - top, window.image[1] - left),
    )
    bottom = dice.integer(0, min(2, inner.image[0] - 1))
    right = dice.integer(0, min(2, inner.image[1] - 1))
    x = sketch.input(
        (1, inner.image[0] - bottom, inner.image[1] - right, dice.integer(1, 6)), sketch.affine()
    )
    return append_pad(sketch, x, [(0, 0), (top, bottom), (left, right), (0, 1 if channels else 0)]), window


def pad_conv(dice: Dice) -> Drawn:
    """PAD, CONV_2D: the padding may move into the convolution, SAME or VALID."""
    sketch = Sketch(dice)
    x, window = _padded(sketch)
    return sketch.finish(append_conv(sketch, x, window, activation=dice.pick(ACTIVATIONS)))


def pad_depthwise(dice: Dice) -> Drawn:
    """PAD, DEPTHWISE_CONV_2D."""
    sketch = Sketch(dice)
    x, window = _padded(sketch)
    return sketch.finish(append_depthwise(sketch, x, window, activation=dice.pick(ACTIVATIONS)))


def pad_channels_conv(dice: Dice) -> Drawn:
    """PAD of channels too, CONV_2D: no convolution's padding can say this."""
    sketch = Sketch(dice)
    x, window = _padded(sketch, channels=True)
    return sketch.finish(append_conv(sketch, x, window))


def pad_shown_conv(dice: Dice) -> Drawn:
    """PAD, CONV_2D where the padded image is an output too."""
    sketch = Sketch(dice)
    x, window = _padded(sketch)
    return sketch.finish(append_conv(sketch, x, window), x)


def pad_average_pool(dice: Dice) -> Drawn:
    """PAD, AVERAGE_POOL_2D: a pool's own padding is not counted, a PAD's elements are."""
    sketch = Sketch(dice)
    x, window = _padded(sketch)
    return sketch.finish(append_pool(sketch, "AVERAGE_POOL_2D", x, _undilated(window)))


def pad_max_pool(dice: Dice) -> Drawn:
    """PAD, MAX_POOL_2D: padded elements are the zero point here, and may be the largest."""
    sketch = Sketch(dice)
    x, window = _padded(sketch)
    return sketch.finish(append_pool(sketch, "MAX_POOL_2D", x, _undilated(window)))


def _undilated(window: Window) -> Window:
    return Window(
        kernel=window.kernel,
        stride=window.stride,
        dilation=(1, 1),
        padding=window.padding,
        image=window.image,
    )


def _conv_then(dice: Dice, name: str) -> Drawn:
    sketch, window = Sketch(dice), draw_window(dice, largest_image=8)
    x = append_conv(sketch, draw_image(sketch, window, dice.integer(1, 5), quantised=True), window)
    other = x.affine if dice.chance(60) or x.affine is None else sketch.near(x.affine)
    return sketch.finish(append_unary(sketch, name, x, other))


def conv_relu(dice: Dice) -> Drawn:
    """CONV_2D, RELU; one quantisation or two."""
    return _conv_then(dice, "RELU")


def conv_relu6(dice: Dice) -> Drawn:
    """CONV_2D, RELU6; one quantisation or two."""
    return _conv_then(dice, "RELU6")


def conv_quantize(dice: Dice) -> Drawn:
    """CONV_2D, QUANTIZE: the rounding of both must stay."""
    return _conv_then(dice, "QUANTIZE")


def float_edges(dice: Dice) -> Drawn:
    """QUANTIZE, CONV_2D, DEQUANTIZE."""
    sketch, window = Sketch(dice), draw_window(dice, largest_image=6)
    image = sketch.input((1, *window.image, dice.integer(1, 4)), None, sixteenths=100)
    x = append_unary(sketch, "QUANTIZE", image, sketch.affine(-6, -3))
    return sketch.finish(append_unary(sketch, "DEQUANTIZE", append_conv(sketch, x, window), None))


def residual(dice: Dice) -> Drawn:
    """ADD of a MAX_POOL_2D and its own image: neither may die before."""
    sketch = Sketch(dice)
    extents = dice.integers(2, 6, 2)
    window = Window(
        kernel=(3, 3), stride=(1, 1), dilation=(1, 1), padding="SAME", image=(extents[0], extents[1])
    )
    x = sketch.input((1, *window.image, dice.integer(1, 5)), sketch.affine())
    y = append_pool(sketch, "MAX_POOL_2D", x, window)
    result = sketch.tensor(x.shape, sketch.affine(-5, -2))
    return sketch.finish(sketch.op("ADD", [y, x], result, activation=dice.pick(ACTIVATIONS)))


def transpose_reshape(dice: Dice) -> Drawn:
    """TRANSPOSE, RESHAPE to a row."""
    sketch = Sketch(dice)
    x = sketch.input(draw_shape(dice, ranks=(4, 3, 2)), sketch.affine())
    permutation = dice.shuffled(range(len(x.shape)))
    moved = sketch.tensor([x.shape[axis] for axis in permutation], x.affine)
    sketch.op("TRANSPOSE", [x, sketch.constant(permutation)], moved)
    row = sketch.tensor((1, math.prod(x.shape)), x.affine)
    return sketch.finish(sketch.op("RESHAPE", [moved, sketch.constant(row.shape)], row, new_shape=row.shape))


PAIRS: Mapping[str, Callable[[Dice], Drawn]] = MappingProxyType(
    {
        "PAD+CONV_2D": pad_conv,
        "PAD+DEPTHWISE_CONV_2D": pad_depthwise,
        "PAD(channels)+CONV_2D": pad_channels_conv,
        "PAD(output)+CONV_2D": pad_shown_conv,
        "PAD+AVERAGE_POOL_2D": pad_average_pool,
        "PAD+MAX_POOL_2D": pad_max_pool,
        "CONV_2D+RELU": conv_relu,
        "CONV_2D+RELU6": conv_relu6,
        "CONV_2D+QUANTIZE": conv_quantize,
        "QUANTIZE+CONV_2D+DEQUANTIZE": float_edges,
        "MAX_POOL_2D+ADD": residual,
        "TRANSPOSE+RESHAPE": transpose_reshape,
    }
)
