"""Budgets are lowered as far as a plan is found, and never further: against made-up searches."""

from collections.abc import Callable

import pytest

from codegen.plan.place.budgets import Budgets, smallest_budgets
from codegen.problem.problem import Pool

Plan = dict[str, int]
"""What a made-up plan takes of each pool."""


def _asking(accepted: Callable[[int], int | None]) -> tuple[Callable[[Budgets], Plan | None], list[int]]:
    """A search in one pool: `accepted` says what the plan within a limit takes, None if there is none."""
    asked: list[int] = []

    def ask(budgets: Budgets) -> Plan | None:
        asked.append(budgets["ram"])
        bytes_ = accepted(budgets["ram"])
        return None if bytes_ is None else {"ram": bytes_}

    return ask, asked


def _smallest(
    accepted: Callable[[int], int | None], first: int, missed: int, *, bisect: bool = False
) -> tuple[Plan, Budgets] | None:
    ask, _ = _asking(accepted)
    pool = Pool(name="ram", region="RAM", limit_bytes=missed)
    return smallest_budgets(ask, lambda plan: plan, {"ram": first}, [pool], bisect=bisect)


def test_what_was_found_without_a_limit_is_found_with_exactly_that() -> None:
    assert _smallest(lambda limit: 100 if limit >= 100 else None, 100, 40) == ({"ram": 100}, {"ram": 100})


def test_a_plan_below_the_budget_lowers_it() -> None:
    """Within 120 the search finds 110, within 110 it finds 105, within 105 no less."""
    found = _smallest({120: 110, 110: 105, 105: 105}.get, 120, 40)
    assert found == ({"ram": 105}, {"ram": 105})


def test_a_budget_that_fails_is_not_named() -> None:
    """The search within 110 fails, though one within 120 found 110: 120 it is."""
    assert _smallest({120: 110}.get, 120, 40) == ({"ram": 110}, {"ram": 120})


def test_a_search_that_needs_a_little_more_gets_it() -> None:
    # 64 bytes and one part in 64 of them, and one byte: 66.
    assert _smallest(lambda limit: 66 if limit >= 65 else None, 64, 40) == ({"ram": 66}, {"ram": 66})


def test_none_where_nothing_is_found_again() -> None:
    assert _smallest(lambda limit: None, 100, 40) is None


@pytest.mark.parametrize("least", [41, 50, 77, 99, 100])
def test_a_pool_beside_others_is_bisected(least: int) -> None:
    """The other pools take what does not fit: any limit from `least` on has a plan, which fills it."""
    found = _smallest(lambda limit: limit if limit >= least else None, 100, 40, bisect=True)
    assert found is not None
    plan, budgets = found
    assert plan == budgets
    assert least <= budgets["ram"] <= least + 1
    whole = _smallest(lambda limit: limit if limit >= least else None, 100, 40)
    assert whole == ({"ram": 100}, {"ram": 100})
