"""REDUCE_MAX, REDUCE_MIN, MEAN and SUM on ARMv7-M cores without the DSP extension."""

from codegen.kernels.base.registry import register
from codegen.kernels.portable.pooling import MEAN_S8
from codegen.kernels.portable.reducing import REDUCE_S8, SUM_S8
from codegen.kernels.portable.reductions.by_blocks import Blocks, FastExtreme, FastMean
from codegen.targets.arm import V7M

_CALL, _BLOCK = 14, 9
"""Instructions around all blocks or lines, around a block."""
_FOUR, _ONE = (19, 15), (12, 6)
"""Of four columns, of one: without their rows, of a row."""
_LINE, _ELEMENTS, _ELEMENT = 11, 14, 5
"""Of a line, of each four elements, of each of the others."""
_MEAN, _RESULT = 30, 28
"""Instructions around all sums, of a result; a scale from one half on takes 7 fewer."""
_SUMS, _SUM, _STEPS = 17, 13, 9
"""Around four sums by rows, a sum of a line of words, of any line or column."""
_SUMS_ROW, _SUM_WORD, _STEP = 11, 10, 5
"""Of a row of four, of four elements of a line, of an element of any."""


def _predicted(blocks: Blocks) -> int:
    """Instructions of a call: few elements are better than all before them."""
    rows, columns = blocks.rows, blocks.columns
    fours, ones = divmod(columns, 4)
    if blocks.is_lines:
        return _CALL + rows * (_LINE + _ELEMENTS * fours + _ELEMENT * ones)
    four, one = (around + each * (rows - 1) for around, each in (_FOUR, _ONE))
    return _CALL + blocks.blocks * (_BLOCK + fours * four + ones * one)


def _mean_predicted(blocks: Blocks) -> int:
    """Of a MEAN."""
    rows, columns = blocks.rows, blocks.columns
    if blocks.is_lines:
        line = _STEPS + _STEP * columns if blocks.is_odd else _SUM + _SUM_WORD * columns // 4
        return _MEAN + rows * (_RESULT + line)
    if blocks.is_odd:
        return _MEAN + blocks.blocks * columns * (_RESULT + _STEPS + _STEP * rows)
    return _MEAN + blocks.blocks * columns // 4 * (4 * _RESULT + _SUMS + _SUMS_ROW * rows)


for _op in REDUCE_S8:
    register(FastExtreme(_op, V7M, _predicted, by_words=False))
for _portable in (MEAN_S8, SUM_S8):
    register(FastMean(_portable, V7M, _mean_predicted, by_words=True))
