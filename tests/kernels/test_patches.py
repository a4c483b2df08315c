"""Patches: every band computes the rows that it reads, and what is delivered serves all of its stripes."""

import pytest

from codegen.kernels import fused
from codegen.kernels.rows import Grid, simulate
from tests.kernels.networks_by_rows import row_prims, window_taps

SEEDS = range(80)


@pytest.mark.parametrize("rows", [1, 2, 3])
@pytest.mark.parametrize("seed", SEEDS)
def test_patches_compute_each_row_and_lose_none(seed: int, rows: int) -> None:
    """Every band begins anew: its rings hold nothing of the one before."""
    stages = fused.layout(row_prims(seed), Grid(stripes=2, band_rows=rows)).stages
    run = simulate(stages, rows)
    last = len(stages) - 1
    assert [row for index, row in run.order if index == last] == list(range(stages[last].rows.count))
    for band in run.bands:
        rings: list[dict[int, int]] = [{} for _ in stages]
        for index, row in band.order:
            for source in stages[index].sources:
                taps = window_taps(stages[index], row, rows=True) if source >= 0 else []
                assert all(rings[source].get(tap % run.kept[source]) == tap for tap in taps)
            rings[index][row % run.kept[index]] = row


@pytest.mark.parametrize("seed", SEEDS[::4])
def test_rows_that_come_once_serve_all_patches_of_a_band(seed: int) -> None:
    prims = row_prims(seed)
    var = fused.outside(prims)[0]
    planned = fused.layout(prims, Grid(stripes=2, band_rows=1), var.name)
    stages, kept = planned.stages, planned.run.kept[0]
    assert stages[0].is_delivered
    last_row = -1
    for band in planned.run.bands:
        read = [
            tap
            for index, row in band.order
            if 0 in stages[index].sources
            for tap in window_taps(stages[index], row, rows=True)
        ]
        last_row = max([last_row, *read])
        assert all(row > last_row - kept for row in read)
    assert last_row < planned.run.counts[0] <= stages[0].rows.count
    assert planned.pixels(0) == planned.run.counts[0] * stages[0].columns.count
