"""Sizes that are known as ranges: symbols, and formulas over them that firmware computes at run time.

A formula is whole numbers only. Every one has a value at any values of its symbols, in Python, for arrays of
values at once, and in C (`codegen.emit.c.formula_text`).
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

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


@dataclass(frozen=True, kw_only=True, slots=True)
class Stepwise:
    """`items[i]`, where `value` is from `starts[i - 1]` on and below `starts[i]`: a formula for each part.

    None of the others is evaluated there.
    """

    value: Sum
    starts: tuple[int, ...]
    items: tuple["Formula", ...]

    def __post_init__(self) -> None:
        if len(self.items) != len(self.starts) + 1 or list(self.starts) != sorted(set(self.starts)):
            raise ValueError(f"{len(self.items)} formulas for parts that start at {self.starts}")


Formula = Sum | Quotient | RoundedUp | Largest | Lookup | Stepwise


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
        case Stepwise(value=value, items=items):
            for item in (value, *items):
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
            found = evaluate(items[0], values)
            for item in items[1:]:
                found = np.maximum(found, evaluate(item, values))
            return found
        case Lookup(values=table, index=index):
            return np.asarray(table, np.int64)[evaluate(index, values)]
        case Stepwise():
            index, arms = _parts(formula, values)
            found = np.zeros(index.shape, np.int64)
            for item, here, own in arms:
                found[here] = evaluate(item, own)
            return found


def _total(formula: Sum, values: Mapping[str, Whole]) -> Whole:
    total: Whole = np.asarray(formula.constant, np.int64)
    for factor, names in formula.terms:
        product: Whole = np.asarray(factor, np.int64)
        for name in names:
            product = product * values[name]
        total = total + product
    return total


_Arm = tuple[Formula, NDArray[np.bool_], Mapping[str, Whole]]
"""An item, where it counts, and the values of all names there."""


def _parts(formula: Stepwise, values: Mapping[str, Whole]) -> tuple[Whole, list[_Arm]]:
    """Which item counts for each of the values; and those that ever do."""
    shape = np.broadcast_shapes(*(np.shape(values[name]) for name in names_of(formula)))
    rows = {name: np.broadcast_to(values[name], shape) for name in set(names_of(formula))}
    index = np.searchsorted(formula.starts, evaluate(formula.value, rows), side="right")
    index = np.broadcast_to(index, shape)
    arms: list[_Arm] = []
    for number_, item in enumerate(formula.items):
        here = index == number_
        if here.any():
            arms.append((item, here, {name: own[here] for name, own in rows.items()}))
    return index, arms


def inside(formula: Formula, name: str, value: int) -> Formula:
    """What a formula is where the size `name`, which parts of it ask for, is `value`."""
    match formula:
        case Stepwise(value=own, starts=starts, items=items) if own == named(name):
            return inside(items[bisect_right(starts, value)], name, value)
        case Stepwise(items=items) | Largest(items=items):
            return replace(formula, items=tuple(inside(item, name, value) for item in items))
        case RoundedUp(value=own):
            return replace(formula, value=inside(own, name, value))
        case _:
            return formula


def has_table(formula: Formula) -> bool:
    """Whether a formula reads a table, which it may do at its own sizes only."""
    match formula:
        case Stepwise(items=items) | Largest(items=items):
            return any(has_table(item) for item in items)
        case RoundedUp(value=value):
            return has_table(value)
        case _:
            return isinstance(formula, Lookup)


def deciding(formula: Formula, values: Mapping[str, Whole]) -> Iterator[Whole]:
    """Of every largest value and every part of a formula, which of its items counts at each of the values;
    -1 where none does. Where that changes the formula turns."""
    match formula:
        case RoundedUp(value=value):
            yield from deciding(value, values)
        case Largest(items=items):
            shape = np.broadcast_shapes(*(np.shape(values[name]) for name in names_of(formula)))
            yield np.argmax(
                np.stack([np.broadcast_to(evaluate(each, values), shape) for each in items]), axis=0
            )
        case Stepwise():
            index, arms = _parts(formula, values)
            yield index
            for item, here, own in arms:
                for inner in deciding(item, own):
                    found = np.full(index.shape, -1, np.int64)
                    found[here] = inner
                    yield found
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
        case Stepwise(value=value):
            _, arms = _parts(formula, values)
            return max(largest_term(value, values), *(largest_term(item, own) for item, _, own in arms))


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
        case Stepwise(value=value, starts=starts, items=items):
            arms = [text(item, whole=whole) for item in items]
            lower = zip(starts, arms, strict=False)
            tests = (f"{sum_text(value)} < {start} ? {arm} : " for start, arm in lower)
            return f"({''.join(tests)}{arms[-1]})"


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
