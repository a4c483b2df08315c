"""Operators on two or three arguments with broadcasting that choose, compare or divide."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from tests.opgen.convolutions import ACTIVATIONS
from tests.opgen.dice import Dice
from tests.opgen.elementwise import broadcast_shape, draw_operand_shapes, draw_shape
from tests.opgen.families.rearranged import drawn_kind
from tests.opgen.sketch import Affine, Drawn, Kind, Plain, Sketch, Value
from tests.opgen.standing import instead

_BOOL = Plain(dtype="bool", low=0, high=1)
_RANKS = (4, 3, 2, 1)


def _small(dice: Dice, dtype: str) -> Kind:
    """As `drawn_kind`, plain integers small, so that pairs are equal at times."""
    kind = drawn_kind(dice, dtype)
    return Plain(dtype=dtype, low=-3, high=3) if isinstance(kind, Plain) and dtype != "bool" else kind


def _operands(sketch: Sketch, kinds: Sequence[Kind], shapes: Sequence[Sequence[int]]) -> list[Value]:
    """Inputs, at times one of them a constant."""
    constant = sketch.dice.pick((None, None, 0, 1))
    return [
        sketch.tensor(shape, kind, data=sketch.values(shape, kind))
        if number == constant
        else sketch.input(shape, kind)
        for number, (shape, kind) in enumerate(zip(shapes, kinds, strict=True))
    ]


def _shapes(dice: Dice) -> list[tuple[int, ...]]:
    shapes = list(draw_operand_shapes(dice, _RANKS))
    if dice.chance(30):
        shapes.reverse()
    return shapes


def extreme(dice: Dice, dtype: str, name: str) -> Drawn:
    """MAXIMUM, MINIMUM, LOGICAL_OR, LOGICAL_AND."""
    sketch, shapes, kind = Sketch(dice), _shapes(dice), _small(dice, dtype)
    values = _operands(sketch, (kind, kind), shapes)
    return sketch.finish(sketch.op(name, values, sketch.tensor(broadcast_shape(*shapes), kind)))


def compare(dice: Dice, dtype: str, name: str) -> Drawn:
    """The six comparisons; int8 of two scales at times."""
    sketch, shapes, kind = Sketch(dice), _shapes(dice), _small(dice, dtype)
    other = sketch.near(kind) if isinstance(kind, Affine) and dtype == "int8" and dice.chance(60) else kind
    values = _operands(sketch, (kind, other), shapes)
    return sketch.finish(sketch.op(name, values, sketch.tensor(broadcast_shape(*shapes), _BOOL)))


def compare_int16(dice: Dice, *, asked: bool, name: str) -> Drawn:
    """Comparisons that no engine has on int16; `asked`: by the others."""
    sketch, shapes, kind = Sketch(dice), _shapes(dice), drawn_kind(dice, "int16")
    values = _operands(sketch, (kind, kind), shapes)
    y = sketch.tensor(broadcast_shape(*shapes), _BOOL)
    if not asked:
        return sketch.finish(sketch.op(name, values, y))
    if name == "NOT_EQUAL":
        equal = sketch.op("EQUAL", values, sketch.tensor(y.shape, _BOOL))
        return sketch.finish(sketch.op("LOGICAL_NOT", [equal], y))
    return sketch.finish(sketch.op(_TURNED[name], values[::-1], y))


def compare_bool(dice: Dice, *, asked: bool, name: str) -> Drawn:
    """Orders of bool, which no engine has; `asked`: of one argument and the opposite of the other."""
    sketch, shapes = Sketch(dice), _shapes(dice)
    values = _operands(sketch, (_BOOL, _BOOL), shapes)
    y = sketch.tensor(broadcast_shape(*shapes), _BOOL)
    if not asked:
        return sketch.finish(sketch.op(name, values, y))
    turned = 0 if name.startswith("LESS") else 1
    opposite = sketch.tensor(values[turned].shape, _BOOL)
    values[turned] = sketch.op("LOGICAL_NOT", [values[turned]], opposite)
    return sketch.finish(sketch.op("LOGICAL_OR" if name.endswith("EQUAL") else "LOGICAL_AND", values, y))


_TURNED = {"GREATER": "LESS", "LESS_EQUAL": "GREATER_EQUAL"}


def logical_not(dice: Dice, dtype: str) -> Drawn:
    """LOGICAL_NOT."""
    sketch, shape = Sketch(dice), draw_shape(dice, ranks=_RANKS)
    x = sketch.input(shape, drawn_kind(dice, dtype))
    return sketch.finish(sketch.op("LOGICAL_NOT", [x], sketch.tensor(shape, _BOOL)))


def select(dice: Dice, dtype: str, name: str) -> Drawn:
    """SELECT_V2 with broadcasting, SELECT of one shape."""
    sketch, kind, shape = Sketch(dice), drawn_kind(dice, dtype), draw_shape(dice, ranks=_RANKS, most=150)
    shapes = [shape] * 3
    if name == "SELECT_V2" and dice.chance(70):
        shapes = [tuple(1 if dice.chance(30) else extent for extent in shape) for _ in range(3)]
        shapes[dice.integer(0, 2)] = shape
        cut = dice.integer(0, 2)
        if shapes[cut] != shape:
            shapes[cut] = shapes[cut][dice.integer(0, len(shape) - 1) :]
    condition = sketch.input(shapes[0], _BOOL)
    values = _operands(sketch, (kind, kind), shapes[1:])
    return sketch.finish(sketch.op(name, [condition, *values], sketch.tensor(shape, kind)))


def _nonzero(sketch: Sketch, shape: Sequence[int], kind: Kind) -> Value:
    """A constant divisor that is nowhere zero."""
    data = sketch.values(shape, kind)
    return sketch.tensor(shape, kind, data=np.where(data == 0, np.ones_like(data), data))


def quotient_int8(dice: Dice, dtype: str) -> Drawn:
    """DIV of int8 by constants that are not zero. TFLite shifts by more bits than there are (which is
    undefined) where scales do not make quotients larger than the divisor's size."""
    sketch, shapes, bits = Sketch(dice), _shapes(dice), dice.integer(1, 6)
    kind, divisor = (drawn_kind(dice, dtype) for _ in range(2))
    assert isinstance(kind, Affine) and isinstance(divisor, Affine)
    factor = dice.float32(bits, bits + 1)
    scale = float(np.float32(kind.scale / divisor.scale / factor))
    sizes = dice.within(shapes[1], 1, (1 << bits) - 1) * (2 * dice.within(shapes[1], 0, 1) - 1)
    stored = np.clip(sizes + divisor.zero_point, -128, 127)
    towards_zero = np.int64(-1 if divisor.zero_point > 0 else 1)
    stored = np.where(stored == divisor.zero_point, stored + towards_zero, stored).astype(np.int8)
    values = [sketch.input(shapes[0], kind), sketch.tensor(shapes[1], divisor, data=stored)]
    y = sketch.tensor(broadcast_shape(*shapes), Affine(scale=scale, zero_point=dice.zero_point()))
    return sketch.finish(sketch.op("DIV", values, y, activation=dice.pick(ACTIVATIONS)))


def quotient(dice: Dice, dtype: str, name: str) -> Drawn:
    """DIV, FLOOR_DIV, FLOOR_MOD by constants that are not zero."""
    sketch, shapes = Sketch(dice), _shapes(dice)
    kind = None if dtype == "float32" else Plain(dtype=dtype, low=-1000, high=1000)
    divisor = kind if kind is None else Plain(dtype=dtype, low=-9, high=9)
    values = [sketch.input(shapes[0], kind), _nonzero(sketch, shapes[1], divisor)]
    y = sketch.tensor(broadcast_shape(*shapes), kind)
    options = {"activation": dice.pick(ACTIVATIONS)} if name == "DIV" else {}
    return sketch.finish(sketch.op(name, values, y, **options))


def squared_difference(dice: Dice, dtype: str) -> Drawn:
    """SQUARED_DIFFERENCE."""
    sketch, shapes = Sketch(dice), _shapes(dice)
    kind = other = result = None if dtype == "float32" else Plain(dtype=dtype, low=-20000, high=20000)
    if dtype in ("int8", "int16"):
        kind, other = (drawn_kind(dice, dtype) for _ in range(2))
        assert isinstance(kind, Affine) and isinstance(other, Affine)
        largest = max(kind.scale, other.scale)
        reach = 64 if dtype == "int8" else 1 << 14
        scale = float(np.float32(largest * largest * reach * dice.float32(-1, 2)))
        result = Affine(scale=scale, zero_point=dice.zero_point() if dtype == "int8" else 0, dtype=dtype)
    values = _operands(sketch, (kind, other), shapes)
    y = sketch.tensor(broadcast_shape(*shapes), result)
    return sketch.finish(sketch.op("SQUARED_DIFFERENCE", values, y))


def prelu(dice: Dice, dtype: str) -> Drawn:
    """PRELU with slopes of a channel, a pixel or one for all."""
    sketch, shape = Sketch(dice), draw_shape(dice, ranks=(4, 4, 3, 2))
    kind, slope, result = drawn_kind(dice, dtype), None, None
    if isinstance(kind, Affine):
        slope = Affine(scale=dice.float32(-9, -6), zero_point=dice.zero_point())
        scale = float(np.float32(kind.scale * dice.float32(-2, 1)))
        result = Affine(scale=scale, zero_point=dice.zero_point() if dtype == "int8" else 0, dtype=dtype)
    own = tuple(extent if axis == len(shape) - 1 else 1 for axis, extent in enumerate(shape))
    own = dice.pick((own[1:], own, (1,) * (len(shape) - 1), shape[1:]))
    alpha = sketch.tensor(own, slope, data=sketch.values(own, slope))
    x = sketch.input(shape, kind)
    return sketch.finish(sketch.op("PRELU", [x, alpha], sketch.tensor(shape, result)))


def square(dice: Dice, dtype: str) -> Drawn:
    """SQUARE."""
    sketch, shape, kind = Sketch(dice), draw_shape(dice), drawn_kind(dice, dtype)
    return sketch.finish(sketch.op("SQUARE", [sketch.input(shape, kind)], sketch.tensor(shape, kind)))


def add_n(dice: Dice, dtype: str) -> Drawn:
    """ADD_N of two to five tensors."""
    sketch, shape, kind = Sketch(dice), draw_shape(dice), _small(dice, dtype)
    values = [sketch.input(shape, kind) for _ in range(dice.integer(2, 5))]
    result = kind
    if isinstance(kind, Affine):
        scale = float(np.float32(kind.scale * dice.float32(-1, 3)))
        result = Affine(scale=scale, zero_point=dice.zero_point())
    return sketch.finish(sketch.op("ADD_N", values, sketch.tensor(shape, result)))


def int32_sum(dice: Dice, dtype: str, name: str) -> Drawn:
    """ADD, SUB, MUL of int32."""
    sketch, shapes, kind = Sketch(dice), _shapes(dice), Plain(dtype=dtype, low=-30000, high=30000)
    values = _operands(sketch, (kind, kind), shapes)
    y = sketch.tensor(broadcast_shape(*shapes), kind)
    return sketch.finish(sketch.op(name, values, y, activation=dice.pick(ACTIVATIONS)))


_Draw = Callable[..., Drawn]


def _each(draw: _Draw, dtypes: Sequence[str], **more: str) -> Mapping[str, Callable[[Dice], Drawn]]:
    return {dtype: partial(draw, dtype=dtype, **more) for dtype in dtypes}


_QUANTISED = ("int8", "int16")
_COMPARED = ("int8", "int32", "int64", "float32")
DRAWN: Mapping[str, Mapping[str, Callable[[Dice], Drawn]]] = {
    **{
        name: _each(extreme, (*_QUANTISED, "int32", "int64", "float32"), name=name)
        for name in ("MAXIMUM", "MINIMUM")
    },
    **{name: _each(extreme, ("bool",), name=name) for name in ("LOGICAL_AND", "LOGICAL_OR")},
    "EQUAL": _each(compare, ("bool", "int16", *_COMPARED), name="EQUAL"),
    **{
        name: {
            **_each(compare, ("int16", *_COMPARED), name=name),
            "bool": instead(partial(compare_bool, name=name)),
        }
        for name in ("LESS", "GREATER_EQUAL")
    },
    "NOT_EQUAL": {
        **_each(compare, ("bool", *_COMPARED), name="NOT_EQUAL"),
        "int16": instead(partial(compare_int16, name="NOT_EQUAL")),
    },
    **{
        name: {
            **_each(compare, _COMPARED, name=name),
            "int16": instead(partial(compare_int16, name=name)),
            "bool": instead(partial(compare_bool, name=name)),
        }
        for name in _TURNED
    },
    "LOGICAL_NOT": _each(logical_not, ("bool",)),
    "SELECT_V2": _each(select, ("int8", "int16", "int32", "int64", "float32", "bool"), name="SELECT_V2"),
    "SELECT": _each(select, ("int8", "float32"), name="SELECT"),
    "DIV": _each(quotient, ("int32", "float32"), name="DIV"),
    "DIV int8": _each(quotient_int8, ("int8",)),
    **{name: _each(quotient, ("int32", "float32"), name=name) for name in ("FLOOR_DIV", "FLOOR_MOD")},
    "SQUARED_DIFFERENCE": _each(squared_difference, ("int8", "int32", "float32")),
    "SQUARED_DIFFERENCE int16": _each(squared_difference, ("int16",)),
    "PRELU": _each(prelu, ("int8", "float32")),
    "PRELU int16": _each(prelu, ("int16",)),
    "SQUARE": _each(square, ("float32",)),
    "ADD_N": _each(add_n, ("int32", "float32")),
    "ADD_N int8": _each(add_n, ("int8",)),
    **{name: _each(int32_sum, ("int32",), name=name) for name in ("ADD", "SUB", "MUL")},
}
"""By operator, as the table of engines has it, and by type."""
