"""Bytes that command streams access, by hand: bounds of tensors, padding of channels, values of nobody."""

from codegen.ethos_u.register_commands import (
    SCRATCH,
    extents,
    last_element,
    leaves_in_front,
    macs,
    operations,
    unwritten_reads,
)
from tests.ethos_u import streams

SHAPE, HALF = (4, 4, 5), (2, 2, 5)


def _pool(address: int, result: int, *, in_bricks: bool = False) -> list[list[int]]:
    """A maximum pool of 2 x 2; with `in_bricks` of a result whose channels come by 16."""
    bricks = (
        [streams.short(0x114, 0x41), streams.long(0x015, 32), streams.long(0x016, 32)] if in_bricks else []
    )
    return [
        streams.image(SHAPE, 0, address),
        streams.result(HALF, 0, result),
        *bricks,
        streams.kernel(2, 2, stride=2),
        [0x005],
    ]


def test_a_tensor_ends_behind_its_last_element() -> None:
    words = streams.stream(*_pool(16, 96))
    assert extents(words) == {SCRATCH: 96 + 20}
    [pool] = operations(words)
    assert [(a.start, a.stop, a.moved_bytes, a.writes) for a in pool.accesses] == [
        (16, 96, 80, False),
        (96, 116, 20, True),
    ]


def test_padding_of_channels_is_planned_and_holds_no_element() -> None:
    """Two rows of two pixels of 16 channels, of which 5 are there: the peak was planned 11 bytes higher than
    it was measured."""
    words = streams.stream(*_pool(0, 96, in_bricks=True))
    assert extents(words) == {SCRATCH: 96 + 64}
    assert last_element(words, SCRATCH) == 96 + 32 + 16 + 5


def test_bytes_that_nothing_wrote_are_told() -> None:
    words = streams.stream(*_pool(0, 96))
    assert unwritten_reads(words, SCRATCH, [(0, 80)], [(96, 116)]) == []
    assert unwritten_reads(words, SCRATCH, [(0, 64)], []) == [(64, 80)]
    assert unwritten_reads(words, SCRATCH, [(0, 80)], [(200, 220)]) == [(200, 220)]


def test_bytes_in_front_of_a_region_are_told() -> None:
    """A damaged file whose rows ran backwards beyond the scratch ended the import with an IndexError."""
    backwards = streams.long(0x004 + 1, 0xFFFF_FF00, 0xFFFF)
    words = streams.stream(*_pool(0, 96)[:-1], backwards, [0x005])
    assert leaves_in_front(words)
    assert not leaves_in_front(streams.stream(*_pool(0, 96)))


def test_macs_are_weights_by_pixels() -> None:
    words = streams.stream(
        streams.image((5, 6, 8), 0, 0),
        streams.result((3, 4, 16), 0, 512),
        streams.kernel(3, 3),
        streams.weights_at(0, 64, 64, 160),
        [0x002],
    )
    assert macs(words) == 3 * 3 * 8 * 16 * 12
