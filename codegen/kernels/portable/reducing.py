"""Portable kernels of operators that sum or compare along axes, but for MEAN."""

import math
from dataclasses import replace

from codegen.ir import DType, Let
from codegen.ir.ops import ArgAttrs, CumsumAttrs
from codegen.ir.ops.base.operands import narrow
from codegen.ir.ops.base.parameters import (
    log_softmax_params,
    rescale_multiplier,
    running_sum_multiplier,
)
from codegen.ir.ops.reducing import ARGS, EXTREMES
from codegen.kernels.base.c_kernel import ConstantData, Parts, arg_type, value_argument
from codegen.kernels.base.overlap import in_place
from codegen.kernels.base.registry import register
from codegen.kernels.base.walk import Fields, params
from codegen.kernels.call import PARAMS, RESULT, ArrayArg, CStruct, WorkspaceArg
from codegen.kernels.contract import Workspace
from codegen.kernels.portable.pairwise import FamilyKernel
from codegen.kernels.portable.pointwise import SOFTMAX_DEPTH_LIMIT
from codegen.kernels.portable.pooling import MeanF32, MeanInteger, reduction_fields


class SumInteger(MeanInteger):
    """SUM on int8 or int16: a mean whose multiplier does not divide."""

    op = "SUM"

    def __init__(self, stem: str, dtype: DType) -> None:
        super().__init__(stem, dtype)
        self.name = f"sum_{stem.rpartition('_')[2]}_portable"

    def multiplier(self, let: Let) -> tuple[int, int]:
        return rescale_multiplier(arg_type(let, 0), let.var.type)


class SumF32(MeanF32):
    """SUM on float32: a mean of one element each."""

    op, name = "SUM", "sum_f32_portable"

    def fields(self, let: Let) -> Fields:
        return (*super().fields(let)[:-1], ("count", 1))


class _Walked(FamilyKernel):
    """Base with the call (params, argument, result)."""

    def numbers(self, let: Let) -> CStruct:
        """The parameter struct."""
        raise NotImplementedError

    def check(self, let: Let) -> None:
        self.numbers(let)

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        value, linked = value_argument(let, 0, "argument", constants)
        return Parts(structs=(self.numbers(let),), call_args=(PARAMS, value, RESULT), constants=linked)


class ReduceExtreme(_Walked):
    """REDUCE_MAX or REDUCE_MIN."""

    def __init__(self, op: str, kind: int, dtype: DType) -> None:
        super().__init__(op, "reduce", dtype)
        self._kind = kind

    def numbers(self, let: Let) -> CStruct:
        return params("cg_reduce_params", ("reduction", reduction_fields(let)), ("kind", self._kind))


REDUCE_S8 = {kind.name: ReduceExtreme(kind.name, number, DType.INT8) for number, kind in enumerate(EXTREMES)}
"""The int8 kernels, by operator."""


class Arg(_Walked):
    """ARG_MAX or ARG_MIN."""

    def __init__(self, op: str, kind: int, dtype: DType) -> None:
        super().__init__(op, "arg", dtype, DType.INT32)
        self._kind = kind

    def numbers(self, let: Let) -> CStruct:
        axis, shape = narrow(let.call.attrs, ArgAttrs).axis, arg_type(let, 0).shape
        return params(
            "cg_arg_params",
            ("outer", math.prod(shape[:axis])),
            ("extent", shape[axis]),
            ("inner", math.prod(shape[axis + 1 :])),
            ("kind", self._kind),
        )


class ReduceInt32(_Walked):
    """MEAN or SUM on int32: sums of 64 bits fill a workspace (sub-step 0), then become the result."""

    def __init__(self, op: str) -> None:
        super().__init__(op, "mean", DType.INT32)

    def numbers(self, let: Let) -> CStruct:
        fields = reduction_fields(let)
        return params("cg_reduction", *(fields if self.op == "MEAN" else (*fields[:-1], ("count", 1))))

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        value, linked = value_argument(let, 0, "argument", constants)
        uses = arg_type(let, 0).elements / let.var.type.elements + 1.0
        size = 8 * let.var.type.elements
        sums = Workspace(name="sums", size_bytes=size, start=0, stop=2, reads=uses, writes=uses)
        return Parts(
            structs=(self.numbers(let),),
            call_args=(PARAMS, value, RESULT, WorkspaceArg(name="sums")),
            constants=linked,
            workspaces=(sums,),
            sub_steps=2,
            argument_stops=(1,),
            result_start=1,
        )


class Cumsum(_Walked):
    """CUMSUM on int8, int32 or float32; in place of rows that go front to back."""

    def __init__(self, dtype: DType) -> None:
        super().__init__("CUMSUM", "cumsum", dtype)

    def numbers(self, let: Let) -> CStruct:
        attrs, argument, result = narrow(let.call.attrs, CumsumAttrs), arg_type(let, 0), let.var.type
        shape = argument.shape
        is_scaled = result.dtype is DType.INT8
        multiplier, shift = running_sum_multiplier(argument, result) if is_scaled else (0, 0)
        return params(
            "cg_cumsum_params",
            ("outer", math.prod(shape[: attrs.axis])),
            ("extent", shape[attrs.axis]),
            ("inner", math.prod(shape[attrs.axis + 1 :])),
            ("exclusive", int(attrs.exclusive)),
            ("reverse", int(attrs.reverse)),
            ("in_zero", argument.zero_point if is_scaled else 0),
            ("out_zero", result.zero_point if is_scaled else 0),
            ("multiplier", multiplier),
            ("shift", shift),
        )

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        attrs, shape = narrow(let.call.attrs, CumsumAttrs), arg_type(let, 0).shape
        forwards = not attrs.reverse and math.prod(shape[attrs.axis + 1 :]) == 1
        return replace(super().parts(let, constants), sharing=in_place(let, 0) if forwards else ())


class L2Normalization(_Walked):
    """L2_NORMALIZATION on int8 or float32, row by row, in place."""

    def __init__(self, dtype: DType) -> None:
        super().__init__("L2_NORMALIZATION", "l2_normalization", dtype)

    def numbers(self, let: Let) -> CStruct:
        depth = let.var.type.shape[-1]
        return params(
            "cg_rows_params",
            ("rows", let.var.type.elements // depth),
            ("depth", depth),
            ("in_zero", arg_type(let, 0).zero_point),
        )

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        return replace(super().parts(let, constants), sharing=in_place(let, 0))


class LogSoftmax(_Walked):
    """LOG_SOFTMAX on int8 or float32, row by row, in place."""

    def __init__(self, dtype: DType) -> None:
        super().__init__("LOG_SOFTMAX", "log_softmax", dtype)

    def numbers(self, let: Let) -> CStruct:
        depth = let.var.type.shape[-1]
        rows: Fields = (("rows", let.var.type.elements // depth), ("depth", depth))
        if self.argument is DType.FLOAT32:
            return params("cg_rows_params", *rows, ("in_zero", 0))
        if depth >= SOFTMAX_DEPTH_LIMIT:
            raise ValueError(
                f"a LOG_SOFTMAX over {depth} int8 elements overflows TFLite's fixed-point sum, "
                f"supported are fewer than {SOFTMAX_DEPTH_LIMIT}"
            )
        scales, (multiplier, shift) = log_softmax_params(arg_type(let, 0))
        return params(
            "cg_log_softmax_params",
            *rows,
            ("multiplier", scales.multiplier),
            ("shift", scales.left_shift),
            ("diff_min", scales.least_difference),
            ("reverse_multiplier", multiplier),
            ("reverse_shift", shift),
        )

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        return replace(super().parts(let, constants), sharing=in_place(let, 0))


class AddN(FamilyKernel):
    """ADD_N of any number of arguments, in place of any of them."""

    def __init__(self, dtype: DType) -> None:
        super().__init__("ADD_N", "add_n", dtype)

    def check(self, let: Let) -> None:
        self._scaling(let)

    def _scaling(self, let: Let) -> Fields:
        argument, result = arg_type(let, 0), let.var.type
        count = ("count", len(let.call.args))
        if result.dtype is not DType.INT8:
            return (count, ("in_zero", 0), ("out_zero", 0), ("multiplier", 0), ("shift", 0))
        multiplier, shift = running_sum_multiplier(argument, result)
        zeros: Fields = (("in_zero", argument.zero_point), ("out_zero", result.zero_point))
        return (count, *zeros, ("multiplier", multiplier), ("shift", shift))

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        indices = range(len(let.call.args))
        arguments = [value_argument(let, index, f"argument{index}", constants) for index in indices]
        numbers = params("cg_add_n_params", ("elements", let.var.type.elements), *self._scaling(let))
        return Parts(
            structs=(numbers,),
            call_args=(PARAMS, ArrayArg(items=tuple(passed for passed, _ in arguments)), RESULT),
            constants=tuple(constant for _, linked in arguments for constant in linked),
            sharing=in_place(let, *indices),
        )


SUM_S8 = SumInteger("mean_s8", DType.INT8)

register(SUM_S8)
register(SumInteger("mean_s16", DType.INT16))
register(SumF32())
for _number, _extreme in enumerate(EXTREMES):
    register(REDUCE_S8[_extreme.name])
    for _dtype in (DType.INT16, DType.INT32, DType.BOOL, DType.FLOAT32):
        register(ReduceExtreme(_extreme.name, _number, _dtype))
for _number, _arg in enumerate(ARGS):
    for _dtype in (DType.INT8, DType.FLOAT32):
        register(Arg(_arg.name, _number, _dtype))
for _op in ("MEAN", "SUM"):
    register(ReduceInt32(_op))
for _dtype in (DType.INT8, DType.INT32, DType.FLOAT32):
    register(AddN(_dtype))
for _dtype in (DType.INT8, DType.FLOAT32):
    register(Cumsum(_dtype))
    register(L2Normalization(_dtype))
    register(LogSoftmax(_dtype))
register(Cumsum(DType.INT32))
