"""Kernels compiled for the core of a board, each once for all tests of a run."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from codegen.ir import Board
from tests.kernels.calling import RUNTIME, WARNINGS

OPTIONS = ("-std=c11", "-fno-strict-aliasing", "-ffunction-sections", f"-I{RUNTIME / 'include'}")


def shared_folder(factory: pytest.TempPathFactory) -> Path:
    """One for the processes of all of this run's tests."""
    base = factory.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "arm-objects"
    shared.mkdir(exist_ok=True)
    return shared


def compiler() -> str:
    """Path of the compiler. Raises FileNotFoundError."""
    found = shutil.which("arm-none-eabi-gcc")
    if found is None:
        raise FileNotFoundError("arm-none-eabi-gcc is not installed")
    return found


def compiled(source: Path, board: Board, level: str, objects: Path, *more: str) -> Path:
    """The object of a file, in `objects`; a warning is an error. `more` options are always the file's own.
    Raises RuntimeError with what the compiler said."""
    target = objects / f"{board.name}_{source.name}{level}.o"
    if not target.exists():
        flags = [*OPTIONS, *WARNINGS, *board.target.compiler_flags, *board.target.level_flags(level), *more]
        with tempfile.TemporaryDirectory(dir=objects) as own:  # another process may be at it too
            made = Path(own) / target.name
            words = [compiler(), *flags, "-c", str(source), "-o", str(made)]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            if done.returncode or done.stderr:
                raise RuntimeError(f"{board.name}: {done.stderr[-3000:]}")
            made.replace(target)
    return target
