"""The portable kernels compile for every core without a warning, keep no state, call no C library."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from codegen.ir import DType
from codegen.kernels.portable.pooling import mean_workspace_bytes
from tests.kernels.builders import random_layer
from tests.kernels.calling import RUNTIME, WARNINGS, sources

CPUS = ("cortex-m0", "cortex-m3", "cortex-m4", "cortex-m55")

ALLOWED = re.compile(r"^(memcpy|memset|__aeabi_\w+|__gnu_thumb1_case_\w+|__clzsi2)$")
"""What kernels may call besides nothing: two library functions and libgcc."""

FORBIDDEN = {"__aeabi_ldivmod", "__aeabi_uldivmod", "__aeabi_lmul"}
"""64-bit division and multiplication in software: far too slow for an inner loop."""

needs_arm = pytest.mark.skipif(
    shutil.which("arm-none-eabi-gcc") is None, reason="arm-none-eabi-gcc is not installed"
)


def _compile(folder: Path, compiler: str, *flags: str) -> list[Path]:
    command = [
        compiler,
        "-std=c11",
        "-fno-strict-aliasing",
        *WARNINGS,
        *flags,
        f"-I{RUNTIME / 'include'}",
        "-c",
    ]
    done = subprocess.run(
        [*command, *map(str, sources())], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return sorted(folder.glob("*.o"))


@needs_arm
@pytest.mark.parametrize("level", ["-Os", "-O2", "-O3"])
@pytest.mark.parametrize("cpu", CPUS)
def test_arm(tmp_path: Path, cpu: str, level: str) -> None:
    objects = _compile(tmp_path, "arm-none-eabi-gcc", f"-mcpu={cpu}", "-mthumb", level)
    assert len(objects) == len(sources())
    listed = subprocess.run(
        ["arm-none-eabi-nm", *map(str, objects)], capture_output=True, text=True, check=True
    ).stdout
    symbols = re.findall(r"^(?:[0-9a-f]{8}| {8}) (\w) (\S+)$", listed, flags=re.M)
    called = {name for kind, name in symbols if kind == "U"}
    # A kernel that goes back to front is built on the one that goes front to back.
    own = {name for kind, name in symbols if kind == "T"}
    assert {name for name in called - own if not ALLOWED.match(name)} == set()
    assert called & FORBIDDEN == set()
    # b, B, d, D, C: bytes in .bss or .data, that is state
    assert [name for kind, name in symbols if kind in "bBdDC"] == []


@pytest.mark.parametrize("level", ["-Os", "-O2", "-O3"])
def test_host(tmp_path: Path, level: str) -> None:
    assert len(_compile(tmp_path, "gcc", level)) == len(sources())


def test_c_states_the_same_workspace_as_python(tmp_path: Path) -> None:
    layers = [random_layer("MEAN", DType.INT8, seed) for seed in range(20)]
    tests = [
        f"    wrong += cg_mean_s8_workspace_bytes(&(cg_mean_params){{.reduction = {{.out_len = "
        f"{layer.let.var.type.elements}}}}}) != {mean_workspace_bytes(layer.let)}u;\n"
        for layer in layers
    ]
    program = '#include "cg_kernels.h"\nint main(void)\n{\n    int wrong = 0;\n' + "".join(tests)
    (tmp_path / "main.c").write_text(program + "    return wrong;\n}\n")
    command = ["gcc", "-std=c11", f"-I{RUNTIME / 'include'}", "main.c", "-o", "main"]
    subprocess.run(command, cwd=tmp_path, check=True)
    subprocess.run([str(tmp_path / "main")], check=True)


@needs_arm
def test_header_compiles_as_cpp(tmp_path: Path) -> None:
    (tmp_path / "header.cpp").write_text('#include "cg_kernels_s16.h"\n')
    command = [
        "arm-none-eabi-g++",
        "-std=c++14",
        "-Wall",
        "-Wextra",
        "-Wpedantic",
        "-Werror",
        "-fsyntax-only",
    ]
    subprocess.run([*command, f"-I{RUNTIME / 'include'}", str(tmp_path / "header.cpp")], check=True)


@pytest.mark.skipif(shutil.which("cppcheck") is None, reason="cppcheck is not installed")
def test_cppcheck() -> None:
    checks = "--enable=warning,performance,portability"
    command = [
        "cppcheck",
        "--std=c11",
        checks,
        "--error-exitcode=1",
        "--quiet",
        "--suppress=normalCheckLevelMaxBranches",
        f"-I{RUNTIME / 'include'}",
    ]
    done = subprocess.run([*command, str(RUNTIME / "kernels")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
