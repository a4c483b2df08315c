"""The `#error` that a compiler meets where code for one core is compiled with another core's flags.

Kernels of an instruction set include `cg_needs_<set>.h` before anything else. Its condition is read here, so
that the model's header refuses the same compilers and names the flags of the very build.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from codegen.emit.c.c_text import fill

_NEEDS = re.compile(r"cg_needs_(\w+)\.h")
_CONDITION = re.compile(r"^#if (.+)$", re.MULTILINE)


def needed_sets(headers: Iterable[str]) -> list[str]:
    """Instruction sets of the kernels that include `headers`, paths: dsp, fpu, mve, v6m, v7m; sorted."""
    matches = (_NEEDS.fullmatch(PurePosixPath(path).name) for path in headers)
    return sorted(match[1] for match in matches if match)


def core_guard(model: str, cpu: str, flags: Iterable[str], headers: Mapping[str, str]) -> str:
    """The lines of a model's header that refuse flags of another core; empty where any core will do.

    `headers`: path -> text of what the model's kernels include.
    """
    texts = [text for path, text in sorted(headers.items()) if _NEEDS.fullmatch(PurePosixPath(path).name)]
    conditions = [condition for text in texts for condition in _CONDITION.findall(text)]
    if not conditions:
        return ""
    return fill("c/core_guard.j2", model=model, cpu=cpu, flags=" ".join(flags), conditions=conditions)
