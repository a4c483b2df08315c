"""Numbers of a program: plain ones, and those that follow from sizes known at run time only.

Kernels and emitted C ask here; what a formula is made of is known in `ir.formulas` alone.
"""

from collections.abc import Iterator, Sequence
from typing import Protocol, TypeGuard, cast

from codegen.ir.formulas import (
    Formula,
    Largest,
    Lookup,
    Quotient,
    RoundedUp,
    Sum,
    SymbolicInt,
    constant_of,
    named,
    sum_text,
    text,
)

Varying = Formula
"""A number that depends on the sizes of a call."""

Number = int | Varying
"""Bytes, rows, columns, an offset."""


def number_of(extent: int) -> Number:
    """An extent of a type as a number at all sizes."""
    return extent.formula if isinstance(extent, SymbolicInt) else extent


def symbol_number(name: str) -> Number:
    """The number that is the size `name` of a call."""
    return named(name)


def varies(value: object) -> TypeGuard[Varying]:
    """True if a value is a number that depends on the sizes of a call."""
    return isinstance(value, Formula) and constant_of(value) is None


def varying_in(value: object) -> Iterator[Varying]:
    """Every number in nested tuples that depends on the sizes of a call."""
    if varies(value):
        yield value
    elif isinstance(value, tuple):
        for part in cast("tuple[object, ...]", value):
            yield from varying_in(part)


def said(number: Number) -> str:
    """A number as comments show it: `48`, `(T + 1)/2`."""
    return str(number) if isinstance(number, int) else text(number)


class Spelling(Protocol):
    """How C names what numbers are made of."""

    def name(self, size: str) -> str:
        """A size by its name."""
        ...

    def spelled(self, number: Number) -> str:
        """A number inside another one, by the name of the size that has it, if one does."""
        ...

    def table(self, values: Sequence[int]) -> str:
        """The name of a table of these values."""
        ...


def in_c(number: Number, spelling: Spelling) -> str:
    """A number as an expression that can stand in a sum, a call or an index."""

    def total(formula: Sum) -> str:
        return sum_text(formula, times=" * ", spelled=spelling.name)

    match number:
        case Sum():
            return total(number)
        case Quotient(dividend=dividend, divisor=divisor):
            return f"({total(dividend)}) / {divisor}"
        case RoundedUp(value=value, multiple=multiple):
            return f"cg_round_up({spelling.spelled(value)}, {multiple})"
        case Largest(items=items):
            largest = spelling.spelled(items[0])
            for item in items[1:]:
                largest = f"cg_larger({largest}, {spelling.spelled(item)})"
            return largest
        case Lookup(values=values, index=index):
            return f"{spelling.table(values)}[{total(index)}]"
        case int():
            return str(number)
