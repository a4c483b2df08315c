"""Whoever builds an emitted folder with CMake gets the code that was measured.
Emitted folders as parts of a CMake project: several, beside targets and flags of the project's own.
Folders that were built apart are linked into one image, in any order: right results or a link error.
"""

import shutil
import subprocess
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path

import pytest

from codegen.board import load_board
from codegen.driver.build import Built, Share, plan_model
from codegen.driver.options import Options
from codegen.emit import render, write
from codegen.joint import together
from codegen.targets.arm import ARM_PREFIX, FAMILY
from codegen.toolchain import HOOK_FUNCTIONS, Optimize, callgraph, elf, gcc
from tests.e2e.libraries import RIGHT, Library, Shop, run
from tests.e2e.models import build_model, golden_cases
from tests.emit import samples
from tests.networks import model_path

KWS = "ds_cnn"
FLOAT = "resnet8_float"
SMALL = "dense_chain"
needs_cmake = pytest.mark.skipif(
    shutil.which("cmake") is None or shutil.which(f"{ARM_PREFIX}gcc") is None, reason="tools are missing"
)


@pytest.fixture(autouse=True)
def _files_in_other_folders_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CMake names every file by its whole path: for ccache each build folder was full of new files."""
    monkeypatch.setenv("CCACHE_BASEDIR", str(tmp_path))
    monkeypatch.setenv("CCACHE_NOHASHDIR", "1")


def call(*words: str | Path) -> None:
    subprocess.run([str(word) for word in words], check=True, capture_output=True)


def made(built: Built, build: Path, *settings: str, libraries: bool = False) -> Path:
    """The build folder that CMake fills, as the head of CMakeLists.txt says; `libraries`: of the product
    alone, without the test firmware."""
    call("cmake", "-S", built.folder, "-B", build, "-DCMAKE_TOOLCHAIN_FILE=toolchain.cmake", *settings)
    target = ("--target", built.bundle.programs[0].name) if libraries else ()
    call("cmake", "--build", build, "-j2", *target)
    return build


def code_bytes(built: Built, build: Path) -> int:
    """Machine code of the entry function and all it calls, of the libraries that a product links."""
    name = built.bundle.programs[0].name
    image = build / "product.elf"
    flags = built.board.target.compiler_flags
    roots = ("-nostdlib", "-Wl,--gc-sections", f"-Wl,-e,{name}_run")
    libraries = (build / f"lib{name}.a", build / f"lib{name}_runtime.a", "-lc", "-lgcc")
    start = f"-Wl,-u,{name}_run"
    call(f"{ARM_PREFIX}gcc", *flags, *roots, start, *libraries, "-o", image)
    functions = callgraph.read(image, elf.read(image), FAMILY)
    return callgraph.code_bytes(functions, [f"{name}_run"], without=HOOK_FUNCTIONS)


@needs_cmake
@pytest.mark.parametrize(
    ("key", "board", "optimize", "kind"),
    [
        pytest.param(KWS, "mps2-an386", "speed", "", marks=pytest.mark.long),
        pytest.param(KWS, "mps2-an386", "balanced", "Debug", marks=pytest.mark.long),
        # Tiles begin at multiples of 64 bytes: the padding before them hung on the order of the objects.
        (KWS, "mps2-an386", "size", ""),
        # With -fno-branch-count-reg.
        (KWS, "mps3-an547", "size", "Release"),
        # gnu11, which CMake asks for by itself, contracts sums of products.
        (FLOAT, "mps2-an386", "speed", ""),
    ],
)
@pytest.mark.sampled(1)
def test_cmake_makes_the_code_that_was_measured(
    key: str, board: str, optimize: Optimize, kind: str, tmp_path: Path
) -> None:
    """It took the level of CMake's build type, -O2 by default, where -O3 or -Os had been measured."""
    built = build_model(key, Options(board=board, optimize=optimize), tmp_path / "out")
    settings = [f"-DCMAKE_BUILD_TYPE={kind}"] if kind else []
    build = made(built, tmp_path / "build", *settings)
    assert code_bytes(built, build) == built.image.sizes.model_code_bytes
    assert elf.read(build / "firmware.elf").text_bytes == built.image.sizes.text_bytes


GUARD = "-fno-branch-count-reg"


def options_of(build: Path) -> str:
    """Flags of the runtime's files."""
    [flags] = build.glob("CMakeFiles/*_runtime.dir/flags.make")
    return flags.read_text()


@needs_cmake
@pytest.mark.thorough
def test_another_level_can_be_asked_for(tmp_path: Path) -> None:
    built = build_model(SMALL, Options(board="mps3-an547", optimize="speed"), tmp_path / "out")
    small = made(built, tmp_path / "small", "-DCG_OPTIMIZE=-Os", libraries=True)
    assert code_bytes(built, small) < built.image.sizes.model_code_bytes
    assert f"-Os;{GUARD}" in options_of(small)
    smallest = "-DCMAKE_BUILD_TYPE=MinSizeRel"
    own = made(built, tmp_path / "own", "-DCG_OPTIMIZE=", smallest, libraries=True)
    assert code_bytes(built, own) == code_bytes(built, small)
    fast = made(built, tmp_path / "fast", "-DCG_OPTIMIZE=-O3", smallest, libraries=True)
    assert code_bytes(built, fast) == built.image.sizes.model_code_bytes
    assert GUARD not in options_of(fast)


@needs_cmake
@pytest.mark.thorough
def test_sizes_of_the_users_are_guarded_too(tmp_path: Path) -> None:
    """-Oz, several flags, and a build type of the user's came without the flag that gcc 12 needs at -Os."""
    built = build_model(SMALL, Options(board="mps3-an547", optimize="speed"), tmp_path / "out")
    small = made(built, tmp_path / "small", "-DCG_OPTIMIZE=-Os", libraries=True)
    settings = {
        "several": ["-DCG_OPTIMIZE=-Os -fno-inline"],
        "list": ["-DCG_OPTIMIZE=-Os;-fno-inline"],
        "release": ["-DCG_OPTIMIZE=", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_C_FLAGS_RELEASE=-Os"],
        "oz": ["-DCG_OPTIMIZE=-Oz"],
    }
    sizes: dict[str, int] = {}
    for name, words in settings.items():
        build = made(built, tmp_path / name, *words, libraries=True)
        assert GUARD in options_of(build)
        sizes[name] = code_bytes(built, build)
    assert sizes["release"] == code_bytes(built, small)
    assert sizes["several"] == sizes["list"] > 0


@needs_cmake
@pytest.mark.thorough
def test_a_level_that_is_no_flag_is_refused_by_cmake(tmp_path: Path) -> None:
    """O3 configured, then every compilation failed."""
    built = build_model(KWS, Options(board="mps2-an386", optimize="speed"), tmp_path / "out")
    for words, wrong in (("O3", "O3"), ("-Os fno-inline", "fno-inline")):
        with pytest.raises(subprocess.CalledProcessError) as caught:
            made(built, tmp_path / wrong, f"-DCG_OPTIMIZE={words}")
        said = " ".join(caught.value.stderr.decode().split())
        assert f"CG_OPTIMIZE={words}: {wrong} does not begin with -; it takes the" in said


@needs_cmake
@pytest.mark.thorough
def test_a_path_with_a_dollar_sign_links(tmp_path: Path) -> None:
    """`cannot open linker script file a$$b/link.ld`: CMake escapes a $ wrongly in a link command."""
    options = Options(board="mps2-an386", optimize="size")
    built = build_model("dense_chain", options, tmp_path / "out$b c")
    assert (made(built, tmp_path / "built$b c") / "firmware.elf").is_file()


BOARD = "mps2-an386"
KWS_KEY = "ds_cnn"
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


def run_command(*words: str | Path) -> str:
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


@needs_cmake
@pytest.mark.thorough
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
    run_command("cmake", "-S", tmp_path, "-B", tmp_path / "build")
    run_command("cmake", "--build", tmp_path / "build", "-j2")
    run_command(tmp_path / "build" / "application")
    for name, stem in folders:
        [flags] = (tmp_path / "build" / name).glob(f"CMakeFiles/{stem}_runtime.dir/flags.make")
        assert "-DOF_THE_PROJECT=1" in flags.read_text()


def folder_of(key: str, place: Path, board_name: str) -> str:
    """What a build of a model for this board writes, below `place`, by the model's name."""
    name = key
    options = Options(board=board_name, optimize="size")
    board = load_board(board_name)
    program = plan_model(model_path(key), board, options, share=Share(name=name), emulated=True).program
    write(render(together([program]), "-Os"), place / name)
    return name


def bare_metal() -> list[str]:
    """Settings of CMake for Arm's gcc."""
    compiler = gcc.tool(f"{ARM_PREFIX}gcc")
    words = ["-DCMAKE_SYSTEM_NAME=Generic", f"-DCMAKE_C_COMPILER={compiler}"]
    return [*words, f"-DCMAKE_ASM_COMPILER={compiler}", "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY"]


@needs_cmake
@pytest.mark.skipif(shutil.which(f"{ARM_PREFIX}gcc") is None, reason="the compiler is missing")
@pytest.mark.thorough
def test_flags_of_an_interface_target_reach_c_and_assembly(tmp_path: Path) -> None:
    """They reached neither the kernels nor their assembly; the project's `all` linked the test firmware."""
    flags = load_board(BOARD).target.compiler_flags
    names = [folder_of(key, tmp_path, BOARD) for key in (KWS_KEY, "autoencoder")]
    tree(tmp_path, [(name, name) for name in names], flags)
    run_command("cmake", "-S", tmp_path, "-B", tmp_path / "build", *bare_metal())
    run_command("cmake", "--build", tmp_path / "build", "-j2")
    objects = sorted((tmp_path / "build").rglob("*.S.obj"))
    assert len(objects) == len(names)
    cpus = {run_command(f"{ARM_PREFIX}readelf", "-A", path).count("v7E-M") for path in objects}
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


@needs_cmake
@pytest.mark.skipif(shutil.which(f"{ARM_PREFIX}gcc") is None, reason="the compiler is missing")
def test_the_library_brings_what_its_kernels_call(tmp_path: Path) -> None:
    """memset was not defined with -nostdlib: -lc of the application stood in front of the kernels."""
    board = "mps2-an385"  # its depthwise convolution calls memcpy
    flags = load_board(board).target.compiler_flags
    name = folder_of(KWS_KEY, tmp_path, board)
    (tmp_path / "main.c").write_text(BARE_MAIN.format(name=name))
    tree(tmp_path, [(name, name)], flags, BARE_APPLICATION.format(name=name, flags=" ".join(flags)))
    run_command("cmake", "-S", tmp_path, "-B", tmp_path / "build", *bare_metal())
    run_command("cmake", "--build", tmp_path / "build", "-j2")
    assert (tmp_path / "build" / "application").is_file()
    run_command("cmake", "-S", tmp_path, "-B", tmp_path / "none", *bare_metal(), "-DCG_LIBRARIES=")
    with pytest.raises(AssertionError, match="undefined reference to `memcpy'"):
        run_command("cmake", "--build", tmp_path / "none", "-j2")


BUILDS: tuple[tuple[str, Optimize], ...] = (
    ("ds_cnn", "size"),
    ("mobilenet_v1", "balanced"),
    ("separable_1d", "size"),
    ("autoencoder", "balanced"),
    ("speech", "size"),
    ("person_detect", "speed"),
    ("resnet8", "size"),
    ("ds_cnn", "balanced"),
)
"""Convolutions in tiles of two pixels and one alone, of four, fully connected layers, depthwise ones."""
USUAL = 3


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    return Shop(tmp_path_factory.mktemp("shop"))


@pytest.fixture(scope="module")
def libraries(shop: Shop) -> list[Library]:
    return [shop.library(key, optimize, golden_cases(key)[0]) for key, optimize in BUILDS[:USUAL]]


@pytest.mark.qemu
@pytest.mark.skipif(shutil.which(f"{ARM_PREFIX}gcc") is None, reason="the compiler is missing")
def test_each_pair_of_folders_is_right_in_both_orders(shop: Shop, libraries: list[Library]) -> None:
    """vww_96, with tiles of four pixels, behind kws, without: every output of vww was wrong, and CG_OK."""
    for first, second in permutations(libraries, 2):
        assert run(shop.link(first, second)) == RIGHT, (first.label, second.label)


@pytest.mark.qemu
@pytest.mark.skipif(shutil.which(f"{ARM_PREFIX}gcc") is None, reason="the compiler is missing")
@pytest.mark.long
def test_every_pair_of_folders_is_right_in_both_orders(shop: Shop, libraries: list[Library]) -> None:
    rest = [shop.library(key, optimize, golden_cases(key)[0]) for key, optimize in BUILDS[USUAL:]]
    for first, second in permutations([*libraries, *rest], 2):
        if first.name != second.name:
            assert run(shop.link(first, second)) == RIGHT, (first.label, second.label)
            continue
        with pytest.raises(subprocess.CalledProcessError) as caught:
            shop.link(first, second)
        assert f"{first.name}_ERROR_built_twice__build_one_with_option_name" in caught.value.stderr


@pytest.mark.qemu
@pytest.mark.skipif(shutil.which(f"{ARM_PREFIX}gcc") is None, reason="the compiler is missing")
def test_a_file_of_the_runtime_is_the_same_in_every_folder(libraries: list[Library]) -> None:
    """A header of the runtime said which tiles a folder has, and kernels of one name were of two kinds."""
    texts: dict[str, bytes] = {}
    for library in libraries:
        path = library.folder / "cg_runtime.h"
        assert texts.setdefault(path.name, path.read_bytes()) == path.read_bytes(), library.label
    assert texts
