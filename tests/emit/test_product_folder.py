"""The folder that a user adds to a firmware has few files, and refuses another core's flags by name."""

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from codegen.board import load_board
from codegen.driver.build import plan_model
from codegen.driver.options import Options
from codegen.emit import render, write
from codegen.joint import together
from codegen.targets.families import family_of
from tests.commands import codegen
from tests.networks import model_path

MOST_FILES = 14

needs_arm = pytest.mark.skipif(
    shutil.which("arm-none-eabi-gcc") is None, reason="arm-none-eabi-gcc is not installed"
)
needs_riscv = pytest.mark.skipif(
    shutil.which("riscv64-unknown-elf-gcc") is None, reason="riscv64-unknown-elf-gcc is not installed"
)
WRONG_FLAGS = {
    "mps2-an386": "-mcpu=cortex-m0 -mthumb",
    "mps3-an547": "-mcpu=cortex-m4 -mthumb",
    "mps2-an385": "-mcpu=cortex-m0 -mthumb",
    "qemu-virt-rv32v": "-march=rv32imac -mabi=ilp32",
    "qemu-virt-rv32": "-march=rv32iac -mabi=ilp32",
}
"""Board -> flags of a core that lacks instructions of the kernels made for it."""


@needs_arm
def test_a_keyword_spotter_is_fourteen_files(tmp_path: Path) -> None:
    """It was fifty. What was measured, firmware.elf and report.json, is no product."""
    assert codegen("build", model_path("ds_cnn"), "--board", "stm32", "-o", tmp_path / "out", "-q") == 0
    names = {path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*.*")}
    product = {name for name in names if not name.startswith(("firmware", "report.json"))}
    assert {"ds_cnn.c", "ds_cnn.h", "README.md", "CMakeLists.txt"} <= product
    assert len(product | {"LICENSE"}) <= MOST_FILES
    flags = " ".join(load_board("stm32").target.compiler_flags)
    assert flags in (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    headers = {name for name in names if name.startswith("firmware/") and name.endswith(".h")}
    assert {"firmware/cg_bench.h", "firmware/cg_link.h", "firmware/cg_port.h"} <= headers


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a keyword spotter for a board, written without a firmware that was linked."""

    def written(board: str) -> Path:
        planned = plan_model(model_path("ds_cnn"), load_board(board), Options(board=board))
        folder = tmp_path_factory.mktemp(board)
        write(render(together([planned.program])), folder)
        return folder

    return written


@pytest.mark.parametrize(
    "board",
    [pytest.param(name, marks=needs_riscv if "rv32" in name else needs_arm) for name in WRONG_FLAGS],
)
@pytest.mark.sampled(2)
def test_another_cores_flags_are_refused_by_name(board: str, folder_of: Callable[[str], Path]) -> None:
    """Intrinsics that are declared nowhere, and opcodes that no assembler knew, were all that one read."""
    folder = folder_of(board)
    target = load_board(board).target
    compiler = family_of(target.cpu).compiler
    right_flags = " ".join(compiler.compile_flags(target))
    for source in ("ds_cnn.c", "ds_cnn_data.c", "ds_cnn_kernels.c", "ds_cnn_assembly.S"):
        flags = (*WRONG_FLAGS[board].split(), "-ffreestanding", "-I.", "-c")
        command = [f"{compiler.prefix}gcc", *flags, source, "-o", "unwanted.o"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode != 0, source
        complaints = re.findall(r"error: #error \"(.*)\"", done.stderr)
        if source in ("ds_cnn.c", "ds_cnn_data.c"):
            assert complaints == [
                f"ds_cnn is built for {target.cpu}: compile with {right_flags}, or build it for your core "
                "(--board host: any core)"
            ]
        else:
            assert any("compile with the core's flags (README.md), as -m" in text for text in complaints)
