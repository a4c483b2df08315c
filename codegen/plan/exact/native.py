"""The search in C: compiled on first use by the machine's C compiler, kept in the user's cache folder.

The cache is keyed by the sources, the flags and the Python and cffi versions; a build happens in a folder
of its own and is renamed into place, so several runs at once do not disturb each other. Without a C
compiler (or Python's headers) `library()` is None and `reference.py` searches instead.
"""

import hashlib
import importlib.util
import io
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from array import array
from collections.abc import Callable, Iterable, Sequence
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import cffi

from codegen.plan.exact.graph import Graph

_FLAGS = ("-O3", "-shared", "-fPIC", "-w")
_HERE = Path(__file__).parent
_PARSED = "/* cdef */"


class NativeSearch:
    """A search of `reference.Search`, run in C: the same nodes in the same order."""

    price = 1

    def __init__(self, ready: "NativeGraph", rank: Sequence[int], capacity: int, adaptive: bool) -> None:
        self._ready = ready
        ffi, lib = ready.ffi, ready.lib
        self._lib = lib
        self._rank = array("i", rank)
        pointer = lib.cg_fit_new(
            ready.graph, ffi.from_buffer("int32_t[]", self._rank), capacity, int(adaptive)
        )
        if pointer == ffi.NULL:
            raise MemoryError
        self._search = ffi.gc(pointer, lib.cg_fit_free)

    def run(self, effort: int) -> bool | None:
        """Go on for about `effort` units of work: True if offsets are found, False if there are none."""
        answer = self._lib.cg_fit_run(self._search, effort)
        if answer == self._lib.CG_FIT_NO_MEMORY:
            raise MemoryError
        return {self._lib.CG_FIT_FOUND: True, self._lib.CG_FIT_EXHAUSTED: False}.get(answer)

    @property
    def offsets(self) -> tuple[int, ...]:
        """Offsets in bytes; meaningful once `run` has returned True."""
        return self._numbers(self._lib.cg_fit_offsets)

    @property
    def blame(self) -> tuple[int, ...]:
        """Per buffer: contradictions so far in which it was one of those that found no room."""
        return self._numbers(self._lib.cg_fit_blame)

    def _numbers(self, read: Callable[[Any, Any], None]) -> tuple[int, ...]:
        found = array("q", bytes(8 * len(self._rank)))
        read(self._search, self._ready.ffi.from_buffer("int64_t[]", found))
        return tuple(found)

    @property
    def nodes(self) -> int:
        """Nodes visited so far."""
        return int(self._lib.cg_fit_nodes(self._search))

    @property
    def effort(self) -> int:
        """Units of work so far."""
        return int(self._lib.cg_fit_effort(self._search))


class NativeGraph:
    """A `Graph` in the arrays search.h describes; kept alive as long as searches point at it."""

    def __init__(self, graph: Graph, module: Any) -> None:
        self.ffi: Any = module.ffi
        self.lib: Any = module.lib
        self._arrays: list[array[int]] = []
        homes, edges, sections = graph.homes, graph.edges, graph.sections
        shifts = graph.shifts or [0] * len(graph)
        self.graph: Any = self.ffi.new(
            "cg_fit_graph *",
            {
                "buffers": len(graph),
                "sections": len(sections),
                "size": self._longs(graph.sizes),
                "alignment": self._longs(graph.alignments),
                "shift": self._longs(shifts),
                "first": self._ints(home[0][0] for home in homes),
                "last": self._ints(home[-1][0] + 1 for home in homes),
                "edge_start": self._starts(edges),
                "edge_other": self._ints(edge[0] for row in edges for edge in row),
                "edge_below": self._longs(edge[1] for row in edges for edge in row),
                "edge_above": self._longs(edge[2] for row in edges for edge in row),
                "member_start": self._starts(sections),
                "member": self._ints(buffer for row in sections for buffer, _ in row),
                "member_bytes": self._longs(size for row in sections for _, size in row),
                "home_start": self._starts(homes),
                "home": self._ints(section for row in homes for section, _ in row),
                "home_bytes": self._longs(size for row in homes for _, size in row),
            },
        )

    def _ints(self, values: Iterable[int]) -> Any:
        return self._pointer("i", "int32_t[]", values)

    def _longs(self, values: Iterable[int]) -> Any:
        return self._pointer("q", "int64_t[]", values)

    def _starts(self, rows: Sequence[Sequence[object]]) -> Any:
        starts = [0]
        for row in rows:
            starts.append(starts[-1] + len(row))
        return self._ints(starts)

    def _pointer(self, code: str, kind: str, values: Iterable[int]) -> Any:
        values = array(code, values)
        self._arrays.append(values)
        return self.ffi.from_buffer(kind, values)


@cache
def library() -> Any | None:
    """The compiled module (attributes `ffi` and `lib`); None where it cannot be built."""
    if os.environ.get("CODEGEN_SEARCH") == "python":
        return None
    try:
        return _load()
    except (OSError, ImportError, subprocess.SubprocessError):
        # No compiler, no headers, no room: the search in Python gives the same answers, later.
        return None


def loaded() -> bool:
    """Whether somebody has asked for the compiled module, so that asking again takes no time."""
    return library.cache_info().currsize > 0


def cache_folder() -> Path:
    """Where compiled searches are kept: CODEGEN_CACHE, or the platform's cache folder of this user."""
    if named := os.environ.get("CODEGEN_CACHE"):
        return Path(named)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "codegen"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "codegen"


def _load() -> ModuleType:
    source = (_HERE / "search.c").read_text(encoding="utf-8")
    header = (_HERE / "search.h").read_text(encoding="utf-8")
    suffix = str(sysconfig.get_config_var("EXT_SUFFIX"))
    key = "\0".join((source, header, suffix, sys.version, cffi.__version__, *_FLAGS))
    name = f"_codegen_search_{hashlib.sha256(key.encode()).hexdigest()[:16]}"
    kept = cache_folder() / f"{name}{suffix}"
    if kept.exists():
        try:
            return _import(name, kept)
        except ImportError:
            pass  # damaged, or from a Python that is no longer the same: built anew below
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
            built = _build(Path(folder), name, suffix, source, header)
            built.replace(kept)
        return _import(name, kept)
    except PermissionError:
        # A cache that cannot be written: build for this run alone (a loaded file may be deleted).
        with tempfile.TemporaryDirectory() as folder:
            return _import(name, _build(Path(folder), name, suffix, source, header))


def _build(folder: Path, name: str, suffix: str, source: str, header: str) -> Path:
    declarations = header.partition(_PARSED)[2].rpartition("#endif")[0]
    ffi = cffi.FFI()
    ffi.cdef(declarations)
    ffi.set_source(name, source)
    text = folder / f"{name}.c"
    with redirect_stdout(io.StringIO()):  # it announces the file it writes
        ffi.emit_c_code(str(text))
    (folder / "search.h").write_text(header, encoding="utf-8")
    built = folder / f"{name}{suffix}"
    includes = {sysconfig.get_path("include"), sysconfig.get_path("platinclude")}
    command = [
        *_compiler(),
        *_FLAGS,
        *(f"-I{include}" for include in sorted(includes)),
        f"-I{folder}",
        str(text),
        "-o",
        str(built),
    ]
    if sys.platform == "darwin":
        command += ["-undefined", "dynamic_lookup"]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    return built


def _compiler() -> list[str]:
    """CC, or the first C compiler on the path. Raises FileNotFoundError if there is none."""
    if chosen := os.environ.get("CC"):
        return shlex.split(chosen)
    for name in ("cc", "gcc", "clang"):
        if found := shutil.which(name):
            return [found]
    raise FileNotFoundError("no C compiler")


def _import(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(name)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
