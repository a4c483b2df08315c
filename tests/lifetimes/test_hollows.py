"""Buffers in hollows of a scratch: between values at fixed places, where conflicts would never put one."""

import pytest

from codegen.lifetimes.hollows import fill_hollows
from codegen.lifetimes.occupancy import Occupancy
from codegen.problem.problem import Buffer
from codegen.program.program import BufferSlice


def _buffer(name: str, size: int, start: int, stop: int, pool: str = "sram") -> Buffer:
    return Buffer(
        id=name, size_bytes=size, start=start, stop=stop, alignment=4, pool_candidates=(pool, "ddr")
    )


def _held(name: str, first: int, end: int, start: int, stop: int) -> Occupancy:
    return Occupancy(name=name, offset_bytes=first, first_byte=first, end_byte=end, start=start, stop=stop)


SCRATCH = _buffer("scratch", 100, 0, 10)
HELD = (
    _held("scratch", 0, 100, 0, 2),
    _held("low", 0, 10, 2, 10),
    _held("high", 60, 70, 2, 6),
    _held("top", 90, 100, 2, 9),
)


def _places(*buffers: Buffer, fills_edges: bool = False) -> dict[str, tuple[str, int]]:
    occupancies = {b.id: [_held(b.id, 0, b.size_bytes, b.start, b.stop)] for b in buffers}
    filled = fill_hollows(
        [SCRATCH, *buffers], {"scratch": HELD, **occupancies}, ["scratch"], fills_edges=fills_edges
    )
    assert {buffer.id for buffer in filled.buffers} | filled.inside.keys() == {
        "scratch",
        *(buffer.id for buffer in buffers),
    }
    return dict(filled.inside)


@pytest.mark.parametrize(
    ("buffer", "place"),
    [
        (_buffer("x", 48, 2, 6), 12),  # aligned, behind low
        (_buffer("x", 52, 2, 6), None),  # neither below nor above high
        (_buffer("x", 52, 6, 9), 12),  # high is gone
        (_buffer("x", 8, 6, 10), None),  # at time 9 nothing lies above
        (_buffer("x", 8, 1, 4), None),  # the stream still works there
        (_buffer("x", 8, 2, 6, "dtcm"), None),
        (_buffer("x", 0, 2, 6), None),
    ],
)
def test_a_hollow_is_between_values_as_long_as_a_buffer_lives(buffer: Buffer, place: int | None) -> None:
    assert _places(buffer) == ({} if place is None else {"x": ("scratch", place)})


def test_two_buffers_of_a_hollow_lie_apart() -> None:
    places = _places(_buffer("x", 16, 2, 5), _buffer("y", 24, 3, 6))
    assert places == {"y": ("scratch", 12), "x": ("scratch", 36)}


def test_edges_are_filled_where_that_is_asked_for() -> None:
    assert _places(_buffer("x", 8, 6, 10), fills_edges=True) == {"x": ("scratch", 12)}
    assert _places(_buffer("x", 8, 6, 11), fills_edges=True) == {}  # the scratch does not live so long


def test_parts_of_a_buffer_move_with_it() -> None:
    filled = fill_hollows(
        [SCRATCH, _buffer("x", 20, 2, 5)],
        {"scratch": HELD, "x": [_held("x", 0, 20, 2, 5)]},
        ["scratch"],
        fills_edges=False,
    )
    part = BufferSlice(buffer="x", offset_bytes=4, size_bytes=8)
    assert filled.part(part) == BufferSlice(buffer="scratch", offset_bytes=16, size_bytes=8)
    assert _held("x", 12, 32, 2, 5) in filled.occupancies["scratch"]
