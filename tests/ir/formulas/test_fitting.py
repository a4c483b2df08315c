"""Formulas found from values: right at every one of them, or none at all."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from codegen.ir.formulas import (
    Lookup,
    Quotient,
    Sum,
    Whole,
    constant_of,
    evaluate,
    named,
    number,
    text,
)
from codegen.ir.formulas.fitting import Fitter


def fitter(low: int = 3, high: int = 60) -> Fitter:
    return Fitter({"T": np.arange(low, high + 1)})


def grid() -> Fitter:
    rows = [(h, w) for h in range(4, 14) for w in range(5, 18)]
    return Fitter({"H": np.array([h for h, _ in rows]), "W": np.array([w for _, w in rows])})


@given(factor=st.integers(-50, 50), constant=st.integers(-200, 200))
def test_multiples_of_a_size(factor: int, constant: int) -> None:
    own = fitter()
    found = own.formula(factor * own.values["T"] + constant)
    assert found == (Sum(constant=constant, terms=((factor, ("T",)),)) if factor else number(constant))


@given(added=st.integers(0, 9), divisor=st.integers(2, 9))
def test_what_strides_make_of_a_size(added: int, divisor: int) -> None:
    own = fitter()
    values = (own.values["T"] + added) // divisor
    found = own.formula(values)
    assert isinstance(found, Quotient)
    assert np.array_equal(evaluate(found, own.values), values)


@given(
    st.lists(st.integers(-9, 9), min_size=4, max_size=4),
    st.integers(1, 3),
)
def test_products_of_two_sizes(factors: list[int], stride: int) -> None:
    own = grid()
    own.add("rows", (own.values["H"] + stride - 1) // stride)
    h, w = own.values["rows"], own.values["W"]
    values = factors[0] * h * w + factors[1] * h + factors[2] * w + factors[3]
    found = own.formula(values)
    assert found is not None
    assert np.array_equal(np.broadcast_to(evaluate(found, own.values), values.shape), values)


@given(st.lists(st.integers(0, 1 << 20), min_size=58, max_size=58))
def test_a_formula_is_right_or_there_is_none(values: list[int]) -> None:
    own, wanted = fitter(), np.array(values)
    found = own.formula(wanted)
    assert found is None or np.array_equal(np.broadcast_to(evaluate(found, own.values), 58), wanted)


@given(st.lists(st.integers(-(1 << 20), 1 << 20), min_size=58, max_size=58))
def test_at_least_is_never_below_and_exact_at_the_largest(values: list[int]) -> None:
    own, wanted = fitter(), np.array(values)
    formula = own.at_least(wanted, np.ones(58, bool))
    found = np.broadcast_to(evaluate(formula, own.values), 58)
    assert (found >= wanted).all()
    assert constant_of(formula) is not None or found[-1] == wanted[-1]


def test_at_least_looks_at_what_is_bound() -> None:
    """What an odd size needs is a table of two rows; where nothing is asked for, anything is right."""
    sizes = np.arange(1, 41)
    own = Fitter({"T": sizes, "odd": sizes % 2})
    wanted = np.where(sizes % 2, 30, 7) - (sizes == 5) - (sizes == 6)
    bound = sizes % 7 != 0
    found = own.at_least(wanted, bound)
    assert found == Lookup(values=(7, 30), index=named("odd"))
    assert text(own.at_least(np.where(bound, 12, 99), bound)) == "12"


def test_a_table_is_as_short_as_the_size_that_decides_it() -> None:
    own = fitter(1, 160)
    frames = (own.values["T"] + 7) // 8
    own.add("frames", frames)
    values = 12345 // frames
    found = own.table(values)
    assert found is not None
    assert len(found.values) == 20
    assert np.array_equal(evaluate(found, own.values), values)


def test_of_some_members_a_table_has_no_missing_row() -> None:
    """Sizes drawn at random left rows out; a call that asked for one got the number of another size."""
    sizes = np.array([1, 2, 4, 5])
    values = 12345 // sizes
    assert Fitter({"T": sizes}, complete=True).table(values) is not None
    assert Fitter({"T": sizes}, complete=False).table(values) is None
    whole = np.arange(1, 6)
    assert Fitter({"T": whole}, complete=False).table(12345 // whole) is not None


def test_a_table_by_two_sizes() -> None:
    own = grid()
    values: Whole = (own.values["H"] * 7919) % 11 + (own.values["W"] * 104729) % 13
    found = own.table(values)
    assert found is not None
    assert np.array_equal(evaluate(found, own.values), values)


def test_of_a_maximum_only_arms_that_decide_are_kept() -> None:
    own = fitter()
    sizes = own.values["T"]
    low, high, never = (Sum(constant=c, terms=((f, ("T",)),)) for f, c in ((1, 40), (3, 0), (1, 10)))
    arms = [(each, evaluate(each, own.values)) for each in (low, never, high)]
    found = own.largest(arms)
    assert np.array_equal(evaluate(found, own.values), np.maximum(sizes + 40, 3 * sizes))
    assert never not in getattr(found, "items", ())
    assert own.largest([(never, sizes + 10), (low, sizes + 40)]) == low


def test_a_line_whose_parts_do_not_fit_is_none() -> None:
    """Of two sizes every table is a line: the multiplier of a mean was one, and E309 the answer to a range
    of three sizes."""
    own = fitter(5, 6)
    values = np.array([1 << 30, 858993459])
    assert own.formula(values) is None
    table = own.table(values)
    assert table is not None and table.values == (1 << 30, 858993459)
