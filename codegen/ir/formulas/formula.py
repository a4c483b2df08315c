"""Sizes that are known as ranges: symbols, and formulas over them that firmware computes at run time.

A formula is whole numbers only. Every one has a value at any values of its symbols, in Python, for arrays of
values at once, and in C (`codegen.emit.c.formula_text`).
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]
"""Values of one quantity, one for each combination of values of the symbols."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Symbol:
    """A size that is known at run time only: a whole number from `low` to `high`, both included.

    Raises ValueError for a range that is empty or begins below 1.
    """

    name: str
    """A C identifier."""
    low: int
    high: int

    def __post_init__(self) -> None:
        if not 1 <= self.low <= self.high:
            raise ValueError(f"{self.name}: {self.low}..{self.high} is no range of sizes")

    @property
    def count(self) -> int:
        """How many values it can have."""
        return self.high - self.low + 1

    def __str__(self) -> str:
        return f"{self.name}={self.low}..{self.high}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Sum:
    """`constant` and products: each term is a factor and the names that are multiplied with it."""

    constant: int = 0
    terms: tuple[tuple[int, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Quotient:
    """`dividend` / `divisor`, rounded down; the dividend is never negative."""

    dividend: Sum
    divisor: int


@dataclass(frozen=True, kw_only=True, slots=True)
class RoundedUp:
    """The next multiple of `multiple`, a power of two, from `value` on."""

    value: "Formula"
    multiple: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Largest:
    """The largest of several values."""

    items: tuple["Formula", ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Lookup:
    """`values[index]`: what no formula gives, such as the multiplier of a mean."""

    values: tuple[int, ...]
    index: Sum


Formula = Sum | Quotient | RoundedUp | Largest | Lookup


def number(value: int) -> Sum:
    """The formula that is always `value`."""
    return Sum(constant=value)


def named(name: str) -> Sum:
    """The formula that is the value of `name`."""
    return Sum(terms=((1, (name,)),))


def constant_of(formula: Formula) -> int | None:
    """The value of a formula without names; None where it has some."""
    return formula.constant if isinstance(formula, Sum) and not formula.terms else None


def names_of(formula: Formula) -> Iterator[str]:
    """Every name in a formula, as often as it is there."""
    match formula:
        case Sum(terms=terms):
            for _, names in terms:
                yield from names
        case Quotient(dividend=inner) | Lookup(index=inner):
            yield from names_of(inner)
        case RoundedUp(value=value):
            yield from names_of(value)
        case Largest(items=items):
            for item in items:
                yield from names_of(item)


def evaluate(formula: Formula, values: Mapping[str, Whole]) -> Whole:
    """The values of a formula; `values`: of every name in it, all of one length (or of length 1)."""
    match formula:
        case Sum():
            return _total(formula, values)
        case Quotient(dividend=dividend, divisor=divisor):
            return evaluate(dividend, values) // divisor
        case RoundedUp(value=value, multiple=multiple):
            return -(-evaluate(value, values) // multiple) * multiple
        case Largest(items=items):
            largest = evaluate(items[0], values)
            for item in items[1:]:
                largest = np.maximum(largest, evaluate(item, values))
            return largest
        case Lookup(values=table, index=index):
            return np.asarray(table, np.int64)[evaluate(index, values)]


def _total(formula: Sum, values: Mapping[str, Whole]) -> Whole:
    total: Whole = np.asarray(formula.constant, np.int64)
    for factor, names in formula.terms:
        product: Whole = np.asarray(factor, np.int64)
        for name in names:
            product = product * values[name]
        total = total + product
    return total


def deciding(formula: Formula, values: Mapping[str, Whole]) -> Iterator[Whole]:
    """For every maximum in a formula, tell which of its items is the largest at each of the values.

    A formula changes its course between sizes for which the answers differ.
    """
    match formula:
        case RoundedUp(value=value):
            yield from deciding(value, values)
        case Largest(items=items):
            shape = np.broadcast_shapes(*(np.shape(values[name]) for name in names_of(formula)))
            yield np.argmax(
                np.stack([np.broadcast_to(evaluate(item, values), shape) for item in items]), axis=0
            )
        case _:
            return


def largest_term(formula: Formula, values: Mapping[str, Whole]) -> int:
    """The largest number, its sign aside, that any part of a formula has at any of the values: what the type
    of C's arithmetic has to hold."""
    match formula:
        case Sum(constant=constant, terms=terms):
            parts = [abs(constant)]
            parts += [int(np.abs(evaluate(Sum(terms=(term,)), values)).max()) for term in terms]
            return sum(parts)
        case Quotient(dividend=inner) | Lookup(index=inner):
            return largest_term(inner, values)
        case RoundedUp(value=value, multiple=multiple):
            return largest_term(value, values) + multiple
        case Largest(items=items):
            return max(largest_term(item, values) for item in items)


def text(formula: Formula, *, whole: bool = False) -> str:
    """A formula as comments and reports show it: `16*T + 4`, `(T + 1)/2`, `max(T, 8)`, `up(T, 4)`.

    `whole`: so that it can be read back, tables with their values.
    """
    match formula:
        case Sum():
            return sum_text(formula)
        case Quotient(dividend=dividend, divisor=divisor):
            return f"({sum_text(dividend)})/{divisor}"
        case RoundedUp(value=value, multiple=multiple):
            return f"up({text(value, whole=whole)}, {multiple})"
        case Largest(items=items):
            return f"max({', '.join(text(item, whole=whole) for item in items)})"
        case Lookup(values=values, index=index):
            said = f"({', '.join(str(value) for value in values)})" if whole else ""
            return f"table{said}[{sum_text(index)}]"


def sum_text(formula: Sum, times: str = "*", spelled: Callable[[str], str] = str) -> str:
    """A sum with `times` between the factors of a product and names as `spelled` has them."""
    parts: list[str] = []
    for factor, names in formula.terms:
        product = times.join([*([str(abs(factor))] if abs(factor) != 1 else []), *map(spelled, names)])
        sign = "-" if factor < 0 else "+"
        parts.append(f" {sign} {product}" if parts else f"-{product}" if factor < 0 else product)
    if formula.constant or not parts:
        sign = "-" if formula.constant < 0 else "+"
        parts.append(f" {sign} {abs(formula.constant)}" if parts else str(formula.constant))
    return "".join(parts)
