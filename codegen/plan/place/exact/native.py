"""The searches in C: compiled on first use by the machine's C compiler, kept in the user's cache folder.

The cache is keyed by the sources, the flags and the Python and cffi versions; a build happens in a folder
of its own and is renamed into place, so several runs at once do not disturb each other. Without a C
compiler (or Python's headers) `library()` is None and `reference.py` searches instead.

A search that begins in Python and goes on in C: most problems are solved before C had been compiled.
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

from codegen.disk import temporary_folder
from codegen.plan.place.exact.conflict_graph import Graph
from codegen.plan.place.exact.reference import Search

_FLAGS = ("-O3", "-shared", "-fPIC", "-w")
_SOURCES = ("search", "orient")
_SHARED = ("trail.h",)
_HERE = Path(__file__).parent
_PARSED = "/* cdef */"


class _Native:
    """A search in C: the functions called cg_KIND_..."""

    kind: str
    price = 1

    def __init__(self, ready: "NativeGraph", *arguments: Any) -> None:
        """Raises MemoryError."""
        self._ready = ready
        pointer = self._function("new")(ready.graph, *arguments)
        if pointer == ready.ffi.NULL:
            raise MemoryError
        self._search: Any = ready.ffi.gc(pointer, self._function("free"))

    def _function(self, name: str) -> Any:
        return getattr(self._ready.lib, f"cg_{self.kind}_{name}")

    def _numbers(self, name: str) -> tuple[int, ...]:
        """A number a buffer."""
        numbers = array("q", bytes(8 * self._ready.buffers))
        self._function(name)(self._search, self._ready.ffi.from_buffer("int64_t[]", numbers))
        return tuple(numbers)

    def run(self, effort: int) -> bool | None:
        """Go on for about `effort` units of work: True if offsets are found, False if there are none, None if
        it has to go on. Raises MemoryError."""
        lib = self._ready.lib
        answer = self._function("run")(self._search, effort)
        if answer == lib.CG_FIT_NO_MEMORY:
            raise MemoryError
        return {lib.CG_FIT_FOUND: True, lib.CG_FIT_EXHAUSTED: False}.get(answer)

    @property
    def offsets(self) -> tuple[int, ...]:
        """Offsets in bytes; meaningful once `run` has returned True."""
        return self._numbers("offsets")

    @property
    def nodes(self) -> int:
        """Nodes visited so far."""
        return int(self._function("nodes")(self._search))

    @property
    def effort(self) -> int:
        """Units of work so far."""
        return int(self._function("effort")(self._search))


class NativeSearch(_Native):
    """A search of `reference.Search`, run in C: the same nodes in the same order."""

    kind = "fit"

    def __init__(self, ready: "NativeGraph", rank: Sequence[int], capacity: int, adaptive: bool) -> None:
        self._rank = array("i", rank)
        super().__init__(ready, ready.ffi.from_buffer("int32_t[]", self._rank), capacity, int(adaptive))

    @property
    def blame(self) -> tuple[int, ...]:
        """Per buffer: contradictions so far in which it was one of those that found no room."""
        return self._numbers("blame")


class NativeOrient(_Native):
    """The search of orient.c: over directions of conflicts, for small graphs."""

    kind = "orient"

    def __init__(self, ready: "NativeGraph", capacity: int) -> None:
        super().__init__(ready, capacity, int(ready.keyed))

    @property
    def blame(self) -> tuple[int, ...]:
        """Nothing: the order of its branches follows from the windows of offsets alone."""
        return (0,) * self._ready.buffers


class NativeGraph:
    """A `Graph` in the arrays search.h describes; kept alive as long as searches point at it."""

    def __init__(self, graph: Graph, module: Any) -> None:
        self.ffi: Any = module.ffi
        self.lib: Any = module.lib
        self.buffers = len(graph)
        self.keyed = graph.shifts is not None
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
    """True if the compiled module is loaded, so that using it takes no time."""
    return library.cache_info().currsize > 0


def cache_folder() -> Path:
    """Folder of compiled searches: CODEGEN_CACHE, or the platform's cache folder of this user."""
    if named := os.environ.get("CODEGEN_CACHE"):
        return Path(named)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "codegen"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "codegen"


def _load() -> ModuleType:
    search_files = [f"{name}{kind}" for name in _SOURCES for kind in (".c", ".h")]
    texts = [(_HERE / name).read_text(encoding="utf-8") for name in (*search_files, *_SHARED)]
    suffix = str(sysconfig.get_config_var("EXT_SUFFIX"))
    key = "\0".join((*texts, suffix, sys.version, cffi.__version__, *_FLAGS))
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
            built = _build(Path(folder), name, suffix)
            built.replace(kept)
        return _import(name, kept)
    except PermissionError:
        # A cache that cannot be written: build for this run alone (a loaded file may be deleted).
        with temporary_folder("search") as folder:
            return _import(name, _build(folder, name, suffix))


def _build(folder: Path, name: str, suffix: str) -> Path:
    headers = [(_HERE / f"{source}.h").read_text(encoding="utf-8") for source in _SOURCES]
    ffi = cffi.FFI()
    for header in headers:
        ffi.cdef(header.partition(_PARSED)[2].rpartition("#endif")[0])
    ffi.set_source(name, "".join(f'#include "{source}.h"\n' for source in _SOURCES))
    text = folder / f"{name}.c"
    with redirect_stdout(io.StringIO()):  # it announces the file it writes
        ffi.emit_c_code(str(text))
    built = folder / f"{name}{suffix}"
    includes = {sysconfig.get_path("include"), sysconfig.get_path("platinclude")}
    command = [
        *_compiler(),
        *_FLAGS,
        *(f"-I{include}" for include in sorted(includes)),
        f"-I{_HERE}",
        str(text),
        *(str(_HERE / f"{source}.c") for source in _SOURCES),
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
        if compiler := shutil.which(name):
            return [compiler]
    raise FileNotFoundError("no C compiler")


def _import(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(name)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PYTHON_EFFORT = 2_000
"""Units of work in Python, some hundredths of a second, before C takes over."""


class Handover:
    """One search of `reference.Search`; both languages visit the same nodes, whoever answers."""

    def __init__(
        self,
        graph: Graph,
        rank: Sequence[int],
        capacity: int,
        adaptive: bool,
        compiled: Callable[[Sequence[int], int, bool], NativeSearch | None],
    ) -> None:
        """`compiled` makes the same search in C, from its beginning; None where C cannot be had."""
        self._now: Search | NativeSearch = Search(graph, rank, capacity, adaptive)
        self._begin = lambda: compiled(rank, capacity, adaptive)
        self._asked = False

    @property
    def price(self) -> int:
        """Price of a unit of work: the first units run in Python, because C may never be needed."""
        return self._now.price if self._asked else 1

    @property
    def nodes(self) -> int:
        """Nodes visited so far."""
        return self._now.nodes

    @property
    def effort(self) -> int:
        """Units of work so far."""
        return self._now.effort

    @property
    def offsets(self) -> tuple[int, ...]:
        """Offsets found, in bytes."""
        return self._now.offsets

    @property
    def blame(self) -> tuple[int, ...]:
        """Per buffer: contradictions in which it found no room."""
        return self._now.blame

    def run(self, effort: int) -> bool | None:
        """True: found; False: there is none; None: stopped, after about `effort` more units at most."""
        if self._asked:
            return self._now.run(effort)
        answer = self._now.run(min(effort, PYTHON_EFFORT - self._now.effort))
        if answer is None and self._now.effort >= PYTHON_EFFORT:
            self._asked = True
            compiled = self._begin()
            if compiled is not None:
                # C catches up: the same nodes again, in no time.
                compiled.run(self._now.effort)
                self._now = compiled
        return answer
