"""Weighted operators whose weights have another element type than usual; int8 ones of a float32 image."""

from collections.abc import Callable, Mapping
from functools import partial

from tests.opgen.convolutions import conv, depthwise, fully_connected
from tests.opgen.dice import Dice
from tests.opgen.sketch import Drawn

_DRAW = {"CONV_2D": conv, "DEPTHWISE_CONV_2D": depthwise, "FULLY_CONNECTED": fully_connected}
_WEIGHTS = {"float16": "float16", "int4": "int4", "hybrid": "int8"}

DRAWN: Mapping[str, Mapping[str, Callable[[Dice], Drawn]]] = {
    operator: {
        label: partial(draw, quantised=label == "int4", weights=weights)
        for label, weights in _WEIGHTS.items()
    }
    for operator, draw in _DRAW.items()
}
"""By operator and type of the weights; hybrid layers have int8 ones and float32 images."""
