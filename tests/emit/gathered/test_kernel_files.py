"""Gathered kernels: whatever folders may share is weak, and nothing else is."""

import re
import shutil
import subprocess
from pathlib import Path, PurePosixPath

import pytest

from codegen.emit.c.c_text import fill
from codegen.emit.c.core_guard import needed_sets
from codegen.emit.gathered import assembly_file, c_file
from codegen.emit.gathered.headers import runtime_of
from codegen.emit.gathered.runtime_files import CALLBACKS, included_headers, products_runtime
from tests.emit.compiling import WARNINGS

CORES = {
    "cortex-m0": (("v6m",), ("-mcpu=cortex-m0",)),
    "cortex-m55": (("v7m", "dsp", "fpu", "mve"), ("-mcpu=cortex-m55", "-mfloat-abi=hard")),
}
"""By core the instruction sets whose kernels a folder may have beside the portable ones: each in one."""

APPLICATIONS = {name for names in CALLBACKS.values() for name in names}
"""Functions that an application defines: weak ones would be called at NULL where it forgets them."""


def all_of(folders: tuple[str, ...], suffix: str) -> list[str]:
    """Texts in the order of an emitted folder."""
    files = products_runtime()
    paths = [path for path in files if path.startswith(folders) and path.endswith(suffix)]
    return [files[path] for path in sorted(paths, key=lambda path: (PurePosixPath(path).name, path))]


def symbols(place: Path, name: str, *flags: str) -> dict[str, str]:
    """Symbol -> its kind of a file that is compiled without a warning."""
    command = ["arm-none-eabi-gcc", "-mthumb", *flags, "-c", name, "-o", f"{name}.o"]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = subprocess.run(
        ["arm-none-eabi-nm", f"{name}.o"], cwd=place, capture_output=True, text=True, check=True
    )
    return {symbol: kind for kind, symbol in re.findall(r"(?m)^[0-9a-f ]{8} (\w) (\S+)$", told.stdout)}


@pytest.mark.skipif(shutil.which("arm-none-eabi-gcc") is None, reason="arm-none-eabi-gcc is not installed")
@pytest.mark.parametrize("core", CORES)
@pytest.mark.sampled(1)
def test_all_kernels_of_a_core_in_one_folder(core: str, tmp_path: Path) -> None:
    """A function that assembly is handed by name was strong in C: two folders did not link. A type of one
    kernel had the name of a variable of a later one: a network with both did not compile for Cortex-M3."""
    sets, flags = CORES[core]
    folders = tuple(f"kernels/{name}/" for name in ("portable", *sets))
    texts, assembly = all_of(folders, ".c"), all_of(folders, ".S")
    includes = {Path(path).name: text for path, text in products_runtime().items() if path.endswith(".inc")}
    headers = {
        Path(path).name: text
        for path, text in products_runtime().items()
        if path.endswith(".h") and not needed_sets([f'#include "{Path(path).name}"'])
    }
    gathered = c_file.gather(
        runtime_of(headers, all_of(("",), ".c")),
        "",
        (),
        texts,
        elsewhere=assembly_file.words([*includes.values(), *all_of(("",), ".S")]),
        application=APPLICATIONS,
    )
    views = {"name": "all", "public": ["cg_runtime.h"], "kernels": gathered, "guards": ()}
    files = {
        "all_kernels.h": fill("c/kernels.h.j2", **views),
        "all_kernels.c": fill("c/kernels.c.j2", **views).replace("@RUNTIME@", "0"),
        "all_assembly.S": assembly_file.gather(includes, assembly, all_of(("",), ".S")),
        **included_headers(['#include "cg_runtime.h"']),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    found = symbols(tmp_path, "all_kernels.c", *flags, "-Og", *WARNINGS)
    strong = {symbol for symbol, kind in found.items() if kind in "TDRB"}
    assert strong == {
        "cg_runtime_of_version_0",
        "cg_ERROR_two_versions_of_codegen__build_all_folders_with_one",
    }
    assert not [symbol for symbol, kind in found.items() if kind == "w"]
    if assembly:
        assert not {
            symbol for symbol, kind in symbols(tmp_path, "all_assembly.S", *flags).items() if kind in "TDRBA"
        }
