"""The files of runtime_c that products are made of, and which of them programs need."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from codegen import resources
from codegen.emit.c.core_guard import needed_sets
from codegen.emit.values.copies import (
    STAGE_HEADER,
    STAGE_SOURCE,
    STATE_HEADER,
    STATE_SOURCE,
    UNPACK_HEADER,
    UNPACK_SOURCE,
)
from codegen.emit.values.model_data import CHECK_SOURCE
from codegen.ir import Runner
from codegen.program.program import Program, uses_second_core

BUILD_MARK, RUNTIME_MARK = "@BUILD@", "@RUNTIME@"
"""Templates write them where names end in a hash, which is known once all is rendered."""
CORE1_HEADER, CORE1_SOURCE = "cg_core1.h", "support/core1.c"
CALLBACKS: Mapping[str, tuple[str, ...]] = {
    CORE1_SOURCE: ("cg_core1_wake", "cg_core1_sleep"),
    "kernels/portable/npu_run.c": ("cg_npu_clean", "cg_npu_invalidate", "cg_npu_invoke"),
}
"""Source -> functions of the application that it calls. The linker tells of one that is missing."""
_SIZES_SOURCE = "support/sizes.c"
_INTERFACE_HEADERS = ("cg_busy.h", "cg_constants.h", "cg_sizes.h")
"""Headers of functions that a model's source may call beside kernels."""
_DIGITS = 12
"""Hexadecimal digits of a hash in a name."""
_FOLDERS = ("include", "kernels", "support")
"""Below runtime_c: what products are made of."""
_SUFFIXES = (".S", ".c", ".h", ".inc")
"""Suffixes of files that products are made of; an editor may leave others beside them."""
_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)

Digest = Callable[[Iterable[tuple[str, str]]], bytes]


def kernel_sources(programs: Sequence[Program]) -> Sequence[str]:
    """Paths below runtime_c of every source that a step of any program needs, in the order of a folder."""
    paths = {source for program in programs for prim in program.steps.prim_funcs for source in prim.sources}
    paths |= {CHECK_SOURCE for program in programs if program.interface.external}
    paths |= {STATE_SOURCE for program in programs if program.signature.states}
    paths |= {STAGE_SOURCE for program in programs if program.constants.copied}
    paths |= {_SIZES_SOURCE for program in programs if program.ranges and program.board.runner is Runner.HOST}
    paths |= {UNPACK_SOURCE for program in programs if program.constants.unpacked}
    paths |= {CORE1_SOURCE} if uses_second_core(programs) else set[str]()
    return sorted(paths)


def called_back(programs: Sequence[Program]) -> Sequence[str]:
    """Functions of the application that sources of these programs call."""
    return [name for source in kernel_sources(programs) for name in CALLBACKS.get(source, ())]


def instruction_sets(programs: Sequence[Program]) -> Sequence[str]:
    """Instruction sets that a core must have to run these programs: dsp, fpu, mve, rv32, v6m, v7m; sorted."""
    return needed_sets(products_runtime()[path] for path in kernel_sources(programs))


def called_headers(program: Program) -> set[str]:
    """Headers that declare what a model's source calls."""
    headers = {header for prim in program.steps.prim_funcs if prim.symbol for header in prim.headers}
    headers |= {STATE_HEADER} if program.signature.states else set[str]()
    headers |= {STAGE_HEADER} if program.constants.copied else set[str]()
    headers |= {UNPACK_HEADER} if program.constants.unpacked else set[str]()
    headers |= {CORE1_HEADER} if uses_second_core([program]) else set[str]()
    return headers | {*_INTERFACE_HEADERS}


def user_files(programs: Iterable[Program]) -> Mapping[str, str]:
    """Path -> text of the sources that users wrote. Raises ValueError for two of one path."""
    written = {
        prim.user_source for program in programs for prim in program.steps.prim_funcs if prim.user_source
    }
    files = {source.path: source.text for source in sorted(written, key=lambda source: source.path)}
    if len(files) != len(written):
        raise ValueError("two sources of users have the same path")
    return files


def included_headers(texts: Iterable[str]) -> Mapping[str, str]:
    """Name -> text of the runtime's headers that `texts` include, and these in turn."""
    runtime = products_runtime()
    names: dict[str, None] = {}
    unread = [name for text in texts for name in _INCLUDE.findall(text)]
    while unread:
        name = unread.pop()
        path = f"include/{name}"
        if name not in names and path in runtime:
            names[name] = None
            unread += _INCLUDE.findall(runtime[path])
    return {name: runtime[f"include/{name}"] for name in sorted(names)}


def marked(files: Mapping[str, str], digest_of: Digest) -> dict[str, str]:
    """`files`, the sources of a product, with hashes in place of the marks: of all of them, and of the whole
    runtime that this program copies from, which all its folders agree on."""
    build, runtime = (
        digest_of(texts).hex()[:_DIGITS] for texts in (files.items(), products_runtime().items())
    )
    return {
        path: text.replace(BUILD_MARK, build).replace(RUNTIME_MARK, runtime) for path, text in files.items()
    }


@cache
def products_runtime() -> Mapping[str, str]:
    """`runtime_files` of the runtime that this program has."""
    return runtime_files(resources.folder("runtime_c"))


def runtime_files(root: Path) -> Mapping[str, str]:
    """Path below `root`, the folder runtime_c, -> text of every file that products are made of."""
    folders = [*(root / name for name in _FOLDERS), *sorted(root.glob("targets/*/include"))]
    paths = (
        path
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if path.suffix in _SUFFIXES and not path.name.startswith(".")
    )
    return {_runtime_path(path.relative_to(root)): path.read_text(encoding="utf-8") for path in paths}


def _runtime_path(path: Path) -> str:
    """The path of a file below runtime_c; headers of core families are with all others."""
    return f"include/{path.name}" if path.parts[0] == "targets" else path.as_posix()
