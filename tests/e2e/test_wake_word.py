"""The streaming wake word of MLPerf Tiny: sound in over a terminal, features and decisions out, step by step.

The runner's UART protocol sends 512 samples a step. Features are compared with NumPy's Fourier transform in
double precision, decisions with the network evaluated on the whole window of features.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from codegen.board import load_board
from codegen.driver.build import build
from codegen.driver.inputs.window_words import parsed_windows
from codegen.driver.options import Options
from codegen.importers.dispatch import load
from codegen.ir import Module
from codegen.ir.evaluate import evaluate
from tests.e2e.mlperf_runner import Runner, terminal_of
from tests.networks import model_path

BOARD = "mps2-an386"
MODEL = model_path("separable_1d")
WINDOW, STEP, BANDS, FRAMES = 1024, 512, 40, 30


def sound(steps: int) -> NDArray[np.int16]:
    """Noise that comes and goes, with tones: every band is loud and silent in turn."""
    rng, time = np.random.default_rng(7), np.arange(steps * STEP) / 16_000
    tones = sum(np.sin(2 * np.pi * hertz * time) for hertz in (180.0, 930.0, 4_100.0))
    level = 0.5 - 0.5 * np.cos(2 * np.pi * time / 1.1)
    return np.clip(level * (4_000 * tones + rng.normal(0, 3_000, len(time))), -32_768, 32_767).astype(
        np.int16
    )


def expected_features(samples: NDArray[np.int16], scale: float) -> NDArray[np.float64]:
    """[steps, BANDS] as stored, before they are cut to integers; in double precision."""
    padded = np.concatenate([np.zeros(WINDOW - STEP + 1), samples / 32_768.0])
    hertz = np.arange(WINDOW // 2 + 1) * 16_000 / WINDOW
    mel: NDArray[np.float64] = 1127 * np.log1p(hertz / 700)
    top = 1127 * float(np.log1p(8_000 / 700))
    edges: NDArray[np.float64] = np.linspace(0, top, BANDS + 2)
    rise = (mel[:, None] - edges[:-2]) / (edges[1:-1] - edges[:-2])
    fall = (edges[2:] - mel[:, None]) / (edges[2:] - edges[1:-1])
    bands = np.maximum(0, np.minimum(rise, fall))
    bands[0] = 0
    rows: list[NDArray[np.float64]] = []
    for first in range(0, len(samples), STEP):
        part = padded[first : first + WINDOW + 1]
        emphasised = part[1:] - 0.96875 * part[:-1]
        window = 0.54 - 0.46 * np.cos(2 * np.pi * np.arange(WINDOW) / WINDOW)
        power = np.abs(np.fft.rfft(emphasised * window)) ** 2 / WINDOW
        decibels = 10 * np.log10(np.maximum(power @ bands, 1e-30))
        rows.append(np.clip((decibels + 52) / 64, 0, 1) / scale - 128)
    return np.array(rows)


def decisions(module: Module, features: NDArray[np.int8]) -> NDArray[np.int8]:
    """[steps, classes]: the network on every whole window, features of silence (0) in front."""
    rows = np.concatenate([np.zeros((FRAMES - 1, BANDS), np.int8), features])
    windows = [rows[step : step + FRAMES].reshape(1, FRAMES, 1, BANDS) for step in range(len(features))]
    return np.array([np.ravel(evaluate(module, module.main, [window])[0]) for window in windows], np.int8)


def numbers(said: Sequence[str], name: str) -> list[int]:
    [line] = [line for line in said if line.startswith(name)]
    return [int(word) for word in re.findall(r"-?\d+", line.removeprefix(name))]


def streamed(runner: Runner, samples: NDArray[np.int16]) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Features and outputs of every step."""
    features, outputs = list[list[int]](), list[list[int]]()
    for first in range(0, len(samples), STEP):
        assert runner.load_long(samples[first : first + STEP].astype("<i2").tobytes())[-1:] == ["m-load-done"]
        said = runner.command("extract_uart_stream")
        features.append(numbers(said, "m-features-"))
        outputs.append(numbers(said, "m-activations-"))
    return np.array(features, np.int8), np.array(outputs, np.int8)


@pytest.mark.qemu
@pytest.mark.parametrize("window", ["input_1=1", None])
@pytest.mark.sampled(1)
def test_a_stream_of_sound(window: str | None, tmp_path: Path) -> None:
    """With `--window` a step takes one row of features; without it the whole window. Both decide alike."""
    steps = 42 if window else 12
    options = Options(board=BOARD, firmware="mlperf-tiny", windows=parsed_windows([window] if window else []))
    built = build([MODEL], options, tmp_path / "build", emulated=True)
    module, samples = load(MODEL), sound(steps)
    machine = load_board(BOARD).qemu_machine
    assert machine is not None
    with terminal_of(machine, built.image.path) as (runner, _):
        assert runner.command("profile") == ["m-profile-[MLPerf Tiny Firmware V0.1.0]", "m-model-[sww01]"]
        assert runner.command("stop") == ["Streaming is stopped already."]
        assert runner.command("start")[0] == "Listening for sound ..."
        features, outputs = streamed(runner, samples)
        said = runner.command("stop")
    exact = expected_features(samples, module.main.params[0].type.scale)
    limited = np.minimum(exact, 127.0)
    assert np.abs(features - limited).max() < 1.01  # cut towards zero, from single precision
    assert np.abs(features - np.trunc(limited)).mean() < 0.01
    assert len(np.unique(features)) > 100
    ready = FRAMES - 1 if window else 0
    expected = decisions(module, features)
    np.testing.assert_array_equal(outputs[ready:], expected[ready:])
    assert len(np.unique(expected[ready:, 0])) > 3
    assert numbers(said, "m-steps-") == [steps]
    activations = said[said.index("target activations: ") + 1]
    assert [int(word) for word in activations.strip("[]").split(", ")] == outputs[:, 0].tolist()
    [busy] = numbers(said, "m-processing-us-")
    assert busy > 0


@pytest.mark.qemu
def test_what_a_runner_gets_wrong_in_a_stream(tmp_path: Path) -> None:
    options = Options(board=BOARD, firmware="mlperf-tiny", windows=parsed_windows(["input_1=1"]))
    built = build([MODEL], options, tmp_path / "build", emulated=True)
    machine = load_board(BOARD).qemu_machine
    assert machine is not None
    with terminal_of(machine, built.image.path) as (runner, _):
        for command, answer in {
            "extract_uart_stream": ["e-[Sound has 0 bytes, expected 1024]"],
            "infer 1": ["e-[Unknown command: infer]"],
            "db load 4": ["m-[Expecting 4 bytes]"],
            "db 0102": ["2 bytes received"],
            "db setptr 3": ["e-[Command 'db setptr' requires a number of bytes that came]"],
            "db setptr 1": [],
            "db 030405": ["m-load-done"],
            "db print": ["m-buffer-01-03-04-05"],
            "x" * 1029: ["e-[Command is too long]"],
        }.items():
            assert runner.command(command) == answer, command
        assert runner.command("start")[0] == "Listening for sound ..."
        assert runner.command("start") == ["Streaming goes on already."]
