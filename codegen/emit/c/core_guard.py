"""The `#error` that a compiler meets where code for one core is compiled with another core's flags.

Kernels of an instruction set include `cg_needs_<set>.h` before anything else. Its condition is read here, so
that the model's header refuses the same compilers and names the flags of the very build.
"""

import re
from collections.abc import Iterable, Sequence

from codegen import resources
from codegen.emit.c.c_text import fill

_NEEDS = re.compile(r'#\s*include\s+"cg_needs_(\w+)\.h"')
_GUARD = re.compile(r"^#if (.+?)$.*?^#endif", re.DOTALL | re.MULTILINE)


def needed_sets(sources: Iterable[str]) -> list[str]:
    """Instruction sets of kernels with these texts: dsp, fpu, mve, rv32, v6m, v7m; sorted."""
    return sorted({name for text in sources for name in _NEEDS.findall(text)})


def set_guards(sets: Iterable[str]) -> Sequence[str]:
    """The lines with which files of kernels refuse a core that lacks one of these instruction sets."""
    return [match[0] for match in map(_match, sets)]


def core_guard(model: str, cpu: str, flags: Iterable[str], sets: Iterable[str]) -> str:
    """The lines of a model's header that refuse flags of another core; empty where any core will do.

    `sets`: instruction sets of the model's kernels.
    """
    conditions = [match[1] for match in map(_match, sets)]
    if not conditions:
        return ""
    return fill("c/core_guard.j2", model=model, cpu=cpu, flags=" ".join(flags), conditions=conditions)


def _match(name: str) -> re.Match[str]:
    paths = resources.folder("runtime_c").glob(f"targets/*/include/cg_needs_{name}.h")
    match = next((_GUARD.search(path.read_text(encoding="utf-8")) for path in paths), None)
    if match is None:
        raise ValueError(f"cg_needs_{name}.h has no condition")
    return match
