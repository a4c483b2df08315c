"""What the linker says of folders that do not belong into one image: never nothing."""

import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from pathlib import Path

import pytest

from codegen.emit import render, write
from codegen.joint import together
from codegen.program.image import Sources
from codegen.program.interface import EntryMode, Interface
from codegen.program.program import Program
from tests.emit import samples

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

FLAGS = ("-std=c11", "-Wall", "-Wextra", "-Werror", "-ffunction-sections", "-fdata-sections")
CALLER = """
#include "{model}.h"
int use_{folder}(void);
int use_{folder}(void)
{{
    return (int){model}_run(NULL, NULL);
}}
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Folder:
    """An emitted folder as a static library, and an object of the application's that calls a model of it."""

    name: str
    archive: Path
    caller: Path


def gcc(place: Path, *words: str | Path) -> str:
    """What the compiler or linker complained of; empty if it did not."""
    done = subprocess.run(
        ["gcc", *FLAGS, *map(str, words)], cwd=place, capture_output=True, text=True, check=False
    )
    return done.stderr if done.returncode else ""


def folder(place: Path, name: str, programs: Sequence[Program], change: Callable[[str], str] = str) -> Folder:
    """The folder of a build, its files changed."""
    sources: Sources = render(together(programs))
    write(replace(sources, files={path: change(text) for path, text in sources.files.items()}), place / name)
    (place / name / "caller.c").write_text(CALLER.format(model=programs[0].name, folder=name))
    files = [*sources.model_files, "caller.c"]
    assert not gcc(place / name, "-O1", "-I.", "-c", *files)
    objects = [f"{Path(path).stem}.o" for path in sources.model_files]
    subprocess.run(["ar", "rcs", f"lib{name}.a", *objects], cwd=place / name, check=True)
    return Folder(name=name, archive=place / name / f"lib{name}.a", caller=place / name / "caller.o")


def linked(place: Path, callers: Sequence[Folder], libraries: Sequence[Folder], *options: str) -> str:
    """What the linker says of an application that calls all `callers`, with `libraries` in this order."""
    uses = " + ".join(f"use_{each.name}()" for each in callers)
    declared = "".join(f"int use_{each.name}(void);\n" for each in callers)
    (place / "main.c").write_text(f"{declared}int main(void)\n{{\n    return {uses};\n}}\n")
    objects = [*(each.caller for each in callers), *(each.archive for each in libraries)]
    return gcc(place, *options, "main.c", *objects, "-o", "application")


def stepwise(program: Program) -> Program:
    return replace(program, interface=Interface(entry=EntryMode.STEPS))


def test_what_the_linker_compares_costs_no_byte(tmp_path: Path) -> None:
    first, second = (
        folder(tmp_path, "first", [samples.counter()]),
        folder(tmp_path, "second", [samples.lasting()]),
    )
    for order in permutations((first, second)):
        assert linked(tmp_path, (first, second), order, "-Wl,--gc-sections") == ""
        names = subprocess.run(
            ["nm", "application"], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        assert "counter_run" in names.stdout and "lasting_run" in names.stdout
        assert not re.search(r"_is_there|_of_build_|_of_version_|ERROR", names.stdout)


def test_two_builds_of_one_name_are_refused(tmp_path: Path) -> None:
    """The first library's model answered for both, whatever its interface, and nothing was said."""
    first = folder(tmp_path, "first", [samples.counter()])
    second = folder(tmp_path, "second", [stepwise(samples.counter())])
    for order in permutations((first, second)):
        said = linked(tmp_path, (first, second), order, "-Wl,--gc-sections")
        assert "multiple definition of `counter_ERROR_built_twice__build_one_with_option_name'" in said


def test_a_header_of_another_build_is_refused(tmp_path: Path) -> None:
    """Where sections that nobody reads are kept: what is dropped may ask for anything."""
    first = folder(tmp_path, "first", [samples.counter()])
    second = folder(tmp_path, "second", [stepwise(samples.counter())])
    said = linked(tmp_path, (first,), (second,))
    assert re.search(r"undefined reference to `counter_header_and_library_of_build_[0-9a-f]{12}'", said)


def test_two_sets_of_models_are_refused(tmp_path: Path) -> None:
    """Both sets call what they share `models_…`: the second had the first one's pools and constants."""
    first = folder(tmp_path, "first", [samples.counter(), samples.bare()])
    second = folder(tmp_path, "second", [samples.lasting(), samples.mixed()])
    for order in permutations((first, second)):
        said = linked(tmp_path, (first, second), order, "-Wl,--gc-sections")
        assert "`models_ERROR_two_sets_of_models__build_all_of_them_at_once'" in said


def test_runtimes_of_two_versions_are_refused(tmp_path: Path) -> None:
    """Kernels of one name and other parameters: the first library's were taken for both."""

    def newer(text: str) -> str:
        return re.sub(
            r"(cg_runtime_of_version_|CG_RUNTIME_VERSION\()[0-9a-f]{12}", r"\g<1>0123456789ab", text
        )

    first = folder(tmp_path, "first", [samples.counter()])
    second = folder(tmp_path, "second", [samples.lasting()], newer)
    for order in permutations((first, second)):
        said = linked(tmp_path, (first, second), order, "-Wl,--gc-sections")
        assert "`cg_ERROR_two_versions_of_codegen__build_all_folders_with_one'" in said
