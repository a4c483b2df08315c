"""Emitted folders as parts of a CMake project: several, beside targets and flags of the project's own."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from codegen.board import load_board
from codegen.driver.build import plan_model
from codegen.driver.options import Options
from codegen.emit import render, write
from codegen.plan.models.bundling import together
from codegen.toolchain import gcc
from tests.emit import samples
from tests.testdata import model_path

BOARD = "mps2-an386"

pytestmark = pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")

PARENT = """
cmake_minimum_required(VERSION 3.16)
project(application C)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
add_library(flags INTERFACE)
target_compile_options(flags INTERFACE {flags})
{folders}
add_custom_target(firmware COMMENT "the application's own")
add_library(options INTERFACE)
"""
FOLDER = """
add_subdirectory({name})
target_link_libraries({stem}_options INTERFACE flags)
"""


def call(*words: str | Path) -> str:
    """What a tool printed."""
    done = subprocess.run([str(word) for word in words], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def tree(place: Path, folders: Sequence[tuple[str, str]], flags: Sequence[str], rest: str = "") -> None:
    """A project with these folders, (name, what its targets begin with)."""
    parts = "".join(FOLDER.format(name=name, stem=stem) for name, stem in folders)
    (place / "CMakeLists.txt").write_text(PARENT.format(folders=parts, flags=" ".join(flags)) + rest)


MAIN = """
#include "bare.h"
#include "counter.h"
#include "mixed.h"
int main(void)
{
    const int8_t x[4] = {-128, -3, 0, 100};
    const counter_inputs inputs = {.x = x};
    return (counter_run(&inputs, NULL) == CG_OK && counter_output_sum()[0] != 0) ? 0 : 1;
}
"""


def test_three_folders_of_four_models_in_one_tree(tmp_path: Path) -> None:
    """A second folder, and a target `firmware` of the project's own, stopped CMake with CMP0002."""
    write(render(together([samples.counter()])), tmp_path / "first")
    write(render(together([samples.mixed()])), tmp_path / "second")
    write(render(together([samples.bare(), samples.mixed("other")])), tmp_path / "third")
    folders = (("first", "counter"), ("second", "mixed"), ("third", "bare"))
    (tmp_path / "main.c").write_text(MAIN)
    rest = "add_executable(application main.c)\n"
    rest += "target_link_libraries(application PRIVATE counter mixed bare other)\n"
    tree(tmp_path, folders, ["-DOF_THE_PROJECT=1"], rest)
    call("cmake", "-S", tmp_path, "-B", tmp_path / "build")
    call("cmake", "--build", tmp_path / "build", "-j2")
    call(tmp_path / "build" / "application")
    for name, stem in folders:
        [flags] = (tmp_path / "build" / name).glob(f"CMakeFiles/{stem}_runtime.dir/flags.make")
        assert "-DOF_THE_PROJECT=1" in flags.read_text()


@pytest.mark.skipif(shutil.which(f"{gcc.ARM_PREFIX}gcc") is None, reason="the compiler is missing")
def test_flags_of_an_interface_target_reach_c_and_assembly(tmp_path: Path) -> None:
    """They reached neither the kernels nor their assembly; the project's `all` linked the test firmware."""
    board = load_board(BOARD)
    names: list[str] = []
    for key in ("mlperf_tiny/kws_ref_model", "mlperf_tiny/ad01_int8"):
        name = key.split("/")[1]
        options = Options(board=BOARD, optimize="size")
        program = plan_model(model_path(key), board, options, name=name, emulated=True).program
        write(render(together([program]), "-Os"), tmp_path / name)
        names.append(name)
    tree(tmp_path, [(name, name) for name in names], board.target.compiler_flags)
    compiler = gcc.tool(f"{gcc.ARM_PREFIX}gcc")
    words = ["-DCMAKE_SYSTEM_NAME=Generic", f"-DCMAKE_C_COMPILER={compiler}"]
    words += [f"-DCMAKE_ASM_COMPILER={compiler}", "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY"]
    call("cmake", "-S", tmp_path, "-B", tmp_path / "build", *words)
    call("cmake", "--build", tmp_path / "build", "-j2")
    objects = sorted((tmp_path / "build").rglob("*.S.obj"))
    assert len(objects) > 4
    cpus = {call(f"{gcc.ARM_PREFIX}readelf", "-A", path).count("v7E-M") for path in objects}
    assert cpus == {1}
    assert not list((tmp_path / "build").rglob("*.elf"))
