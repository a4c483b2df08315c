"""Conflicts that live intervals explain: any two buffers alive at the same time are kept apart."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from codegen.program.problem import Buffer, Conflict


def plain(first: Buffer, second: Buffer) -> Conflict:
    """The two buffers share no byte."""
    return Conflict(
        first=first.id, second=second.id, first_below=first.size_bytes, second_below=second.size_bytes
    )


def count_intersecting(buffers: Sequence[Buffer]) -> int:
    """How many pairs `intersecting` gives, without making them."""
    holding = [buffer for buffer in buffers if buffer.size_bytes and buffer.start < buffer.stop]
    stops = sorted(buffer.stop for buffer in holding)
    starts = sorted(buffer.start for buffer in holding)
    return sum(before - bisect_right(stops, start) for before, start in enumerate(starts))


def intersecting(buffers: Sequence[Buffer]) -> Iterator[tuple[int, int]]:
    """Index pairs (i < j) of buffers that hold bytes and are alive at the same time, sorted.

    A buffer of zero bytes, or one that is never alive, is in no pair.
    """
    pairs: list[tuple[int, int]] = []
    active: list[int] = []
    holding = [i for i, buffer in enumerate(buffers) if buffer.size_bytes and buffer.start < buffer.stop]
    for index in sorted(holding, key=lambda i: (buffers[i].start, i)):
        active = [other for other in active if buffers[other].stop > buffers[index].start]
        pairs.extend((min(index, other), max(index, other)) for other in active)
        active.append(index)
    yield from sorted(pairs)


def interval_conflicts(buffers: Sequence[Buffer]) -> tuple[Conflict, ...]:
    """Plain disjointness for every pair of buffers alive at the same time."""
    return tuple(plain(buffers[i], buffers[j]) for i, j in intersecting(buffers))
