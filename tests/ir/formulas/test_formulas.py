"""Formulas: their values, one by one and for arrays, and how people read them."""

import numpy as np
import pytest

from codegen.ir.formulas import (
    Formula,
    Largest,
    Lookup,
    Quotient,
    RoundedUp,
    Sum,
    Symbol,
    constant_of,
    deciding,
    evaluate,
    largest_term,
    named,
    names_of,
    number,
    text,
)

T = named("T")
TABLE = Lookup(values=(3, 1, 4), index=Sum(constant=-10, terms=((1, ("T",)),)))
AREA = Sum(constant=-3, terms=((2, ("H", "W")), (-1, ("H",))))

EXAMPLES: tuple[tuple[Formula, dict[str, int], int, str], ...] = (
    (number(7), {}, 7, "7"),
    (T, {"T": 5}, 5, "T"),
    (Sum(constant=4, terms=((16, ("T",)),)), {"T": 3}, 52, "16*T + 4"),
    (AREA, {"H": 4, "W": 5}, 33, "2*H*W - H - 3"),
    (Quotient(dividend=Sum(constant=1, terms=((1, ("T",)),)), divisor=2), {"T": 8}, 4, "(T + 1)/2"),
    (RoundedUp(value=T, multiple=8), {"T": 9}, 16, "up(T, 8)"),
    (Largest(items=(T, number(6), named("U"))), {"T": 5, "U": 9}, 9, "max(T, 6, U)"),
    (TABLE, {"T": 12}, 4, "table[T - 10]"),
)


def value(formula: Formula, values: dict[str, int]) -> int:
    """Where every name has one value."""
    return int(evaluate(formula, {name: np.array(own) for name, own in values.items()}))


@pytest.mark.parametrize(("formula", "values", "expected", "said"), EXAMPLES)
def test_values_and_words(formula: Formula, values: dict[str, int], expected: int, said: str) -> None:
    assert value(formula, values) == expected
    assert text(formula) == said
    assert set(names_of(formula)) <= values.keys()


def test_arrays_are_what_single_values_are() -> None:
    sizes = np.arange(1, 40)
    for formula, values, _, _ in EXAMPLES:
        if set(values) == {"T"} and not isinstance(formula, Lookup):
            found = evaluate(formula, {"T": sizes})
            assert found.tolist() == [value(formula, {"T": int(size)}) for size in sizes]


def test_only_numbers_are_constant() -> None:
    assert constant_of(number(3)) == 3
    assert constant_of(T) is None
    assert constant_of(RoundedUp(value=number(3), multiple=4)) is None


def test_the_largest_term_counts_what_cancels() -> None:
    huge = 1 << 30
    formula = Sum(terms=((huge, ("T",)), (-huge, ("T",))))
    assert value(formula, {"T": 4}) == 0
    assert largest_term(formula, {"T": np.array([4])}) == 8 * huge


@pytest.mark.parametrize(("low", "high"), [(0, 4), (5, 4), (-2, 3)])
def test_a_symbol_has_a_range_of_sizes(low: int, high: int) -> None:
    with pytest.raises(ValueError, match="is no range of sizes"):
        Symbol(name="T", low=low, high=high)


def test_a_maximum_turns_where_another_item_counts() -> None:
    formula = RoundedUp(value=Largest(items=(T, number(4))), multiple=8)
    assert [each.tolist() for each in deciding(formula, {"T": np.array([3, 5, 6])})] == [[1, 0, 0]]
