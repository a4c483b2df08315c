"""REDUCE_MAX, REDUCE_MIN, MEAN and SUM on ARMv7-M cores without the DSP extension."""

from codegen.kernels.base.registry import register
from codegen.kernels.portable.pooling import MEAN_S8
from codegen.kernels.portable.reducing import REDUCE_S8, SUM_S8
from codegen.kernels.portable.reductions.by_blocks import Blocks, FastExtreme, FastMean, MeanPrice
from codegen.targets.arm import V7M

_CALL, _BLOCK = 14, 9
"""Instructions around all blocks or lines, around a block."""
_FOUR, _ONE = (19, 15), (12, 6)
"""Instructions of four columns without their rows and of a row of them; the same of one column."""
_LINE, _ELEMENTS, _ELEMENT = 11, 14, 5
"""Instructions of a line, of each four elements, of each of the others."""
_MEAN = MeanPrice(
    call=30,
    result=28,  # a scale from one half on takes 7 fewer
    rows=(17, 11),
    line=(13, 10),
    steps=(9, 5),
)


def _predicted(blocks: Blocks) -> int:
    """Instructions of a call. Those for an element better than all before it are left out: few are."""
    rows, columns = blocks.rows, blocks.columns
    fours, ones = divmod(columns, 4)
    if blocks.is_lines:
        return _CALL + rows * (_LINE + _ELEMENTS * fours + _ELEMENT * ones)
    four, one = (around + row * (rows - 1) for around, row in (_FOUR, _ONE))
    return _CALL + blocks.blocks * (_BLOCK + fours * four + ones * one)


for _op in REDUCE_S8:
    register(FastExtreme(_op, V7M, _predicted, by_words=False))
for _portable in (MEAN_S8, SUM_S8):
    register(FastMean(_portable, V7M, _MEAN, by_words=True))
