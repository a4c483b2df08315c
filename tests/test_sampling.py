"""How the suite chooses among combinations of parameters: every value has its turn."""

import itertools

from tests.sampling import covering


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
