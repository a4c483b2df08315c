"""The CMake package: built, run, installed and found by the commands that `export` prints; subprojects; C++.

Its printed next step installed to /usr/local what the host's compiler had made, the example's own command was
refused ("32bit") and did not link, and a main in C++ ended in "uses VFP register arguments".
"""

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.checkout import ROOT
from tests.commands import codegen
from tests.tools.packages.bare import GCC, Bare, call, export, needs_tools, printed

BOTH = "tone.scores", "digits.odds"


def next_steps(folder: Path, target: Path, capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    """Commands that `codegen export --as cmake` prints."""
    assert codegen("export", folder, "--as", "cmake", "-o", target, *words) == 0
    lines = capsys.readouterr().out.splitlines()
    first = next(index for index, line in enumerate(lines) if line.startswith("next "))
    return [line[10:] for line in lines[first:]]


def run_all(commands: list[str]) -> list[str]:
    """What the examples among the commands print; every command must end well."""
    said: list[str] = []
    for command in commands:
        out = call(*shlex.split(command))
        said += [line for line in out.splitlines() if line.startswith(BOTH)]
    return said


@needs_tools
@pytest.mark.qemu
def test_the_printed_commands_build_run_install_and_find_it(
    two: Path, lines: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    package = tmp_path / "a package"
    commands = next_steps(two, package, capsys, "--name", "Senses", "--version", "2.1.0")
    assert run_all(commands) == [*lines, *lines]
    assert [command.split()[0] for command in commands].count("qemu-system-arm") == 2
    installed = package / "installed"
    assert {path.name for path in installed.rglob("*.cmake")} >= {"SensesConfig.cmake", "toolchain.cmake"}
    assert not list(installed.rglob("*.c"))
    readme = (package / "README.md").read_text()
    assert all(command.replace(shlex.quote(str(package)), ".") in readme for command in commands)


@pytest.mark.skipif(shutil.which("cmake") is None, reason="tools are missing")
def test_the_printed_commands_of_portable_c_run_here(
    lines: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = ROOT / "examples" / "two_models" / "tone.tflite"
    assert codegen("build", model, "--board", "host", "-o", tmp_path / "built", "-q") == 0
    assert run_all(next_steps(tmp_path / "built", tmp_path / "package", capsys)) == [lines[1], lines[1]]


@needs_tools
def test_the_hosts_compiler_is_refused_with_the_word_that_is_missing(two: Path, tmp_path: Path) -> None:
    package = export(two, "cmake", tmp_path / "package")
    with pytest.raises(
        AssertionError, match=r"kernels for cortex-m4: add\s+-DCMAKE_TOOLCHAIN_FILE=toolchain"
    ):
        call("cmake", "-S", package, "-B", tmp_path / "b")


_PROJECT = """
cmake_minimum_required(VERSION 3.16)
project(application LANGUAGES C CXX ASM)
{found}
foreach(language c cpp)
  add_executable(main_${{language}} main.${{language}})
  target_include_directories(main_${{language}} PRIVATE {sample})
  target_link_libraries(main_${{language}} PRIVATE senses::senses)
  # The suite installs no C++ library for Arm.
  set_target_properties(main_${{language}} PROPERTIES LINKER_LANGUAGE C)
endforeach()
"""


@needs_tools
@pytest.mark.qemu
@pytest.mark.parametrize("way", ["subproject", "find_package", "plain folder"])
@pytest.mark.sampled(1)
def test_mains_in_c_and_cpp_link_it(
    way: str, two: Path, lines: list[str], bare: Bare, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    package = export(two, "cmake", tmp_path / "package", "--name", "senses")
    toolchain = f"-DCMAKE_TOOLCHAIN_FILE={package / 'toolchain.cmake'}"
    project = tmp_path / "application"
    project.mkdir()
    for ending in ("c", "cpp"):
        shutil.copy(package / "example" / "main.c", project / f"main.{ending}")
    found = f'add_subdirectory("{package}" senses)'
    if way == "plain folder":
        found = f'add_subdirectory("{two}" models)\nadd_library(senses INTERFACE)\n'
        found += (
            "target_link_libraries(senses INTERFACE digits tone)\nadd_library(senses::senses ALIAS senses)"
        )
    if way == "find_package":
        call("cmake", "-S", package, "-B", tmp_path / "b", toolchain)
        call("cmake", "--build", tmp_path / "b", "-j2", "--target", "senses")
        call("cmake", "--install", tmp_path / "b")
        found = f'find_package(senses REQUIRED PATHS "{package / "installed"}")'
        shutil.rmtree(package / "src")  # the installed files do without
    text = _PROJECT.format(found=found, sample=f'"{package / "example"}"')
    (project / "CMakeLists.txt").write_text(text)
    link = f"-DCMAKE_EXE_LINKER_FLAGS={' '.join(bare.link_flags)}"
    call("cmake", "-S", project, "-B", tmp_path / "e", toolchain, link)
    call("cmake", "--build", tmp_path / "e", "-j2")
    assert printed(tmp_path / "e" / "main_c") == lines
    assert printed(tmp_path / "e" / "main_cpp") == lines


@needs_tools
def test_another_version_is_not_found(two: Path, tmp_path: Path) -> None:
    package = export(two, "cmake", tmp_path / "package", "--name", "senses", "--version", "2.1.0")
    toolchain = f"-DCMAKE_TOOLCHAIN_FILE={package / 'toolchain.cmake'}"
    call("cmake", "-S", package, "-B", tmp_path / "b", toolchain)
    call("cmake", "--build", tmp_path / "b", "-j2", "--target", "senses")
    call("cmake", "--install", tmp_path / "b")
    text = package / "example" / "CMakeLists.txt"
    text.write_text(text.read_text().replace("senses 2.1.0", "senses 3.0.0"))
    with pytest.raises(AssertionError, match=r'"senses" that is compatible\s+with requested version "3.0.0"'):
        call("cmake", "-S", package / "example", "-B", tmp_path / "e", toolchain)


@needs_tools
@pytest.mark.parametrize("form", ["cmake", "arduino", "platformio", "zephyr", "cmsis-pack", "mlf", "built"])
def test_flags_of_another_core_are_one_message_a_file(form: str, two: Path, tmp_path: Path) -> None:
    """Assembly for a Cortex-M4 gave thousands of errors for a Cortex-M3, and none named the flags."""
    package = two if form == "built" else export(two, form, tmp_path / "package")
    sources = sorted(
        path
        for path in package.rglob("*")
        if path.suffix in {".c", ".S"} and not {"example", "examples", "samples", "firmware"} & {*path.parts}
    )
    folders = {f"-I{path.parent}" for path in package.rglob("*.h") if "example" not in path.parts}
    told: dict[str, str] = {}
    for path in sources:
        words = [
            GCC,
            "-mcpu=cortex-m3",
            "-mthumb",
            "-c",
            "-o",
            str(tmp_path / "o"),
            *sorted(folders),
            str(path),
        ]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            told[path.name] = done.stderr
    assert {"models_kernels.c", "models_assembly.S", "digits.c", "tone.c"} <= set(told)
    right = "digits is built for cortex-m4: compile with -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu="
    assert right in told["digits.c"].partition("error")[2].splitlines()[0]
    for name in ("models_kernels.c", "models_assembly.S"):
        first_line, _, rest = told[name].partition("error: ")[2].partition("\n")
        assert "DSP kernels: compile with the core's flags (README.md), as -mcpu=cortex-m4" in first_line
        assert "error: " not in rest or name.endswith(".c"), told[name]


@pytest.mark.skipif(shutil.which("arm-none-eabi-gcc") is None, reason="tools are missing")
@pytest.mark.parametrize("board", ["rpi-pico", "rpi-pico2"])
def test_an_example_that_does_not_start_on_the_board_says_so(
    board: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A Pico's boot ROM looks for a second stage or a block; the example has none, and `next` was silent."""
    model = ROOT / "examples" / "two_models" / "tone.tflite"
    assert codegen("build", model, "--board", board, "-o", tmp_path / "built", "-q") == 0
    steps = next_steps(tmp_path / "built", tmp_path / "package", capsys)
    assert steps[-1] == (
        f"# QEMU does not emulate {board}, and the example is for a debugger (semihosting, no boot "
        "code): it cannot be flashed onto the board as it is."
    )
    assert steps[-1] in (tmp_path / "package" / "README.md").read_text()
