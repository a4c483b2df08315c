"""The ARMv7-M kernels compile without a warning, keep no state, call no C library."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.kernels.calling import RUNTIME, WARNINGS

pytestmark = pytest.mark.skipif(
    shutil.which("arm-none-eabi-gcc") is None, reason="arm-none-eabi-gcc is not installed"
)
CORE = ("-mcpu=cortex-m3", "-mthumb", "-mfloat-abi=soft")


@pytest.mark.parametrize("level", ["-Os", "-O2", "-O3"])
def test_kernels(tmp_path: Path, level: str) -> None:
    files = sorted((RUNTIME / "kernels").glob("*/*_v7m.[cS]"))
    command = ["arm-none-eabi-gcc", "-std=c11", "-fno-strict-aliasing", *WARNINGS, *CORE, level]
    done = subprocess.run(
        [*command, f"-I{RUNTIME / 'include'}", "-c", *map(str, files)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    objects = sorted(tmp_path.glob("*.o"))
    assert len(objects) == len(files) >= 7
    listed = subprocess.run(
        ["arm-none-eabi-nm", *map(str, objects)], capture_output=True, text=True, check=True
    ).stdout
    symbols = re.findall(r"^(?:[0-9a-f]{8}| {8}) (\w) (\S+)$", listed, flags=re.M)
    own = {name for kind, name in symbols if kind == "T"}
    called = {name for kind, name in symbols if kind == "U"}
    assert {name for name in called - own if name not in {"memcpy", "memset"}} == set()
    assert [name for kind, name in symbols if kind in "bBdDC"] == []


def test_header_compiles_as_cpp(tmp_path: Path) -> None:
    (tmp_path / "header.cpp").write_text('#include "cg_kernels_v7m.h"\n')
    options = ["-std=c++14", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]
    command = ["arm-none-eabi-g++", *options, f"-I{RUNTIME / 'include'}", str(tmp_path / "header.cpp")]
    subprocess.run(command, check=True)
