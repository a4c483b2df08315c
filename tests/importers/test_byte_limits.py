"""`--model-limit`: bytes of values and of constants up to which a model is imported."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from codegen.driver.options import Options
from codegen.errors import CodegenError
from codegen.importers import load
from codegen.importers.limits import STATED, ByteLimits, byte_limits
from tests.checkout import ROOT
from tests.cli.test_verbs import call
from tests.importers.onnx.models import model, node
from tests.importers.samples import everything, written

RAISED = (
    "help: give a model of smaller images or fewer layers; `--model-limit BYTES` raises this, for several"
)
MADE = (1 << 25) + 1
"""Elements that a file of a few bytes makes: more than 256 MiB, by eight bytes each."""


def saved(folder: Path, made: Any) -> Path:
    path = folder / "m.onnx"
    onnx.save_model(made, str(path))
    return path


def made_weights() -> Any:
    """Weights that are not in the file: a node makes them, and another one takes a part."""
    value = numpy_helper.from_array(np.array([0.5], np.float32), "v")
    constants = {"n": np.array([MADE], np.int64), "first": np.array([0], np.int64)}
    constants |= {"last": np.array([4], np.int64), "axis": np.array([0], np.int64)}
    return model(
        node("ConstantOfShape", "n", "w", value=value),
        node("Slice", "w first last axis", "w4"),
        node("Add", "x w4", "y"),
        x=(1, 4),
        constants=constants,
    )


def refusal(path: Path, limits: ByteLimits) -> str:
    with pytest.raises(CodegenError) as caught:
        load(path, limits=limits)
    assert [each.code for each in caught.value.messages] == ["E305"]
    return str(caught.value)


def test_values_beyond_the_stated_limit_are_imported_where_that_is_raised(tmp_path: Path) -> None:
    path = saved(tmp_path, model(node("Relu", "x", "y"), x=(1, 40 << 20)))
    text = refusal(path, STATED)
    assert "up to 117,440,512 are imported" in text
    assert RAISED in text
    assert len(load(path, limits=byte_limits(320 << 20)).main.body) == 1
    assert "up to 335,544,319 are imported" in refusal(path, byte_limits((320 << 20) - 1))


def test_weights_that_nodes_make_are_imported_where_that_is_raised(tmp_path: Path) -> None:
    """Five lines of protobuf ask for 256 MiB: a bomb, or a network whose author left its weights out."""
    path = saved(tmp_path, made_weights())
    text = refusal(path, STATED)
    assert "makes constants of more than 268435456 bytes" in text
    assert "`--model-limit BYTES` raises this" in text
    module = load(path, limits=byte_limits(256 << 20))
    assert [each.type.shape for each in module.constants.values()] == [(1, 4)]


def test_a_file_and_its_constants_have_the_same_limit(tmp_path: Path) -> None:
    """Both formats, and constants beside the file; a limit below what is stated is one too."""
    data = everything()
    path = written(tmp_path, "m.tflite", data)
    assert load(path, limits=byte_limits(len(data))) is not None
    short = byte_limits(len(data) - 1)
    assert f"the file has {len(data)} bytes, up to {len(data) - 1} are imported" in refusal(path, short)
    outside = model(node("Add", "x w", "y"), x=(1, 4096), constants={"w": np.ones((1, 4096), np.float32)})
    onnx.convert_model_to_external_data(outside, location="w.bin", size_threshold=0)
    beside = saved(tmp_path, outside)
    text = refusal(beside, ByteLimits(constants=4096))
    assert "constants in other files have more than 4096 bytes together" in text
    assert len(load(beside).main.body) == 1


def test_the_flag_and_the_key_of_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    path = saved(tmp_path, model(node("Relu", "x", "y"), x=(1, 1024)))
    assert call("plan", str(path), "--model-limit", "8K") == 0
    assert call("plan", str(path), "--model-limit", "8191") == 3
    assert "`--model-limit BYTES` raises this" in capsys.readouterr().err
    (tmp_path / "codegen.toml").write_text('model-limit = "4K"\n')
    assert call("plan", str(path)) == 3
    assert call("plan", str(path), "--model-limit", "8K") == 0
    assert call("plan", str(path), "--model-limit", "much") == 2


def test_help_and_docs_say_the_stated_limits() -> None:
    """They are numbers of `codegen/importers/limits.py`, told in two other places."""
    stated = f"{STATED.values >> 20}M, {STATED.constants >> 20}M"
    [limit] = [each for each in dataclasses.fields(Options) if each.name == "model_limit"]
    assert f"({stated})" in str(limit.metadata)
    assert f"| {stated} |" in (ROOT / "docs/configuration.md").read_text()
