"""Machine code of kernels in bytes, as selection weighs it: measured function by function, recorded."""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

RECORDED = Path(__file__).with_name("code_bytes.csv")
"""Written by benchmarks/code_bytes.py."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CodeSection:
    """What a linker keeps or leaves out as one piece: a function, mostly."""

    source: str
    """Below runtime_c, e.g. `kernels/portable/pad.c`."""
    name: str
    """Unique in its source."""
    size_bytes: int
    """At -Os for the core that the source is for."""
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
def _by_name() -> Mapping[str, CodeSection]:
    """Sections by each of their symbols, and by `source:section`."""
    found: dict[str, CodeSection] = {}
    for section in recorded():
        found[f"{section.source}:{section.name}"] = section
        found |= dict.fromkeys(section.symbols, section)
    return found


def code_bytes(symbols: Iterable[str], sources: Iterable[str]) -> int:
    """Bytes of `symbols` and all that they call in `sources`, each section once.

    What no source of ours defines counts nothing: kernels of users, the C library.
    """
    built, sections = frozenset(sources), _by_name()
    waiting, found = list(symbols), set[CodeSection]()
    while waiting:
        section = sections.get(waiting.pop())
        if section is None or section in found or section.source not in built:
            continue
        found.add(section)
        waiting += [call if call in sections else f"{section.source}:{call}" for call in section.calls]
    return sum(section.size_bytes for section in found)
