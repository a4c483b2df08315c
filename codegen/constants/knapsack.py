"""The cheapest choice of at most one item of every group that saves enough: a multiple-choice knapsack."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

STATES = 100_000
"""Choices that no other beats in both respects are kept; up to so many the answer is exact."""


@dataclass(frozen=True, kw_only=True, slots=True)
class KnapsackItem:
    """Saving and cost of one choice; neither is negative."""

    saved: int
    cost: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Chosen:
    """`items`: per group the item taken, or None. No choice that saves enough costs less than `bound`."""

    items: tuple[int | None, ...]
    cost: int
    bound: int


def cheapest(groups: Sequence[Sequence[KnapsackItem]], need: int) -> Chosen | None:
    """The cheapest choice that saves `need`; None if there is none.

    All choices that no other beats are kept, group by group; more than `STATES` of them are thinned, and
    `bound` is then the Lagrangian one.
    """
    if sum(max((item.saved for item in group), default=0) for group in groups) < need:
        return None
    saved, cost = np.zeros(1, np.int64), np.zeros(1, np.int64)
    steps: list[NDArray[np.int64]] = []
    is_exact = True
    for group in groups:
        more = np.array([(0, 0), *((item.saved, item.cost) for item in group)], np.int64)
        saved = np.minimum(saved[:, None] + more[:, 0], need).ravel()
        cost = (cost[:, None] + more[:, 1]).ravel()
        kept = _unbeaten(saved, cost)
        if len(kept) > STATES:
            is_exact = False
            kept = kept[np.unique(np.linspace(0, len(kept) - 1, STATES).astype(np.int64))]
        saved, cost = saved[kept], cost[kept]
        steps.append(kept)
    # Sorted by what they save: the last one saves all that is needed.
    state = len(saved) - 1
    items: list[int | None] = []
    total = int(cost[state])
    for group, kept in zip(reversed(groups), reversed(steps), strict=True):
        state, item = divmod(int(kept[state]), len(group) + 1)
        items.append(item - 1 if item else None)
    bound = total if is_exact else relaxed(groups, need)
    return Chosen(items=tuple(reversed(items)), cost=total, bound=bound)


def _unbeaten(saved: NDArray[np.int64], cost: NDArray[np.int64]) -> NDArray[np.int64]:
    """Positions of those that no other beats in both, by what they save."""
    order = np.lexsort((-saved, cost))
    best = np.maximum.accumulate(saved[order])
    is_new = np.concatenate([[True], best[1:] > best[:-1]])
    return order[is_new]


def relaxed(groups: Sequence[Sequence[KnapsackItem]], need: int) -> int:
    """A cost that no choice goes below: the best of the Lagrangian bounds at the items' own prices a byte."""
    prices = sorted({item.cost / item.saved for group in groups for item in group if item.saved})
    best = 0.0
    for price in prices:
        gains = (max((price * item.saved - item.cost for item in group), default=0.0) for group in groups)
        best = max(best, price * need - sum(max(gain, 0.0) for gain in gains))
    # Rounded down: sums of floats may be a little too high.
    return max(int(best * (1 - 1e-9)) - 1, 0)
