"""Every kernel in assembly as `--memory-model` builds it: what fills up to a row of the cache is no code.

Such functions have no size in their object. One that ended with a branch was read to its padding, which the
linker writes as zeros, and seemed to fall through to what lies behind it: a build of int16 convolutions for
a NUCLEO-L4R5ZI was refused for a recursion that is not there.
"""

from pathlib import Path

import pytest

from codegen import resources
from codegen.driver.inputs.declared_pools import aligning_flags
from codegen.targets.arm import FAMILY
from codegen.targets.riscv.kernel_sets import RV32, ZVE32X
from codegen.toolchain import callgraph, elf, gcc

RUNTIME = resources.folder("runtime_c")
CORES = {
    "v6m": ("-mcpu=cortex-m0", "-mthumb"),
    "v7m": ("-mcpu=cortex-m3", "-mthumb"),
    "dsp": ("-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"),
    "fpu": ("-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"),
    "mve": ("-mcpu=cortex-m55", "-mthumb", "-mfloat-abi=hard"),
}
"""Folders of kernels in assembly, each with the options of a core that runs them."""
LINK = ("-nostdlib", "-nostartfiles", "-Wl,-e,0")


def _objects(folder: Path, kernels: str, row_bytes: int) -> list[str]:
    """The assembly of one folder of kernels, functions at multiples of so many bytes."""
    options = (
        *CORES[kernels],
        *(f"-I{path}" for path in resources.runtime_includes()),
        *aligning_flags(row_bytes),
    )
    compiler = gcc.Compiler(prefix="arm-none-eabi-", options=options)
    place = gcc.CompilePlace(folder=RUNTIME, objects=folder)
    units = [
        gcc.CompileUnit(source=str(path.relative_to(RUNTIME)), object=folder / f"{path.stem}.o", options=())
        for path in sorted((RUNTIME / "kernels" / kernels).glob("*.S"))
    ]
    compiler.compile(units, place)
    objects = [unit.object.name for unit in units]
    missing = sorted(
        _symbols(folder, objects, "--undefined-only") - _symbols(folder, objects, "--defined-only")
    )
    lines = [f".thumb_func\n.global {name}\n.type {name}, %function\n{name}: bx lr" for name in missing]
    (folder / "others.S").write_text("\n".join([".syntax unified", ".thumb", *lines, ""]))
    others = gcc.CompileUnit(source="others.S", object=folder / "others.o", options=())
    compiler.compile([others], gcc.CompilePlace(folder=folder, objects=folder))
    return [*objects, "others.o"]


def _symbols(folder: Path, objects: list[str], kind: str) -> set[str]:
    """Names that the objects define or leave to others."""
    words = [gcc.tool("arm-none-eabi-nm"), "--format=just-symbols", kind, *objects]
    listing = gcc.call(words, folder).stdout
    return {line for line in listing.splitlines() if line and not line.endswith(":")}


def _calls(folder: Path, kernels: str, objects: list[str]) -> dict[str, frozenset[str]]:
    """By function of an image of `objects` in this order: those that it calls or falls through to."""
    compiler = gcc.Compiler(prefix="arm-none-eabi-", options=CORES[kernels])
    compiler.link([*LINK, *objects, "-o", "image.elf"], gcc.CompilePlace(folder=folder, objects=folder))
    functions = callgraph.read(folder / "image.elf", elf.read(folder / "image.elf"), FAMILY)
    return {
        code.name: frozenset(functions[call].name for call in code.calls if call in functions)
        for code in functions.values()
    }


def test_every_folder_of_assembly_is_read() -> None:
    """Every one of Arm's: RISC-V functions have their size in the object."""
    folders = {path.parent.name for path in RUNTIME.glob("kernels/*/*.S")}
    assert folders - {RV32.folder, ZVE32X.folder} == set(CORES)


@pytest.mark.parametrize("kernels", CORES)
@pytest.mark.parametrize("row_bytes", [4, 32])
@pytest.mark.sampled(2)
def test_what_a_kernel_calls_depends_on_nothing_behind_it(
    tmp_path: Path, kernels: str, row_bytes: int
) -> None:
    objects = _objects(tmp_path, kernels, row_bytes)
    calls = _calls(tmp_path, kernels, objects)
    assert len(calls) >= len(objects)
    assert _calls(tmp_path, kernels, objects[::-1]) == calls
