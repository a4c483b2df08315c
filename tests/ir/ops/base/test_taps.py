"""Windows are cut to what can meet the image, exactly: a pool of 2^31-1 taps was a traceback, one of 30,000
asked for 13 GiB, a dilation of 100,000 ended in exit 1. The reference here is a plain walk over every tap."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codegen.ir.ops.base.taps import WindowAxis

HUGE = 2**31 - 1


@st.composite
def axes(draw: st.DrawFn, pool: bool = False) -> WindowAxis:
    small = st.integers(0, 9)
    axis = WindowAxis(
        extent=draw(st.integers(1, 9)),
        window=draw(st.integers(1, 12)),
        stride=draw(st.integers(1, 30)),
        dilation=1 if pool else draw(st.integers(1, 40)),
        before=draw(st.one_of(small, st.integers(0, 99))),
        after=draw(st.one_of(small, st.integers(0, 99))),
    )
    return axis if axis.room >= 0 else replace(axis, after=axis.after - axis.room)


def walked(axis: WindowAxis) -> list[list[tuple[int, int]]]:
    """For each result the taps inside the image, and where they are."""
    found: list[list[tuple[int, int]]] = []
    for result in range(axis.room // axis.stride + 1):
        places = [
            (tap, result * axis.stride - axis.before + tap * axis.dilation) for tap in range(axis.window)
        ]
        found.append([(tap, place) for tap, place in places if 0 <= place < axis.extent])
    return found


def hit(axis: WindowAxis) -> list[list[tuple[int, int]]]:
    found: list[list[tuple[int, int]]] = [[] for _ in range(axis.count)]
    for each in axis.hits():
        for number, result in enumerate(range(each.first, each.stop)):
            found[result].append((each.tap, each.at + number * axis.stride))
    return found


@given(axes())
def test_hits_are_those_of_a_walk_over_all_taps(axis: WindowAxis) -> None:
    assert hit(axis) == walked(axis)


@given(axes(pool=True))
def test_a_cut_window_reads_the_same_places(axis: WindowAxis) -> None:
    places = [[place for _, place in taps] for taps in walked(axis)]
    if not any(places):
        return
    cut = axis.cut()
    assert [[place for _, place in taps] for taps in walked(cut)] == places
    assert min(cut.before, cut.after) >= 0
    assert cut.window <= axis.extent + (cut.count - 1) * cut.stride


@given(axes())
def test_a_smaller_dilation_leaves_every_tap_what_it_meets(axis: WindowAxis) -> None:
    near = axis.near()
    assert walked(near) == walked(axis)
    assert min(near.before, near.after) >= 0
    assert near.window == axis.window
    # Of one tap too: C multiplies the dilation by bytes of a row, which overflowed (found by the fuzzer).
    most = 1 if near.window == 1 else axis.extent + (near.count - 1) * near.stride + 1
    assert near.dilation <= most


@pytest.mark.parametrize("extent", [1, 4, 33])
def test_huge_numbers_cost_nothing(extent: int) -> None:
    same = WindowAxis(extent=extent, window=HUGE, before=HUGE // 2, after=HUGE // 2 - extent + 1 + HUGE % 2)
    pooled = replace(same, stride=HUGE).cut()
    assert pooled.window <= 2 * extent
    assert pooled.stride <= HUGE - extent
    dilated = WindowAxis(extent=extent, window=3, dilation=HUGE, before=HUGE, after=HUGE, stride=HUGE)
    assert dilated.near().dilation <= extent + 1
    assert [each.tap for each in dilated.hits()] == [1]
