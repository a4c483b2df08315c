"""The suite compiles the same kernels in hundreds of builds: ccache, where it is installed, does each once.

Compilers are found in PATH, so scripts that call them through ccache stand in front of them. Nothing else
changes: a compiler that is not installed is still missing, and what ccache cannot share is compiled as ever.
"""

import os
import shlex
import shutil
import tempfile
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / ".ccache"
"""Kept between runs; `make clean` removes it."""

_COMPILERS = ("arm-none-eabi-gcc", "gcc", "g++")
_SETTINGS = {
    "CCACHE_DIR": str(FOLDER),
    "CCACHE_MAXSIZE": "1G",
    # What is included is learnt from the compiler: half of all files are a model's, and preprocessing them
    # for ccache would cost more than it gains.
    "CCACHE_DEPEND": "1",
    # With it codegen names the folder that a build lies in, and nothing else, so that objects do not.
    "CCACHE_IGNOREOPTIONS": "-Xassembler",
}
# The name of a target in a list of includes is nothing that objects depend on.
_SCRIPT = """#!/bin/sh
case " $* " in *" -c "*) exec {ccache} {compiler} -MD -MT x "$@" ;; esac
exec {compiler} "$@"
"""


def set_up(config: pytest.Config) -> None:
    """Put ccache in front of the compilers of this process and those it starts, xdist's workers too."""
    ccache = shutil.which("ccache")
    if ccache is None or hasattr(config, "workerinput") or not os.access(FOLDER.parent, os.W_OK):
        return
    scripts = tempfile.TemporaryDirectory(prefix="codegen-ccache-")
    config.add_cleanup(scripts.cleanup)
    for name in _COMPILERS:
        compiler = shutil.which(name)
        if compiler and not Path(compiler).samefile(ccache):
            script = Path(scripts.name) / name
            script.write_text(_SCRIPT.format(ccache=shlex.quote(ccache), compiler=shlex.quote(compiler)))
            script.chmod(0o755)
    os.environ["PATH"] = f"{scripts.name}{os.pathsep}{os.environ['PATH']}"
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)


@pytest.fixture
def uncached(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file is compiled, whatever was compiled before: for tests of what compiling twice gives."""
    monkeypatch.setenv("CCACHE_DISABLE", "1")
