"""Gathered kernels: whatever folders may share is weak, and nothing else is."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from codegen.emit.c.c_text import fill
from codegen.emit.c.core_guard import needed_sets
from codegen.emit.gathered import assembly_file, c_file
from codegen.emit.gathered.headers import runtime_of
from codegen.emit.gathered.runtime_files import included_headers, products_runtime
from tests.emit.compiling import WARNINGS

CORES = {
    "dsp": ("-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"),
    "fpu": ("-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"),
    "mve": ("-mcpu=cortex-m55", "-mfloat-abi=hard"),
    "portable": ("-mcpu=cortex-m3",),
    "v6m": ("-mcpu=cortex-m0",),
    "v7m": ("-mcpu=cortex-m3",),
}


def all_of(folder: str, suffix: str) -> list[str]:
    files = products_runtime().items()
    return [text for path, text in files if path.startswith(folder) and path.endswith(suffix)]


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
@pytest.mark.parametrize("kernels", CORES)
def test_all_kernels_of_an_instruction_set_in_one_folder(kernels: str, tmp_path: Path) -> None:
    """A function that assembly is handed by name was strong in C: two folders did not link."""
    texts = all_of(f"kernels/{kernels}/", ".c")
    assembly = all_of(f"kernels/{kernels}/", ".S")
    includes = {Path(path).name: text for path, text in products_runtime().items() if path.endswith(".inc")}
    headers = {
        Path(path).name: text
        for path, text in products_runtime().items()
        if path.endswith(".h") and not needed_sets([f'#include "{Path(path).name}"'])
    }
    gathered = c_file.gather(
        runtime_of(headers, all_of("", ".c")),
        "",
        (),
        texts,
        elsewhere=assembly_file.words([*includes.values(), *all_of("", ".S")]),
    )
    views = {"name": "all", "public": ["cg_runtime.h"], "kernels": gathered, "guards": ()}
    files = {
        "all_kernels.h": fill("c/kernels.h.j2", **views),
        "all_kernels.c": fill("c/kernels.c.j2", **views).replace("@RUNTIME@", "0"),
        "all_assembly.S": assembly_file.gather(includes, assembly, all_of("", ".S")),
        **included_headers(['#include "cg_runtime.h"']),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    found = symbols(tmp_path, "all_kernels.c", *CORES[kernels], "-O1", *WARNINGS)
    strong = {symbol for symbol, kind in found.items() if kind in "TDRB"}
    assert strong == {
        "cg_runtime_of_version_0",
        "cg_ERROR_two_versions_of_codegen__build_all_folders_with_one",
    }
    assert not [symbol for symbol, kind in found.items() if kind == "w"]
    if assembly:
        assert not {
            symbol
            for symbol, kind in symbols(tmp_path, "all_assembly.S", *CORES[kernels]).items()
            if kind in "TDRBA"
        }
