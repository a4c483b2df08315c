"""Networks beyond the layers of `shapes`: an LSTM, one that streams with variables, a detector."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from codegen.engines import TFLITE_MICRO
from codegen.importers.tflite.operators.custom.detection import DETECTION
from codegen.importers.tflite.writing.writer import Custom, ModelBuilder
from tests.networks.layers import Network, patterns
from tests.networks.writing import Form, Writer
from tests.opgen.dice import Dice
from tests.opgen.families.detection import options_of
from tests.opgen.sketch import Drawn

_IMAGE = 32
_BOXES = 2 * (_IMAGE // 4) ** 2
"""Two a place of the last image."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Whole:
    """A network that is drawn as a file, and the engine that rules for it."""

    draw: Callable[[], Drawn]
    engine: str = TFLITE_MICRO
    is_sequence: bool = False
    """Cases are inferences one after another; else each begins with fresh state."""


class _Int8:
    """An int8 file under construction, with drawn weights."""

    def __init__(self, seed: int) -> None:
        self.model, self.rng = ModelBuilder(), np.random.default_rng(seed)

    def value(self, name: str, shape: Sequence[int], scale: float, zero: int = 0, **more: Any) -> int:
        return self.model.tensor(name, shape, "int8", scale=scale, zero_point=zero, **more)

    def weights(self, name: str, shape: Sequence[int], before: float, axis: int = 0) -> list[int]:
        """Weights and bias; `before`: the scale of what they are multiplied by."""
        count, scale = shape[axis], 1 / 100
        data = np.clip(np.round(self.rng.normal(0, 40, shape)), -127, 127).astype(np.int8)
        bias = self.rng.integers(-4000, 4000, count).astype(np.int32)
        return [
            self.value(f"{name}_w", shape, scale, data=data),
            self.model.tensor(f"{name}_b", (count,), "int32", scale=scale * before, data=bias),
        ]

    def cases(self, shape: Sequence[int], count: int = 4) -> tuple[tuple[np.ndarray, ...], ...]:
        images = np.round(patterns(Dice(98, *shape), count, tuple(shape), -120, 120)).astype(np.int8)
        return tuple((images[at : at + 1],) for at in range(count))


def lstm() -> Drawn:
    """Digits row by row: 28 rows of 28 pixels, 20 units, ten classes of the last row's."""
    file, units, rows = _Int8(31), 20, 28
    model, scale, hidden_scale = file.model, 1 / 64, 1 / 128
    x = file.value("x", (1, rows, rows), scale, -3)
    gates = [
        file.value(
            f"w{at}",
            (units, extent),
            1 / 400,
            data=file.rng.integers(-127, 128, (units, extent)).astype(np.int8),
        )
        for at, extent in enumerate([rows] * 4 + [units] * 4)
    ]
    biases = [
        model.tensor(
            f"b{at}",
            (units,),
            "int32",
            scale=scale / 400,
            data=file.rng.integers(-9000, 9000, units).astype(np.int32),
        )
        for at in range(4)
    ]
    hidden = file.value("hidden", (1, units), hidden_scale, variable=True)
    cell = model.tensor("cell", (1, units), "int16", scale=2.0**-11, variable=True)
    states = file.value("states", (1, rows, units), hidden_scale)
    none = None
    inputs = [x, *gates, none, none, none, *biases, none, none, hidden, cell, none, none, none, none]
    model.op("UNIDIRECTIONAL_SEQUENCE_LSTM", inputs, [states], activation="tanh", time_major=False)
    last, sums, y = (
        file.value("last", (1, units), hidden_scale),
        file.value("sums", (1, 10), 1 / 16, 3),
        file.value("y", (1, 10), 1 / 256, -128),
    )
    ends = [
        model.constant(name, numbers)
        for name, numbers in (("begin", [0, rows - 1, 0]), ("end", [1, rows, units]), ("by", [1, 1, 1]))
    ]
    model.op("STRIDED_SLICE", [states, *ends], [last], shrink_axis_mask=2)
    model.op("FULLY_CONNECTED", [last, *file.weights("classes", (10, units), hidden_scale)], [sums])
    model.op("SOFTMAX", [sums], [y], beta=1.0)
    model.inputs(x)
    model.outputs(y)
    return Drawn(model=model.build(), inputs=file.cases((rows, rows)))


def stream() -> Drawn:
    """A wake word that takes 16 features a call: windows over variables that a CALL_ONCE begins."""
    file = _Int8(32)
    model = file.model
    begin = model.subgraph()
    model.op("CALL_ONCE", [], [], init_subgraph_index=1)

    def past(name: str, value: int, rows: int, channels: int, scale: float, zero: int) -> int:
        """`value` behind the `rows` before it, which are kept for the next call."""
        shape, meaning = (1, rows, 1, channels), (scale, zero)
        first = begin.tensor(
            f"{name}_first", shape, "int8", scale=scale, zero_point=zero, data=np.full(shape, zero, np.int8)
        )
        handle = begin.tensor(f"{name}_begun", (), "resource")
        begin.op("VAR_HANDLE", [], [handle], shared_name=name)
        begin.op("ASSIGN_VARIABLE", [handle, first], [])
        handle = model.tensor(f"{name}_handle", (), "resource")
        model.op("VAR_HANDLE", [], [handle], shared_name=name)
        read = file.value(f"{name}_past", shape, *meaning)
        model.op("READ_VARIABLE", [handle], [read])
        both = file.value(f"{name}_window", (1, rows + 1, 1, channels), *meaning)
        model.op("CONCATENATION", [read, value], [both], axis=1)
        kept = file.value(f"{name}_kept", shape, *meaning)
        ends = [
            model.constant(f"{name}_{word}", numbers)
            for word, numbers in (
                ("from", [0, 1, 0, 0]),
                ("to", [1, rows + 1, 1, channels]),
                ("by", [1, 1, 1, 1]),
            )
        ]
        model.op("STRIDED_SLICE", [both, *ends], [kept])
        model.op("ASSIGN_VARIABLE", [handle, kept], [])
        return both

    x = file.value("x", (1, 1, 1, 16), 1 / 32, -9)
    window: dict[str, Any] = {"padding": "VALID", "stride_h": 1, "stride_w": 1, "activation": "relu"}
    first = file.value("first", (1, 1, 1, 24), 1 / 8, -128)
    weights = file.weights("conv", (24, 5, 1, 16), 1 / 32)
    model.op("CONV_2D", [past("frames", x, 4, 16, 1 / 32, -9), *weights], [first], **window)
    second = file.value("second", (1, 1, 1, 24), 1 / 8, -20)
    weights = file.weights("along", (1, 3, 1, 24), 1 / 8, axis=3)
    window["activation"] = "none"
    model.op(
        "DEPTHWISE_CONV_2D",
        [past("features", first, 2, 24, 1 / 8, -128), *weights],
        [second],
        depth_multiplier=1,
        **window,
    )
    sums, y = file.value("sums", (1, 1), 1 / 8, 5), file.value("y", (1, 1), 1 / 256, -128)
    flat = file.value("flat", (1, 24), 1 / 8, -20)
    model.op("RESHAPE", [second, model.constant("extents", [1, 24])], [flat])
    model.op("FULLY_CONNECTED", [flat, *file.weights("score", (1, 24), 1 / 8)], [sums])
    model.op("LOGISTIC", [sums], [y])
    model.inputs(x)
    model.outputs(y, sums)
    return Drawn(model=model.build(), inputs=file.cases((1, 1, 16)))


def detector() -> Drawn:
    """Boxes of two kinds of things: two convolutions side by side, and TFLite's custom operator."""
    net = Network(33)
    value = net.input(_IMAGE, _IMAGE, 3)
    for channels in (8, 16):
        value = net.conv(value, channels, (3, 3), stride=(2, 2), activation="relu6")
    boxes = net.reshape(net.conv(value, 8, (3, 3)), _BOXES, 4)
    scores = net.reshape(net.logistic(net.conv(value, 6, (3, 3), gain=1.5)), _BOXES, 3)
    net.output(boxes, scores)
    writer = Writer(net, Form(float_edges=True, open_batch=False))

    def detect(model: ModelBuilder, heads: Sequence[int]) -> list[int]:
        side = _IMAGE // 4
        rows, columns, large = np.meshgrid(np.arange(side), np.arange(side), [0.2, 0.5], indexing="ij")
        anchors = np.stack([(rows + 0.5) / side, (columns + 0.5) / side, large, large], -1)
        data = anchors.reshape(_BOXES, 4).astype(np.float32)
        given = [*heads, model.tensor("anchors", data.shape, "float32", data=data)]
        shapes = {"boxes": (1, 10, 4), "classes": (1, 10), "scores": (1, 10), "count": (1,)}
        found = [model.tensor(name, shape, "float32") for name, shape in shapes.items()]
        options = options_of(
            max_detections=10,
            max_classes_per_detection=1,
            num_classes=2,
            nms_score_threshold=0.1,
            nms_iou_threshold=0.5,
            **{f"{axis}_scale": 10.0 if axis in "yx" else 5.0 for axis in "yxhw"},
        )
        model.op("CUSTOM", given, found, custom=Custom(code=DETECTION, options=options))
        return found

    data = writer.build(detect)
    return Drawn(model=data, inputs=tuple(writer.inputs([image]) for image in net.values[net.inputs[0]][:4]))


WHOLE: Mapping[str, Whole] = {
    "detector": Whole(draw=detector),
    "lstm": Whole(draw=lstm),
    "stream": Whole(draw=stream, is_sequence=True),
}
