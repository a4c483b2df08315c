"""A worked example: a toy core family in its folders and nowhere else.

It is copied into a copy of the checkout. No file there that exists already is changed.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checkout import ROOT

TOY = Path(__file__).parent / "toy"
SHIPPED = ("codegen", "runtime_c", "templates", "boards", "examples", "LICENSE")
NETWORK = """
import sys
import numpy as np
from codegen.importers.tflite.writing.writer import ModelBuilder

model = ModelBuilder()
image, result = (model.tensor(name, (1, 8), "float32") for name in ("image", "result"))
model.op("RELU", [image], [result])
model.inputs(image)
model.outputs(result)
open(sys.argv[1], "wb").write(model.build())
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what ships, with the toy's folders and a compiler of its name."""
    folder = tmp_path_factory.mktemp("toy")
    for name in SHIPPED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / name)
    shutil.copytree(TOY / "codegen", folder / "codegen" / "targets" / "toy")
    shutil.copytree(TOY / "runtime_c", folder / "runtime_c" / "targets" / "toy")
    board = (ROOT / "boards" / "host.toml").read_text().replace('cpu = "host"', 'cpu = "toy32"')
    board = board.replace('name = "host"', 'name = "toy-board"').replace('features = ["fpu", "div"]', "")
    (folder / "toy-board.toml").write_text(board)
    (folder / "network.py").write_text(NETWORK)
    gcc = shutil.which("gcc")
    assert gcc, "the toy's compiler is gcc under another name: install gcc"
    (folder / "bin").mkdir()
    (folder / "bin" / "toy-gcc").symlink_to(gcc)
    return folder


def _call(folder: Path, *words: str, path: str = "") -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    environment["PATH"] = f"{path}{os.pathsep}{environment['PATH']}" if path else environment["PATH"]
    command = [sys.executable, *words]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120
    )


def test_a_network_runs_on_a_core_that_only_the_toys_folders_know(checkout: Path) -> None:
    made = _call(checkout, "network.py", "relu.tflite")
    assert made.returncode == 0, made.stderr
    words = ("-m", "codegen", "run", "relu.tflite", "--board", "./toy-board.toml")
    done = _call(checkout, *words, path=str(checkout / "bin"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "toy" in done.stdout


def test_its_missing_compiler_is_named_with_what_installs_it(checkout: Path) -> None:
    words = ("-m", "codegen", "build", "relu.tflite", "--board", "./toy-board.toml")
    assert _call(checkout, "network.py", "relu.tflite").returncode == 0
    done = _call(checkout, *words)
    assert done.returncode != 0
    assert "toy-gcc is not installed" in done.stderr
    assert "make the link `toy-gcc` to gcc" in done.stderr


def test_without_its_folders_no_family_lists_the_core(checkout: Path) -> None:
    """An error before anything is compiled."""
    done = _call(
        ROOT,
        "-m",
        "codegen",
        "build",
        "-o",
        str(checkout / "out"),
        "--board",
        str(checkout / "toy-board.toml"),
    )
    assert done.returncode != 0
    assert "no core family has a core 'toy32'" in done.stderr
    assert not (checkout / "out").exists()
