"""Sums on the DSP extension in models: chosen, planned and predicted as they run; runs of blocks.

Hundreds of random sums on every core, beside closed memory: tests/fuzz.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kernels.mve.layers import Drawing, Model, Window, run_all

pytestmark = pytest.mark.qemu
BOARD = "mps2-an386"
SUMS = 12


def sums(count: int, *stream: int) -> Iterator[Model]:
    """Any ratio of scales, equal ones and the larger one on either side; sizes around multiples of four; zero
    points at both ends."""
    for number in range(count):
        drawing = Drawing(number, *stream)
        rng = drawing.rng
        shape = (1, int(rng.integers(1, 6)), int(rng.integers(1, 6)), int(drawing.pick(1, 2, 3, 4, 7, 8, 16)))
        scales = [float(drawing.pick(0.05, 0.05, 0.05 * rng.uniform(0.001, 1))) for _ in range(2)]
        left, right = (drawing.input(shape, scale=scale) for scale in scales)
        name = str(drawing.pick("ADD", "ADD", "ADD", "ADD", "SUB"))
        yield drawing.finish(drawing.binary(name, left, right, shape), images=1)


def test_sums(tmp_path: Path) -> None:
    outcomes = run_all(sums(SUMS, 20), tmp_path, on=BOARD)
    fast = [one for one in outcomes if one.symbols == ("cg_add_s8_dsp",)]
    assert len(fast) >= SUMS // 3
    assert any(one.symbols == ("cg_add_s8",) for one in outcomes)
    for one in fast:
        assert one.predicted is not None
        assert one.measured is not None
        # The call and the counter's resolution are beside the kernel.
        assert abs(one.predicted - one.measured) <= 80 + 0.05 * one.measured, one


def residuals(count: int, *stream: int) -> Iterator[Model]:
    """A wide value between narrow ones with a sum in its middle, which becomes a block."""
    for number in range(count):
        drawing = Drawing(number, *stream)
        rng = drawing.rng
        narrow, wide = 2, int(rng.integers(9, 30))
        window = Window(image=(int(rng.integers(7, 12)), int(rng.integers(4, 9)), narrow))
        x = drawing.input((1, *window.image))
        first = drawing.conv(x, window, wide)
        inner = Window(image=(*window.image[:2], wide), kernel=(3, 3), padding="SAME")
        added = drawing.binary("ADD", first, drawing.depthwise(first, inner), (1, *window.image[:2], wide))
        yield drawing.finish(drawing.conv(added, inner, narrow), images=1)


def test_rows_of_blocks(tmp_path: Path) -> None:
    outcomes = run_all(residuals(6, 22), tmp_path, optimize="balanced", on=BOARD)
    used = [symbol for outcome in outcomes for symbol in outcome.symbols]
    assert used.count("cg_add_s8_dsp_run") >= 2, used
