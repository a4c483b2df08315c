"""Types that no engine has for an operator: it is asked for other operators that give the same."""

from collections.abc import Callable, Mapping

import numpy as np

from tests.opgen.dice import Dice
from tests.opgen.elementwise import draw_shape
from tests.opgen.families.rearranged import drawn_kind
from tests.opgen.sketch import Affine, Drawn, Plain, Sketch
from tests.opgen.standing import instead


def negated(dice: Dice, *, asked: bool) -> Drawn:
    """NEG of int8: the MUL by -1."""
    sketch, shape, kind = Sketch(dice), draw_shape(dice), drawn_kind(dice, "int8")
    assert isinstance(kind, Affine)
    scale = kind.scale if dice.chance(40) else float(np.float32(kind.scale * dice.float32(-2, 1)))
    result = Affine(scale=scale, zero_point=dice.zero_point())
    x = sketch.input(shape, kind)
    if not asked:
        return sketch.finish(sketch.op("NEG", [x], sketch.tensor(shape, result)))
    minus = sketch.tensor((1,), Affine(scale=1.0, zero_point=0), data=np.array([-1], np.int8))
    return sketch.finish(sketch.op("MUL", [x, minus], sketch.tensor(shape, result)))


def cumsum(dice: Dice, *, asked: bool) -> Drawn:
    """CUMSUM of int32: that of float32, for sums below 2^24."""
    sketch, shape = Sketch(dice), draw_shape(dice, ranks=(4, 3, 2, 1))
    kind = Plain(dtype="int32", low=-(1 << 20), high=1 << 20)
    axis = dice.integer(0, len(shape) - 1)
    given = axis if dice.chance(70) else axis - len(shape)
    options = {"exclusive": dice.chance(40), "reverse": dice.chance(40)}
    x = sketch.input(shape, kind)
    at = sketch.model.constant(sketch.name, np.array(given, np.int32))
    if not asked:
        return sketch.finish(sketch.op("CUMSUM", [x, at], sketch.tensor(shape, kind), **options))
    real = sketch.op("CAST", [x], sketch.tensor(shape, None))
    sums = sketch.op("CUMSUM", [real, at], sketch.tensor(shape, None), **options)
    return sketch.finish(sketch.op("CAST", [sums], sketch.tensor(shape, kind)))


def clamped(dice: Dice, *, asked: bool) -> Drawn:
    """RELU_N1_TO_1 of int16: a LEAKY_RELU of slope 1, which changes the scale, and both ends."""
    sketch, shape = Sketch(dice), draw_shape(dice)
    kind = Affine(scale=dice.float32(-15, -11), zero_point=0, dtype="int16")
    scale = kind.scale if dice.chance(40) else float(np.float32(kind.scale * dice.float32(-1, 1)))
    result = Affine(scale=scale, zero_point=0, dtype="int16")
    x = sketch.input(shape, kind)
    if not asked:
        return sketch.finish(sketch.op("RELU_N1_TO_1", [x], sketch.tensor(shape, result)))
    y = sketch.op("LEAKY_RELU", [x], sketch.tensor(shape, result), alpha=1.0)
    end = int(np.floor(np.float32(1) / np.float32(scale) + np.float32(0.5)))
    for name, value in (("MAXIMUM", max(-end, -32768)), ("MINIMUM", min(end, 32767))):
        bound = sketch.tensor((1,), result, data=np.array([value], np.int16))
        y = sketch.op(name, [y, bound], sketch.tensor(shape, result))
    return sketch.finish(y)


DRAWN: Mapping[str, Mapping[str, Callable[[Dice], Drawn]]] = {
    "NEG int8": {"": instead(negated)},
    "CUMSUM": {"int32": instead(cumsum)},
    "RELU_N1_TO_1": {"int16": instead(clamped)},
}
"""By operator and type."""
