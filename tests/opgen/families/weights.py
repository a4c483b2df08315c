"""Weighted operators whose weights have another element type than usual; int8 ones of a float32 image."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from tests.opgen.convolutions import ACTIVATIONS, conv, depthwise, fully_connected
from tests.opgen.dice import Dice
from tests.opgen.families.rearranged import drawn_kind
from tests.opgen.sketch import Affine, Drawn, Kind, Sketch, Value

_DRAW = {"CONV_2D": conv, "DEPTHWISE_CONV_2D": depthwise, "FULLY_CONNECTED": fully_connected}
_WEIGHTS = {"float16": "float16", "int4": "int4", "hybrid": "int8"}


def computed(dice: Dice, dtype: str) -> Drawn:
    """FULLY_CONNECTED whose weights are an input: a product of two values. A bias of int8 is zeros there."""
    sketch, kinds = Sketch(dice), [drawn_kind(dice, dtype) for _ in range(2)]
    rows, depth, channels = dice.integer(1, 6), dice.integer(1, 40), dice.integer(1, 9)
    keep = dice.chance(40)
    leading = (1, rows) if keep or dice.chance(30) else (rows,)
    result = None
    if isinstance(kinds[0], Affine) and isinstance(kinds[1], Affine):
        product = kinds[0].scale * kinds[1].scale
        scale = float(np.float32(product * 73 * depth**0.5 * dice.float32(0, 2)))
        result = Affine(scale=scale, zero_point=dice.zero_point())
    shapes = ((*leading, depth), (channels, depth))
    operands: list[Value | int | None] = [
        sketch.input(shape, kind) for shape, kind in zip(shapes, kinds, strict=True)
    ]
    if dice.chance(60):
        operands.append(_bias(sketch, channels, kinds))
    y = sketch.tensor((*leading, channels) if keep else (rows, channels), result)
    options: dict[str, Any] = {"version": 5, "keep_num_dims": True} if keep else {}
    activation = dice.pick(ACTIVATIONS)
    return sketch.finish(sketch.op("FULLY_CONNECTED", operands, y, activation=activation, **options))


def _bias(sketch: Sketch, channels: int, kinds: Sequence[Kind]) -> Value | int:
    """Numbers beside float32; zeros beside int8, as exporters write them."""
    first, second = kinds
    if isinstance(first, Affine) and isinstance(second, Affine):
        scale, data = float(np.float32(first.scale * second.scale)), np.zeros(channels, np.int32)
        return sketch.model.tensor(sketch.name, (channels,), "int32", scale=[scale], data=data)
    return sketch.tensor((channels,), None, data=sketch.dice.reals((channels,)))


DRAWN: Mapping[str, Mapping[str, Callable[[Dice], Drawn]]] = {
    operator: {
        **{
            label: partial(draw, quantised=label == "int4", weights=weights)
            for label, weights in _WEIGHTS.items()
        },
        **(
            {f"computed_{dtype}": partial(computed, dtype=dtype) for dtype in ("int8", "float32")}
            if operator == "FULLY_CONNECTED"
            else {}
        ),
    }
    for operator, draw in _DRAW.items()
}
"""By operator and type of the weights, or that of what computes them.

Hybrid layers have int8 ones and float32 images.
"""
