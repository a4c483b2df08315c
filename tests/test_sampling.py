"""How the suite chooses among combinations of parameters: every value has its turn."""

import itertools

from tests.sampling import covering, spread


def test_every_value_of_every_parameter_has_its_turn() -> None:
    """And no more combinations run than the longest parameter has values, where all are there."""
    boards, levels, kinds = range(5), "abc", (True, False)
    combined = [
        {("board", repr(board)), ("level", level), ("kind", repr(kind))}
        for board, level, kind in itertools.product(boards, levels, kinds)
    ]
    chosen = covering(combined)
    assert set().union(*(combined[number] for number in chosen)) == set().union(*combined)
    assert len(chosen) == len(boards)
    assert covering([]) == set()


def test_a_sample_is_spread_over_all_cases() -> None:
    assert spread(10, 1) == {0}
    assert spread(10, 2) == {0, 9}
    assert spread(9, 3) == {0, 4, 8}
    assert spread(3, 5) == {0, 1, 2}
    assert all(len(spread(total, count)) == count for total in range(1, 40) for count in range(1, total + 1))
