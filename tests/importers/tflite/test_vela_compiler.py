"""`--npu`: Vela as a child, its refusals in words, its figures and reasons in the report."""

import os
from pathlib import Path

import numpy as np
import pytest

from codegen import CodegenError, Options, plan, run
from codegen.importers.tflite import vela_compiler
from codegen.importers.tflite.writing.writer import ModelBuilder
from tests.checkout import ROOT
from tests.engines import TFLITE_RUNTIME, available
from tests.networks import model_path

ENGINES = ROOT / ".venv-engines" / "bin"
needs_vela = pytest.mark.skipif(
    not (ENGINES / "vela").exists() or TFLITE_RUNTIME not in available(),
    reason="make engines installs Vela and TFLite",
)


def _refused(model: Path, npu: str = "ethos-u55-128") -> str:
    with pytest.raises(CodegenError) as refused:
        plan(model, Options(board="host", npu=npu))
    return str(refused.value)


def _fake_vela(folder: Path, body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command `vela` of our own in front of all others."""
    command = folder / "vela"
    command.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setattr(vela_compiler.importlib.util, "find_spec", lambda name: None)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]


def test_another_configuration_is_refused_with_those_that_there_are() -> None:
    text = _refused(model_path("ds_cnn"), "ethos-u55-100")
    assert "E317" in text and "there is no configuration ethos-u55-100" in text
    assert "configurations are ethos-u55-32, ethos-u55-64, ethos-u55-128" in text


def test_without_vela_the_command_that_installs_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _fake_vela(tmp_path, "", monkeypatch)
    (tmp_path / "vela").unlink()
    text = _refused(model_path("ds_cnn"))
    assert "E313" in text and "Arm's compiler for the Ethos-U, which is not installed" in text
    assert "ethos-u-vela" in text


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("echo Error: no such layer >&2; exit 1", "Vela cannot compile the file: Error: no such layer"),
        ("echo done", "Vela cannot compile the file: done"),
    ],
)
def test_the_last_words_of_a_failing_vela_are_told(
    body: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _fake_vela(tmp_path, body, monkeypatch)
    text = _refused(model_path("ds_cnn"))
    assert "E318" in text and words in text


def test_sizes_that_are_ranges_have_no_command_stream(tmp_path: Path) -> None:
    onnx = tmp_path / "m.onnx"
    onnx.write_bytes(b"\x08\x07")
    assert "E318" in _refused(onnx) and "this is another format" in _refused(onnx)


def _mixed() -> bytes:
    """Two convolutions for the NPU, and between them SPACE_TO_DEPTH, which Vela leaves to the core."""
    rng = np.random.default_rng(7)
    model = ModelBuilder()
    x = model.tensor("x", (1, 16, 16, 8), scale=0.5)
    outs: list[int] = []
    for name, shape, depth in (("a", (1, 16, 16, 16), 8), ("c", (1, 8, 8, 16), 64)):
        weights = model.tensor(
            f"w{name}",
            (16, 3, 3, depth),
            scale=[0.01] * 16,
            zero_point=[0] * 16,
            data=rng.integers(-127, 128, (16, 3, 3, depth), np.int8),
        )
        bias = model.tensor(
            f"b{name}", (16,), "int32", scale=[0.005] * 16, zero_point=[0] * 16, data=[0] * 16
        )
        outs.append(model.tensor(name, shape, scale=0.5))
        source = x if name == "a" else model.tensor("b", (1, 8, 8, 64), scale=0.5)
        if name == "c":
            model.op("SPACE_TO_DEPTH", [outs[0]], [source], block_size=2)
        model.op("CONV_2D", [source, weights, bias], [outs[-1]], padding="SAME")
    model.inputs(x)
    model.outputs(outs[-1])
    return model.build()


@needs_vela
def test_layers_on_both_sides_are_equal_to_the_file_before_vela(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:{ENGINES}")
    model = tmp_path / "m.tflite"
    model.write_bytes(_mixed())
    report = run(model, Options(board="host", npu="ethos-u55-128"))
    assert report.run is not None and report.run.reference is not None and report.npu is not None
    assert report.run.reference["kind"] == "engine"
    assert [output.matches for output in report.run.outputs] == [True]
    assert len(report.npu["steps"]) == 2
    [left] = report.npu["on_the_core"]
    assert left["op"] == "SPACE_TO_DEPTH" and left["why"] == "Unsupported opType"
    assert report.npu["vela_cycles"] > 0 and report.npu["vela"].startswith("5.")
    assert report.npu["plan_bytes"] <= report.npu["vela_arena_bytes"]
