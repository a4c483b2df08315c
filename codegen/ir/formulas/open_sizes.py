"""The open sizes of a function, and whole numbers that follow from them."""

import dataclasses
import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from codegen.ir.formulas.formula import Formula, Symbol, Whole, evaluate, names_of, number, text

EVERY = 4096
"""Up to so many combinations of sizes are all looked at."""

_RANDOM = 1000
"""Combinations that are drawn at random, besides the ends, where there are too many to try all."""

_SEED = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Extent:
    """A size that formulas name: `formula` is over symbols and extents listed before it."""

    name: str
    formula: Formula
    low: int
    high: int
    of: str
    """Axis that has this extent, for comments: `axis 1 of conv0`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenSizes:
    """The sizes of a function that are known as ranges.

    Raises ValueError for a name that is there twice, and for an extent that follows from none before it.
    """

    symbols: tuple[Symbol, ...] = ()
    extents: tuple[Extent, ...] = ()
    """Sizes that follow from the symbols, and have a name of their own."""

    def __post_init__(self) -> None:
        known: set[str] = set()
        for size in (*self.symbols, *self.extents):
            unknown = set(names_of(size.formula)) - known if isinstance(size, Extent) else ()
            if size.name in known or unknown:
                raise ValueError(f"size {size.name}: there twice, or of unknown sizes {sorted(unknown)}")
            known.add(size.name)

    @property
    def names(self) -> frozenset[str]:
        """Everything that formulas may name."""
        return frozenset(size.name for size in (*self.symbols, *self.extents))

    @property
    def largest(self) -> dict[str, int]:
        """Every symbol at its upper end."""
        return {symbol.name: symbol.high for symbol in self.symbols}

    def values(self, symbols: Mapping[str, Whole]) -> dict[str, Whole]:
        """Values of all names, from those of the symbols."""
        known = dict(symbols)
        for extent in self.extents:
            known[extent.name] = evaluate(extent.formula, known)
        return known

    def number_at(self, formula: Formula, symbols: Mapping[str, int]) -> int:
        """The value of a formula at one combination of sizes."""
        known = self.values({name: np.asarray(value, np.int64) for name, value in symbols.items()})
        return int(evaluate(formula, known))

    def used_by(self, names: Iterator[str]) -> "OpenSizes":
        """The sizes without extents that neither `names` nor a formula of a kept extent refers to."""
        used = set(names)
        kept: list[Extent] = []
        for extent in reversed(self.extents):
            if extent.name in used:
                used.update(names_of(extent.formula))
                kept.append(extent)
        return OpenSizes(symbols=self.symbols, extents=tuple(reversed(kept)))


FIXED = OpenSizes()
"""Sizes of a function without open ones."""


class SymbolicInt(int):
    """A whole number that follows from open sizes: an extent, a padding.

    As a number it is its value at the largest sizes, so that it goes wherever numbers go, and is equal to
    that one. What is computed from it is a plain number: formulas are found from the numbers at all sizes
    (`codegen.ir.ranged`), never traced.
    """

    formula: Formula

    def __new__(cls, value: int, formula: Formula) -> "SymbolicInt":
        """`value`: of `formula` at the largest sizes."""
        made = super().__new__(cls, value)
        made.formula = formula
        return made

    def __getnewargs__(self) -> tuple[int, Formula]:  # pyright: ignore[reportIncompatibleMethodOverride]
        return int(self), self.formula


def said(value: int) -> str:
    """A number as text shows it: what gives it, where it follows from open sizes."""
    return text(value.formula, whole=True) if isinstance(value, SymbolicInt) else str(value)


def found_in(value: object) -> Iterator[SymbolicInt]:
    """Every number in a nested value (tuples, dataclasses) that follows from open sizes."""
    if isinstance(value, SymbolicInt):
        yield value
    elif isinstance(value, tuple):
        for member in cast("tuple[object, ...]", value):
            yield from found_in(member)
    elif not isinstance(value, type):
        for name in _looked_into(type(value)):
            yield from found_in(getattr(value, name))


@functools.cache
def _looked_into(kind: type) -> tuple[str, ...]:
    """The fields of a dataclass, nothing of other types: asked for every value of every step."""
    if not dataclasses.is_dataclass(kind) or issubclass(kind, OpenSizes):
        return ()
    return tuple(field.name for field in dataclasses.fields(kind))


def formula_of(value: int) -> Formula:
    """The formula of a number at all sizes; a plain number is its own formula."""
    return value.formula if isinstance(value, SymbolicInt) else number(value)


def is_small(symbols: Sequence[Symbol]) -> bool:
    """True if there are few enough combinations to look at all."""
    count = 1
    for symbol in symbols:
        count *= symbol.count
    return count <= EVERY


def combinations(symbols: Sequence[Symbol]) -> list[dict[str, int]]:
    """The combinations of sizes that are looked at, the largest last: all of up to `EVERY`, else the ends and
    random ones."""
    names = [symbol.name for symbol in symbols]
    if is_small(symbols):
        every = itertools.product(*(range(symbol.low, symbol.high + 1) for symbol in symbols))
        return [dict(zip(names, extents, strict=True)) for extents in every]
    random = np.random.default_rng(_SEED)
    lows = np.array([symbol.low for symbol in symbols])
    highs = np.array([symbol.high for symbol in symbols])
    drawn = random.integers(lows, highs + 1, (_RANDOM, len(names)))
    ends = itertools.product(*((symbol.low, symbol.high) for symbol in symbols))
    rows = sorted({tuple(int(value) for value in row) for row in (*drawn.tolist(), *ends)})
    return [dict(zip(names, row, strict=True)) for row in rows]
