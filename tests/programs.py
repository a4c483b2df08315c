"""Scripts in front of the programs that the suite starts hundreds of times. What these do does not change.

The suite compiles the same kernels in hundreds of builds: ccache, where it is installed, does each once.
What it cannot share is compiled as ever. Firmware that waits for a request spins, and QEMU with it would take
a core from the very process that it waits for: it runs at a lower priority, on a core that nobody else wants.

Programs are found in PATH, so the scripts stand in front of it. One that is not installed is still missing.
"""

import os
import shlex
import shutil
import tempfile
from pathlib import Path

import pytest

from tests.checkout import ROOT

FOLDER = ROOT / ".ccache"
"""Kept between runs; `make clean` removes it."""

_COMPILERS = ("arm-none-eabi-gcc", "gcc", "g++")
_EMULATOR = "qemu-system-arm"
_SETTINGS = {
    "CCACHE_DIR": str(FOLDER),
    "CCACHE_MAXSIZE": "1G",
    # What is included is learnt from the compiler: half of all files are a model's, and preprocessing them
    # for ccache would cost more than it gains.
    "CCACHE_DEPEND": "1",
    # With it codegen names the folder that a build lies in, and nothing else, so that objects do not.
    "CCACHE_IGNOREOPTIONS": "-Xassembler",
}
# `-MT x`: the name of a target in a list of includes is nothing that objects depend on.
_COMPILER_SCRIPT = """#!/bin/sh
case " $* " in *" -c "*) exec {ccache} {program} -MD -MT x "$@" ;; esac
exec {program} "$@"
"""
_EMULATOR_SCRIPT = """#!/bin/sh
exec nice -n 5 {program} "$@"
"""


def set_up(config: pytest.Config) -> None:
    """Put the scripts into the PATH of this process and those it starts, xdist's workers too."""
    if hasattr(config, "workerinput"):
        return
    # With it every command that a test starts would compile all of codegen again.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    made = tempfile.TemporaryDirectory(prefix="codegen-programs-")
    config.add_cleanup(made.cleanup)
    scripts = Path(made.name)
    ccache = shutil.which("ccache")
    if ccache is not None and os.access(FOLDER.parent, os.W_OK):
        for name in _COMPILERS:
            compiler = shutil.which(name)
            if compiler and not Path(compiler).samefile(ccache):
                _write(scripts / name, _COMPILER_SCRIPT, program=compiler, ccache=ccache)
        for name, value in _SETTINGS.items():
            os.environ.setdefault(name, value)
    if emulator := shutil.which(_EMULATOR):
        _write(scripts / _EMULATOR, _EMULATOR_SCRIPT, program=emulator)
    os.environ["PATH"] = f"{scripts}{os.pathsep}{os.environ['PATH']}"


def _write(script: Path, text: str, **programs: str) -> None:
    script.write_text(text.format(**{name: shlex.quote(path) for name, path in programs.items()}))
    script.chmod(0o755)


@pytest.fixture
def uncached(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file is compiled, whatever was compiled before: for tests of what compiling twice gives."""
    monkeypatch.setenv("CCACHE_DISABLE", "1")
