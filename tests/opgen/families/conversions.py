"""QUANTIZE and DEQUANTIZE between all types; of pairs that no engine has, by way of another type."""

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from tests.opgen.dice import Dice
from tests.opgen.elementwise import append_unary, draw_shape
from tests.opgen.sketch import Affine, Drawn, Sketch, Value
from tests.opgen.standing import instead

_BITS = {"int8": 8, "uint8": 8, "int16": 16, "int32": 32}
_BY_RUNTIME = (
    *(("float32", "int8"), ("float32", "uint8"), ("float32", "int16")),
    *(("int8", "int8"), ("int8", "uint8"), ("uint8", "int8"), ("uint8", "uint8")),
    *(("int16", "int8"), ("int16", "int16"), ("int16", "int32"), ("int32", "int8"), ("int32", "int16")),
)
_BY_WAY: Mapping[tuple[str, str], str] = {
    ("float32", "int32"): "int16",
    ("int16", "uint8"): "int8",
    ("int32", "uint8"): "int8",
    ("int32", "int32"): "int16",
}
"""The type between two steps of the engine: of the result, or of an argument."""


def _kind(dice: Dice, dtype: str, scale: float) -> Affine:
    zero = {"int8": 0, "uint8": 128}.get(dtype)
    zero = 0 if zero is None else zero + dice.zero_point()
    return Affine(scale=float(np.float32(scale)), zero_point=zero, dtype=dtype)


def _argument(sketch: Sketch, dtype: str, *, is_narrow: bool) -> Value:
    """An input; of int32 `is_narrow`: numbers that an int16 has room for, by a CAST."""
    dice, shape = sketch.dice, draw_shape(sketch.dice, most=60)
    if dtype == "float32":
        return sketch.input(shape, None, sixteenths=dice.pick((20, 200, 3000)))
    if dtype != "int32":
        return sketch.input(shape, _kind(dice, dtype, dice.float32(-12, -3)))
    kind = _kind(dice, dtype, dice.float32(-28, -20))
    if not is_narrow:
        return sketch.input(shape, kind)
    x = sketch.input(shape, Affine(scale=kind.scale, zero_point=0, dtype="int16"))
    return sketch.op("CAST", [x], sketch.tensor(shape, kind))


def quantize(dice: Dice, argument: str, result: str, *, asked: bool = False) -> Drawn:
    """QUANTIZE of one pair; `asked`: in two steps, whose result is the same."""
    way = _BY_WAY.get((argument, result))
    sketch = Sketch(dice)
    x = _argument(sketch, argument, is_narrow=way == "int16")
    if x.affine is None:
        # What the engine is asked for in place of int32 is int16, which has no room for 1e4 in finer steps.
        fine = dice.float32(-1, 3) if result == "int32" else dice.pick((0.125, 0.25, dice.float32(-8, 2)))
        made = _kind(dice, result, fine / (256 if result == "int16" else 1))
    else:
        wide = 16 if result == "int32" else _BITS[result]
        given = 16 if way == "int16" else _BITS[argument]
        made = _kind(dice, result, x.affine.scale * 2.0 ** (given - wide) * dice.float32(-2, 1))
    if not asked or way is None:
        return sketch.finish(append_unary(sketch, "QUANTIZE", x, made))
    if way == "int8":
        zero = made.zero_point - 128
        between = append_unary(sketch, "QUANTIZE", x, Affine(scale=made.scale, zero_point=zero))
        return sketch.finish(append_unary(sketch, "QUANTIZE", between, made))
    between = Affine(scale=made.scale if x.affine is None else x.affine.scale, zero_point=0, dtype="int16")
    names = ("QUANTIZE", "CAST") if x.affine is None else ("CAST", "QUANTIZE")
    first = append_unary(sketch, names[0], x, between)
    return sketch.finish(append_unary(sketch, names[1], first, made))


def widen(dice: Dice, argument: str, result: str, *, asked: bool = False) -> Drawn:
    """QUANTIZE of 8 bits to more; uint8 `asked` by way of int8."""
    sketch = Sketch(dice)
    x = _argument(sketch, argument, is_narrow=False)
    assert x.affine is not None
    made = _kind(dice, result, x.affine.scale / 256 * dice.float32(-2, 3))
    if asked:
        zero = x.affine.zero_point - 128
        x = append_unary(sketch, "QUANTIZE", x, Affine(scale=x.affine.scale, zero_point=zero))
    return sketch.finish(append_unary(sketch, "QUANTIZE", x, made))


def dequantize(dice: Dice, argument: str, *, asked: bool = False) -> Drawn:
    """DEQUANTIZE; int32 `asked` as a MUL of floats, exact for numbers below 2^24."""
    sketch = Sketch(dice)
    x = _argument(sketch, argument, is_narrow=True)
    assert x.affine is not None
    if not asked:
        return sketch.finish(append_unary(sketch, "DEQUANTIZE", x, None))
    scale = sketch.tensor((1,), None, data=np.array([x.affine.scale], np.float32))
    real = append_unary(sketch, "CAST", x, None)
    return sketch.finish(sketch.op("MUL", [real, scale], sketch.tensor(x.shape, None)))


def half_floats(dice: Dice) -> Drawn:
    """DEQUANTIZE of a constant of float16."""
    sketch, shape = Sketch(dice), draw_shape(dice, most=60)
    x = sketch.input(shape, None)
    half = sketch.half_floats(dice.reals(shape))
    return sketch.finish(sketch.op("ADD", [x, half], sketch.tensor(shape, None)))


def _pair(draw: Callable[..., Drawn], pair: tuple[str, str], *, is_by_way: bool) -> Callable[[Dice], Drawn]:
    found = partial(draw, argument=pair[0], result=pair[1])
    return instead(found) if is_by_way else found


_NEW = ("float32 int32", "int16 int32", "int32 int32")
"""Pairs with kernels that no other models run on boards."""


def _label(pair: tuple[str, str]) -> str:
    words = " ".join(pair)
    return words if words in _NEW else f"{words} more"


DRAWN: Mapping[str, Mapping[str, Callable[[Dice], Drawn]]] = {
    "QUANTIZE": {
        _label(pair): _pair(quantize, pair, is_by_way=pair in _BY_WAY) for pair in (*_BY_RUNTIME, *_BY_WAY)
    },
    "QUANTIZE int8 to int16": {
        "int8 more": _pair(widen, ("int8", "int16"), is_by_way=False),
        "int8 int32": _pair(widen, ("int8", "int32"), is_by_way=False),
        "uint8 int16 more": _pair(widen, ("uint8", "int16"), is_by_way=True),
        "uint8 int32 more": _pair(widen, ("uint8", "int32"), is_by_way=True),
    },
    "DEQUANTIZE": {
        "int8 more": partial(dequantize, argument="int8"),
        "int16 more": partial(dequantize, argument="int16"),
        "int32": instead(partial(dequantize, argument="int32")),
        "float16 more": half_floats,
    },
}
"""By operator and type."""
