"""A small model with state: the last frames, and a running mean."""

from pathlib import Path

import numpy as np

from codegen.importers.tflite.writing.writer import ModelBuilder
from codegen.ir.rules import StateRule

FRAMES, FEATURES, CLASSES = 4, 6, 5
STATES = (
    StateRule(who="codegen.toml, state 1", input="past/in", output="past/out"),
    StateRule(who="codegen.toml, state 2", input="mean_in", output="mean_out"),
)


def streaming(folder: Path, *, mean_scale: float = 0.05, zero_point: int = 3) -> Path:
    """`stream.tflite`: joins the past with a frame, forgets the oldest, and classifies what it holds.

    `mean_scale`: scale of the output `mean_out`; other than 0.05 it does not fit the input `mean_in`.
    """
    model, dice = ModelBuilder(), np.random.default_rng(5)

    def value(name: str, *shape: int, scale: float = 0.05) -> int:
        return model.tensor(name, shape, "int8", scale=scale, zero_point=zero_point)

    def dense(x: int, y: int, inputs: int, outputs: int, name: str) -> None:
        data = dice.integers(-127, 128, (outputs, inputs)).astype(np.int8)
        weights = model.tensor(
            f"{name}/w", (outputs, inputs), "int8", scale=[0.01] * outputs, zero_point=0, axis=0, data=data
        )
        shifts = dice.integers(-900, 900, outputs).astype(np.int32)
        bias = model.tensor(f"{name}/b", (outputs,), "int32", scale=0.05 * 0.01, data=shifts)
        model.op("FULLY_CONNECTED", [x, weights, bias], [y])

    frame, past, mean = (
        value("frame", 1, 1, FEATURES),
        value("past/in", 1, FRAMES, FEATURES),
        value("mean_in", 1, 8),
    )
    window = value("window", 1, FRAMES + 1, FEATURES)
    model.op("CONCATENATION", [past, frame], [window], axis=1)
    newer = value("past/out", 1, FRAMES, FEATURES)
    begin, end, stride = (
        model.constant(name, numbers)
        for name, numbers in (("begin", [0, 1, 0]), ("end", [1, FRAMES + 1, FEATURES]), ("step", [1, 1, 1]))
    )
    model.op("STRIDED_SLICE", [window, begin, end, stride], [newer])
    flat = value("flat", 1, (FRAMES + 1) * FEATURES)
    shape = model.constant("shape", [1, (FRAMES + 1) * FEATURES])
    model.op("RESHAPE", [window, shape], [flat])
    hidden, new_mean, scores = (
        value("hidden", 1, 8),
        value("mean_out", 1, 8, scale=mean_scale),
        value("y", 1, 5),
    )
    dense(flat, hidden, (FRAMES + 1) * FEATURES, 8, "h")
    model.op("ADD", [hidden, mean], [new_mean])
    dense(new_mean, scores, 8, CLASSES, "o")
    model.inputs(frame, past, mean)
    model.outputs(scores, newer, new_mean)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "stream.tflite"
    path.write_bytes(model.build())
    return path
