"""Kernels compile without a warning for every core they are for, keep no state, and call no C library."""

import re
import shutil
import subprocess
import zlib
from collections.abc import Sequence
from pathlib import Path

import pytest

from codegen.board import load_board
from codegen.ir import DType
from codegen.kernels.portable.pooling import mean_workspace_bytes
from tests.kernels.arm_objects import IN_TURN, compiled, shared_folder
from tests.kernels.builders import random_layer
from tests.kernels.calling import INCLUDES, RUNTIME, WARNINGS, sources

ALLOWED = re.compile(r"^(memcpy|memset|__aeabi_\w+|__gnu_thumb1_case_\w+|__clzsi2)$")
"""What kernels may call besides nothing: two library functions and libgcc."""
FORBIDDEN = {"__aeabi_ldivmod", "__aeabi_uldivmod", "__aeabi_lmul"}
"""64-bit division and multiplication in software: far too slow for an inner loop."""
ONCE_A_ROW = {"qlinear_softmax_s8.c": {"__aeabi_uldivmod"}}
"""Of `FORBIDDEN`, what a kernel calls outside its inner loops: the inverse of a row's sum is one quotient."""
needs_arm = pytest.mark.skipif(
    shutil.which("arm-none-eabi-gcc") is None, reason="arm-none-eabi-gcc is not installed"
)


LEVELS = pytest.mark.parametrize("level", ["-Os", "-O2", "-O3"])


def _compile(folder: Path, compiler: str, *flags: str, files: Sequence[Path] = sources()) -> list[Path]:
    """The objects, one of each file; nothing is said of any."""
    command = [compiler, "-std=c11", "-fno-strict-aliasing", *WARNINGS, *flags, *INCLUDES]
    done = subprocess.run(
        [*command, "-c", *map(str, files)], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    objects = sorted(folder.glob("*.o"))
    assert len(objects) == len(files)
    return objects


def _called(folder: Path, *core: str, files: Sequence[Path]) -> set[str]:
    """What kernels compiled for a core call and are not themselves; they keep no state."""
    return _undefined(_compile(folder, "arm-none-eabi-gcc", "-mthumb", *core, files=files))


def _called_on(board: str, level: str, files: Sequence[Path], folder: Path) -> set[str]:
    """What kernels compiled as builds for a board do call and are not themselves; tests link the objects."""
    return _undefined([compiled(path, load_board(board), level, folder) for path in files])


def _undefined(objects: Sequence[Path]) -> set[str]:
    """What kernels call and are not themselves; they keep no state."""
    listed = subprocess.run(
        ["arm-none-eabi-nm", *map(str, objects)], capture_output=True, text=True, check=True
    ).stdout
    symbols = re.findall(r"^(?:[0-9a-f]{8}| {8}) (\w) (\S+)$", listed, flags=re.M)
    # b, B, d, D, C: bytes in .bss or .data, that is state
    assert [name for kind, name in symbols if kind in "bBdDC"] == []
    # A kernel that goes back to front is built on the one that goes front to back.
    own = {name for kind, name in symbols if kind in "TW"}
    return {name for kind, name in symbols if kind == "U"} - own


WIDE = RUNTIME / "kernels" / "portable" / "plain_pair.c"
"""Divides and multiplies int64, as ONNX's operators on it ask for: no core has that."""


def _files(pattern: str) -> list[Path]:
    return sorted((RUNTIME / "kernels").glob(f"*/{pattern}"))


@needs_arm
@pytest.mark.parametrize(
    ("name", "level"),
    [
        *(("microbit", "half"), ("mps3-an547", "half")),
        *(pytest.param(core, IN_TURN, marks=pytest.mark.thorough) for core in ("microbit", "mps3-an547")),
        *(
            pytest.param(core, level, marks=pytest.mark.long)
            for core in ("microbit", "mps2-an385", "mps2-an386", "mps3-an547")
            for level in ("-Os", "-O2", "-O3")
        ),
    ],
)
def test_arm(tmp_path_factory: pytest.TempPathFactory, name: str, level: str) -> None:
    """The objects are those that the fuzz tests link. Of each file one level, for speed or for size: what a
    level warns of, cores share; with `--long` all levels. `half`: of two files each core has one."""
    files = [path for path in sources() if path != WIDE]
    allowed, once_a_row = ALLOWED, ONCE_A_ROW
    if level == "half":
        level, turn = IN_TURN, ("microbit", "mps3-an547").index(name)
        files = [path for path in files if zlib.crc32(path.name.encode()) % 2 == turn]
        allowed = re.compile(rf"{ALLOWED.pattern}|^cg_\w+$")  # what the other half may define
        names = {path.name for path in files}
        once_a_row = {file: calls for file, calls in ONCE_A_ROW.items() if file in names}
    folder, slow = shared_folder(tmp_path_factory), dict[str, set[str]]()
    for path in files:
        slow[path.name] = _called_on(name, level, [path], folder) & FORBIDDEN
    called = _called_on(name, level, files, folder)
    assert {name for name in called if not allowed.match(name)} == set()
    assert {name: calls for name, calls in slow.items() if calls} == once_a_row


@pytest.mark.long
@LEVELS
def test_host(tmp_path: Path, level: str) -> None:
    """The library for this machine (`compile_library`) is compiled without a warning anyway, at -O0."""
    _compile(tmp_path, "gcc", level)


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
@pytest.mark.parametrize("header", ["cg_kernels_s16.h", "cg_kernels_v7m.h"])
def test_header_compiles_as_cpp(tmp_path: Path, header: str) -> None:
    (tmp_path / "header.cpp").write_text(f'#include "{header}"\n')
    options = ["-std=c++14", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]
    command = ["arm-none-eabi-g++", *options, *INCLUDES, str(tmp_path / "header.cpp")]
    subprocess.run(command, check=True)


FPUS = {
    "cortex-m4": "mps2-an386",
    "cortex-m7": "mps2-an500",
    "cortex-m33": "mps2-an505",
    "cortex-m55": "mps3-an547",
}


@needs_arm
@LEVELS
@pytest.mark.parametrize("cpu", FPUS)
@pytest.mark.covering
def test_fpu_kernels(tmp_path_factory: pytest.TempPathFactory, cpu: str, level: str) -> None:
    files = _files("*_f32_fpu.[cS]")
    assert len(files) >= 3
    files += _files("*_f32_mve.S") if cpu == "cortex-m55" else []
    assert f"-mcpu={cpu}" in load_board(FPUS[cpu]).target.compiler_flags
    called = _called_on(FPUS[cpu], level, files, shared_folder(tmp_path_factory))
    assert called <= {"memcpy", "memset"}


@needs_arm
@LEVELS
@pytest.mark.parametrize(
    ("pattern", "board", "least"),
    [("*_mve.[cS]", "mps3-an547", 10), ("*_v7m.[cS]", "mps2-an385", 7)],
    ids=["mve", "v7m"],
)
@pytest.mark.covering
def test_kernels_of_one_core(
    tmp_path_factory: pytest.TempPathFactory, pattern: str, board: str, least: int, level: str
) -> None:
    files = _files(pattern)
    assert len(files) >= least
    called = _called_on(board, level, files, shared_folder(tmp_path_factory))
    assert called <= {"memcpy", "memset"}


@needs_arm
@pytest.mark.parametrize("cpu", ["cortex-m0", "cortex-m0plus", "cortex-m1", "cortex-m23"])
@LEVELS
@pytest.mark.covering
def test_v6m_kernels(tmp_path: Path, cpu: str, level: str) -> None:
    files = _files("*_v6m.*")
    assert len(files) > 6
    called = _called(tmp_path, f"-mcpu={cpu}", level, files=files)
    allowed = re.compile(r"^(cg_\w+|__aeabi_idiv|__aeabi_idivmod|memset|memcpy)$")
    assert {name for name in called if not allowed.match(name)} == set()
