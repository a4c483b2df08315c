"""The suite compiles the same kernels in hundreds of builds: ccache, where it is installed, does each once.

Compilers are found in PATH, so links to ccache stand in front of the real ones. Nothing else changes: a
compiler that is not installed is still missing, and what ccache cannot share is compiled as ever.
"""

import os
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
    # With it codegen names the folder that a build lies in, and nothing else, so that objects do not.
    "CCACHE_IGNOREOPTIONS": "-Xassembler",
}


def set_up(config: pytest.Config) -> None:
    """Put ccache in front of the compilers of this process and those it starts, xdist's workers too."""
    ccache = shutil.which("ccache")
    if ccache is None or hasattr(config, "workerinput") or not os.access(FOLDER.parent, os.W_OK):
        return
    links = tempfile.TemporaryDirectory(prefix="codegen-ccache-")
    config.add_cleanup(links.cleanup)
    for name in _COMPILERS:
        if shutil.which(name):
            (Path(links.name) / name).symlink_to(ccache)
    os.environ["PATH"] = f"{links.name}{os.pathsep}{os.environ['PATH']}"
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)


@pytest.fixture
def uncached(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file is compiled, whatever was compiled before: for tests of what compiling twice gives."""
    monkeypatch.setenv("CCACHE_DISABLE", "1")
