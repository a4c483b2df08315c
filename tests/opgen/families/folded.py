"""Operators that are known when the file is read (SHAPE, ZEROS_LIKE, BROADCAST_ARGS) and what reads them."""

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from tests.opgen.dice import Dice
from tests.opgen.elementwise import draw_shape
from tests.opgen.families.rearranged import drawn_kind
from tests.opgen.sketch import Drawn, Plain, Sketch
from tests.opgen.standing import standing

_RANKS = (4, 3, 2, 1)


def shape_of(dice: Dice, dtype: str) -> Drawn:
    """The extents of an input, added to another one."""
    sketch, shape, wide = Sketch(dice), draw_shape(dice, ranks=_RANKS, most=60), dice.pick(("int32", "int64"))
    x = sketch.input(shape, drawn_kind(dice, dtype))
    numbers = Plain(dtype=wide, low=-50, high=50)
    other = sketch.input((len(shape),), numbers)
    extents = sketch.op("SHAPE", [x], sketch.tensor((len(shape),), numbers), out_type=wide)
    return sketch.finish(sketch.op("MAXIMUM", [other, extents], sketch.tensor((len(shape),), numbers)))


def zeros(dice: Dice, dtype: str) -> Drawn:
    """The larger of an input and zeros."""
    sketch, shape, kind = Sketch(dice), draw_shape(dice, ranks=_RANKS, most=60), drawn_kind(dice, dtype)
    x = sketch.input(shape, kind)
    made = sketch.op("ZEROS_LIKE", [x], sketch.tensor(shape, kind))
    return sketch.finish(sketch.op("MAXIMUM", [x, made], sketch.tensor(shape, kind)))


def moved_zeros(dice: Dice, dtype: str) -> Drawn:
    """An input and zeros behind one another."""
    sketch, shape, kind = Sketch(dice), draw_shape(dice, ranks=_RANKS, most=60), drawn_kind(dice, dtype)
    x = sketch.input(shape, kind)
    made = sketch.op("ZEROS_LIKE", [x], sketch.tensor(shape, kind))
    y = sketch.tensor((2 * shape[0], *shape[1:]), kind)
    return sketch.finish(sketch.op("CONCATENATION", [x, made], y, axis=0))


def broadcast(dice: Dice, dtype: str) -> Drawn:
    """An input in the shape that two shapes broadcast to."""
    sketch, kind, whole = Sketch(dice), drawn_kind(dice, "float32"), draw_shape(dice, ranks=_RANKS, most=60)
    rows = [tuple(1 if dice.chance(40) else extent for extent in whole) for _ in range(2)]
    wanted = tuple(max(pair) for pair in zip(*rows, strict=True))
    x = sketch.input(rows[0], kind)
    # A leading extent of 1 may be left out of the second one.
    rows[1] = rows[1][1:] if rows[1][0] == 1 and len(whole) > 1 else rows[1]
    shapes = [sketch.model.constant(sketch.name, np.array(row), dtype) for row in rows]
    made = sketch.op(
        "BROADCAST_ARGS", shapes, sketch.tensor((len(whole),), Plain(dtype=dtype, low=0, high=1))
    )
    return sketch.finish(sketch.op("BROADCAST_TO", [x, made], sketch.tensor(wanted, kind)))


DRAWN: Mapping[str, Mapping[str, Callable[[Dice], Drawn]]] = {
    "SHAPE": {
        dtype: partial(shape_of, dtype=dtype)
        for dtype in ("int8", "uint8", "int16", "int32", "int64", "uint32", "float32", "bool")
    },
    "ZEROS_LIKE": {
        **{dtype: partial(zeros, dtype=dtype) for dtype in ("int32", "int64", "float32")},
        **{
            dtype: standing(partial(moved_zeros, dtype=dtype), dtype, "int32")
            for dtype in ("int8", "uint8", "int16", "uint32", "bool")
        },
    },
    "BROADCAST_ARGS": {dtype: partial(broadcast, dtype=dtype) for dtype in ("int32", "int64")},
}
"""By operator and type."""
