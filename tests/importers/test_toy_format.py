"""A worked example: a toy file format in its folder and nowhere else.

The folder is copied into a copy of the checkout. No file there that exists already is changed.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checkout import ROOT

TOY = Path(__file__).parent / "toy"
SHIPPED = ("codegen", "runtime_c", "templates", "boards", "examples")
NETWORK = """module
fn main(%image: int8[1,8] q(0.5; 0) origin "image") {
  %total: int8[1,8] q(1.0; 0) origin "total" = ADD(%image, %image) activation="none" unbounded=false
} -> (%total)
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what ships, with the toy's folder and a network in its format."""
    folder = tmp_path_factory.mktemp("toy_format")
    for name in SHIPPED:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "LICENSE", folder)
    shutil.copytree(TOY, folder / "codegen" / "importers" / "toy")
    (folder / "net.toy").write_text(NETWORK)
    (folder / "net.txt").write_text("neither")
    return folder


def _codegen(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    command = [sys.executable, "-m", "codegen", *words]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120
    )


def test_a_network_in_the_toy_format_is_planned_and_runs(checkout: Path) -> None:
    done = _codegen(checkout, "run", "net.toy", "--board", "host", "--reference", "numpy", "-o", "out")
    assert done.returncode == 0, done.stderr
    assert "net" in (checkout / "out" / "net.h").read_text()


def test_the_formats_that_are_known_are_named(checkout: Path) -> None:
    done = _codegen(checkout, "plan", "net.txt", "--board", "host")
    assert "only ONNX, TensorFlow Lite and toy text models can be imported" in " ".join(done.stderr.split())
