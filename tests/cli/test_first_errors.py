"""A command line that is wrong is answered before the chain is imported.

Importing NumPy, the kernels and Jinja took 1.4 s of processor time, for a typo in a path too. What is
imported is counted here, and no time.
"""

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("numpy", "jinja2", "rich", "elftools", "onnx", "tflite", "serial", "cffi")
"""Packages that no check of a command line needs."""
ROOMS = (
    "kernels",
    "search",
    "importers.onnx",
    "importers.tflite",
    "emit",
    "passes",
    "plan",
    "toolchain",
    "page",
)
"""Rooms of codegen that a sound command line needs, and no other."""
MOST_MODULES = 71
"""Modules of codegen, each tool's declaration among them. Each takes more than a millisecond where Python
may not keep what it compiled."""

_CALL = """
import sys
from codegen.cli import main
try:
    main(sys.argv[1:])
except SystemExit as end:
    print("\\nstatus", end.code)
    print("modules", *sorted(sys.modules))
"""


def _called(words: list[str], folder: Path) -> tuple[int, set[str]]:
    """The exit code of a command in a new process, and what it imported."""
    command = [sys.executable, "-c", _CALL, *words]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, timeout=300)
    [status] = [line for line in ran.stdout.splitlines() if line.startswith("status ")]
    [modules] = [line for line in ran.stdout.splitlines() if line.startswith("modules ")]
    return int(status.split()[1]), set(modules.split()[1:])


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["plan", "missing.tflite"], 2),
        (["build", "missing.tflite", "--board", "stm32"], 2),
        (["run", "missing.onnx"], 2),
        (["validate", "missing.onnx"], 2),
        (["plan", "there.tflite", "--board", "nowhere"], 2),
        (["run", "there.tflite", "--board", "nowhere"], 2),
        (["validate", "there.tflite", "--board", "nowhere"], 2),
        (["build", "--board", "nowhere"], 2),
        (["plan", "--optimise", "size"], 2),
        (["run", "--dim", "T"], 2),
        (["plan", "--pool", "sram=many"], 2),
        (["plan", "--help"], 0),
        (["run", "--help"], 0),
    ],
    ids=str,
)
@pytest.mark.sampled(6)
def test_nothing_of_the_chain_is_imported(words: list[str], status: int, tmp_path: Path) -> None:
    (tmp_path / "there.tflite").write_bytes(b"")
    code, modules = _called(words, tmp_path)
    assert code == status
    assert not modules & set(HEAVY)
    assert not {room for room in ROOMS if f"codegen.{room}" in modules}
    assert sum(name.startswith("codegen.") for name in modules) <= MOST_MODULES


def test_boards_are_listed_without_kernels(tmp_path: Path) -> None:
    code, modules = _called(["boards"], tmp_path)
    assert code == 0
    assert "numpy" not in modules
    assert "codegen.kernels" not in modules


def test_a_plan_imports_what_it_needs_and_no_more(tmp_path: Path) -> None:
    """The tests above would hold for a program that imports nothing at all."""
    code, modules = _called(["plan", "-q"], tmp_path)
    assert code == 0
    assert {"numpy", "codegen.kernels", "codegen.importers.tflite"} <= modules
    assert not modules & {"jinja2", "rich", "elftools", "serial", "onnx"}
    unneeded = ("importers.onnx.file_import", "emit", "toolchain", "page", "engines", "board.machines")
    assert not {room for room in unneeded if f"codegen.{room}" in modules}
