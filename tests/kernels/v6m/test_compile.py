"""ARMv6-M kernels compile and assemble for every core they are for, without a warning, and keep no state."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.kernels.calling import RUNTIME, WARNINGS

FOUND = sorted(path for path in (RUNTIME / "kernels").glob("*/*") if path.stem.endswith("_v6m"))
ALLOWED = re.compile(r"^(cg_\w+|__aeabi_idiv|__aeabi_idivmod|memset|memcpy)$")

pytestmark = pytest.mark.skipif(
    shutil.which("arm-none-eabi-gcc") is None, reason="arm-none-eabi-gcc is not installed"
)


@pytest.mark.parametrize("cpu", ["cortex-m0", "cortex-m0plus", "cortex-m1", "cortex-m23"])
@pytest.mark.parametrize("level", ["-Os", "-O2", "-O3"])
def test_compiles(tmp_path: Path, cpu: str, level: str) -> None:
    assert len(FOUND) > 6
    options = ["-std=c11", "-fno-strict-aliasing", *WARNINGS, f"-mcpu={cpu}", "-mthumb", level]
    command = ["arm-none-eabi-gcc", *options, f"-I{RUNTIME / 'include'}", "-c"]
    done = subprocess.run(
        [*command, *map(str, FOUND)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    objects = sorted(map(str, tmp_path.glob("*.o")))
    listed = subprocess.run(["arm-none-eabi-nm", *objects], capture_output=True, text=True, check=True).stdout
    symbols = re.findall(r"^(?:[0-9a-f]{8}| {8}) (\w) (\S+)$", listed, flags=re.M)
    assert {name for kind, name in symbols if kind == "U" and not ALLOWED.match(name)} == set()
    assert [name for kind, name in symbols if kind in "bBdDC"] == []
