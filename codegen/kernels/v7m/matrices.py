"""BATCH_MATMUL on ARMv7-M cores without the DSP extension."""

from collections.abc import Mapping

from codegen.ir import Let
from codegen.kernels.base.registry import register
from codegen.kernels.base.walk import Fields
from codegen.kernels.portable.matrices.batch_matmul import BATCH_MATMUL_S8, FastMatMul
from codegen.kernels.v7m.pairs import shift_reason
from codegen.targets.arm import V7M

COLUMNS = 4
"""Columns whose results are computed together."""
_UNROLL = 4
"""Factors a turn of the loop."""
_MATRIX, _PAIR, _ROW = 54, 30, (8, 4)
"""Instructions of C around each pair of matrices, each two rows; of the term of a row, and each factor."""
_LAID, _FACTOR = 40, 20
"""Instructions to lay out four columns, and each of their factors."""
_ROWS, _RESULTS, _COLUMN, _TURN = 14, 94, 14, 4
"""Instructions of a call for two rows, of eight results, of one of their factors, of a turn of the loop."""


class BatchMatMulV7m(FastMatMul):
    """BATCH_MATMUL on int8: two rows by four columns at a time."""

    def other_reason(self, let: Let) -> str | None:
        """Refuse few columns, factors of rows that are apart, a scale outside the short way's."""
        sizes = BATCH_MATMUL_S8.sizes(let)
        if sizes["columns"] < COLUMNS:
            return f"the kernel {self.name} is for {COLUMNS} columns or more"
        if sizes["lhs_next"] != 1:
            return "factors of a row are not next to each other"
        return shift_reason(BATCH_MATMUL_S8.scale(let)[1])

    def scale_fields(self, let: Let) -> Fields:
        multiplier, shift = BATCH_MATMUL_S8.scale(let)
        return (("multiplier", multiplier), ("shift", -shift - 1))

    def workspace_bytes(self, let: Let) -> int:
        """Bytes of all columns of a pair of matrices, and their terms."""
        sizes = BATCH_MATMUL_S8.sizes(let)
        return COLUMNS * -(-sizes["columns"] // COLUMNS) * (4 + sizes["depth"])

    def predicted(self, sizes: Mapping[str, int]) -> int:
        rows, depth = sizes["rows"], sizes["depth"]
        pairs, fours = -(-rows // 2), -(-sizes["columns"] // COLUMNS)
        term, factor = _ROW
        results = _RESULTS + _COLUMN * depth + _TURN * (depth // _UNROLL)
        laid = fours * (_LAID + _FACTOR * depth) + rows * (term + factor * depth)
        return _MATRIX + laid + pairs * (_PAIR + _ROWS + fours * results)


register(BatchMatMulV7m(V7M))
