"""Stages that compute several rows a turn: their order as C has it, rings and distances by brute force."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from numpy.random import default_rng

from codegen.kernels import fused
from codegen.kernels.block import RowKernel
from codegen.kernels.rows import (
    Axis,
    Grid,
    RowImage,
    Stage,
    accesses,
    demanded,
    safe_distance,
    schedule,
    simulate,
)
from tests.kernels.access import nearest

SEEDS = range(120)


def _axis(seed: int, extent: int, *, stride: int) -> Axis:
    """A window along an axis; every result reads something."""
    rng = default_rng(seed)
    while True:
        window, pad, behind = (int(rng.integers(low, high)) for low, high in ((1, 4), (0, 3), (0, 3)))
        count = (extent + pad + behind - window) // stride + 1
        axis = Axis(count=max(count, 1), extent=extent, window=window, stride=stride, pad=pad)
        if count > 0 and axis.all_read:
            return axis


def _stages(seed: int) -> tuple[Stage, ...]:
    """A chain of windows with turns of 1, 2 or 4 rows; some results are added to an earlier one as large."""
    rng = default_rng(seed)
    stages: list[Stage] = []
    height, width = rng.integers(3, 18, 2).tolist()
    for index in range(int(rng.integers(1, 6))):
        alike = [at for at, each in enumerate(stages[:-1]) if each.rows.count == height]
        alike = [at for at in alike if stages[at].columns.count == width]
        turn = int(rng.choice([1, 2, 4]))
        if alike and rng.random() < 0.6:
            every = Axis(count=height, extent=height), Axis(count=width, extent=width)
            sources, turn, is_elementwise = (index - 1, alike[0]), 1, True
        else:
            every = tuple(
                _axis(seed + 7 * index + way, extent, stride=1 if turn > 1 else int(rng.integers(1, 3)))
                for way, extent in enumerate((height, width))
            )
            sources, is_elementwise = (index - 1,), False
        stages.append(
            Stage(
                rows=every[0],
                columns=every[1],
                pixel_bytes=int(rng.integers(1, 5)),
                sources=sources,
                is_elementwise=is_elementwise,
                reads_row_last=turn > 1,
                turn_rows=turn,
            )
        )
        height, width = every[0].count, every[1].count
    return tuple(stages)


def _taps(axis: Axis, result: int) -> list[int]:
    places = (result * axis.stride - axis.pad + tap for tap in range(axis.window))
    return [place for place in places if 0 <= place < axis.extent]


def _turns(stages: tuple[Stage, ...]) -> Iterator[tuple[int, range]]:
    """What the C of a block does: `cg_next_stage` with a reach as far as the last row of a turn, and as many
    rows done behind it."""
    done, last = [0] * len(stages), len(stages) - 1
    while done[last] < stages[last].rows.count:
        found, stage = last, -1
        while found != stage:
            stage, rows = found, stages[found].rows
            reads = done[found] * rows.stride + rows.reach + (stages[found].turn_rows - 1) * rows.stride
            needed = min(reads, rows.extent - 1)
            for source in reversed(stages[found].sources):
                if source >= 0 and done[source] <= needed:
                    found = source
        first = done[stage]
        done[stage] += stages[stage].turn_rows
        yield stage, range(first, min(done[stage], stages[stage].rows.count))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_order_is_that_of_the_code(seed: int) -> None:
    stages = _stages(seed)
    assert list(schedule(stages)) == [(stage, row) for stage, rows in _turns(stages) for row in rows]


@pytest.mark.parametrize("seed", SEEDS)
def test_rings_hold_every_row_that_is_read_and_no_row_more(seed: int) -> None:
    """Rows of a turn are apart, too."""
    stages = _stages(seed)

    def lost(kept: tuple[int, ...]) -> bool:
        rings: list[dict[int, int]] = [{} for _ in stages]
        for index, rows in _turns(stages):
            for source in stages[index].sources:
                for tap in (tap for row in rows for tap in _taps(stages[index].rows, row)):
                    if source >= 0 and rings[source].get(tap % kept[source]) != tap:
                        return True
            if len({row % kept[index] for row in rows}) < len(rows):
                return True
            rings[index] |= {row % kept[index]: row for row in rows}
        return False

    kept = simulate(stages).kept
    assert not lost(kept)
    for index in range(len(stages) - 1):
        if kept[index] > 1:
            assert lost((*kept[:index], kept[index] - 1, *kept[index + 1 :]))


@pytest.mark.parametrize("stripes", [1, 3])
@pytest.mark.parametrize("seed", SEEDS)
def test_distance_is_safe_and_tight(seed: int, stripes: int) -> None:
    """Of a turn all windows may be read again until all of its rows are written."""
    stages = _stages(seed)
    last = len(stages) - 1
    planned = fused.laid_out(stages, Grid(stripes=stripes), 1)
    image = RowImage(columns=stages[0].columns.extent, pixel_bytes=3)
    result = RowImage(columns=stages[-1].columns.count, pixel_bytes=stages[-1].pixel_bytes)
    steps: list[tuple[int | None, int | None]] = []
    for spans in planned.stripes:
        for index, rows in _turns(stages):
            reads = -1 in stages[index].sources
            places = [(row, column) for row in rows for column in range(*spans[index])]
            lows = [
                image.offset(y, x)
                for row, column in places
                for y in _taps(stages[index].rows, row)
                for x in _taps(stages[index].columns, column)
            ]
            low = min(lows, default=None) if reads else None
            if index != last:
                steps.append((None, low))
            elif reads and not stages[index].reads_row_last:
                steps += [
                    (
                        result.offset(row, column + 1),
                        image.offset(
                            _taps(stages[index].rows, row)[0], _taps(stages[index].columns, column)[0]
                        ),
                    )
                    for row, column in places
                ]
            elif places:
                steps.append((max(result.offset(row, column + 1) for row, column in places), low))
    found = safe_distance(*accesses(stages, planned.run, planned.stripes, -1, image))
    assert found == nearest(steps)


def test_a_layer_of_two_rows_keeps_a_row_more_on_both_sides() -> None:
    """Of three layers of 3x3 the middle one computes two rows: four rows of its argument are there then, and
    of its own a row more waits."""
    axis = Axis(count=16, extent=16, window=3, pad=1)
    chain = [Stage(rows=axis, columns=axis, pixel_bytes=1, sources=(index - 1,)) for index in range(3)]
    assert simulate(chain).kept[:2] == (3, 3)
    for turn, kept in ((2, (4, 4)), (4, (6, 6))):
        wide = replace(chain[1], turn_rows=turn, reads_row_last=True)
        assert simulate((chain[0], wide, chain[2])).kept[:2] == kept


def test_columns_do_not_depend_on_turns() -> None:
    for seed in range(40):
        stages = _stages(seed)
        alone = [replace(stage, turn_rows=1) for stage in stages]
        width = stages[-1].columns.count
        assert demanded(stages, 0, width, columns=True) == demanded(alone, 0, width, columns=True)


def test_several_rows_are_for_windows_that_are_read_until_the_last_write() -> None:
    axis = Axis(count=4, extent=4)
    for window, reads_row_last in ((None, True), ((axis, axis), False)):
        with pytest.raises(ValueError, match="several rows are for windows"):
            RowKernel(symbol="cg_x_row", window=window, reads_row_last=reads_row_last, turn_rows=2)
