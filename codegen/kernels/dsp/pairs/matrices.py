"""BATCH_MATMUL on cores with the DSP extension."""

from collections.abc import Mapping

from codegen.ir import Let
from codegen.kernels.base.registry import register
from codegen.kernels.base.walk import Fields
from codegen.kernels.dsp.packing import GROUP, groups
from codegen.kernels.dsp.pairs.scale import scale_fields, scale_reason
from codegen.kernels.dsp.price import UNROLL
from codegen.kernels.portable.matrices.batch_matmul import BATCH_MATMUL_S8, FastMatMul
from codegen.kernels.portable.matrices.rounded import QLINEAR_BATCH_MATMUL_S8, float_scale_fields
from codegen.targets.arm import DSP, ROUNDING_DSP

_MATRIX, _PAIR = 138, 12
"""Instructions of C around each pair of matrices, each two rows or columns."""
_ROWS, _RESULTS, _GROUP, _TURN = 31, 37, 10, 3
"""Instructions of two rows, of four results, of four factors of each of them, of a turn of the loop."""
_EVEN = 5
"""Further instructions of four results that are rounded as ONNX does."""
_WORDS, _BYTES, _REST = (12, 9), (13, 23), (0, 21, 25, 28)
"""Instructions to widen two rows or columns, and each four of their factors; fewer than four at the end."""


class BatchMatMulDsp(FastMatMul):
    """BATCH_MATMUL on int8: factors widened to int16, two rows by two columns at a time."""

    @property
    def parts(self) -> tuple[str, ...]:
        return (*super().parts, self.rows_file)

    def other_reason(self, let: Let) -> str | None:
        """Refuse a scale from one half on, unless sums become floats."""
        return None if self.rounds_even else scale_reason(*BATCH_MATMUL_S8.scale(let))

    def scale_fields(self, let: Let) -> Fields:
        return float_scale_fields(let) if self.rounds_even else scale_fields(*BATCH_MATMUL_S8.scale(let))

    def workspace_bytes(self, let: Let) -> int:
        """Bytes of all columns and two rows of a pair of matrices."""
        sizes = BATCH_MATMUL_S8.sizes(let)
        return 16 * groups(sizes["depth"]) * (1 + -(-sizes["columns"] // 2))

    def predicted(self, sizes: Mapping[str, int]) -> int:
        rows, columns, depth = sizes["rows"], sizes["columns"], sizes["depth"]
        length = groups(depth)
        results = _RESULTS + _GROUP * length + _TURN * (1 + length // UNROLL) + _EVEN * self.rounds_even
        row_pairs, column_pairs = -(-rows // 2), -(-columns // 2)
        left = _PAIR + _widening(depth, sizes["lhs_row"], sizes["lhs_next"])
        right = _PAIR + _widening(depth, sizes["rhs_column"], sizes["rhs_next"])
        return _MATRIX + column_pairs * right + row_pairs * (left + _ROWS + column_pairs * results)


def _widening(depth: int, step: int, next_: int) -> int:
    call, group = _WORDS if next_ == 1 and step % GROUP == 0 and depth % GROUP == 0 else _BYTES
    return call + group * (depth // GROUP) + _REST[depth % GROUP]


register(BatchMatMulDsp(DSP))
register(BatchMatMulDsp(ROUNDING_DSP, QLINEAR_BATCH_MATMUL_S8))
