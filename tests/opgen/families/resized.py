"""Operators that make images larger or smaller, and the pool of squares."""

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from tests.opgen.convolutions import draw_image, draw_weights, draw_window
from tests.opgen.dice import Dice
from tests.opgen.families.rearranged import drawn_kind
from tests.opgen.pooling import append_pool
from tests.opgen.sketch import Affine, Drawn, Plain, Sketch
from tests.opgen.standing import instead


def resized(dice: Dice, dtype: str, name: str, *, asked: bool = False) -> Drawn:
    """RESIZE_NEAREST_NEIGHBOR, RESIZE_BILINEAR to any size, multiples and parts of one; `asked`: as that
    of floats, which hold integers below 2^24."""
    sketch, kind = Sketch(dice), drawn_kind(dice, dtype)
    if dtype == "int32":
        kind = Plain(dtype=dtype, low=-(1 << 23), high=1 << 23)
    image, channels = dice.integers(1, 8, 2), dice.integer(1, 5)
    factors = dice.integers(1, 3, 2)
    wanted = dice.pick((dice.integers(1, 12, 2), (image[0] * factors[0], image[1] * factors[1])))
    if dice.chance(20):
        image, wanted = (image[0] * factors[0], image[1] * factors[1]), image
    option = dice.pick(({}, {}, {"align_corners": True}, {"half_pixel_centers": True}))
    batch = dice.pick((1, 1, 2))
    x = sketch.input((batch, *image, channels), kind)
    y = sketch.tensor((batch, *wanted, channels), kind)
    if not asked:
        return sketch.finish(sketch.op(name, [x, sketch.constant(wanted)], y, **option))
    real = sketch.op("CAST", [x], sketch.tensor(x.shape, None))
    large = sketch.tensor(y.shape, None)
    sketch.op(name, [real, sketch.constant(wanted)], large, **option)
    return sketch.finish(sketch.op("CAST", [large], y))


def transpose_conv(dice: Dice, dtype: str, *, bias: bool) -> Drawn:
    """TRANSPOSE_CONV whose result is as large as an image that a convolution of the window takes."""
    sketch, window = Sketch(dice), draw_window(dice, largest_image=9, dilated=False)
    affine = None
    if dtype != "float32":
        zero = dice.zero_point() if dtype == "int8" else 0
        affine = Affine(scale=dice.float32(-12, -3), zero_point=zero, dtype=dtype)
    depth, channels, batch = dice.integer(1, 5), dice.integer(1, 5), dice.pick((1, 1, 2))
    x = sketch.input((batch, *window.result, depth), affine)
    taps = max(window.kernel[0] * window.kernel[1] * depth // (window.stride[0] * window.stride[1]), 1)
    axis = 0 if dice.chance(75) else None
    given = channels if bias and dtype != "int16" else 0
    w = draw_weights(sketch, affine, (channels, *window.kernel, depth), axis=axis, taps=taps, bias=given)
    operands = list(w.operands)
    result = w.result
    if dtype == "int16" and result is not None:
        result = Affine(scale=result.scale, zero_point=0, dtype=dtype)
        if bias:
            added = np.array(dice.integers(-20000, 20000, channels), np.int64)
            operands.append(sketch.model.tensor(sketch.name, (channels,), "int64", scale=1.0, data=added))
    wanted = (batch, *window.image, channels)
    y = sketch.tensor(wanted, result)
    options = {"padding": window.padding, "stride_h": window.stride[0], "stride_w": window.stride[1]}
    inputs = [sketch.constant(wanted), operands[0], x, *operands[1:]]
    return sketch.finish(sketch.op("TRANSPOSE_CONV", inputs, y, **options))


def l2_pool(dice: Dice, dtype: str) -> Drawn:
    """L2_POOL_2D of any window."""
    sketch, window = Sketch(dice), draw_window(dice, dilated=False)
    assert dtype == "float32"
    x = draw_image(sketch, window, dice.integer(1, 5), quantised=False)
    return sketch.finish(append_pool(sketch, "L2_POOL_2D", x, window))


_TRANSPOSED = [("int8", True), ("int8", False), ("int16", True), ("float32", True), ("float32", False)]
DRAWN: Mapping[str, Mapping[str, Callable[[Dice], Drawn]]] = {
    "RESIZE_NEAREST_NEIGHBOR": {
        **{
            dtype: partial(resized, dtype=dtype, name="RESIZE_NEAREST_NEIGHBOR")
            for dtype in ("int8", "int16", "float32")
        },
        "int32": instead(partial(resized, dtype="int32", name="RESIZE_NEAREST_NEIGHBOR")),
    },
    "RESIZE_BILINEAR": {
        dtype: partial(resized, dtype=dtype, name="RESIZE_BILINEAR") for dtype in ("int8", "float32")
    },
    "TRANSPOSE_CONV": {
        f"{dtype}{'' if bias else ' without bias'}": partial(transpose_conv, dtype=dtype, bias=bias)
        for dtype, bias in _TRANSPOSED
    },
    "TRANSPOSE_CONV int16 without bias": {"int16": partial(transpose_conv, dtype="int16", bias=False)},
    "L2_POOL_2D": {"float32": partial(l2_pool, dtype="float32")},
}
"""By operator and type."""
