"""Names by which the linker tells builds and runtimes apart: they end in a hash, known once all is rendered.

Templates write the marks below in place of the hashes, so that neither is a part of itself.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path, PurePath

from codegen import resources

BUILD_MARK, RUNTIME_MARK = "@BUILD@", "@RUNTIME@"
_DIGITS = 12
"""Hexadecimal digits of a hash in a name."""
_RUNTIME_FOLDERS = ("include", "kernels", "support")
"""Below runtime_c: what products are made of."""
_SUFFIXES = (".S", ".c", ".h", ".inc")
"""Of the files that products are made of: what an editor leaves beside them is no part of any."""

Digest = Callable[[Iterable[tuple[str, str]]], bytes]


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
