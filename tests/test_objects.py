"""Objects that the suite keeps: whatever decides about an object makes another one, and what is kept is what
the compiler made."""

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from codegen.targets.arm import ARM_PREFIX
from codegen.targets.riscv import FAMILY as RISCV_FAMILY
from tests import objects

RISCV = shutil.which(f"{RISCV_FAMILY.compiler.prefix}gcc") or ""
COMPILER = shutil.which(f"{ARM_PREFIX}gcc") or ""
pytestmark = pytest.mark.skipif(not COMPILER, reason=f"{ARM_PREFIX}gcc is not installed")
FILES = {
    "f.c": '#include "outer.h"\n#include <string.h>\nint size(void) { return SIZE; }\n',
    "inc/outer.h": '#include "inner.h"\n',
    "inc/inner.h": "#define SIZE 1\n",
}
OPTIONS = ("-mthumb", "-mcpu=cortex-m4", "-O1", "-g", "-fstack-usage", "-Iown", "-Iinc")


class Shop:
    """Compiles `f.c` in folders of its own, and counts how often the compiler is called."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.calls = 0

    def call(self, command: Sequence[str], cwd: Path) -> "subprocess.CompletedProcess[str]":
        self.calls += 1
        return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)

    def made(self, changes: Mapping[str, str] | None = None, options: Sequence[str] = OPTIONS) -> list[bytes]:
        """Object and stack usage, and that they are what the compiler gives."""
        folder = self.place / f"a folder {len(list(self.place.iterdir()))}"
        for name, text in {**FILES, **(changes or {})}.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        results = [folder / name for name in ("kept.o", "kept.su")]
        words = [COMPILER, *options, f"-ffile-prefix-map={folder}=.", "-c", "f.c", "-o"]
        assert objects.compiled(self.call, [*words, str(results[0])], folder).returncode == 0
        found = [path.read_bytes() for path in results if path.exists()]
        subprocess.run([*words, "kept.o"], cwd=folder, check=True, capture_output=True)
        assert found == [path.read_bytes() for path in results if path.exists()]
        return found

    def compiles(self, changes: Mapping[str, str] | None = None, options: Sequence[str] = OPTIONS) -> bool:
        """Whether the compiler was called for this."""
        before = self.calls
        self.made(changes, options)
        return self.calls > before


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """With nothing but one object of `FILES`."""
    monkeypatch.setenv(objects.VARIABLE, "")  # so that it is put back
    objects.offer(tmp_path / "objects", {COMPILER: COMPILER})
    (tmp_path / "folders").mkdir()
    found = Shop(tmp_path / "folders")
    assert found.compiles()
    return found


def test_the_same_in_another_folder_is_taken(shop: Shop) -> None:
    assert not shop.compiles()


def test_without_a_map_the_folder_decides(shop: Shop, tmp_path: Path) -> None:
    """Kernels are compiled in one folder, and no map was given: none of 1,400 was kept. The folder may be in
    the object."""
    for name in ("one", "two"):
        shutil.copytree(tmp_path / "folders" / "a folder 0", tmp_path / name)
    made: dict[str, bytes] = {}
    for name, calls in (("one", 1), ("one", 0), ("two", 1)):
        before, result = shop.calls, tmp_path / "f.o"
        words = [COMPILER, *OPTIONS, "-c", "f.c", "-o", str(result)]
        assert objects.compiled(shop.call, words, tmp_path / name).returncode == 0
        assert shop.calls - before == calls
        assert made.setdefault(name, result.read_bytes()) == result.read_bytes()
    assert made["one"] != made["two"]


@pytest.mark.parametrize(
    "changes",
    [
        {"f.c": FILES["f.c"] + "\n"},
        {"inc/inner.h": "#define SIZE 2\n"},
        {"own/inner.h": "#define SIZE 1\n"},  # the other one lies beside the file that includes it: it stays
        {"outer.h": "#define SIZE 3\n"},
        {"own/outer.h": "#define SIZE 4\n"},
        {"own/string.h": ""},
    ],
    ids=["source", "header", "beside", "hiding", "in front", "of the compiler"],
)
def test_other_files_are_compiled(shop: Shop, changes: dict[str, str]) -> None:
    unread = "own/inner.h" in changes
    assert shop.compiles(changes) != unread
    assert not shop.compiles(changes)


@pytest.mark.parametrize("other", ["-O2", "-DNDEBUG", "-mcpu=cortex-m3", "-Iother"])
def test_other_options_are_compiled(shop: Shop, other: str) -> None:
    assert shop.compiles(options=(*OPTIONS, other))
    assert not shop.compiles(options=(*OPTIONS, other))


@pytest.mark.parametrize(
    "text",
    [
        '#define HEADER "inner.h"\n#include HEADER\n',
        '#if __has_include("inner.h")\n#endif\n#define SIZE 1\n',
        "#define SIZE (int)sizeof __TIME__\n",
        '#define SIZE 1\n#if 0\n__asm__(".incbin \\"x\\"");\n#endif\n',
    ],
    ids=["macro", "asked", "time", "binary"],
)
def test_what_the_text_does_not_tell_is_compiled_every_time(shop: Shop, text: str) -> None:
    assert shop.compiles({"inc/outer.h": text})
    assert shop.compiles({"inc/outer.h": text})


@pytest.mark.parametrize("option", ["-include", "@words", "--sysroot=x"])
def test_options_that_may_name_files_are_compiled_every_time(shop: Shop, option: str, tmp_path: Path) -> None:
    def fails(command: Sequence[str], cwd: Path) -> "subprocess.CompletedProcess[str]":
        return subprocess.CompletedProcess(command, 7)

    words = [COMPILER, option, f"-ffile-prefix-map={tmp_path}=.", "-c", "f.c", "-o", "f.o"]
    assert objects.compiled(fails, words, tmp_path).returncode == 7


def test_a_damaged_object_is_compiled_again(shop: Shop, tmp_path: Path) -> None:
    [kept] = [path for path in (tmp_path / "objects").rglob("*") if path.is_file()]
    kept.write_bytes(kept.read_bytes()[:-1] + b"?")
    assert shop.compiles()
    assert not shop.compiles()
    kept.write_bytes(b"")
    assert shop.compiles()


def test_a_compiler_that_was_replaced_is_another_one(shop: Shop, tmp_path: Path) -> None:
    other = tmp_path / "gcc"
    other.write_text(f'#!/bin/sh\nexec {COMPILER} "$@"\n')
    other.chmod(0o755)
    objects.offer(tmp_path / "objects", {COMPILER: str(other)})
    assert shop.compiles()


@pytest.mark.parametrize(("name", "value"), [(objects.VARIABLE, ""), ("CCACHE_DISABLE", "1"), ("CPATH", "x")])
def test_everything_is_compiled_where_nothing_may_be_taken(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    assert shop.compiles()


def test_what_does_not_compile_is_told_every_time(shop: Shop, tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text("#warning soon\nint x;\n")
    words = [COMPILER, f"-ffile-prefix-map={tmp_path}=.", "-c", "f.c", "-o", str(tmp_path / "f.o")]
    for _ in range(2):
        assert "soon" in objects.compiled(shop.call, words, tmp_path).stderr


def test_builds_in_the_suite_skip_debug_information_and_most_of_the_optimiser_on_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for compiler, level in (("/usr/bin/gcc", "-O1"), (COMPILER, "-O3")):
        build = [compiler, "-std=c11", "-g", "-O3", "-c", "f.c", "-o", "f.o"]
        assert objects.quick_command(build) == [compiler, "-std=c11", level, "-c", "f.c", "-o", "f.o"]
        library = [compiler, "-O3", "-c", "f.c", "-o", "f.o"]
        assert objects.quick_command(library) == library
        with monkeypatch.context() as patch:
            patch.setenv(objects.AS_USERS, "1")
            assert objects.quick_command(build) == build


@pytest.mark.skipif(not RISCV, reason="no compiler for RISC-V is installed")
def test_objects_of_a_library_with_specs_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Builds for RISC-V name picolibc by --specs: each of their files was compiled every time."""
    monkeypatch.setenv(objects.VARIABLE, "")  # so that it is put back
    objects.offer(tmp_path / "objects", {RISCV: RISCV})
    (tmp_path / "folders").mkdir()
    shop = Shop(tmp_path / "folders")
    (tmp_path / "f.c").write_text("#include <string.h>\n")
    for calls in (1, 0):
        before = shop.calls
        words = [RISCV, "--specs=picolibc.specs", "-Os", f"-ffile-prefix-map={tmp_path}=.", "-c", "f.c", "-o"]
        assert objects.compiled(shop.call, [*words, str(tmp_path / "f.o")], tmp_path).returncode == 0
        assert shop.calls - before == calls
