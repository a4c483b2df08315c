"""The choice of items, against all choices there are."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.plan.constants import knapsack
from codegen.plan.constants.knapsack import Item, cheapest, relaxed

ITEMS = st.builds(Item, saved=st.integers(0, 40), cost=st.integers(0, 60))
GROUPS = st.lists(st.lists(ITEMS, max_size=3), max_size=5)


def best(groups: list[list[Item]], need: int) -> int | None:
    costs = [
        sum(item.cost for item in choice if item)
        for choice in product(*([None, *group] for group in groups))
        if sum(item.saved for item in choice if item) >= need
    ]
    return min(costs, default=None)


@settings(max_examples=300, deadline=None)
@given(GROUPS, st.integers(0, 120))
def test_no_choice_is_cheaper(groups: list[list[Item]], need: int) -> None:
    found, least = cheapest(groups, need), best(groups, need)
    if found is None:
        assert least is None
        return
    taken = [group[item] for group, item in zip(groups, found.items, strict=True) if item is not None]
    assert sum(item.saved for item in taken) >= need
    assert sum(item.cost for item in taken) == found.cost == found.bound == least
    assert relaxed(groups, need) <= found.cost


@settings(max_examples=100, deadline=None)
@given(GROUPS, st.integers(1, 120))
def test_a_thinned_choice_saves_enough_and_states_a_bound(groups: list[list[Item]], need: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(knapsack, "STATES", 2)
        found = cheapest(groups, need)
    least = best(groups, need)
    if found is None:
        assert least is None
        return
    assert least is not None
    taken = [group[item] for group, item in zip(groups, found.items, strict=True) if item is not None]
    assert sum(item.saved for item in taken) >= need
    assert found.bound <= least <= found.cost
