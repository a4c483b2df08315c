"""TFLite_Detection_PostProcess: boxes of a detector, the best ones of those that lie over one another.

What lies behind the last detection an engine leaves unwritten: SELECT_V2 takes it out of the results.
tflite-runtime puts classes of equal scores in any order: no two scores are equal where it is asked.
"""

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from flatbuffers import flexbuffers

from codegen.importers.tflite.operators.custom.detection import DETECTION
from codegen.importers.tflite.writing.writer import Custom
from tests.opgen.dice import Dice
from tests.opgen.sketch import Affine, Drawn, Kind, Plain, Sketch, Value
from tests.opgen.standing import instead

_REACH = 4.0
"""Of what says where a box is, in units of its scale."""


def options_of(**options: float | bool) -> bytes:
    """A map in flexbuffers of whole numbers, truth values and float32."""
    builder: Any = flexbuffers.Builder()
    with builder.Map():
        for name, value in options.items():
            if isinstance(value, bool):
                builder.Bool(name, value)
            elif isinstance(value, int):
                builder.Int(name, value)
            else:
                builder.Float(name, value)
    return bytes(builder.Finish())


def unsigned(dice: Dice, *, asked: bool) -> Drawn:
    """uint8 without a DEQUANTIZE; the engine that orders classes of equal scores takes it with one."""
    return detections(dice, "uint8", dequantised=asked)


def detections(dice: Dice, dtype: str, *, several: bool = False, dequantised: bool = False) -> Drawn:
    """Few boxes near each other, of a few classes, with a class for the background or without.

    int8 goes through a DEQUANTIZE, as exporters for microcontrollers write it, uint8 where it is
    `dequantised`. `several`: classes of a box in the result.
    """
    sketch, boxes, classes = Sketch(dice), dice.integer(1, 40), dice.integer(1, 5)
    most, by_class = dice.integer(1, 12), dice.chance(50) and not several
    of_box = dice.integer(1, classes) if several else 1
    is_real = dequantised or dtype == "int8"
    encoded, scores = (
        _real(sketch, sketch.input(shape, _kind(dice, dtype, reach)), dequantised=is_real)
        for shape, reach in (((1, boxes, 4), _REACH), ((1, boxes, classes + dice.integer(0, 1)), 1.0))
    )
    if several:
        steps = np.arange(math.prod(scores.shape), dtype=np.float32).reshape(scores.shape) / 256
        slope = sketch.tensor(scores.shape, None, data=steps)
        scores = sketch.op("ADD", [scores, slope], sketch.tensor(scores.shape, None))
    options: dict[str, float | bool] = {
        "max_detections": most,
        "max_classes_per_detection": of_box,
        "num_classes": classes,
        "nms_score_threshold": float(dice.sixteenths((1,), -16 if dice.chance(70) else 1, 12)[0]),
        "nms_iou_threshold": dice.integer(1, 16) / 16,
        **{f"{each}_scale": float(dice.integer(2, 10)) for each in "yxhw"},
    }
    if by_class or dice.chance(50):
        options["use_regular_nms"] = by_class
    if dice.chance(60):
        options["detections_per_class"] = dice.integer(1, 8)
    anchors = _real(sketch, _anchors(dice, boxes, dtype)(sketch), dequantised=dequantised)
    rows = most * of_box
    found = [sketch.tensor(shape, None) for shape in ((1, rows, 4), (1, rows), (1, rows), (1,))]
    sketch.model.op(
        "CUSTOM",
        [encoded.index, scores.index, anchors.index],
        [value.index for value in found],
        custom=Custom(code=DETECTION, options=options_of(**options)),
    )
    return sketch.finish(*(counted(sketch, value, found[3], of_box) for value in found[:3]), found[3])


def _kind(dice: Dice, dtype: str, reach: float) -> Kind:
    """Numbers within a small multiple of `reach`."""
    if dtype == "float32":
        return None
    low = int(np.iinfo(dtype).min)
    scale = float(np.float32(reach * dice.float32(-8, -7)))
    return Affine(scale=scale, zero_point=low + dice.integer(64, 192), dtype=dtype)


def _real(sketch: Sketch, value: Value, *, dequantised: bool) -> Value:
    """As the operator takes it."""
    if not dequantised:
        return value
    return sketch.op("DEQUANTIZE", [value], sketch.tensor(value.shape, None))


def _anchors(dice: Dice, boxes: int, dtype: str) -> Callable[[Sketch], Value]:
    """Centres near each other, heights and widths above 0."""
    centres, extents = dice.within((boxes, 2), 0, 96), dice.within((boxes, 2), 16, 96)
    numbers = np.concatenate([centres, extents], 1)
    if dtype == "uint8":
        affine = Affine(scale=1 / 64, zero_point=0, dtype=dtype)
        return lambda sketch: sketch.tensor(numbers.shape, affine, data=numbers.astype(np.uint8))
    return lambda sketch: sketch.tensor(numbers.shape, None, data=(numbers / 64).astype(np.float32))


def counted(sketch: Sketch, value: Value, count: Value, of_each: int = 1) -> Value:
    """`value` with zeros from row `count * of_each` on."""
    rows, rank = value.shape[1], len(value.shape)
    shape = (1, rows, 1)[:rank]
    numbers = (np.arange(rows) // of_each).astype(np.float32).reshape(shape)
    places = sketch.tensor(shape, None, data=numbers)
    is_there = sketch.op("LESS", [places, count], sketch.tensor(shape, Plain(dtype="bool", low=0, high=1)))
    if rank == 3:
        twice = sketch.tensor(value.shape, Plain(dtype="bool", low=0, high=1))
        is_there = sketch.op("BROADCAST_TO", [is_there, sketch.constant(value.shape)], twice)
    zeros = sketch.tensor(value.shape, None, data=np.zeros(value.shape, np.float32))
    return sketch.op("SELECT_V2", [is_there, value, zeros], sketch.tensor(value.shape, None))


DRAWN: Mapping[str, Mapping[str, Callable[[Dice], Drawn]]] = {
    DETECTION: {each: partial(detections, dtype=each) for each in ("float32", "int8")},
    f"{DETECTION} of several classes": {"": partial(detections, dtype="float32", several=True)},
    f"{DETECTION} uint8": {"": instead(unsigned)},
}
"""By operator and type."""
