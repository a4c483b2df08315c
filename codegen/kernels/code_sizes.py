"""Machine code of kernels in bytes, as selection weighs it: measured file by file, recorded, not derived."""

import csv
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

RECORDED = Path(__file__).with_name("code_bytes.csv")
"""Written by benchmarks/code_bytes.py."""


@cache
def recorded() -> Mapping[str, int]:
    """Bytes of each source below runtime_c, compiled alone at -Os for the core it is for."""
    with RECORDED.open(newline="", encoding="utf-8") as file:
        return {row["source"]: int(row["bytes"]) for row in csv.DictReader(file)}


def code_bytes(sources: Iterable[str]) -> int:
    """Bytes of `sources`, each counted once. Raises KeyError for one that is not recorded."""
    return sum(recorded()[source] for source in sorted(set(sources)))
