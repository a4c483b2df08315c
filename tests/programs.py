"""Scripts in front of the programs that the suite starts hundreds of times. What these do does not change.

The suite compiles the same kernels in hundreds of builds, and does each once: its own processes by
tests/objects.py, others by ccache, where it is installed. What cannot be shared is compiled as ever.

Programs are found in PATH, so the scripts stand in front of it. One that is not installed is still missing.
"""

import os
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import objects
from tests.checkout import ROOT

FOLDER = ROOT / ".ccache"
"""Kept between runs; `make clean` removes it."""

_IN_PLACE = "TESTS_PROGRAMS"
"""Variable that says where the scripts lie, once they stand in the PATH."""

_COMPILERS = ("arm-none-eabi-gcc", "riscv64-unknown-elf-gcc", "gcc", "g++")
_SETTINGS = {
    "CCACHE_DIR": str(FOLDER),
    "CCACHE_MAXSIZE": "1G",
    # What is included is learnt from the compiler: half of all files are a model's, and preprocessing them
    # for ccache would cost more than it gains.
    "CCACHE_DEPEND": "1",
    # With it codegen names the folder that a build lies in, and nothing else, so that objects do not.
    "CCACHE_IGNOREOPTIONS": "-Xassembler",
}
# `-MT x`: the name of a target in a list of includes is nothing that objects depend on. CMake asks for a list
# by itself: of two targets, one would be taken for a header that is missing, and nothing would be kept.
_COMPILER_SCRIPT = """#!/bin/sh
case " $* " in
*" -MD "*) exec {ccache} {program} "$@" ;;
*" -c "*) exec {ccache} {program} -MD -MT x "$@" ;;
esac
exec {program} "$@"
"""


def set_up(config: pytest.Config) -> None:
    """Put the scripts into the PATH of this process and those it starts, xdist's workers too. A suite that a
    test starts has them."""
    objects.keep()
    if hasattr(config, "workerinput") or _IN_PLACE in os.environ:
        return
    # With it every command that a test starts would compile all of codegen again.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    made = tempfile.TemporaryDirectory(prefix="codegen-programs-")
    config.add_cleanup(made.cleanup)
    scripts = Path(made.name)
    if os.access(FOLDER.parent, os.W_OK):
        objects.offer(FOLDER / "objects", dict(_compilers(scripts, shutil.which("ccache"))))
        for name, value in _SETTINGS.items():
            os.environ.setdefault(name, value)
    os.environ["PATH"] = f"{scripts}{os.pathsep}{os.environ['PATH']}"
    os.environ[_IN_PLACE] = str(scripts)


def _compilers(scripts: Path, ccache: str | None) -> Iterator[tuple[str, str]]:
    """Programs that will be called, and the compilers behind them."""
    for name in _COMPILERS:
        compiler = shutil.which(name)
        if compiler is None or (ccache is not None and Path(compiler).samefile(ccache)):
            continue
        if ccache is not None:
            _write(scripts / name, _COMPILER_SCRIPT, program=compiler, ccache=ccache)
        yield str(scripts / name) if ccache else compiler, compiler


def _write(script: Path, text: str, **programs: str) -> None:
    script.write_text(text.format(**{name: shlex.quote(path) for name, path in programs.items()}))
    script.chmod(0o755)


@pytest.fixture
def uncached(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file is compiled, whatever was compiled before: for tests of what compiling twice gives."""
    monkeypatch.setenv("CCACHE_DISABLE", "1")
    monkeypatch.setenv(objects.AS_USERS, "1")


@pytest.fixture
def as_users_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every option of a build counts: debug information and, on this machine, the level."""
    monkeypatch.setenv(objects.AS_USERS, "1")
