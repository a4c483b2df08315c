"""How many of many cases a run takes."""

from collections.abc import Sequence

SHARE = 3
is_thorough = False
"""True with `--thorough` and `--long`, before tests are imported."""


def examples(count: int, share: int = SHARE) -> int:
    """Of `count` random examples so many: all where a run is thorough, else one in `share`. A run draws the
    same ones again, so that most of what a count finds is found when the test is written."""
    return count if is_thorough else -(-count // share)


def covering(combinations: Sequence[set[tuple[str, str]]]) -> set[int]:
    """Of `combinations` of named values some that hold every value of every name: again and again the first
    of those that add most."""
    missing = set[tuple[str, str]]().union(*combinations)
    chosen = set[int]()
    while missing:
        best = max(range(len(combinations)), key=lambda number: len(combinations[number] & missing))
        chosen.add(best)
        missing -= combinations[best]
    return chosen


def spread(total: int, count: int) -> set[int]:
    """`count` of `total` numbers from 0 on, at even distances, with the first and the last where both fit."""
    if count >= total:
        return set(range(total))
    return {number * (total - 1) // max(1, count - 1) for number in range(count)}
