"""Kernels compiled for the core of a board, each once for all tests of a run."""

import os
import tempfile
import zlib
from pathlib import Path

import pytest

from codegen.ir import Board
from codegen.targets.families import family_of, level_flags
from codegen.toolchain import LEVELS, gcc
from tests import sampling
from tests.kernels.calling import INCLUDES, RUNTIME, WARNINGS

OPTIONS = ("-std=c11", "-fno-strict-aliasing", "-ffunction-sections", *INCLUDES)

IN_TURN = "in turn"
"""Instead of a level: each file's own, as `level_in_turn` has it; for size where a run is not thorough."""
_LEVELS_IN_TURN = (LEVELS["speed"], LEVELS["size"])
NEARLY_ALIKE = ("mps2-an385", "mps2-an386", "mps2-an500", "mps2-an505")
"""Boards whose cores run nearly the same code: M3, M4, M7, M33."""


_AT_OTHER_LEVEL = (*NEARLY_ALIKE, "qemu-virt-rv32v")


def level_in_turn(source: Path, board: Board) -> str:
    """A level for a file on a board, the same for all tests, so that they share the object: for speed or for
    size, on those that are nearly alike the other one than on the rest."""
    return _LEVELS_IN_TURN[(zlib.crc32(source.stem.encode()) + (board.name in _AT_OTHER_LEVEL)) % 2]


def shared_folder(factory: pytest.TempPathFactory) -> Path:
    """One for the processes of all of this run's tests."""
    base = factory.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "arm-objects"
    shared.mkdir(exist_ok=True)
    return shared


def compiled(source: Path, board: Board, level: str, objects: Path, *more: str) -> Path:
    """The object of a file at a level or `IN_TURN`, in `objects`; a warning is an error. `more` options are
    always the file's own. Raises RuntimeError with what the compiler said."""
    if level == IN_TURN:
        # For speed the compiler takes twice as long; `make test` asks here what a kernel computes.
        level = level_in_turn(source, board) if sampling.is_thorough else LEVELS["size"]
    target = objects / f"{board.name}_{source.name}{level}.o"
    if not target.exists():
        facts = family_of(board.target.cpu).compiler
        flags = [*facts.options, *OPTIONS, *WARNINGS, *facts.compile_flags(board.target)]
        flags += [*level_flags(board.target, level), *more]
        with tempfile.TemporaryDirectory(dir=objects) as own:  # another process may be at it too
            made = Path(own) / target.name
            words = [gcc.tool(f"{facts.prefix}gcc"), *flags, "-c", str(source), "-o", str(made)]
            done = gcc.call(words, RUNTIME)
            if done.returncode or done.stderr:
                raise RuntimeError(f"{board.name}: {done.stderr[-3000:]}")
            made.replace(target)
    return target
