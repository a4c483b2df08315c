"""Files of a folder that hold kernels: a header, a C file, an assembly file where there is assembly."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import PurePosixPath

from codegen.emit.c.c_text import fill
from codegen.emit.c.core_guard import needed_sets, set_guards
from codegen.emit.gathered import assembly_file, c_file
from codegen.emit.gathered.headers import Runtime, runtime_of
from codegen.emit.gathered.runtime_files import (
    CALLBACKS,
    called_headers,
    included_headers,
    kernel_sources,
    products_runtime,
    user_files,
)
from codegen.program.program import Program

PUBLIC_HEADER = "cg_runtime.h"
"""The one header of the runtime that models' headers include."""
_USER_HEADER = "cg_user_kernel.h"
_OF_SIZES = " cg_larger cg_round_up"
"""Functions that formulas of sizes call, in the test firmware too."""
_REMARK = re.compile(r'/\*.*?\*/|@ [^\n]*|"[^"\n]*"', re.DOTALL)
_FILE = re.compile(r"(?:\b[\w/]+/)?\b(\w+(?:\{[\d,]+\}\w+)?)\.(?:h|inc|c|S)\b")


def kernel_files(prefix: str, programs: Sequence[Program], caller: str) -> Mapping[str, str]:
    """Path -> text of all that the models of a folder, whose sources are `caller`, call and need.

    Sources that users wrote are among them, and headers that these include.
    """
    runtime = products_runtime()
    sources = {path: runtime[path] for path in _emitted(kernel_sources(programs))}
    c_texts = [text for path, text in sources.items() if path.endswith(".c")]
    s_texts = [text for path, text in sources.items() if path.endswith(".S")]
    if any(program.ranges for program in programs):
        caller += _OF_SIZES
    headers = set[str]().union(*(called_headers(program) for program in programs))
    users = user_files(programs)
    public = [PUBLIC_HEADER, *([_USER_HEADER] if users else [])]
    gathered = c_file.gather(
        _runtime(),
        caller,
        headers,
        c_texts,
        elsewhere=assembly_file.words([*_assembly(".inc").values(), *_assembly(".S").values()]),
        application={name for names in CALLBACKS.values() for name in names},
    )
    views = {"name": prefix, "public": public, "kernels": gathered}
    files = {
        f"{prefix}_kernels.h": fill("c/kernels.h.j2", **views),
        f"{prefix}_kernels.c": fill("c/kernels.c.j2", **views, guards=set_guards(needed_sets(c_texts))),
    }
    if s_texts:
        text = assembly_file.gather(_assembly(".inc"), s_texts, _assembly(".S").values())
        files[f"{prefix}_assembly.S"] = fill(
            "c/kernels.S.j2", **views, guards=set_guards(needed_sets(s_texts)), text=text
        )
    names = {PurePosixPath(path).name for path in runtime} - {*public}
    texts = {path: _without_pointers(text, names) for path, text in files.items()}
    included = [f'#include "{name}"' for name in public]
    return {**texts, **users, **included_headers([*included, *users.values()])}


def _emitted(paths: Iterable[str]) -> Sequence[str]:
    """Kernels by their names, whatever instruction set they are for."""
    return sorted(paths, key=lambda path: (PurePosixPath(path).name, path))


@cache
def _runtime() -> Runtime:
    runtime = products_runtime()
    texts = {
        PurePosixPath(path).name: text
        for path, text in runtime.items()
        if path.endswith(".h") and not needed_sets([f'#include "{PurePosixPath(path).name}"'])
    }
    return runtime_of(texts, [text for path, text in runtime.items() if path.endswith(".c")])


@cache
def _assembly(suffix: str) -> Mapping[str, str]:
    runtime = products_runtime()
    return {PurePosixPath(path).name: text for path, text in runtime.items() if path.endswith(suffix)}


def _without_pointers(text: str, names: set[str]) -> str:
    """Comments name chapters in place of files of the runtime, which no folder has."""

    def renamed(match: re.Match[str]) -> str:
        name = re.sub(r"\{(\d).*?\}", r"\1", PurePosixPath(match[0]).name)
        return match[1] if name in names else match[0]

    return _REMARK.sub(lambda remark: _FILE.sub(renamed, remark[0]), text)
