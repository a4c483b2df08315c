"""REDUCE_MAX, REDUCE_MIN, MEAN and SUM on ARMv6-M cores."""

from codegen.kernels.base.registry import register
from codegen.kernels.portable.pooling import MEAN_S8
from codegen.kernels.portable.reducing import REDUCE_S8, SUM_S8
from codegen.kernels.portable.reductions.by_blocks import Blocks, FastExtreme, FastMean, MeanPrice
from codegen.targets.arm import V6M

_CALL, _BLOCK = 26, 10
"""Instructions around all blocks or lines, around a block."""
_WORDS, _BYTES = (26, 15), (15, 6)
"""Instructions of four columns without their rows and of a row of them; the same of one column."""
_LINE, _ODD_LINE, _WORD, _BYTE = 10, 9, 14, 5
"""Instructions of a line of words, of one of bytes, of a word, of a byte."""
_MEAN = MeanPrice(
    call=60,
    result=80,  # a scale from one half on takes 19 fewer
    rows=(27, 14),
    line=(20, 13),
    steps=(18, 5),
)


def _predicted(blocks: Blocks) -> int:
    """Instructions of a call. Those for an element better than all before it are left out: few are."""
    rows, columns = blocks.rows, blocks.columns
    if blocks.is_lines:
        line = _ODD_LINE + _BYTE * columns if blocks.is_odd else _LINE + _WORD * columns // 4
        return _CALL + rows * line
    around, row = _BYTES if blocks.is_odd else _WORDS
    count = columns if blocks.is_odd else columns // 4
    return _CALL + blocks.blocks * (_BLOCK + count * (around + row * (rows - 1)))


for _op in REDUCE_S8:
    register(FastExtreme(_op, V6M, _predicted, by_words=True))
for _portable in (MEAN_S8, SUM_S8):
    register(FastMean(_portable, V6M, _MEAN, by_words=True))
