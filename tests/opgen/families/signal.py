"""Operators of an audio front end: custom operators, whose options are a map in flexbuffers."""

from collections.abc import Callable, Mapping
from typing import Any

from flatbuffers import flexbuffers

from tests.opgen.dice import Dice
from tests.opgen.sketch import Drawn, Plain, Sketch

SAMPLES = Plain(dtype="int16", low=-32768, high=32767)


def flexible(**options: int) -> bytes:
    """A map in flexbuffers."""
    builder: Any = flexbuffers.Builder()
    with builder.Map():
        for name, value in options.items():
            builder.Int(name, value)
    return bytes(builder.Finish())


def window(dice: Dice) -> Drawn:
    """SignalWindow on one frame or several, with a constant window or one that is an input."""
    sketch, size = Sketch(dice), dice.integer(1, 60)
    shape = (*dice.pick(((), (1,), (3,), (2, 2))), size)
    frames = sketch.input(shape, SAMPLES)
    if dice.chance(70):
        data = sketch.values((size,), SAMPLES)
        weights = sketch.tensor((size,), SAMPLES, data=data)
    else:
        weights = sketch.input((size,), SAMPLES)
    y = sketch.tensor(shape, SAMPLES)
    options = flexible(shift=dice.integer(0, 20))
    custom = {"custom_code": "SignalWindow", "custom_options": options}
    return sketch.finish(sketch.op("CUSTOM", [frames, weights], y, **custom))


DRAWN: Mapping[str, Mapping[str, Callable[[Dice], Drawn]]] = {"SignalWindow": {"int16": window}}
"""By operator and type."""
