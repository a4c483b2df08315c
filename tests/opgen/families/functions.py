"""Functions of one element."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from tests.opgen.dice import Dice
from tests.opgen.elementwise import append_unary, draw_shape
from tests.opgen.families.rearranged import drawn_kind
from tests.opgen.sketch import Affine, Drawn, Kind, Plain, Sketch, Value
from tests.opgen.standing import instead

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
    if name in ("ELU", "EXP"):
        kind = sketch.affine(-8, -3 if name == "ELU" else -6)
    if name == "RSQRT" and dtype == "int8":
        kind = Affine(scale=kind.scale, zero_point=-128)
    ratio = dice.float32(-2, 1) if name != "EXP" else dice.float32(-6, 4)
    unit = {"RSQRT": 1 / 64 / kind.scale**0.5, "EXP": 2.0**-5}
    scale = unit.get(name, kind.scale) * ratio
    zero = dice.zero_point() if dtype == "int8" else 0
    result = Affine(scale=float(np.float32(scale)), zero_point=zero, dtype=dtype)
    if name == "RSQRT" and dtype == "int16":
        result = Affine(scale=float(np.float32(scale / 64)), zero_point=0, dtype=dtype)
        x = sketch.input(shape, kind)
        zeros = sketch.tensor((1,), kind, data=np.array([dice.pick((0, 1, 100))], np.int16))
        x = sketch.op("MAXIMUM", [x, zeros], sketch.tensor(shape, kind))
        return sketch.finish(append_unary(sketch, name, x, result))
    return sketch.finish(append_unary(sketch, name, sketch.input(shape, kind), result))


_CASTS = ("float32", "int8", "uint8", "int16", "int32", "int64", "uint32", "bool")


def _cast_kind(dtype: str, low: int, high: int, *, is_plain: bool = False) -> Kind:
    """uint8 has a scale, which no CAST reads, unless `is_plain`."""
    if dtype == "uint8" and (low, high) == _ends(dtype) and not is_plain:
        return Affine(scale=0.5, zero_point=7, dtype=dtype)
    return Plain(dtype=dtype, low=low, high=high)


def _ends(dtype: str) -> tuple[int, int]:
    """The whole range; of 64 bits half of it."""
    if dtype == "bool":
        return 0, 1
    info = np.iinfo(dtype)
    return (-(1 << 62), 1 << 62) if dtype == "int64" else (int(info.min), int(info.max))


def casts(dice: Dice, argument: str, *, is_plain: bool = False) -> Drawn:
    """CAST of a type to each of the others: integers of the whole range, which are cut off; floats of the
    numbers that the result has, and sixteenths between them."""
    sketch, shape = Sketch(dice), draw_shape(dice, most=40)
    made: list[Value] = []
    x = (
        None
        if argument == "float32"
        else sketch.input(shape, _cast_kind(argument, *_ends(argument), is_plain=is_plain))
    )
    for wanted in _CASTS:
        if wanted == argument:
            continue
        if argument == "float32":
            x = _sixteenths(sketch, shape, wanted)
        assert x is not None
        kind = None if wanted == "float32" else _cast_kind(wanted, *_ends(wanted), is_plain=is_plain)
        made.append(sketch.op("CAST", [x], sketch.tensor(shape, kind)))
    return sketch.finish(*made)


def _sixteenths(sketch: Sketch, shape: Sequence[int], wanted: str) -> Value:
    """Floats that are within the range of an integer type when their fraction is cut off."""
    low, high = _ends(wanted) if wanted != "bool" else (-1, 1)
    high -= 512 if high > 1 << 30 else 0
    ends = Plain(dtype="float32", low=max(low, -(1 << 40)) * 16, high=min(high, 1 << 40) * 16)
    whole = sketch.input(shape, ends)
    part = sketch.tensor((1,), None, data=np.array([1 / 16], np.float32))
    return sketch.op("MUL", [whole, part], sketch.tensor(shape, None))


def gelu(dice: Dice, dtype: str) -> Drawn:
    """GELU by erf and by tanh."""
    sketch, shape = Sketch(dice), draw_shape(dice)
    kind = sketch.affine(-7, -3) if dtype == "int8" else None
    x = sketch.input(shape, kind, sixteenths=None if kind else dice.pick((20, 60)))
    result = sketch.near(kind) if kind else None
    approximate = dice.chance(50)
    return sketch.finish(sketch.op("GELU", [x], sketch.tensor(shape, result), approximate=approximate))


def logarithm(dice: Dice, *, asked: bool) -> Drawn:
    """LOG of int8, which tflite-runtime 2.14 does not have; `asked`: by way of floats, where what has no
    logarithm has a very small one. Results' scales are powers of two, so that both round the same numbers."""
    sketch, shape = Sketch(dice), draw_shape(dice)
    kind = Affine(scale=dice.float32(-9, 2), zero_point=dice.pick((-128, -128, dice.zero_point())))
    result = Affine(scale=2.0 ** dice.integer(-7, -3), zero_point=dice.zero_point())
    x = sketch.input(shape, kind)
    if not asked:
        return sketch.finish(append_unary(sketch, "LOG", x, result))
    least = sketch.tensor((1,), None, data=np.array([1e-37], np.float32))
    real = append_unary(sketch, "DEQUANTIZE", x, None)
    real = sketch.op("MAXIMUM", [real, least], sketch.tensor(shape, None))
    return sketch.finish(append_unary(sketch, "QUANTIZE", append_unary(sketch, "LOG", real, None), result))


def _each(name: str, dtypes: Sequence[str]) -> Mapping[str, Callable[[Dice], Drawn]]:
    return {dtype: partial(function, dtype=dtype, name=name) for dtype in dtypes}


_BOTH = ("int8", "float32")
DRAWN: Mapping[str, Mapping[str, Callable[[Dice], Drawn]]] = {
    "CAST": {
        **{dtype: partial(casts, argument=dtype) for dtype in _CASTS},
        **{f"{dtype} plain": partial(casts, argument=dtype, is_plain=True) for dtype in ("uint8", "int32")},
    },
    "GELU": {dtype: partial(gelu, dtype=dtype) for dtype in _BOTH},
    "ABS": _each("ABS", ("int8", "int16", "float32")),
    **{name: _each(name, _BOTH) for name in ("ELU", "EXP", "HARD_SWISH", "RELU_N1_TO_1", "RSQRT")},
    "RSQRT int16": _each("RSQRT", ("int16",)),
    "LOG int8": {"int8": instead(logarithm)},
    **{
        name: _each(name, ("float32",))
        for name in ("CEIL", "COS", "FLOOR", "LOG", "NEG", "ROUND", "SIN", "SQRT")
    },
}
"""By operator and type."""
