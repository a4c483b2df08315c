"""Sizes of a program that are ranges: symbols, and formulas in place of numbers."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from codegen.ir.formulas import (
    Extent,
    Formula,
    OpenSizes,
    Symbol,
    Whole,
    deciding,
    formula_of,
)

_GRID = 1 << 18
"""Up to so many combinations of sizes are all gone through where formulas turn."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Peak:
    """The bytes of a pool at some sizes, and what no plan goes below there."""

    values: tuple[int, ...]
    """Values of the symbols, in their order."""
    planned_bytes: int
    lower_bound_bytes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenEnd:
    """The upper end of a range that was left open: the largest size that fits, and why the next does not."""

    symbol: str
    high: int
    pool: str = ""
    """Which is too small for the next size; empty where something else ends the range."""
    limit_bytes: int = 0
    bound_bytes: int = 0
    """Lower bound of every plan at the next size."""
    needed_bytes: int = 0
    """Peak of the best plan known at the next size."""
    refused: str = ""
    """Why the next size is none; empty where nothing says so."""

    @property
    def proved(self) -> bool:
        """True if no plan of the next size can fit."""
        return bool(self.refused) or self.bound_bytes > self.limit_bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class Ranges:
    """The sizes of a program, and what of it depends on them. Numbers elsewhere in the program are those at
    the largest sizes; formulas in its PrimFuncs' structs and arguments stand for themselves."""

    symbols: tuple[Symbol, ...]
    extents: tuple[Extent, ...]
    values: Mapping[str, Formula]
    """Value -> its offset: in its pool, or in the caller's tensor."""
    workspaces: Mapping[tuple[str, str], Formula]
    """(primfunc, workspace) -> its offset in its pool."""
    buffers: Mapping[str, tuple[Formula, Formula]]
    """Buffer -> its offset in its pool, and its bytes, or a little more where these follow no formula."""
    pools: Mapping[str, Formula]
    """Pool -> the bytes that it takes."""
    peaks: Mapping[str, tuple[Peak, ...]]
    """Pool -> its bytes at every sizes that were looked at."""
    proved: bool
    """True if these are all the sizes that there are."""
    narrowed: tuple[str, ...] = ()
    """Sentences about sizes that were left out of the ranges: which, and which operator forbids them."""
    misses_start_up: bool = False
    """Copies of constants at start-up would pay, if no call of another size needed their bytes."""
    open_end: OpenEnd | None = None
    """How an open upper end was bounded; None where the range was closed."""

    @property
    def sizes(self) -> OpenSizes:
        """Symbols and extents that the formulas of the program refer to."""
        return OpenSizes(symbols=self.symbols, extents=self.extents)

    def __post_init__(self) -> None:
        for name in ("values", "workspaces", "buffers", "pools", "peaks"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))


def named_values(ranges: Ranges, values: Mapping[str, Whole]) -> dict[str, Whole]:
    """Values of all names of formulas, from those of the symbols."""
    return ranges.sizes.values(values)


def number_at(ranges: Ranges, formula: Formula, values: Mapping[str, int]) -> int:
    """The value of a formula at one combination of sizes."""
    return ranges.sizes.number_at(formula, values)


def shape_at(ranges: Ranges, shape: Sequence[int], values: Mapping[str, int]) -> tuple[int, ...]:
    """A shape at one combination of sizes."""
    return tuple(number_at(ranges, formula_of(extent), values) for extent in shape)


def has_curve(ranges: Ranges | None) -> bool:
    """True if any size has more than one value."""
    return ranges is not None and any(symbol.count > 1 for symbol in ranges.symbols)


def looked_at(ranges: Ranges) -> list[dict[str, int]]:
    """Every combination of sizes that was looked at, the largest last."""
    names = [symbol.name for symbol in ranges.symbols]
    peaks = next(iter(ranges.peaks.values()))
    return [dict(zip(names, peak.values, strict=True)) for peak in peaks]


def breakpoints(ranges: Ranges) -> list[dict[str, int]]:
    """The ends, and the sizes at both sides of where another arm of a maximum takes over: between them every
    offset follows one formula."""
    every = looked_at(ranges)
    rows = {s.name: np.array([sizes[s.name] for sizes in every], np.int64) for s in ranges.symbols}
    is_breakpoint = _turning(ranges, rows)
    for low_or_high in itertools.product(*((s.low, s.high) for s in ranges.symbols)):
        ends = zip(ranges.symbols, low_or_high, strict=True)
        is_breakpoint |= np.logical_and.reduce([rows[symbol.name] == end for symbol, end in ends])
    return [every[int(index)] for index in np.flatnonzero(is_breakpoint)]


def turns(ranges: Ranges) -> list[dict[str, int]]:
    """The sizes at both sides of where another arm of a maximum takes over, looked at or not: along every
    symbol, the others at all their values if that is few combinations, else at their ends."""
    turning: dict[tuple[int, ...], None] = {}
    counts = [symbol.count for symbol in ranges.symbols]
    for along, symbol in enumerate(ranges.symbols):
        others = [
            range(symbol_.low, symbol_.high + 1)
            if np.prod(counts) <= _GRID
            else sorted({symbol_.low, symbol_.high})
            for symbol_ in ranges.symbols
        ]
        others[along] = range(symbol.low, symbol.high + 1)
        grid = np.meshgrid(*(np.array(extent, np.int64) for extent in others), indexing="ij")
        rows = [np.moveaxis(axis, along, -1) for axis in grid]
        shape = rows[0].shape
        names = [symbol_.name for symbol_ in ranges.symbols]
        flat = {name: axis.reshape(-1) for name, axis in zip(names, rows, strict=True)}
        for index in np.flatnonzero(_turning(ranges, flat, shape[-1])):
            turning[tuple(int(flat[name][index]) for name in names)] = None
    return [
        dict(zip((symbol_.name for symbol_ in ranges.symbols), values, strict=True)) for values in turning
    ]


def _turning(ranges: Ranges, rows: Mapping[str, Whole], length: int = 0) -> NDArray[np.bool_]:
    """Which of some sizes, in a row, lie beside a turn; `length`: of each row, where there are several."""
    known = named_values(ranges, rows)
    formulas = [*(e.formula for e in ranges.extents), *ranges.values.values(), *ranges.pools.values()]
    formulas += ranges.workspaces.values()
    is_beside = np.zeros(next(iter(rows.values())).shape, bool)
    for formula in formulas:
        for items in deciding(formula, known):
            deciding_items = np.broadcast_to(items, is_beside.shape)
            at = np.flatnonzero(deciding_items[1:] != deciding_items[:-1])
            if length:
                at = at[(at + 1) % length != 0]
            is_beside[at] = is_beside[at + 1] = True
    return is_beside
