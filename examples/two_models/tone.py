"""Writes the example's second model, `tone.tflite`, and the inputs of both models, `inputs.h`.

The model says which of four tones is in 64 samples of 8 kHz sound, or that none is. It needs no training:
its first layer multiplies the samples with a cosine and a sine of each tone, and with their negatives, and
keeps what is positive; its second layer adds up the four numbers of a tone, |cosine part| + |sine part|.
Silence is a class with the same score for every input, so a tone wins only where it is louder than that.

    python examples/two_models/tone.py      (in the project's virtual environment)
"""

import math
from pathlib import Path

import numpy as np

from codegen.importers.tflite.writing.writer import ModelBuilder

FOLDER = Path(__file__).resolve().parent
DIGITS = FOLDER.parent / "digits" / "digits_test.npz"

SAMPLES = 64
RATE_HZ = 8_000
TONES_HZ = (500, 1_000, 1_500, 2_000)
"""Whole periods fit into the samples: 4, 8, 12 and 16."""
SILENCE = 4.0
"""Its score: that of a tone of an eighth of the full amplitude."""

INPUTS = 5
HEARD = ((0, 0.0, 0.0), (500, 0.9, 0.3), (1_000, 0.4, 1.2), (1_510, 0.6, 2.0), (2_000, 0.25, 0.8))
"""Frequency in Hz, amplitude and phase of each recording; the fourth is a little out of tune."""

_SAMPLE_SCALE = 1 / 128
_WEIGHT_SCALE = 1 / 127
_PART_SCALE = 42 / 255  # a part is at most the sum of a cosine's absolute values, below 42
_SCORE_SCALE = 84 / 255  # and a score two of them
_LOWEST = -128


def correlators() -> np.ndarray:
    """Weights of the first layer, (16, 64): of each tone its cosine, its sine, and the negatives."""
    rows = []
    for tone in TONES_HZ:
        angles = [2 * math.pi * tone * n / RATE_HZ for n in range(SAMPLES)]
        for wave in (math.cos, math.sin):
            row = [round(127 * wave(angle)) for angle in angles]
            rows += [row, [-weight for weight in row]]
    return np.array(rows, np.int8)


def sums() -> np.ndarray:
    """Weights of the second layer, (5, 16): nothing for silence, a one for each part of a tone."""
    weights = np.zeros((1 + len(TONES_HZ), 4 * len(TONES_HZ)), np.int8)
    for index in range(len(TONES_HZ)):
        weights[1 + index, 4 * index : 4 * index + 4] = 127
    return weights


def model() -> bytes:
    """The network as a `.tflite` file: int8 samples in, five scores out."""
    made = ModelBuilder(description="which of four tones")
    samples = made.tensor("samples", (1, SAMPLES), scale=_SAMPLE_SCALE)
    first, second = correlators(), sums()
    parts = made.tensor("parts", (1, len(first)), scale=_PART_SCALE, zero_point=_LOWEST)
    scores = made.tensor("scores", (1, len(second)), scale=_SCORE_SCALE, zero_point=_LOWEST)
    silence = np.zeros(len(second), np.int32)
    silence[0] = round(SILENCE / (_PART_SCALE * _WEIGHT_SCALE))
    correlate = made.tensor("correlators", first.shape, scale=_WEIGHT_SCALE, data=first)
    add = made.tensor("sums", second.shape, scale=_WEIGHT_SCALE, data=second)
    bias = made.tensor("silence", silence.shape, "int32", scale=_PART_SCALE * _WEIGHT_SCALE, data=silence)
    made.op("FULLY_CONNECTED", [samples, correlate, None], [parts], activation="relu")
    made.op("FULLY_CONNECTED", [parts, add, bias], [scores])
    made.inputs(samples)
    made.outputs(scores)
    return made.build()


def recordings() -> np.ndarray:
    """Samples as a microphone might give them, int8 of shape (5, 64): a tone and a faint hum of 50 Hz."""
    time = np.arange(SAMPLES) / RATE_HZ
    hum = 0.04 * np.sin(2 * np.pi * 50 * time)
    waves = [loud * np.sin(2 * np.pi * tone * time + phase) for tone, loud, phase in HEARD]
    return np.rint(127 * (np.array(waves) + hum)).astype(np.int8)


def images() -> np.ndarray:
    """The first held-out images of the digits example, int8 of shape (5, 64)."""
    with np.load(DIGITS) as arrays:
        return arrays["x"][:INPUTS].reshape(INPUTS, -1)


def header() -> str:
    """`inputs.h`: what a camera and a microphone would deliver."""
    lines = [
        "/* SPDX-License-Identifier: 0BSD */",
        "/* inputs.h -- written by tone.py: images of digits and recordings of tones. */",
        "/* clang-format off */",
        "#ifndef INPUTS_H",
        "#define INPUTS_H",
        "",
        "#include <stdint.h>",
        "",
        '#include "digits.h"',
        '#include "tone.h"',
        "",
        f"#define INPUTS {INPUTS}u",
    ]
    for name, size, values in (
        ("images", "DIGITS_IMAGE_ELEMENTS", images()),
        ("recordings", "TONE_SAMPLES_ELEMENTS", recordings()),
    ):
        lines += ["", f"static const int8_t {name}[INPUTS][{size}] = {{"]
        for row in values.tolist():
            lines += ["    {"]
            lines += [f"        {', '.join(map(str, row[at : at + 16]))}," for at in range(0, len(row), 16)]
            lines += ["    },"]
        lines += ["};"]
    return "\n".join([*lines, "", "#endif /* INPUTS_H */", ""])


def main() -> None:
    """Writes both files."""
    (FOLDER / "tone.tflite").write_bytes(model())
    (FOLDER / "inputs.h").write_text(header(), encoding="utf-8")


if __name__ == "__main__":
    main()
