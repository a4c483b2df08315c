"""Formulas of quantities: found from their values at all sizes, and equal to them at every one.

Nothing is believed: what is tried is a few forms (a constant, a multiple of one size, a quotient, sums of
products of two), and a form counts only where it gives every value.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codegen.ir.formulas.formula import (
    Formula,
    Largest,
    Lookup,
    Quotient,
    Sum,
    Whole,
    evaluate,
    largest_term,
    number,
)

_LARGEST_DIVISOR = 4096
_ROWS = 24
"""Equations that coefficients are solved from; all values check the solution."""

_TERMS = 6
"""Products that a sum may have."""

_STEEPEST = 1 << 30

_LIMIT = 1 << 31
"""Bound of the numbers that the generated C computes with."""

_TABLE = 4096
"""Entries that a table may have."""

_SHORT = 16
"""Entries of a table of what is largest: what depends on a padding has as many as a stride."""


class Fitter:
    """Knows named sizes, one value a member each: symbols at first, then extents that are added."""

    def __init__(self, values: Mapping[str, Whole], *, complete: bool = True) -> None:
        """`values`: of every symbol, at every member; `complete`: these are all members that there are."""
        self._complete = complete
        self.values: dict[str, Whole] = dict(values)

    def add(self, name: str, values: Whole) -> None:
        """Let formulas use a further named size."""
        self.values[name] = values

    def over(self, names: Iterable[str]) -> "Fitter":
        """A fitter that uses only the sizes called `names`."""
        return Fitter({name: self.values[name] for name in names}, complete=self._complete)

    def of(self, members: NDArray[np.bool_]) -> "Fitter":
        """A fitter for some of the members."""
        return Fitter({name: rows[members] for name, rows in self.values.items()}, complete=self._complete)

    def formula(self, values: Whole) -> Formula | None:
        """A formula that gives `values`; None where no form does."""
        for form in self._forms(values):
            if form is not None and np.array_equal(
                np.broadcast_to(evaluate(form, self.values), values.shape), values
            ):
                if self._cancels(form, values):
                    continue
                return form
        return None

    def _cancels(self, form: Formula, values: Whole) -> bool:
        """True if parts of a formula exceed 32 bits though its values do not, as in a line through two
        multipliers of a mean."""
        return np.abs(values).max() < _LIMIT <= largest_term(form, self.values)

    def table(self, values: Whole) -> Lookup | None:
        """All values in a row, by the size with the fewest values that decides them; None where it takes more
        than two, or too many."""
        tables = [row for index, formula in self._indexes() for row in self._rows(values, index, formula)]
        by_one = [table for table in tables if len(table.index.terms) == 1]
        return min(by_one or tables, key=lambda table: len(table.values), default=None)

    def _rows(self, values: Whole, index: Whole, formula: Sum) -> Iterator[Lookup]:
        """The table of `values` by `index`, if they follow from it.

        Where only some members were looked at, no row may be missing: another member could ask for it.
        """
        low, high = int(index.min()), int(index.max())
        if high - low >= _TABLE or (not self._complete and len(np.unique(index)) <= high - low):
            return
        # A row that nothing asks for, in the middle, repeats a value that is there.
        table = np.full(high - low + 1, values[0], np.int64)
        table[index - low] = values
        if np.array_equal(table[index - low], values):
            yield _lookup(table, formula, low)

    def largest(self, arms: Sequence[tuple[Formula, Whole]]) -> Formula:
        """The largest of `arms`, (formula, its values), of which only those are kept that ever decide."""
        values = np.stack([np.broadcast_to(arm, self._shape) for _, arm in arms])
        highest = values.max(axis=0)
        reached = values == highest
        open_ = np.ones(highest.shape, bool)
        kept: list[int] = []
        while open_.any():
            best = int(np.argmax((reached & open_).sum(axis=1)))
            kept.append(best)
            open_ &= ~reached[best]
        if len(kept) == 1:
            return arms[kept[0]][0]
        return Largest(items=tuple(arms[index][0] for index in sorted(kept)))

    @property
    def _shape(self) -> tuple[int, ...]:
        return next(iter(self.values.values())).shape

    def _forms(self, values: Whole) -> Iterator[Formula | None]:
        low, high = int(values.min()), int(values.max())
        if low == high:
            yield number(low)
            return
        # Newer sizes are nearer to what is asked: the extent of a layer explains its own buffers best.
        names = list(self.values)
        for name in names:
            yield self._multiple(name, values)
        for name in names:
            yield self._quotient(name, values)
        for one, other in itertools.combinations_with_replacement(names, 2):
            yield self._product(one, other, values)
        yield self._few_products(values)

    def _multiple(self, name: str, values: Whole) -> Formula | None:
        """factor * name + constant."""
        sizes = self.values[name]
        first, last = int(sizes.argmin()), int(sizes.argmax())
        span = int(sizes[last] - sizes[first])
        if not span or int(values[last] - values[first]) % span:
            return None
        factor = int(values[last] - values[first]) // span
        constant = int(values[first]) - factor * int(sizes[first])
        return Sum(constant=constant, terms=((factor, (name,)),)) if factor else None

    def _quotient(self, name: str, values: Whole) -> Formula | None:
        """(name + constant) / divisor, rounded down: what windows and strides make of a size."""
        sizes = self.values[name]
        span, grown = int(sizes.max() - sizes.min()), int(values.max() - values.min())
        for divisor in _divisors(span, grown):
            # divisor * value <= size + constant < divisor * (value + 1), for every member.
            least = int((divisor * values - sizes).max())
            most = int((divisor * (values + 1) - 1 - sizes).min())
            if least <= most and int(sizes.min()) + least >= 0:
                constant = min(max(least, 0), most)
                return Quotient(dividend=Sum(constant=constant, terms=((1, (name,)),)), divisor=divisor)
        return None

    def _product(self, one: str, other: str, values: Whole) -> Formula | None:
        """a * one * other + b * one + c * other + d, whole numbers."""
        first, second = self.values[one], self.values[other]
        names: list[tuple[str, ...]] = [(one, other), (one,), (other,), ()]
        if one == other:
            names = [(one, other), (one,), ()]
        columns: dict[tuple[str, ...], Whole] = {
            (one, other): first * second,
            (one,): first,
            (other,): second,
            (): np.ones_like(first),
        }
        rows = np.unique(np.linspace(0, len(values) - 1, min(_ROWS, len(values))).astype(np.int64))
        matrix = np.stack([columns[name][rows] for name in names], axis=1).astype(np.float64)
        scale = np.abs(matrix).max(axis=0)
        scale[scale == 0] = 1
        solution = _solved(matrix / scale, values[rows])
        factors = [round(float(factor)) for factor in solution / scale]
        terms = tuple((factor, name) for factor, name in zip(factors, names, strict=True) if factor and name)
        return Sum(constant=factors[-1], terms=terms) if terms else None

    def _few_products(self, values: Whole) -> Formula | None:
        """A sum of few products of two sizes, found one after the other: each is the one that explains most
        of what is left (orthogonal matching pursuit)."""
        sizes = list(self.values)
        names: list[tuple[str, ...]] = [(name,) for name in sizes]
        names += itertools.combinations_with_replacement(sizes, 2)
        columns = np.stack([np.prod([self.values[n] for n in factors], axis=0) for factors in names]).astype(
            float
        )
        centred = columns - columns.mean(axis=1, keepdims=True)
        lengths = np.sqrt((centred**2).sum(axis=1))
        lengths[lengths == 0] = np.inf
        target, chosen = values.astype(float), [np.ones(len(values))]
        picked: list[tuple[str, ...]] = []
        left = target - target.mean()
        for _ in range(_TERMS):
            best = int(np.argmax(np.abs(centred @ left) / lengths))
            picked.append(names[best])
            chosen.append(columns[best])
            solution = _solved(np.stack(chosen, axis=1), target)
            left = target - np.stack(chosen, axis=1) @ solution
            if np.abs(left).max() < 0.25:
                factors = [round(float(factor)) for factor in solution]
                terms = tuple((f, name) for f, name in zip(factors[1:], picked, strict=True) if f)
                return Sum(constant=factors[0], terms=terms)
        return None

    def at_least(self, values: Whole, bound: NDArray[np.bool_]) -> Formula:
        """A formula that gives at least `values` wherever `bound`, and the last of them exactly, if any does.

        Tried are a multiple of one size or of the product of two, and short tables of what is largest in each
        row. The one is taken that is nearest to the values.
        """
        forms = (*self._slopes(values[bound], bound), *self._envelopes(values, bound))
        return min(
            forms,
            key=lambda form: int((evaluate(form, self.values) - values)[bound].sum()),
            default=number(int(values[bound].max())),
        )

    def _slopes(self, values: Whole, bound: NDArray[np.bool_]) -> Iterator[Sum]:
        """From the last of `values` on downwards, as slowly as stays above them."""
        names: list[tuple[str, ...]] = [(name,) for name in self.values]
        names += itertools.combinations_with_replacement(self.values, 2)
        for factor_names in names:
            sizes = np.prod([self.values[name] for name in factor_names], axis=0)[bound]
            steps, drops = sizes[-1] - sizes, values[-1] - values
            if (drops[steps <= 0] < 0).any():
                continue
            factor = int((drops[steps > 0] // steps[steps > 0]).min(initial=_STEEPEST))
            terms = ((factor, factor_names),) if factor else ()
            yield Sum(constant=int(values[-1]) - factor * int(sizes[-1]), terms=terms)

    def _envelopes(self, values: Whole, bound: NDArray[np.bool_]) -> Iterator[Lookup]:
        """Tables of what is largest in each row, where that is exact at the last of the members."""
        for index, formula in self._indexes():
            low, high = int(index.min()), int(index.max())
            if high - low >= _SHORT or (not self._complete and len(np.unique(index)) <= high - low):
                continue
            table = np.full(high - low + 1, values[bound].min(), np.int64)
            np.maximum.at(table, index[bound] - low, values[bound])
            last = np.flatnonzero(bound)[-1]
            if table[index[last] - low] == values[last]:
                yield _lookup(table, formula, low)

    def _indexes(self) -> Iterator[tuple[Whole, Sum]]:
        """Rows of tables: by every size, and by every two."""
        for name, sizes in self.values.items():
            yield sizes, Sum(terms=((1, (name,)),))
        for one, other in itertools.combinations(self.values, 2):
            width = int(np.ptp(self.values[other])) + 1
            yield width * self.values[one] + self.values[other], Sum(terms=((width, (one,)), (1, (other,))))


def _lookup(table: Whole, index: Sum, low: int) -> Lookup:
    """The table whose row `low` is its first."""
    return Lookup(
        values=tuple(int(value) for value in table),
        index=Sum(constant=index.constant - low, terms=index.terms),
    )


def _solved(matrix: NDArray[np.float64], target: NDArray[Any]) -> NDArray[np.float64]:
    """The least squares solution."""
    return np.linalg.lstsq(matrix, target.astype(np.float64), rcond=None)[0].astype(np.float64)


def _divisors(span: int, grown: int) -> Iterator[int]:
    """Divisors that turn a growth of `span` into one of `grown`, or nearly."""
    if grown <= 0:
        return
    lowest = max(2, span // (grown + 1))
    highest = min(span // max(grown - 1, 1) + 1, _LARGEST_DIVISOR)
    yield from range(lowest, highest + 1)
