"""Weighted operators whose weights have another element type than usual."""

from collections.abc import Callable, Mapping
from functools import partial

from tests.opgen.convolutions import conv, depthwise, fully_connected
from tests.opgen.dice import Dice
from tests.opgen.sketch import Drawn

_FLOATS = ("float16",)
_DRAW = {"CONV_2D": conv, "DEPTHWISE_CONV_2D": depthwise, "FULLY_CONNECTED": fully_connected}

DRAWN: Mapping[str, Mapping[str, Callable[[Dice], Drawn]]] = {
    operator: {
        weights: partial(draw, quantised=weights not in _FLOATS, weights=weights)
        for weights in ("float16", "int4")
    }
    for operator, draw in _DRAW.items()
}
"""By operator and type of the weights."""
