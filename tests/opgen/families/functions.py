"""Functions of one element."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from tests.opgen.dice import Dice
from tests.opgen.elementwise import append_unary, draw_shape
from tests.opgen.families.rearranged import drawn_kind
from tests.opgen.sketch import Affine, Drawn, Sketch

POSITIVE = ("LOG", "RSQRT", "SQRT")


def function(dice: Dice, dtype: str, name: str) -> Drawn:
    """One function, at times with a constant argument's sign, of small and of large numbers."""
    sketch, shape = Sketch(dice), draw_shape(dice)
    if dtype == "float32":
        x = sketch.input(shape, None, sixteenths=dice.pick((20, 200, 1000)))
        if name in POSITIVE:
            half = sketch.tensor((1,), None, data=np.array([0.5], np.float32))
            squares = sketch.op("MUL", [x, x], sketch.tensor(shape, None))
            x = sketch.op("ADD", [squares, half], sketch.tensor(shape, None))
        elif name in ("EXP", "SIN", "COS"):
            small = sketch.tensor((1,), None, data=np.array([2.0**-7], np.float32))
            x = sketch.op("MUL", [x, small], sketch.tensor(shape, None))
        return sketch.finish(append_unary(sketch, name, x, None))
    kind = drawn_kind(dice, dtype)
    assert isinstance(kind, Affine)
    if name == "ELU":
        kind = sketch.affine(-8, -3)
    if name == "RSQRT":
        kind = Affine(scale=kind.scale, zero_point=-128)
    ratio = dice.float32(-2, 1)
    scale = kind.scale * ratio if name != "RSQRT" else ratio / 64 / kind.scale**0.5
    zero = dice.zero_point() if dtype == "int8" else 0
    result = Affine(scale=float(np.float32(scale)), zero_point=zero, dtype=dtype)
    return sketch.finish(append_unary(sketch, name, sketch.input(shape, kind), result))


def _each(name: str, dtypes: Sequence[str]) -> Mapping[str, Callable[[Dice], Drawn]]:
    return {dtype: partial(function, dtype=dtype, name=name) for dtype in dtypes}


_BOTH = ("int8", "float32")
DRAWN: Mapping[str, Mapping[str, Callable[[Dice], Drawn]]] = {
    "ABS": _each("ABS", ("int8", "int16", "float32")),
    **{name: _each(name, _BOTH) for name in ("ELU", "HARD_SWISH", "RELU_N1_TO_1", "RSQRT")},
    **{
        name: _each(name, ("float32",))
        for name in ("CEIL", "COS", "EXP", "FLOOR", "LOG", "NEG", "ROUND", "SIN", "SQRT")
    },
}
"""By operator and type."""
