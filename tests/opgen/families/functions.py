"""Functions of one element."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from tests.opgen.dice import Dice
from tests.opgen.elementwise import append_unary, draw_shape
from tests.opgen.families.rearranged import drawn_kind
from tests.opgen.sketch import Affine, Drawn, Plain, Sketch

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


def cast(dice: Dice, argument: str, result: str) -> Drawn:
    """CAST of the whole range."""
    sketch, shape = Sketch(dice), draw_shape(dice)
    info = np.iinfo(argument)
    x = sketch.input(shape, Plain(dtype=argument, low=int(info.min), high=int(info.max)))
    return sketch.finish(sketch.op("CAST", [x], sketch.tensor(shape, Plain(dtype=result, low=0, high=0))))


_CASTS = (("int16", "int32"), ("int32", "int8"), ("int32", "uint32"), ("uint32", "int32"))


def gelu(dice: Dice, dtype: str) -> Drawn:
    """GELU by erf and by tanh."""
    sketch, shape = Sketch(dice), draw_shape(dice)
    kind = sketch.affine(-7, -3) if dtype == "int8" else None
    x = sketch.input(shape, kind, sixteenths=None if kind else dice.pick((20, 60)))
    result = sketch.near(kind) if kind else None
    approximate = dice.chance(50)
    return sketch.finish(sketch.op("GELU", [x], sketch.tensor(shape, result), approximate=approximate))


def _each(name: str, dtypes: Sequence[str]) -> Mapping[str, Callable[[Dice], Drawn]]:
    return {dtype: partial(function, dtype=dtype, name=name) for dtype in dtypes}


_BOTH = ("int8", "float32")
DRAWN: Mapping[str, Mapping[str, Callable[[Dice], Drawn]]] = {
    "CAST": {" ".join(pair): partial(cast, argument=pair[0], result=pair[1]) for pair in _CASTS},
    "GELU": {dtype: partial(gelu, dtype=dtype) for dtype in _BOTH},
    "ABS": _each("ABS", ("int8", "int16", "float32")),
    **{name: _each(name, _BOTH) for name in ("ELU", "HARD_SWISH", "RELU_N1_TO_1", "RSQRT")},
    **{
        name: _each(name, ("float32",))
        for name in ("CEIL", "COS", "EXP", "FLOOR", "LOG", "NEG", "ROUND", "SIN", "SQRT")
    },
}
"""By operator and type."""
