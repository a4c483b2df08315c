"""REDUCE_MAX, REDUCE_MIN and MEAN in models: the board's kernels are chosen, and run as long as predicted.

Hundreds of random ones on every core, beside closed memory: tests/fuzz.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.kernels.mve.layers import Drawing, Model, run_all

pytestmark = pytest.mark.qemu
BOARDS = {"mps2-an386": "dsp", "mps2-an385": "v7m", "microbit": "v6m", "mps3-an547": "mve"}
"""The instruction set of each board's kernels."""
FORMS = ("rows", "lines", "odd_rows", "odd_lines")
"""Of the functions of an instruction set that goes by words, else the first two."""
BY_WORDS = ("dsp", "v6m")
OF_MEAN = ("v7m", "v6m")
"""Instruction sets with functions for MEAN: these go by words on both."""


def reductions(*stream: int, ops: Sequence[str]) -> Iterator[Model]:
    """Of rows, lines, blocks of rows, both odd, of each of `ops`."""
    shapes = {
        (1, 12, 12, 20): (1, 2),
        (1, 7, 9, 36): (3,),
        (2, 8, 4, 16): (2,),
        (1, 9, 8, 11): (1, 2),
        (1, 6, 7, 13): (3,),
    }
    for op in ops:
        for number, (shape, axes) in enumerate(shapes.items()):
            drawing = Drawing(number, *stream)
            x = drawing.input(shape, zero_point=3)
            at = drawing.tensor((len(axes),), "int32", data=np.array(axes, np.int32))
            kept = [extent for axis, extent in enumerate(shape) if axis not in axes]
            y = drawing.tensor(kept, scale=0.05, zero_point=3)
            drawing.model.op(op, [x, at], [y])
            yield drawing.finish(y, images=1)


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.sampled(1)
def test_reductions(board: str, tmp_path: Path) -> None:
    kernel_set = BOARDS[board]
    ops = ("REDUCE_MAX", "REDUCE_MIN", *(("MEAN",) if kernel_set in OF_MEAN else ()))
    outcomes = run_all(reductions(31, ops=ops), tmp_path, on=board)
    forms = FORMS if kernel_set in BY_WORDS else FORMS[:2]
    functions = {f"cg_reduce_{kind}_{form}_s8_{kernel_set}" for kind in ("max", "min") for form in forms}
    functions |= {f"cg_mean_{form}_s8_{kernel_set}" for form in FORMS if kernel_set in OF_MEAN}
    assert {symbol for one in outcomes for symbol in one.symbols} == functions
    for one in outcomes:
        assert one.predicted is not None
        assert one.measured is not None
        # The call and the counter's resolution are beside the kernel.
        assert abs(one.predicted - one.measured) <= 100 + 0.06 * one.measured, one
