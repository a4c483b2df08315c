"""Which buffers are written over bytes of which, for those who draw plans."""

from collections.abc import Mapping, Sequence

from codegen.program.problem import Buffer, Placement


def birth_order(buffers: Sequence[Buffer]) -> list[Buffer]:
    """Buffers as they are written; of those born at once in the problem's order, where inputs come first: the
    application has written them before the first step."""
    return sorted(buffers, key=lambda b: b.start)


def under(late: Buffer, ordered: Sequence[Buffer], places: Mapping[str, Placement]) -> list[Buffer]:
    """Buffers with bytes that `late` is written over while they are still alive.

    `ordered`: buffers of one pool in birth order, with `late` among them.
    """
    start, stop = places[late.id].offset, places[late.id].offset + late.size_bytes
    return [
        b
        for b in ordered[: ordered.index(late)]
        if b.stop > late.start and places[b.id].offset < stop and start < places[b.id].offset + b.size_bytes
    ]
