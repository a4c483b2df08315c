"""REDUCE_MAX, REDUCE_MIN, MEAN and SUM on ARMv6-M cores."""

from codegen.kernels.base.registry import register
from codegen.kernels.portable.pooling import MEAN_S8
from codegen.kernels.portable.reducing import REDUCE_S8, SUM_S8
from codegen.kernels.portable.reductions.by_blocks import Blocks, FastExtreme, FastMean
from codegen.targets.arm import V6M

_CALL, _BLOCK = 26, 10
"""Instructions around all blocks or lines, around a block."""
_WORDS, _BYTES = (26, 15), (15, 6)
"""Of four columns, of one: without their rows, of a row."""
_LINE, _ODD_LINE, _WORD, _BYTE = 10, 9, 14, 5
"""Of a line of words, of one of bytes, of a word, of a byte."""
_MEAN, _RESULT = 60, 80
"""Instructions around all sums, of a result; a scale from one half on takes 19 fewer."""
_SUMS, _SUM, _STEPS = 27, 20, 18
"""Around four sums by rows, a sum of a line of words, of any line or column."""
_SUMS_ROW, _SUM_WORD, _STEP = 14, 13, 5
"""Of a row of four, of four elements of a line, of an element of any."""


def _predicted(blocks: Blocks) -> int:
    """Instructions of a call: few elements are better than all before them."""
    rows, columns = blocks.rows, blocks.columns
    if blocks.is_lines:
        line = _ODD_LINE + _BYTE * columns if blocks.is_odd else _LINE + _WORD * columns // 4
        return _CALL + rows * line
    around, each = _BYTES if blocks.is_odd else _WORDS
    count = columns if blocks.is_odd else columns // 4
    return _CALL + blocks.blocks * (_BLOCK + count * (around + each * (rows - 1)))


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
    register(FastExtreme(_op, V6M, _predicted, by_words=True))
for _portable in (MEAN_S8, SUM_S8):
    register(FastMean(_portable, V6M, _mean_predicted, by_words=True))
