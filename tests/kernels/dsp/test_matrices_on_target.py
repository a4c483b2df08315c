"""BATCH_MATMUL in models, by the kernel of each instruction set: chosen, and predicted as it runs.

Hundreds of random ones on every core, beside closed memory: tests/fuzz.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kernels.mve.layers import Drawing, Model, run_all

pytestmark = pytest.mark.qemu
FAST = {
    "microbit": "cg_batch_matmul_s8_v6m",
    "mps2-an385": "cg_batch_matmul_s8_v7m",
    "mps2-an386": "cg_batch_matmul_s8_dsp",
    "mps3-an547": "cg_batch_matmul_s8_mve",
}
"""By board: the C function that these models call."""
SHAPES = (
    # batches, rows, depth, columns, first and second transposed
    (2, 16, 32, 16, False, False),
    (2, 16, 32, 16, False, True),
    (1, 10, 21, 7, False, True),
    (3, 7, 18, 9, True, False),
    (1, 49, 8, 49, False, False),
    (1, 1, 64, 24, False, True),
)


def products() -> Iterator[Model]:
    """Of two values that are computed at run time."""
    for number, (batches, rows, depth, columns, adj_x, adj_y) in enumerate(SHAPES):
        drawing = Drawing(number, 31)
        model = drawing.model
        left = (batches, depth, rows) if adj_x else (batches, rows, depth)
        right = (batches, columns, depth) if adj_y else (batches, depth, columns)
        x = model.tensor("x", left, scale=0.05, zero_point=3)
        z = model.tensor("z", right, scale=0.04, zero_point=-128)
        y = model.tensor("y", (batches, rows, columns), scale=0.05 * depth**0.5, zero_point=-9)
        drawing.inputs.extend([(x, left), (z, right)])
        model.op("BATCH_MATMUL", [x, z], [y], adj_x=adj_x, adj_y=adj_y)
        yield drawing.finish(y, images=1)


@pytest.mark.parametrize("board", FAST)
@pytest.mark.sampled(1)
def test_products_of_matrices(board: str, tmp_path: Path) -> None:
    outcomes = run_all(products(), tmp_path, on=board)
    for one, (*_, is_transposed, _) in zip(outcomes, SHAPES, strict=True):
        if board in ("microbit", "mps2-an385") and is_transposed:  # portable C has no prediction
            assert one.symbols == ("cg_batch_matmul_s8",)
            continue
        assert one.symbols == (FAST[board],)
        assert one.predicted is not None
        assert one.measured is not None
        # The call and the counter's resolution are beside the kernel.
        assert abs(one.predicted - one.measured) <= 100 + 0.03 * one.measured, one
