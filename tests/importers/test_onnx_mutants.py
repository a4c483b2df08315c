"""ONNX files that attackers would make: refused in words or planned, within 2 s and 512 MiB, no traceback.

`python -m tests.importers.fuzz --onnx --count N --seed S` makes more of them. It found a branch without
results that left a model without outputs, a Tile that asked for 64 GiB, a depth of OneHot beyond 32 bits, a
quantised layer whose result has no name, and a Resize of a million columns that took seconds.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest

from codegen.errors import CodegenError
from codegen.importers import load
from tests.checkout import ROOT
from tests.importers.fuzz.beside import outside
from tests.importers.fuzz.onnx_files import draw
from tests.importers.onnx.models import model, node

MUST_BE_REFUSED = {
    "a function that calls itself": "E305",
    "functions that double 40 times": "E305",
    "two nodes in a circle": "E303",
    "Tile by 2^31": "E305",
    "Range to 2^62": "E305",
    "Concat that doubles 60 times": "E305",
    "a loop of 2^62 turns": "E305",
    "OneHot of depth 2^40": "E305",
    "Resize to 2^20, cubic": "E305",
    "a branch without results": "E303",
    "a constant of 2^60 without data": "E305",
    "attributes 3,000 deep": "E302",
    "a million empty nodes": "E305",
}


def fuzz(*words: str) -> tuple[int, str]:
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tests.importers.fuzz", "--onnx", *words]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout


def test_small_files_that_ask_for_much() -> None:
    ended, text = fuzz("--handmade")
    assert ended == 0, text
    verdicts = {name: what for what, name in re.findall(r"^(\S+) +(.+)$", text, re.MULTILINE)}
    assert {name: verdicts.get(name) for name in MUST_BE_REFUSED} == MUST_BE_REFUSED
    beside = {name: what for name, what in verdicts.items() if name.startswith("external")}
    assert beside.pop("external data at 'm.onnx'") == "ok", "the file itself lies in the folder of the model"
    assert set(beside.values()) == {"E314"}
    assert verdicts["If in each other, 7 deep"] == "ok"


@pytest.mark.parametrize(
    ("count", "fewest_imported"), [(100, 10), pytest.param(300, 30, marks=pytest.mark.thorough)]
)
def test_mutants(count: int, fewest_imported: int) -> None:
    ended, text = fuzz("--count", str(count), "--seed", "3")
    assert ended == 0, text
    counts = {
        what: int(count.replace(",", ""))
        for count, what in re.findall(r"^ *([\d,]+) (.+)$", text, re.MULTILINE)
    }
    assert counts["ok"] > fewest_imported
    assert {"E301", "E302", "E303", "E305"} <= set(counts)


@pytest.mark.long
def test_twenty_thousand_mutants() -> None:
    ended, text = fuzz("--count", "20000", "--seed", "1")
    assert ended == 0, text


def test_a_mutant_repeats() -> None:
    assert draw(5, 17) == draw(5, 17)
    assert len({draw(5, number).data for number in range(40)}) > 35


@pytest.mark.parametrize("location", ["../x.bin", "link.bin", "folder/../../x.bin", "{outside}/x.bin"])
def test_data_outside_of_the_folder_are_not_read(tmp_path: Path, location: str) -> None:
    """By a path that leads up, an absolute one, a symbolic link."""
    (tmp_path / "x.bin").write_bytes(bytes(128))
    inside = tmp_path / "inside"
    (inside / "folder").mkdir(parents=True)
    (inside / "link.bin").symlink_to(tmp_path / "x.bin")
    made = model(node("Add", "x k", "y"), constants={"k": np.ones((1, 2, 4, 4), np.float32)})
    outside(made.graph.initializer[0], location.format(outside=tmp_path), 128)
    (inside / "m.onnx").write_bytes(made.SerializeToString())
    with pytest.raises(CodegenError) as told:
        load(inside / "m.onnx")
    assert told.value.messages[0].code == "E314"
    assert onnx.load_model(str(inside / "m.onnx"), load_external_data=False).graph.node


def test_a_quantised_layer_without_a_name_is_told(tmp_path: Path) -> None:
    """Of 6,000 mutants two were a traceback: the last QuantizeLinear of a layer had no output."""
    (tmp_path / "m.onnx").write_bytes(draw(1, 3810).data)
    with pytest.raises(CodegenError):
        load(tmp_path / "m.onnx")
