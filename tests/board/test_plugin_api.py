"""QEMU's plugin interface changed in 9.0 and 9.1: on Debian 13 (QEMU 10) the cycle plugin did not load."""

import shutil
import subprocess
from pathlib import Path

import pytest

from codegen import toolchain
from codegen.board.machines.qemu import api_of


@pytest.mark.parametrize(
    ("said", "api"),
    [
        ("QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18)", 1),
        ("QEMU emulator version 8.2.2", 1),
        ("QEMU emulator version 9.0.4", 2),
        ("QEMU emulator version 9.1.0", 3),
        ("QEMU emulator version 10.0.13 (Debian 1:10.0.13+ds-0+deb13u1)", 3),
        ("something else", 1),
    ],
)
def test_each_qemu_gets_its_interface(said: str, api: int) -> None:
    assert api_of(said) == api


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
@pytest.mark.parametrize("api", [1, 2, 3])
def test_the_plugin_compiles_for_each_interface(tmp_path: Path, api: int) -> None:
    plugin = toolchain.build_counts_plugin(tmp_path, api)
    names = subprocess.run(["nm", "-D", str(plugin)], capture_output=True, text=True, check=True).stdout
    wanted = "inline_per_vcpu" if api >= 2 else "exec_inline\n"
    assert wanted in names
