"""Costs of kernels beside instructions: machine code in bytes, and how often linked constants are read.

Code was measured function by function and recorded; a memory's access cost is multiplied by the reads.
"""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from codegen.ir import Var
from codegen.kernels.contract import LinkedConstant
from codegen.kernels.primfunc import PrimFunc

RECORDED = Path(__file__).with_name("code_bytes.csv")
"""File of the measured sizes; benchmarks/code_bytes.py writes it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CodeSection:
    """A piece that a linker keeps or leaves out as a whole: a function, mostly."""

    source: str
    """Path of its source below runtime_c, e.g. `kernels/portable/pad.c`."""
    name: str
    """Name of the section, unique in its source."""
    size_bytes: int
    """Size at -Os for the core that the source is for."""
    symbols: tuple[str, ...]
    """Functions in it that other sources may call."""
    calls: tuple[str, ...]
    """Functions of other sources, or sections of its own, that it refers to."""


@cache
def recorded() -> tuple[CodeSection, ...]:
    """All sections of all sources below runtime_c."""
    with RECORDED.open(newline="", encoding="utf-8") as file:
        return tuple(
            CodeSection(
                source=row["source"],
                name=row["section"],
                size_bytes=int(row["bytes"]),
                symbols=tuple(row["symbols"].split()),
                calls=tuple(row["calls"].split()),
            )
            for row in csv.DictReader(file)
        )


@cache
def _by_name() -> Mapping[str, tuple[str, CodeSection, tuple[str, ...]]]:
    """Sections by each of their symbols, and by `source:section`: that name, section, names of its calls."""
    sections: dict[str, CodeSection] = {}
    for section in recorded():
        sections[f"{section.source}:{section.name}"] = section
        sections |= dict.fromkeys(section.symbols, section)

    def entry(section: CodeSection) -> tuple[str, CodeSection, tuple[str, ...]]:
        calls = (call if call in sections else f"{section.source}:{call}" for call in section.calls)
        return f"{section.source}:{section.name}", section, tuple(calls)

    return {name: entry(section) for name, section in sections.items()}


def code_bytes(symbols: Iterable[str], sources: Iterable[str]) -> int:
    """Bytes of `symbols` and all that they call in `sources`, each section once.

    What no source of ours defines counts nothing: kernels of users, the C library.
    """
    built, sections = frozenset(sources), _by_name()
    waiting, sizes = set(symbols), dict[str, int]()
    while waiting:
        entry = sections.get(waiting.pop())
        if entry is None:
            continue
        name, section, calls = entry
        if name not in sizes and section.source in built:
            sizes[name] = section.size_bytes
            waiting.update(calls)
    return sum(sizes.values())


def constant_reads(prim: PrimFunc, constant: LinkedConstant) -> float:
    """How often each byte of `constant` is read in one run of `prim`, on average.

    As its kernel says. Else, where the step multiplies, by every pixel or tile of pixels: as often as each
    weight is multiplied, over the pixels that one reading serves; biases, multipliers and shifts are read
    beside the weights of their channel. Once where nothing is multiplied.
    """
    if constant.reads is not None:
        return constant.reads
    weights = max(
        (arg.type.elements for arg in prim.let.call.args if arg and not isinstance(arg, Var)), default=0
    )
    if not prim.macs or not weights:
        return 1.0
    return max(prim.macs / weights / prim.pixels_at_once, 1.0)


def with_reads(prim: PrimFunc) -> PrimFunc:
    """Copy of `prim` with the reads of every linked constant."""
    if not prim.constants:
        return prim
    constants = tuple(replace(constant, reads=constant_reads(prim, constant)) for constant in prim.constants)
    return replace(prim, constants=constants)
