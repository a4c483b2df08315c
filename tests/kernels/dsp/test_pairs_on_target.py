"""MAXIMUM, MINIMUM, MUL, PRELU and tables beside constants in models: chosen and predicted as they run.

Hundreds of random ones on every core, beside closed memory: tests/fuzz.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.kernels.mve.layers import Drawing, Model, run_all

pytestmark = pytest.mark.qemu
FAST = {
    "mps2-an386": {"cg_extreme_s8_dsp", "cg_mul_s8_dsp", "cg_prelu_s8_dsp", "cg_lut_s8"},
    "mps2-an385": {"cg_extreme_s8_v7m", "cg_mul_s8_v7m", "cg_prelu_s8_v7m", "cg_lut_s8"},
    "microbit": {"cg_extreme_s8_v6m", "cg_mul_s8_v6m", "cg_prelu_s8_v6m", "cg_lut_s8"},
    "mps3-an547": {"cg_extreme_s8_mve", "cg_mul_s8_mve", "cg_prelu_s8_mve", "cg_lut_s8_mve"},
}
"""By board: the C functions that all of these models call."""


def pairs(*stream: int) -> Iterator[Model]:
    """Of one shape, by channel, and beside a number."""
    for number, op in enumerate(("MAXIMUM", "MINIMUM", "MUL", "PRELU", "MUL", "MAXIMUM", "MUL", "PRELU")):
        drawing = Drawing(number, *stream)
        shape, scale = (1, 8, 8, 16), 0.05
        few = (shape, shape[-1:], (1,))[number // 3]
        x = drawing.model.tensor("x", shape, scale=scale, zero_point=3)
        drawing.inputs.append((x, shape))
        data = drawing.rng.integers(-128, 128, few).astype(np.int8)
        other = drawing.model.tensor("z", few, scale=scale, zero_point=3, data=data)
        # No product saturates: that takes a branch on a Cortex-M0.
        wide = 0.7 if op == "MUL" else scale
        y = drawing.model.tensor("y", shape, scale=wide, zero_point=3)
        drawing.model.op(op, [x, other], [y])
        yield drawing.finish(y, images=1)


@pytest.mark.parametrize("board", FAST)
@pytest.mark.sampled(1)
def test_pairs(board: str, tmp_path: Path) -> None:
    outcomes = run_all(pairs(30), tmp_path, on=board)
    assert {symbol for one in outcomes for symbol in one.symbols} == FAST[board]
    for one in outcomes:
        if one.symbols == ("cg_prelu_s8",):  # portable C has no prediction
            continue
        assert one.predicted is not None
        assert one.measured is not None
        # The call and the counter's resolution are beside the kernel.
        assert abs(one.predicted - one.measured) <= 100 + 0.06 * one.measured, one
