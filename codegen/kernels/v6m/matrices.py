"""BATCH_MATMUL on ARMv6-M cores."""

from collections.abc import Mapping

from codegen.ir import Let
from codegen.kernels.base.registry import register
from codegen.kernels.portable.matrices.batch_matmul import BATCH_MATMUL_S8, FastMatMul
from codegen.targets.arm import V6M

COLUMNS = 4
"""Columns whose results of a row are computed together."""
_UNROLL = 4
"""Factors a turn of the loop."""
_MATRIX, _ROW = 60, (30, 6)
"""Instructions of C around each pair of matrices; of a row and its term, and each factor."""
_LAID, _FACTOR = 60, 44
"""Instructions to lay out four columns, and each of their factors."""
_RESULTS, _COLUMN, _TURN = 395, 17, 2
"""Instructions of four results, of one of their factors, of a turn of the loop."""


class BatchMatMulV6m(FastMatMul):
    """BATCH_MATMUL on int8: a row by four columns at a time, as fully connected layers have them."""

    @property
    def parts(self) -> tuple[str, ...]:
        return ("fully_connected_parts_v6m.S",)

    def other_reason(self, let: Let) -> str | None:
        """Refuse few columns, factors of rows that are apart."""
        sizes = BATCH_MATMUL_S8.sizes(let)
        if sizes["columns"] < COLUMNS:
            return f"the kernel {self.name} is for {COLUMNS} columns or more"
        return None if sizes["lhs_next"] == 1 else "factors of a row are not next to each other"

    def workspace_bytes(self, let: Let) -> int:
        """Bytes of all columns of a pair of matrices, and their terms."""
        sizes = BATCH_MATMUL_S8.sizes(let)
        return COLUMNS * -(-sizes["columns"] // COLUMNS) * (4 + sizes["depth"])

    def predicted(self, sizes: Mapping[str, int]) -> int:
        rows, depth = sizes["rows"], sizes["depth"]
        fours = -(-sizes["columns"] // COLUMNS)
        around, factor = _ROW
        results = _RESULTS + _COLUMN * depth + _TURN * (depth // _UNROLL)
        row = around + factor * depth + fours * results
        return _MATRIX + fours * (_LAID + _FACTOR * depth) + rows * row


register(BatchMatMulV6m(V6M))
