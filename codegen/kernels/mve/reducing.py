"""REDUCE_MAX and REDUCE_MIN with Helium."""

from codegen.kernels.base.registry import register
from codegen.kernels.portable.reducing import REDUCE_S8
from codegen.kernels.portable.reductions.by_blocks import Blocks, FastExtreme
from codegen.targets.arm import MVE

VECTOR = 16
"""Elements of a vector."""
_CALL, _BLOCK, _COLUMNS, _ROW = 9, 8, 7, 4
"""Instructions around all blocks, around one, of 16 columns without their rows, of each row."""
_SHORT, _LINE = 7, 8
"""Instructions of a line of at most 16 elements, and of a longer one beside each 16."""


def _predicted(blocks: Blocks) -> int:
    """Instructions of a call."""
    rows, columns = blocks.rows, blocks.columns
    if blocks.is_lines:
        short = columns <= VECTOR
        return _CALL + rows * (_SHORT if short else _LINE + 3 * -(-columns // VECTOR))
    whole, part = divmod(columns, VECTOR)
    vectors = whole * (_COLUMNS + _ROW * (rows - 1))
    last = 5 + _COLUMNS + (_ROW + 1) * (rows - 1) if part else 0
    return _CALL + blocks.blocks * (_BLOCK + vectors + last)


for _op in REDUCE_S8:
    register(FastExtreme(_op, MVE, _predicted, by_words=False))
