"""BATCH_MATMUL on cores with the DSP extension."""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from codegen.ir import Let, Target, Var
from codegen.ir.ops.base.parameters import fully_connected_multipliers
from codegen.kernels.base.c_kernel import FastKernel, arg_type
from codegen.kernels.base.registry import register
from codegen.kernels.base.walk import Fields, params
from codegen.kernels.call import RESULT, WorkspaceArg
from codegen.kernels.contract import Workspace
from codegen.kernels.dsp.packing import GROUP, groups
from codegen.kernels.dsp.pairs.scale import scale_fields, scale_reason
from codegen.kernels.dsp.price import UNROLL
from codegen.kernels.portable.reducing import BATCH_MATMUL_S8
from codegen.kernels.primfunc import PrimFunc
from codegen.targets.arm import DSP

_SPACE = "factors"
_CALL, _MATRIX, _PAIR = 100, 138, 12
"""Instructions of C around the call, each pair of matrices, each two rows or columns."""
_ROWS, _RESULTS, _GROUP, _TURN = 31, 37, 10, 3
"""Of two rows, four results, four factors of each of them, a turn of the loop."""
_WORDS, _BYTES, _REST = (12, 9), (13, 23), (0, 21, 25, 28)
"""Of widening two rows or columns, and of each four of their factors; of the last, fewer than four ones."""


class BatchMatMulDsp(FastKernel):
    """BATCH_MATMUL on int8: factors widened to int16, two rows by two columns at a time."""

    op, name, kernel_set, portable = BATCH_MATMUL_S8.op, "batch_matmul_s8_dsp", DSP, BATCH_MATMUL_S8
    takes_constants = True

    def refusal(self, let: Let, target: Target) -> str | None:
        """As of fast kernels; two constants are folded, not run."""
        if not any(isinstance(arg, Var) for arg in let.call.args):
            return "both arguments are constants"
        return super().refusal(let, target)

    def other_reason(self, let: Let) -> str | None:
        """A scale from one half on."""
        return scale_reason(*_scale(let))

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        """See `Kernel.bind`."""
        prim = self.portable.bind(let, constants, name)
        numbers, lhs, rhs = prim.call_args[:3]
        sizes = BATCH_MATMUL_S8.sizes(let)
        pairs = 1 + -(-sizes["columns"] // 2)
        space = Workspace(
            name=_SPACE,
            size_bytes=16 * groups(sizes["depth"]) * pairs,
            reads=sizes["rows"] / 2,
            writes=1.0,
        )
        return replace(
            prim,
            kernel=self.name,
            symbol="cg_batch_matmul_s8_dsp",
            sources=("kernels/dsp/batch_matmul_s8_dsp.c", "kernels/dsp/batch_matmul_parts_s8_dsp.S"),
            headers=("cg_matmul_dsp.h",),
            argument_alignment=4,
            workspaces=(space,),
            constants=tuple(replace(each, alignment=4) for each in prim.constants),
            structs=(params("cg_matmul_params", *self._fields(let)),),
            call_args=(numbers, lhs, rhs, WorkspaceArg(name=_SPACE), RESULT),
            instructions=_instructions(let, sizes),
        )

    def _fields(self, let: Let) -> Fields:
        return (*BATCH_MATMUL_S8.fields(let)[:-2], *scale_fields(*_scale(let)))


def _scale(let: Let) -> tuple[int, int]:
    first, second = arg_type(let, 0), arg_type(let, 1)
    multipliers, shifts = fully_connected_multipliers(first.scale, [second.scale], let.var.type.scale)
    return int(multipliers[0]), int(shifts[0])


def _instructions(let: Let, sizes: Mapping[str, int]) -> int:
    """Predicted for a call."""
    rows, columns, depth = sizes["rows"], sizes["columns"], sizes["depth"]
    length = groups(depth)
    results = _RESULTS + _GROUP * length + _TURN * (1 + length // UNROLL)
    row_pairs, column_pairs = -(-rows // 2), -(-columns // 2)
    left = _PAIR + _widening(depth, sizes["lhs_row"], sizes["lhs_next"])
    right = _PAIR + _widening(depth, sizes["rhs_column"], sizes["rhs_next"])
    matrix = column_pairs * right + row_pairs * (left + _ROWS + column_pairs * results)
    return _CALL + math.prod(let.var.type.shape[:-2]) * (_MATRIX + matrix)


def _widening(depth: int, step: int, next_: int) -> int:
    call, each = _WORDS if next_ == 1 and step % GROUP == 0 and depth % GROUP == 0 else _BYTES
    return call + each * (depth // GROUP) + _REST[depth % GROUP]


register(BatchMatMulDsp())
