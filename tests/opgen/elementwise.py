"""Element by element: ADD, SUB, MUL, the activations, SOFTMAX, QUANTIZE and DEQUANTIZE."""

import math
from collections.abc import Sequence

import numpy as np

from tests.opgen.convolutions import ACTIVATIONS
from tests.opgen.dice import Dice
from tests.opgen.sketch import Affine, Drawn, Sketch, Value


def draw_shape(dice: Dice, *, ranks: Sequence[int] = (4, 4, 3, 2, 1), most: int = 400) -> tuple[int, ...]:
    """A shape of at most `most` elements."""
    shape = list(dice.integers(1, 9, dice.pick(ranks)))
    while math.prod(shape) > most:
        largest = shape.index(max(shape))
        shape[largest] = (shape[largest] + 1) // 2
    return tuple(shape)


def draw_operand_shapes(dice: Dice, ranks: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Two shapes that broadcast to the first's or to neither's."""
    first = draw_shape(dice, ranks=ranks)
    style = dice.pick(("equal", "equal", "scalar", "ones", "shorter", "both"))
    if style == "equal":
        return first, first
    if style == "scalar":
        return first, dice.pick(((), (1,), (1,) * len(first)))
    if style == "shorter":
        return first, first[dice.integer(0, len(first) - 1) :]
    narrowed = tuple(1 if dice.chance(50) else extent for extent in first)
    if style == "ones":
        return first, narrowed
    return tuple(
        1 if n > 1 and dice.chance(50) else e for n, e in zip(narrowed, first, strict=True)
    ), narrowed


def broadcast_shape(first: Sequence[int], second: Sequence[int]) -> tuple[int, ...]:
    """Shape of an operation on two operands that broadcast."""
    rank = max(len(first), len(second))
    left, right = ((1,) * (rank - len(shape)) + tuple(shape) for shape in (first, second))
    return tuple(max(pair) for pair in zip(left, right, strict=True))


def _result_scale(dice: Dice, name: str, first: Affine, second: Affine) -> float:
    """Mostly one that spreads results over int8; else one that saturates or flattens them."""
    whole = first.scale * second.scale * 64 if name == "MUL" else max(first.scale, second.scale)
    exponent = dice.pick((0,) * 10 + (1, -2, -5, 6, 25))
    scale = float(np.float32(whole * 2.0**exponent * dice.float32(0, 0)))
    return max(scale, 2.0**-24)  # below, an activation's bound of 6 is no 32-bit integer: engines refuse it


def _binary(dice: Dice, name: str, *, quantised: bool) -> Drawn:
    sketch = Sketch(dice)
    ranks = (4, 4, 3, 2, 1) if name == "MUL" else (4, 4, 3, 2, 1, 5)  # engines end on a MUL of rank 5
    shapes = list(draw_operand_shapes(dice, ranks))
    if dice.chance(30):
        shapes.reverse()
    constant = dice.pick((None, None, None, 0, 1))
    affines = [sketch.affine(*dice.pick(((-8, -3),) * 2 + ((-6, -5),) * 4 + ((-30, -2),))) for _ in shapes]
    operands: list[Value] = []
    for number, (shape, drawn) in enumerate(zip(shapes, affines, strict=True)):
        affine = drawn if quantised else None
        if number == constant:
            operands.append(sketch.tensor(shape, affine, data=sketch.values(shape, affine)))
        else:
            operands.append(sketch.input(shape, affine))
    result = Affine(scale=_result_scale(dice, name, *affines), zero_point=dice.zero_point())
    y = sketch.tensor(broadcast_shape(*shapes), result if quantised else None)
    return sketch.finish(sketch.op(name, operands, y, activation=dice.pick(ACTIVATIONS)))


def add(dice: Dice, quantised: bool) -> Drawn:
    """ADD."""
    return _binary(dice, "ADD", quantised=quantised)


def sub(dice: Dice, quantised: bool) -> Drawn:
    """SUB."""
    return _binary(dice, "SUB", quantised=quantised)


def mul(dice: Dice, quantised: bool) -> Drawn:
    """MUL."""
    return _binary(dice, "MUL", quantised=quantised)


def append_unary(sketch: Sketch, name: str, x: Value, result: Affine | None, **options: float) -> Value:
    """An operator of one operand that keeps the shape."""
    return sketch.op(name, [x], sketch.tensor(x.shape, result), **options)


def softmax(dice: Dice, quantised: bool) -> Drawn:
    """SOFTMAX; the engines demand scale 1/256 and zero point -128 of an int8 result."""
    sketch = Sketch(dice)
    x = sketch.input(
        draw_shape(dice, ranks=(4, 3, 2, 2, 1), most=200), sketch.affine(-7, -1) if quantised else None
    )
    beta = dice.pick((1.0, 1.0, 0.5, 2.0, dice.float32(-3, 2)))
    result = Affine(scale=1 / 256, zero_point=-128) if quantised else None
    return sketch.finish(append_unary(sketch, "SOFTMAX", x, result, beta=beta))


def wide_softmax(dice: Dice) -> Drawn:
    """SOFTMAX of int8 to int16, at times back to int8; the engine demands scale 2^-16, zero point -32768."""
    sketch = Sketch(dice)
    x = sketch.input(draw_shape(dice, ranks=(4, 3, 2, 2, 1), most=200), sketch.affine(-7, -1))
    beta = dice.pick((1.0, 1.0, 0.5, 2.0, dice.float32(-3, 2)))
    result = Affine(scale=dice.pick((2.0**-16, 1 / 65535)), zero_point=-32768, dtype="int16")
    y = append_unary(sketch, "SOFTMAX", x, result, beta=beta)
    if dice.chance(50):
        y = append_unary(sketch, "QUANTIZE", y, Affine(scale=1 / 256, zero_point=-128))
    return sketch.finish(y)


def logistic(dice: Dice, quantised: bool) -> Drawn:
    """LOGISTIC; the engines demand scale 1/256 and zero point -128 of an int8 result."""
    sketch = Sketch(dice)
    x = sketch.input(draw_shape(dice), sketch.affine(-9, 0) if quantised else None)
    result = Affine(scale=1 / 256, zero_point=-128) if quantised else None
    return sketch.finish(append_unary(sketch, "LOGISTIC", x, result))


def tanh(dice: Dice, quantised: bool) -> Drawn:
    """TANH; the engines demand scale 1/128 and zero point 0 of an int8 result."""
    sketch = Sketch(dice)
    x = sketch.input(draw_shape(dice), sketch.affine(-9, 0) if quantised else None)
    result = Affine(scale=1 / 128, zero_point=0) if quantised else None
    return sketch.finish(append_unary(sketch, "TANH", x, result))


def _rectifier(dice: Dice, name: str, *, quantised: bool, **options: float) -> Drawn:
    sketch = Sketch(dice)
    affine = sketch.affine(-8, -1) if quantised else None
    x = sketch.input(draw_shape(dice), affine)
    other = sketch.near(affine) if affine and dice.chance(60) else affine
    return sketch.finish(append_unary(sketch, name, x, other, **options))


def relu(dice: Dice, quantised: bool) -> Drawn:
    """RELU, with a change of scale or without."""
    return _rectifier(dice, "RELU", quantised=quantised)


def relu6(dice: Dice, quantised: bool) -> Drawn:
    """RELU6, with a change of scale or without."""
    return _rectifier(dice, "RELU6", quantised=quantised)


def leaky_relu(dice: Dice, quantised: bool) -> Drawn:
    """LEAKY_RELU; slopes above 1 and below 0 as well."""
    alpha = dice.pick((0.01, 0.1, 0.25, 0.3, 1.5, -0.5, dice.float32(-12, 0)))
    return _rectifier(dice, "LEAKY_RELU", quantised=quantised, alpha=alpha)


def quantize(dice: Dice, quantised: bool) -> Drawn:
    """QUANTIZE: of int8 to another scale, of float32 to int8."""
    sketch = Sketch(dice)
    if quantised:
        affine = sketch.affine(-8, 0)
        x = sketch.input(draw_shape(dice), affine)
        result = sketch.near(affine) if dice.chance(80) else sketch.affine(-20, 5)
        return sketch.finish(append_unary(sketch, "QUANTIZE", x, result))
    scale = dice.pick((0.125, 0.0625, 0.25, dice.float32(-8, 2)))
    x = sketch.input(draw_shape(dice), None, sixteenths=dice.pick((20, 200, 3000)))
    return sketch.finish(
        append_unary(sketch, "QUANTIZE", x, Affine(scale=scale, zero_point=dice.zero_point()))
    )


def dequantize(dice: Dice) -> Drawn:
    """DEQUANTIZE of int8."""
    sketch = Sketch(dice)
    x = sketch.input(draw_shape(dice), sketch.affine(-12, 3))
    return sketch.finish(append_unary(sketch, "DEQUANTIZE", x, None))
