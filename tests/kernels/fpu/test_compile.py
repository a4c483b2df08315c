"""The FPU kernels compile for every core that has one without a warning, keep no state, call no C library."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.kernels.calling import RUNTIME, WARNINGS

pytestmark = pytest.mark.skipif(
    shutil.which("arm-none-eabi-gcc") is None, reason="arm-none-eabi-gcc is not installed"
)
CORES = {
    "cortex-m4": ("-mfpu=fpv4-sp-d16",),
    "cortex-m7": ("-mfpu=fpv5-sp-d16",),
    "cortex-m33": ("-mfpu=fpv5-sp-d16",),
    "cortex-m55": (),
}


@pytest.mark.parametrize("level", ["-Os", "-O2", "-O3"])
@pytest.mark.parametrize("cpu", CORES)
def test_fpu_kernels(tmp_path: Path, cpu: str, level: str) -> None:
    files = sorted((RUNTIME / "kernels").glob("*/*_f32_fpu.[cS]"))
    assert len(files) >= 3
    files += sorted((RUNTIME / "kernels").glob("*/*_f32_mve.S")) if cpu == "cortex-m55" else []
    core = (f"-mcpu={cpu}", "-mthumb", "-mfloat-abi=hard", *CORES[cpu])
    command = ["arm-none-eabi-gcc", "-std=c11", "-fno-strict-aliasing", *WARNINGS, *core, level]
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
    listed = subprocess.run(
        ["arm-none-eabi-nm", *map(str, objects)], capture_output=True, text=True, check=True
    ).stdout
    symbols = re.findall(r"^(?:[0-9a-f]{8}| {8}) (\w) (\S+)$", listed, flags=re.M)
    own = {name for kind, name in symbols if kind == "T"}
    called = {name for kind, name in symbols if kind == "U"}
    assert {name for name in called - own if name not in {"memcpy", "memset"}} == set()
    assert [name for kind, name in symbols if kind in "bBdDC"] == []
