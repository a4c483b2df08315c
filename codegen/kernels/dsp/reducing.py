"""REDUCE_MAX and REDUCE_MIN on cores with the DSP extension."""

from codegen.kernels.base.registry import register
from codegen.kernels.portable.reducing import REDUCE_S8
from codegen.kernels.portable.reductions.by_blocks import Blocks, FastExtreme
from codegen.targets.arm import DSP

_CALL, _BLOCK = 14, 11
"""Instructions around all blocks or lines, around a block."""
_LINE, _WORDS, _WORD = 14, 11, 5
"""Instructions of a line, of each 16 elements and of each four."""
_ODD_LINE, _FIRST, _LAST = 25, 9, 7
"""Instructions of a line that begins anywhere, of each element in front of its words and behind them."""


def _predicted(blocks: Blocks) -> int:
    """Instructions of a call."""
    rows, columns = blocks.rows, blocks.columns
    if blocks.is_lines:
        lines = (_odd_line(columns, line) if blocks.is_odd else _line(columns) for line in range(rows))
        return _CALL + sum(lines)
    group, row = (19, 15) if blocks.is_odd else (13, 12)
    groups, rest = divmod(columns, 4) if blocks.is_odd else divmod(columns // 4, 4)
    columns_of_block = groups * (group + row * (rows - 1)) + rest * (12 + 6 * (rows - 1))
    return _CALL + blocks.blocks * (_BLOCK + columns_of_block)


def _line(elements: int) -> int:
    """Instructions of a line of whole words."""
    groups, words = divmod(elements // 4, 4)
    return _LINE + _WORDS * groups + _WORD * words


def _odd_line(elements: int, line: int) -> int:
    """Instructions of a line that begins behind `line` others."""
    first = min(-line * elements % 4, elements)
    words, last = divmod(elements - first, 4)
    return _ODD_LINE - _LINE + _line(4 * words) + _FIRST * first + _LAST * last


for _op in REDUCE_S8:
    register(FastExtreme(_op, DSP, _predicted, by_words=True))
