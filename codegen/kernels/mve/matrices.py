"""BATCH_MATMUL with Helium."""

from collections.abc import Mapping

from codegen.ir import Let
from codegen.kernels.base.registry import register
from codegen.kernels.base.walk import Fields
from codegen.kernels.mve.pairs import shift_reason
from codegen.kernels.portable.matrices.batch_matmul import BATCH_MATMUL_S8, FastMatMul
from codegen.kernels.portable.matrices.rounded import QLINEAR_BATCH_MATMUL_S8, float_scale_fields
from codegen.targets.arm import MVE, ROUNDING_MVE

COLUMNS = 4
"""Columns whose results are computed together."""
_FARTHEST = 9000
"""Bytes between two factors that a gather of eight reaches with offsets of 16 bits."""
_MATRIX, _PAIR = 95, 36
"""Instructions of C around each pair of matrices, each two rows."""
_LINES = 6
"""Instructions of a call for rows or columns."""
_CONTIGUOUS, _APART = (8, 3, 16), (9, 5, 8)
"""Instructions of each row or column, of a group of its factors, and factors in that group."""
_SPREAD = 7
"""Instructions of a call where factors are apart."""
_EVEN = -2
"""Instructions of four columns that rounding as ONNX does takes more."""
_ROWS, _RESULTS, _TURN, _EARLIER = 15, 48, (18, 16), 6
"""Instructions of a call for two rows, of four columns of them, of a group of factors (with its size), and
extra for columns that are no multiple of four."""


class BatchMatMulMve(FastMatMul):
    """BATCH_MATMUL on int8: two rows by four columns at a time."""

    @property
    def parts(self) -> tuple[str, ...]:
        return (*super().parts, self.rows_file)

    def scale_fields(self, let: Let) -> Fields:
        return float_scale_fields(let) if self.rounds_even else super().scale_fields(let)

    def other_reason(self, let: Let) -> str | None:
        """Refuse few columns, factors far apart, a scale from one half on unless sums become floats."""
        sizes = BATCH_MATMUL_S8.sizes(let)
        if sizes["columns"] < COLUMNS:
            return f"the kernel {self.name} is for {COLUMNS} columns or more"
        if max(sizes["lhs_next"], sizes["rhs_next"]) > _FARTHEST:
            return f"factors are more than {_FARTHEST} bytes apart"
        return None if self.rounds_even else shift_reason(BATCH_MATMUL_S8.scale(let)[1])

    def workspace_bytes(self, let: Let) -> int:
        """Bytes of a word a column, and of columns and two rows that are not contiguous in the arguments."""
        sizes = BATCH_MATMUL_S8.sizes(let)
        packed = sizes["columns"] * (sizes["rhs_next"] != 1) + 2 * (sizes["lhs_next"] != 1)
        return 4 * sizes["columns"] + packed * sizes["depth"]

    def predicted(self, sizes: Mapping[str, int]) -> int:
        rows, columns, depth = sizes["rows"], sizes["columns"], sizes["depth"]
        pairs, (instructions, factors) = -(-rows // 2), _TURN
        four = _RESULTS + instructions * -(-depth // factors) + _EVEN * self.rounds_even
        results = _ROWS + -(-columns // COLUMNS) * four
        results += _EARLIER if columns % COLUMNS else 0
        laid_columns = _lines(columns, depth, sizes["rhs_next"])
        laid_rows = _lines(rows, depth, sizes["lhs_next"], calls=pairs)
        return _MATRIX + laid_columns + laid_rows + pairs * (_PAIR + results)


def _lines(count: int, depth: int, next_: int, *, calls: int = 1) -> int:
    line, instructions, factors = _CONTIGUOUS if next_ == 1 else _APART
    call = _LINES if next_ == 1 else _LINES + _SPREAD
    return calls * call + count * (line + instructions * -(-depth // factors))


register(BatchMatMulMve(MVE))
register(BatchMatMulMve(ROUNDING_MVE, QLINEAR_BATCH_MATMUL_S8))
