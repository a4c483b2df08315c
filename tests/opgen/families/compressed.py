"""Constants as tflite-micro's tool compresses them: indices of few bits, a table or one a channel."""

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from codegen.importers.tflite.writing.writer import Custom
from tests.opgen.dice import Dice
from tests.opgen.sketch import Affine, Drawn, Sketch


def _decoded(sketch: Sketch, tables: np.ndarray, places: np.ndarray, result: int) -> None:
    """Let tensor `result` be what is at `places` of `tables`, one for all or one for each channel."""
    width = max(1, int(places.max(initial=0)).bit_length()) + sketch.dice.integer(0, 1)
    bits = (places.reshape(-1, 1) >> np.arange(width - 1, -1, -1)) & 1
    packed = np.packbits(bits.astype(np.uint8).reshape(-1))
    header = np.zeros(16, np.uint8)
    header[[1, 4, 5, 6]] = 1, 1, width, tables.shape[1]
    ancillary = np.concatenate([header, tables.reshape(-1).view(np.uint8)])
    inputs = [
        sketch.model.tensor(sketch.name, data.shape, "uint8", data=np.array(data))
        for data in (packed, ancillary)
    ]
    sketch.model.op("CUSTOM", inputs, [result], custom=Custom(code="TFLM_DECODE"))


def _entries(dice: Dice, channels: int, dtype: str) -> np.ndarray:
    shape = (channels, dice.integer(2, 40))
    return dice.reals(shape) if dtype == "float32" else dice.integers_of(shape, dtype)


def weights(dice: Dice) -> Drawn:
    """CONV_2D or DEPTHWISE_CONV_2D of 1x1 with weights of int8, a table for all or one for each channel."""
    sketch, depth, last = Sketch(dice), dice.integer(1, 9), dice.chance(40)
    outputs = depth if last else dice.integer(2, 9)
    shape = (1, 1, 1, depth) if last else (outputs, 1, 1, depth)
    channels = outputs if last or dice.chance(60) else 1
    x = sketch.input((1, 3, 2, depth), Affine(scale=0.5, zero_point=dice.integer(-20, 20)))
    tables = _entries(dice, channels, "int8")
    tables[tables == -128] = 1
    axis = 3 if last and channels > 1 else 0
    scales = [0.25 * 2.0**-number for number in dice.integers(0, 2, channels)]
    result = sketch.model.tensor(sketch.name, shape, "int8", scale=scales, axis=axis)
    places = dice.within(shape, 0, tables.shape[1] - 1).reshape(-1)
    _decoded(sketch, tables, places, result)
    bias = sketch.model.tensor(
        sketch.name,
        (outputs,),
        "int32",
        scale=[0.5 * scale for scale in scales],
        data=np.array(dice.integers(-500, 500, outputs), np.int32),
    )
    y = sketch.tensor((1, 3, 2, outputs), Affine(scale=20.0, zero_point=3))
    name = "DEPTHWISE_CONV_2D" if last else "CONV_2D"
    return sketch.finish(sketch.op(name, [x, result, bias], y, padding="VALID"))


def addend(dice: Dice, dtype: str) -> Drawn:
    """ADD of a constant of one table."""
    sketch, shape = Sketch(dice), (1, dice.integer(1, 90))
    kind = None if dtype == "float32" else Affine(scale=0.3, zero_point=0, dtype=dtype)
    x = sketch.input(shape, kind)
    held = sketch.tensor(shape, kind)
    tables = _entries(dice, 1, dtype)
    places = dice.within(shape, 0, tables.shape[1] - 1).reshape(-1)
    _decoded(sketch, tables, places, held.index)
    y = sketch.tensor(shape, kind if kind is None else Affine(scale=0.7, zero_point=0, dtype=dtype))
    return sketch.finish(sketch.op("ADD", [x, held], y))


DRAWN: Mapping[str, Mapping[str, Callable[[Dice], Drawn]]] = {
    "TFLM_DECODE": {
        "int8": weights,
        "int16": partial(addend, dtype="int16"),
        "float32": partial(addend, dtype="float32"),
    }
}
"""By operator and type of the constant."""
