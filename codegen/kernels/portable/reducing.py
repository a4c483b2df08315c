"""Portable kernels of SUM, REDUCE_MAX, REDUCE_MIN, ARG_MAX, ARG_MIN and BATCH_MATMUL."""

import math
from collections.abc import Sequence

from codegen.ir import DType, Let
from codegen.ir.ops import ArgAttrs, BatchMatMulAttrs
from codegen.ir.ops.base.operands import narrow
from codegen.ir.ops.base.parameters import fully_connected_multipliers, rescale_multiplier
from codegen.ir.ops.reducing import ARGS, EXTREMES
from codegen.kernels.base.c_kernel import ConstantData, Parts, arg_type, value_argument
from codegen.kernels.base.registry import register
from codegen.kernels.base.walk import Fields, axes, dense_strides, params
from codegen.kernels.call import PARAMS, RESULT, CStruct
from codegen.kernels.portable.pairwise import FamilyKernel
from codegen.kernels.portable.pooling import MeanF32, MeanInteger, reduction_fields


class SumInteger(MeanInteger):
    """SUM on int8 or int16: a mean whose multiplier does not divide."""

    op = "SUM"

    def __init__(self, stem: str, dtype: DType) -> None:
        super().__init__(stem, dtype)
        self.name = f"sum_{stem.rpartition('_')[2]}_portable"

    def multiplier(self, let: Let) -> tuple[int, int]:
        """See `MeanInteger.multiplier`."""
        return rescale_multiplier(arg_type(let, 0), let.var.type)


class SumF32(MeanF32):
    """SUM on float32: a mean of one element each."""

    op, name = "SUM", "sum_f32_portable"

    def fields(self, let: Let) -> Fields:
        """See `MeanF32.fields`."""
        return (*super().fields(let)[:-1], ("count", 1))


class _Walked(FamilyKernel):
    """The call (params, argument, result)."""

    def numbers(self, let: Let) -> CStruct:
        """The parameter struct."""
        raise NotImplementedError

    def check(self, let: Let) -> None:
        """Numbers in range."""
        self.numbers(let)

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        """See `PortableKernel.parts`."""
        value, linked = value_argument(let, 0, "argument", constants)
        return Parts(structs=(self.numbers(let),), call_args=(PARAMS, value, RESULT), constants=linked)


class ReduceExtreme(_Walked):
    """REDUCE_MAX or REDUCE_MIN."""

    def __init__(self, op: str, kind: int, dtype: DType) -> None:
        super().__init__(op, "reduce", dtype)
        self._kind = kind

    def numbers(self, let: Let) -> CStruct:
        """See `_Walked.numbers`."""
        return params("cg_reduce_params", ("reduction", reduction_fields(let)), ("kind", self._kind))


class Arg(_Walked):
    """ARG_MAX or ARG_MIN."""

    def __init__(self, op: str, kind: int, dtype: DType) -> None:
        super().__init__(op, "arg", dtype, DType.INT32)
        self._kind = kind

    def numbers(self, let: Let) -> CStruct:
        """See `_Walked.numbers`."""
        axis, shape = narrow(let.call.attrs, ArgAttrs).axis, arg_type(let, 0).shape
        return params(
            "cg_arg_params",
            ("outer", math.prod(shape[:axis])),
            ("extent", shape[axis]),
            ("inner", math.prod(shape[axis + 1 :])),
            ("kind", self._kind),
        )


class BatchMatMul(FamilyKernel):
    """BATCH_MATMUL on int8 or float32."""

    def __init__(self, dtype: DType) -> None:
        super().__init__("BATCH_MATMUL", "batch_matmul", dtype)

    def check(self, let: Let) -> None:
        """Five broadcast axes at most, a multiplier in range."""
        self.numbers(let)

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        """See `PortableKernel.parts`."""
        lhs, lhs_linked = value_argument(let, 0, "lhs", constants)
        rhs, rhs_linked = value_argument(let, 1, "rhs", constants)
        return Parts(
            structs=(self.numbers(let),),
            call_args=(PARAMS, lhs, rhs, RESULT),
            constants=(*lhs_linked, *rhs_linked),
        )

    def numbers(self, let: Let) -> CStruct:
        """Steps between rows, columns and products follow the attributes: nothing is transposed."""
        both, result = narrow(let.call.attrs, BatchMatMulAttrs), let.var.type
        first, second = arg_type(let, 0), arg_type(let, 1)
        depth = first.shape[-2] if both.adj_x else first.shape[-1]
        outer = result.shape[:-2]
        lhs, rhs = (first.shape[-1], 1), (second.shape[-1], 1)
        scaling: Fields = ()
        if result.dtype is not DType.FLOAT32:
            multipliers, shifts = fully_connected_multipliers(first.scale, [second.scale], result.scale)
            scaling = (
                ("lhs_zero", first.zero_point),
                ("rhs_zero", second.zero_point),
                ("out_zero", result.zero_point),
                ("multiplier", int(multipliers[0])),
                ("shift", int(shifts[0])),
            )
        return params(
            "cg_matmul_params" if scaling else "cg_matmul_params_f32",
            ("extent", axes(outer, 1)),
            ("lhs_step", axes(_batch_steps(first.shape, outer), 0)),
            ("rhs_step", axes(_batch_steps(second.shape, outer), 0)),
            ("rows", result.shape[-2]),
            ("columns", result.shape[-1]),
            ("depth", depth),
            ("lhs_row", lhs[1] if both.adj_x else lhs[0]),
            ("lhs_next", lhs[0] if both.adj_x else lhs[1]),
            ("rhs_column", rhs[0] if both.adj_y else rhs[1]),
            ("rhs_next", rhs[1] if both.adj_y else rhs[0]),
            *scaling,
        )


def _batch_steps(shape: Sequence[int], outer: Sequence[int]) -> list[int]:
    """How far each outer axis of the result moves in an argument of `shape`."""
    full = (1,) * (len(outer) + 2 - len(shape)) + tuple(shape)
    strides = dense_strides(full)[:-2]
    return [0 if extent == 1 else step for extent, step in zip(full[:-2], strides, strict=True)]


register(SumInteger("mean_s8", DType.INT8))
register(SumInteger("mean_s16", DType.INT16))
register(SumF32())
for _number, _extreme in enumerate(EXTREMES):
    for _dtype in (DType.INT8, DType.INT16, DType.INT32, DType.BOOL, DType.FLOAT32):
        register(ReduceExtreme(_extreme.name, _number, _dtype))
for _number, _arg in enumerate(ARGS):
    for _dtype in (DType.INT8, DType.FLOAT32):
        register(Arg(_arg.name, _number, _dtype))
register(BatchMatMul(DType.INT8))
register(BatchMatMul(DType.FLOAT32))
