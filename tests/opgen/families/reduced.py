"""Operators that reduce axes, and products of matrices."""

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from tests.opgen.dice import Dice
from tests.opgen.elementwise import draw_shape
from tests.opgen.families.rearranged import drawn_kind
from tests.opgen.sketch import Affine, Drawn, Plain, Sketch


def reduced(dice: Dice, dtype: str, name: str) -> Drawn:
    """SUM, REDUCE_MAX, REDUCE_MIN, REDUCE_ALL or REDUCE_ANY over any axes."""
    sketch, shape, kind = Sketch(dice), draw_shape(dice, ranks=(4, 3, 2, 1)), drawn_kind(dice, dtype)
    axes = sorted(dice.shuffled(range(len(shape)))[: dice.integer(1, len(shape))])
    keep = dice.chance(50)
    wanted = [1 if axis in axes else e for axis, e in enumerate(shape) if keep or axis not in axes]
    result = kind
    if name == "SUM" and isinstance(kind, Affine):
        scale = float(np.float32(kind.scale * dice.float32(-2, 3)))
        result = Affine(scale=scale, zero_point=dice.zero_point() if dtype == "int8" else 0, dtype=dtype)
    x = sketch.input(shape, kind)
    y = sketch.tensor(wanted, result)
    return sketch.finish(sketch.op(name, [x, sketch.constant(axes)], y, keep_dims=keep))


def arg(dice: Dice, dtype: str, name: str, *, places: str = "int32") -> Drawn:
    """ARG_MAX, ARG_MIN along any axis, to `places`."""
    sketch, shape, kind = Sketch(dice), draw_shape(dice, ranks=(4, 3, 2)), drawn_kind(dice, dtype)
    axis = dice.integer(0, len(shape) - 1)
    x = sketch.input(shape, kind)
    y = sketch.tensor([e for at, e in enumerate(shape) if at != axis], Plain(dtype=places, low=0, high=0))
    given = axis if dice.chance(70) else axis - len(shape)
    return sketch.finish(sketch.op(name, [x, sketch.constant([given])], y, output_type=places))


def batch_matmul(dice: Dice, dtype: str) -> Drawn:
    """BATCH_MATMUL of up to four axes, transposed or not."""
    sketch, kinds = Sketch(dice), [drawn_kind(dice, dtype) for _ in range(2)]
    rows, depth, columns = dice.integer(1, 5), dice.integer(1, 16), dice.integer(1, 5)
    outer = dice.integers(1, 3, dice.integer(0, 2))
    batches = [tuple(1 if dice.chance(20) else extent for extent in outer) for _ in range(2)]
    adj_x, adj_y = dice.chance(40), dice.chance(40)
    first = (*batches[0], depth, rows) if adj_x else (*batches[0], rows, depth)
    second = (*batches[1], columns, depth) if adj_y else (*batches[1], depth, columns)
    wanted = (*(max(pair) for pair in zip(*batches, strict=True)), rows, columns)
    result = None
    if isinstance(kinds[0], Affine) and isinstance(kinds[1], Affine):
        product = kinds[0].scale * kinds[1].scale
        reach = 73 if dtype == "int8" else 18918
        scale = float(np.float32(product * reach * depth**0.5 * dice.float32(0, 2)))
        result = Affine(scale=scale, zero_point=dice.zero_point() if dtype == "int8" else 0, dtype=dtype)
    values = [sketch.input(shape, kind) for shape, kind in zip((first, second), kinds, strict=True)]
    y = sketch.tensor(wanted, result)
    return sketch.finish(sketch.op("BATCH_MATMUL", values, y, adj_x=adj_x, adj_y=adj_y))


def cumsum(dice: Dice, dtype: str) -> Drawn:
    """CUMSUM along any axis, with and without the element itself, from either end."""
    sketch, shape, kind = Sketch(dice), draw_shape(dice, ranks=(4, 3, 2, 1)), drawn_kind(dice, dtype)
    axis = dice.integer(0, len(shape) - 1)
    given = axis if dice.chance(70) else axis - len(shape)
    result = kind
    if isinstance(kind, Affine):
        scale = float(np.float32(kind.scale * dice.float32(-1, 4)))
        result = Affine(scale=scale, zero_point=dice.zero_point())
    x = sketch.input(shape, kind)
    options = {"exclusive": dice.chance(40), "reverse": dice.chance(40)}
    at = sketch.model.constant(sketch.name, np.array(given, np.int32))
    return sketch.finish(sketch.op("CUMSUM", [x, at], sketch.tensor(shape, result), **options))


def l2_normalization(dice: Dice, dtype: str) -> Drawn:
    """L2_NORMALIZATION of rows."""
    sketch, shape, kind = Sketch(dice), draw_shape(dice, ranks=(4, 3, 2)), drawn_kind(dice, dtype)
    result = Affine(scale=1 / 128, zero_point=0) if dtype == "int8" else None
    x = sketch.input(shape, kind)
    return sketch.finish(sketch.op("L2_NORMALIZATION", [x], sketch.tensor(shape, result)))


def log_softmax(dice: Dice, dtype: str) -> Drawn:
    """LOG_SOFTMAX of rows, of small and of large differences."""
    sketch, shape = Sketch(dice), draw_shape(dice, ranks=(4, 3, 2))
    int8 = dtype == "int8"
    x = sketch.input(shape, sketch.affine(-8, 0) if int8 else None)
    result = Affine(scale=1 / 16, zero_point=127) if int8 else None
    return sketch.finish(sketch.op("LOG_SOFTMAX", [x], sketch.tensor(shape, result)))


_BOTH = ("int8", "float32")
DRAWN: Mapping[str, Mapping[str, Callable[[Dice], Drawn]]] = {
    "SUM": {dtype: partial(reduced, dtype=dtype, name="SUM") for dtype in ("int8", "int16", "float32")},
    **{
        name: {
            dtype: partial(reduced, dtype=dtype, name=name) for dtype in ("int8", "int16", "int32", "float32")
        }
        for name in ("REDUCE_MAX", "REDUCE_MIN")
    },
    **{name: {"bool": partial(reduced, dtype="bool", name=name)} for name in ("REDUCE_ALL", "REDUCE_ANY")},
    **{
        name: {
            **{dtype: partial(arg, dtype=dtype, name=name) for dtype in _BOTH},
            "float32 to int64": partial(arg, dtype="float32", name=name, places="int64"),
        }
        for name in ("ARG_MAX", "ARG_MIN")
    },
    "BATCH_MATMUL": {dtype: partial(batch_matmul, dtype=dtype) for dtype in (*_BOTH, "int16")},
    "MEAN": {"int32": partial(reduced, dtype="int32", name="MEAN")},
    "SUM int32": {"int32": partial(reduced, dtype="int32", name="SUM")},
    "CUMSUM": {dtype: partial(cumsum, dtype=dtype) for dtype in _BOTH},
    "LOG_SOFTMAX": {dtype: partial(log_softmax, dtype=dtype) for dtype in _BOTH},
    "L2_NORMALIZATION": {dtype: partial(l2_normalization, dtype=dtype) for dtype in _BOTH},
}
"""By operator and type."""
