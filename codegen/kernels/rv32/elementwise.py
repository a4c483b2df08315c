"""ADD and SUB of int8 tensors of one shape on RV32IM cores."""

from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from codegen.ir import DType, Let, TensorType, Var
from codegen.ir.ops import Attrs, Op
from codegen.kernels.base.c_kernel import FastKernel, arg_type, row_kernel
from codegen.kernels.base.overlap import in_place
from codegen.kernels.base.registry import register
from codegen.kernels.base.result_limits import limits_of
from codegen.kernels.base.walk import params
from codegen.kernels.call import ARGUMENT, PARAMS, RESULT, ValueArg
from codegen.kernels.portable.elementwise import AddInteger
from codegen.kernels.primfunc import PrimFunc
from codegen.kernels.rv32.one_line import VALUES, Line, search_line
from codegen.kernels.rv32.packing import HEADER, RV32


class Rv32Sum(FastKernel):
    """ADD or SUB of two run-time arguments, no broadcasting, by a line that is proved equal."""

    kernel_set, takes_constants = RV32, True

    def __init__(self, op: str) -> None:
        self.op, self.name = op, f"{op.lower()}_s8_rv32"
        self.portable = AddInteger(op, DType.INT8)

    def other_reason(self, let: Let) -> str | None:
        """Refuse broadcasting, constants, roundings that no line repeats."""
        args = let.call.args
        if any(not isinstance(arg, Var) or arg.type.shape != let.var.type.shape for arg in args):
            return f"the kernel {self.name} is for two run-time arguments of one shape"
        return None if line_of(let) else "no line gives TFLite's results for all pairs"

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        del constants
        line, (low, high) = line_of(let), limits_of(let)
        assert line is not None, "it is bound where there is one"
        struct = params(
            "cg_add_params_rv32",
            ("count", let.var.type.elements),
            ("lhs_factor", line.first),
            ("rhs_factor", line.second),
            ("offset", line.offset),
            ("shift", line.shift),
            ("range", (("act_min", low), ("act_max", high))),
        )
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol="cg_add_s8_rv32",
            sources=("kernels/rv32/add_s8_rv32.S",),
            headers=(HEADER,),
            structs=(struct,),
            call_args=(PARAMS, ARGUMENT, ValueArg(index=1), RESULT),
            sharing=in_place(let, 0, 1),
            instructions=_instructions(let.var.type.elements),
            rows=row_kernel(let, "cg_add_s8_rv32_run"),
        )


def line_of(let: Let) -> Line | None:
    """The line of a sum or difference, None if there is none."""
    first, second = arg_type(let, 0), arg_type(let, 1)
    return _line(let.call.op, let.call.attrs, (first, second), let.var.type, limits_of(let))


@lru_cache(maxsize=1024)
def _line(
    op: Op, attrs: Attrs, types: tuple[TensorType, TensorType], result: TensorType, limits: tuple[int, int]
) -> Line | None:
    pairs = np.broadcast_arrays(VALUES.astype(np.int8)[:, None], VALUES.astype(np.int8)[None, :])
    results = op.evaluate(attrs, pairs, types, result).astype(np.int64)
    sign = -1.0 if op.name == "SUB" else 1.0
    slopes = (types[0].scale / result.scale, sign * types[1].scale / result.scale)
    return search_line(results, slopes, limits)


def _instructions(count: int) -> int:
    """Predicted instructions of a call: turns of four, and those behind them; one result in sixteen is
    clamped."""
    return 15 + 44 * (count // 4) + 14 * (count % 4) + count // 16


for _op in ("ADD", "SUB"):
    register(Rv32Sum(_op))
