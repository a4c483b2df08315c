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
KWS = "mlperf_tiny/kws_ref_model"

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


def folder_of(key: str, place: Path, board_name: str) -> str:
    """What a build of a model for this board writes, below `place`, by the model's name."""
    name = key.split("/")[1]
    options = Options(board=board_name, optimize="size")
    board = load_board(board_name)
    program = plan_model(model_path(key), board, options, name=name, emulated=True).program
    write(render(together([program]), "-Os"), place / name)
    return name


def bare_metal() -> list[str]:
    """Settings of CMake for Arm's gcc."""
    compiler = gcc.tool(f"{gcc.ARM_PREFIX}gcc")
    words = ["-DCMAKE_SYSTEM_NAME=Generic", f"-DCMAKE_C_COMPILER={compiler}"]
    return [*words, f"-DCMAKE_ASM_COMPILER={compiler}", "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY"]


@pytest.mark.skipif(shutil.which(f"{gcc.ARM_PREFIX}gcc") is None, reason="the compiler is missing")
def test_flags_of_an_interface_target_reach_c_and_assembly(tmp_path: Path) -> None:
    """They reached neither the kernels nor their assembly; the project's `all` linked the test firmware."""
    flags = load_board(BOARD).target.compiler_flags
    names = [folder_of(key, tmp_path, BOARD) for key in (KWS, "mlperf_tiny/ad01_int8")]
    tree(tmp_path, [(name, name) for name in names], flags)
    call("cmake", "-S", tmp_path, "-B", tmp_path / "build", *bare_metal())
    call("cmake", "--build", tmp_path / "build", "-j2")
    objects = sorted((tmp_path / "build").rglob("*.S.obj"))
    assert len(objects) > 4
    cpus = {call(f"{gcc.ARM_PREFIX}readelf", "-A", path).count("v7E-M") for path in objects}
    assert cpus == {1}
    assert not list((tmp_path / "build").rglob("*.elf"))


BARE_MAIN = """
#include "{name}.h"
int main(void)
{{
    static const {name}_inputs inputs;
    return (int){name}_run(&inputs, NULL);
}}
"""
BARE_APPLICATION = """
add_executable(application main.c)
target_link_libraries(application PRIVATE flags -lc -lgcc {name})
target_link_options(application PRIVATE {flags} -nostdlib -Wl,-e,main)
"""


@pytest.mark.skipif(shutil.which(f"{gcc.ARM_PREFIX}gcc") is None, reason="the compiler is missing")
def test_the_library_brings_what_its_kernels_call(tmp_path: Path) -> None:
    """memset was not defined with -nostdlib: -lc of the application stood in front of the kernels."""
    board = "mps2-an385"  # its depthwise convolution calls memcpy
    flags = load_board(board).target.compiler_flags
    name = folder_of(KWS, tmp_path, board)
    (tmp_path / "main.c").write_text(BARE_MAIN.format(name=name))
    tree(tmp_path, [(name, name)], flags, BARE_APPLICATION.format(name=name, flags=" ".join(flags)))
    call("cmake", "-S", tmp_path, "-B", tmp_path / "build", *bare_metal())
    call("cmake", "--build", tmp_path / "build", "-j2")
    assert (tmp_path / "build" / "application").is_file()
    call("cmake", "-S", tmp_path, "-B", tmp_path / "none", *bare_metal(), "-DCG_LIBRARIES=")
    with pytest.raises(AssertionError, match="undefined reference to `memcpy'"):
        call("cmake", "--build", tmp_path / "none", "-j2")
