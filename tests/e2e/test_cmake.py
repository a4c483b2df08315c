"""Whoever builds an emitted folder with CMake gets the code that was measured."""

import shutil
import subprocess
from pathlib import Path

import pytest

from codegen.driver.build import Built
from codegen.driver.options import Options
from codegen.toolchain import HOOK_FUNCTIONS, Optimize, callgraph, elf, gcc
from tests.e2e.models import build_model

KWS = "mlperf_tiny/kws_ref_model"
FLOAT = "mlperf_tiny/pretrainedResnet"

pytestmark = pytest.mark.skipif(
    shutil.which("cmake") is None or shutil.which(f"{gcc.ARM_PREFIX}gcc") is None, reason="tools are missing"
)


def call(*words: str | Path) -> None:
    subprocess.run([str(word) for word in words], check=True, capture_output=True)


def made(built: Built, build: Path, *settings: str) -> Path:
    """The build folder that CMake fills, as the head of CMakeLists.txt says."""
    call("cmake", "-S", built.folder, "-B", build, "-DCMAKE_TOOLCHAIN_FILE=toolchain.cmake", *settings)
    call("cmake", "--build", build, "-j2")
    return build


def code_bytes(built: Built, build: Path) -> int:
    """Machine code of the entry function and all it calls, of the libraries that a product links."""
    name = built.bundle.programs[0].name
    image = build / "product.elf"
    flags = built.board.target.compiler_flags
    roots = ("-nostdlib", "-Wl,--gc-sections", f"-Wl,-e,{name}_run")
    libraries = (build / f"lib{name}.a", build / f"lib{name}_runtime.a", "-lc", "-lgcc")
    start = f"-Wl,-u,{name}_run"
    call(f"{gcc.ARM_PREFIX}gcc", *flags, *roots, start, *libraries, "-o", image)
    functions = callgraph.read(image, elf.read(image))
    return callgraph.code_bytes(functions, [f"{name}_run"], without=HOOK_FUNCTIONS)


@pytest.mark.parametrize(
    ("key", "board", "optimize", "kind"),
    [
        (KWS, "mps2-an386", "speed", ""),
        (KWS, "mps2-an386", "balanced", "Debug"),
        # Tiles begin at multiples of 64 bytes: the padding before them hung on the order of the objects.
        (KWS, "mps2-an386", "size", ""),
        # With -fno-branch-count-reg.
        (KWS, "mps3-an547", "size", "Release"),
        # gnu11, which CMake asks for by itself, contracts sums of products.
        (FLOAT, "mps2-an386", "speed", ""),
    ],
)
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


def test_another_level_can_be_asked_for(tmp_path: Path) -> None:
    built = build_model(KWS, Options(board="mps3-an547", optimize="speed"), tmp_path / "out")
    small = made(built, tmp_path / "small", "-DCG_OPTIMIZE=-Os")
    assert code_bytes(built, small) < built.image.sizes.model_code_bytes
    assert f"-Os;{GUARD}" in options_of(small)
    own = made(built, tmp_path / "own", "-DCG_OPTIMIZE=", "-DCMAKE_BUILD_TYPE=MinSizeRel")
    assert code_bytes(built, own) == code_bytes(built, small)
    fast = made(built, tmp_path / "fast", "-DCG_OPTIMIZE=-O3", "-DCMAKE_BUILD_TYPE=MinSizeRel")
    assert code_bytes(built, fast) == built.image.sizes.model_code_bytes
    assert GUARD not in options_of(fast)


def test_sizes_of_the_users_are_guarded_too(tmp_path: Path) -> None:
    """-Oz, several flags, and a build type of the user's came without the flag that gcc 12 needs at -Os."""
    built = build_model(KWS, Options(board="mps3-an547", optimize="speed"), tmp_path / "out")
    small = made(built, tmp_path / "small", "-DCG_OPTIMIZE=-Os")
    settings = {
        "several": ["-DCG_OPTIMIZE=-Os -fno-inline"],
        "list": ["-DCG_OPTIMIZE=-Os;-fno-inline"],
        "release": ["-DCG_OPTIMIZE=", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_C_FLAGS_RELEASE=-Os"],
        "oz": ["-DCG_OPTIMIZE=-Oz"],
    }
    sizes: dict[str, int] = {}
    for name, words in settings.items():
        build = made(built, tmp_path / name, *words)
        assert GUARD in options_of(build)
        sizes[name] = code_bytes(built, build)
    assert sizes["release"] == code_bytes(built, small)
    assert sizes["several"] == sizes["list"] > 0


def test_a_level_that_is_no_flag_is_refused_by_cmake(tmp_path: Path) -> None:
    """O3 configured, then every compilation failed."""
    built = build_model(KWS, Options(board="mps2-an386", optimize="speed"), tmp_path / "out")
    for words, wrong in (("O3", "O3"), ("-Os fno-inline", "fno-inline")):
        with pytest.raises(subprocess.CalledProcessError) as caught:
            made(built, tmp_path / wrong, f"-DCG_OPTIMIZE={words}")
        said = " ".join(caught.value.stderr.decode().split())
        assert f"CG_OPTIMIZE={words}: {wrong} does not begin with -; it takes the" in said


def test_a_path_with_a_dollar_sign_links(tmp_path: Path) -> None:
    """`cannot open linker script file a$$b/link.ld`: CMake escapes a $ wrongly in a link command."""
    options = Options(board="mps2-an386", optimize="size")
    built = build_model("tflm/hello_world_int8", options, tmp_path / "out$b c")
    assert (made(built, tmp_path / "built$b c") / "firmware.elf").is_file()
