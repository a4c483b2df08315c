"""Which files of runtime_c a folder gets: the kernels used, and the headers they include.

The linker tells builds and runtimes apart by names that end in a hash, known once all is rendered: templates
write marks in place of the hashes, so that neither is a part of itself.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path, PurePath

from codegen import resources
from codegen.emit.c.c_text import fill
from codegen.emit.values.constant_pools import CHECK_SOURCE
from codegen.emit.values.copies import STAGE_HEADER, STAGE_SOURCE, UNPACK_HEADER, UNPACK_SOURCE
from codegen.program.program import Program, uses_second_core

_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
LICENCE_FILE = "runtime/LICENSE"
"""Emitted path of the terms of all that is copied; what is generated is the user's (0BSD)."""
VERSION_FILE = "runtime/cg_version.c"
CORE1_HEADER, CORE1_SOURCE = "cg_core1.h", "support/core1.c"

BUILD_MARK, RUNTIME_MARK = "@BUILD@", "@RUNTIME@"
_DIGITS = 12
"""Hexadecimal digits of a hash in a name."""
_RUNTIME_FOLDERS = ("include", "kernels", "support")
"""Below runtime_c: what products are made of."""
_SUFFIXES = (".S", ".c", ".h", ".inc")
"""Of the files that products are made of: what an editor leaves beside them is no part of any."""

Digest = Callable[[Iterable[tuple[str, str]]], bytes]

_ALWAYS = ("cg_runtime.h", "cg_kernels.h", "cg_bench.h")


def kernel_files(programs: Sequence[Program]) -> Mapping[str, str]:
    """Emitted path -> text of every source of the runtime that a step of any program needs, sorted: which
    version it is, ours below `runtime`, then those that users wrote. Raises ValueError for two users' files
    of one path."""
    runtime = resources.folder("runtime_c")
    names = {source for program in programs for prim in program.prim_funcs for source in prim.sources}
    names |= {CHECK_SOURCE for program in programs if program.interface.external}
    names |= {STAGE_SOURCE for program in programs if program.copied}
    names |= {UNPACK_SOURCE for program in programs if program.unpacked}
    names |= {CORE1_SOURCE} if uses_second_core(programs) else set[str]()
    ours = {f"runtime/{emitted_name(PurePath(name))}": (runtime / name).read_text("utf-8") for name in names}
    return {VERSION_FILE: fill("c/version.c.j2"), **dict(sorted(ours.items())), **_user_files(programs)}


def kernel_headers(program: Program) -> tuple[str, ...]:
    """The runtime's headers that a model's source includes for what its steps call."""
    headers = {header for prim in program.prim_funcs if prim.symbol for header in prim.headers}
    headers |= {STAGE_HEADER} if program.copied else set[str]()
    headers |= {UNPACK_HEADER} if program.unpacked else set[str]()
    headers |= {CORE1_HEADER} if uses_second_core([program]) else set[str]()
    return tuple(sorted(headers))


def _user_files(programs: Iterable[Program]) -> Mapping[str, str]:
    written = {prim.user_source for program in programs for prim in program.prim_funcs if prim.user_source}
    files = {source.path: source.text for source in sorted(written, key=lambda source: source.path)}
    if len(files) != len(written):
        raise ValueError("two sources of users have the same path")
    return files


def header_files(texts: Iterable[str]) -> Mapping[str, str]:
    """Emitted path -> text of the runtime's headers: the public ones and what `texts` include."""
    include = resources.folder("runtime_c") / "include"
    found: dict[str, str] = {}
    wanted = [*_ALWAYS, *(name for text in texts for name in _included(include, text))]
    while wanted:
        name = wanted.pop()
        if name not in found:
            found[name] = (include / name).read_text(encoding="utf-8")
            wanted += _included(include, found[name])
    return {f"runtime/include/{name}": found[name] for name in sorted(found)}


def _included(folder: Path, text: str) -> list[str]:
    """Headers of `folder` that a text includes; others belong to whoever includes them."""
    return [name for name in _INCLUDE.findall(text) if (folder / name).is_file()]


def marked(files: Mapping[str, str], digest_of: Digest) -> dict[str, str]:
    """`files`, the sources of a product, with hashes in place of the marks: of all of them, and of the whole
    runtime that this program copies from, which all its folders agree on."""
    build, runtime = (digest_of(texts).hex()[:_DIGITS] for texts in (files.items(), _runtime().items()))
    return {
        path: text.replace(BUILD_MARK, build).replace(RUNTIME_MARK, runtime) for path, text in files.items()
    }


@cache
def _runtime() -> Mapping[str, str]:
    return runtime_files(resources.folder("runtime_c"))


def runtime_files(root: Path) -> Mapping[str, str]:
    """Path below `root`, the folder runtime_c, -> text of every file that products are made of."""
    paths = (
        path
        for name in _RUNTIME_FOLDERS
        for path in sorted((root / name).rglob("*"), key=lambda path: path.name)
        if path.suffix in _SUFFIXES and not path.name.startswith(".")
    )
    return {emitted_name(path.relative_to(root)): path.read_text(encoding="utf-8") for path in paths}


def emitted_name(path: PurePath) -> str:
    """Where a file of runtime_c, `path` below it, lies in an emitted runtime: kernels of all instruction sets
    in one folder."""
    return f"{path.parts[0]}/{path.name}"
