"""Portable kernels of AVERAGE_POOL_2D, MAX_POOL_2D, MEAN and RESIZE_BILINEAR."""

import math
from dataclasses import replace

from codegen.ir import DType, Let
from codegen.ir.ops import HalvesUp, MeanAttrs, PoolAttrs, ResizeAttrs, Rounding, TfliteRounding
from codegen.ir.ops.base.operands import narrow
from codegen.ir.ops.base.parameters import mean_multiplier
from codegen.ir.ops.pooling import resize_scale, resize_step
from codegen.kernels.base.c_kernel import (
    ConstantData,
    Parts,
    PortableKernel,
    arg_type,
    reverse_stem,
    row_kernel,
    value_argument,
)
from codegen.kernels.base.overlap import window_sharing
from codegen.kernels.base.registry import register
from codegen.kernels.base.result_limits import limit_fields
from codegen.kernels.base.walk import Fields, axes, dense_strides, merge, params
from codegen.kernels.base.window import WindowShape, nhwc
from codegen.kernels.call import PARAMS, RESULT, CStruct, WorkspaceArg
from codegen.kernels.contract import Workspace
from codegen.kernels.primfunc import PrimFunc

SUM_BYTES = 4
"""Bytes of one int32 sum of a mean."""

S16_SUM_LIMIT = 1 << 15
"""Limit of int16 elements: the sum of fewer, plus half their number, fits 32 bits."""


def pool_window(let: Let) -> WindowShape:
    """The window of a pool: it has no dilation."""
    attrs = narrow(let.call.attrs, PoolAttrs)
    return WindowShape(
        image=nhwc(arg_type(let, 0).shape),
        result=nhwc(let.var.type.shape),
        window=attrs.window,
        stride=attrs.stride,
        dilation=(1, 1),
        padding=attrs.padding,
    )


class Pool2D(PortableKernel):
    """AVERAGE_POOL_2D or MAX_POOL_2D; padding is not counted."""

    def __init__(self, op: str, stem: str, dtype: DType, rounding: type[Rounding] = TfliteRounding) -> None:
        self.op, self.stem, self.name, self.rounding = op, stem, f"{stem}_portable", rounding
        self.argument = self.result = dtype
        is_forward = dtype is DType.FLOAT32 or rounding is HalvesUp
        self.reverse_stem = "" if is_forward else reverse_stem(stem)

    def check(self, let: Let) -> None:
        """Refuse averages of int16 whose sums do not fit 32 bits."""
        size = math.prod(narrow(let.call.attrs, PoolAttrs).window)
        if self.op == "AVERAGE_POOL_2D" and self.argument is DType.INT16 and size >= S16_SUM_LIMIT:
            raise ValueError(
                f"an average of {size} int16 elements overflows TFLite's 32-bit sum, "
                f"supported are fewer than {S16_SUM_LIMIT}"
            )

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        window, is_float = pool_window(let), let.var.type.dtype is DType.FLOAT32
        c_type = "cg_pool_params_f32" if is_float else "cg_pool_params"
        image, linked = value_argument(let, 0, "image", constants)
        return Parts(
            structs=(params(c_type, ("window", window.fields), *limit_fields(let)),),
            call_args=(PARAMS, image, RESULT),
            constants=linked,
            sharing=window_sharing(let, window, outputs=1, inputs=1, either_way=bool(self.reverse_stem)),
            rows=row_kernel(let, f"{self.symbol}_row", window),
            image_reads=window.reads(window.image[3]),
        )


def mean_workspace_bytes(let: Let) -> int:
    """Bytes of the sums of an int8 or int16 mean; `cg_mean_s8_workspace_bytes` in C."""
    return SUM_BYTES * let.var.type.elements


def _count(let: Let) -> int:
    return arg_type(let, 0).elements // let.var.type.elements


def reduction_fields(let: Let) -> Fields:
    """Fields of a `cg_reduction`."""
    shape, reduced = arg_type(let, 0).shape, narrow(let.call.attrs, MeanAttrs).axes
    kept = tuple(1 if axis in reduced else extent for axis, extent in enumerate(shape))
    steps = [0 if axis in reduced else stride for axis, stride in enumerate(dense_strides(kept))]
    walk = merge(shape, steps)
    return (
        ("extent", axes(walk.extents, 1)),
        ("out_step", axes(walk.steps[0], 0)),
        ("out_len", let.var.type.elements),
        ("count", _count(let)),
    )


class MeanInteger(PortableKernel):
    """MEAN on int8 or int16: sums fill a workspace (sub-step 0), then become the result (sub-step 1)."""

    op = "MEAN"

    def __init__(self, stem: str, dtype: DType) -> None:
        self.stem, self.name = stem, f"{stem}_portable"
        self.argument = self.result = dtype

    def check(self, let: Let) -> None:
        """Refuse more than five nested loops, a multiplier out of range, and sums of int16 beyond 32 bits."""
        reduction_fields(let)
        if self.argument is DType.INT16 and _count(let) >= S16_SUM_LIMIT:
            raise ValueError(
                f"a mean of {_count(let)} int16 elements overflows TFLite's 32-bit sum, "
                f"supported are fewer than {S16_SUM_LIMIT}"
            )
        self.multiplier(let)

    def multiplier(self, let: Let) -> tuple[int, int]:
        """(multiplier, shift) of each sum."""
        return mean_multiplier(arg_type(let, 0), let.var.type, _count(let))

    def scale_fields(self, let: Let) -> Fields:
        """Fields by which a sum becomes a result."""
        multiplier, shift = self.multiplier(let)
        return (
            ("sum_offset", -arg_type(let, 0).zero_point * _count(let)),
            ("multiplier", multiplier),
            ("shift", shift),
            ("out_zero", let.var.type.zero_point),
        )

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        numbers = params("cg_mean_params", ("reduction", reduction_fields(let)), *self.scale_fields(let))
        value, linked = value_argument(let, 0, "argument", constants)
        # A sum is cleared, takes each of its terms, and is read once more at the end.
        sums = Workspace(
            name="sums",
            size_bytes=mean_workspace_bytes(let),
            start=0,
            stop=2,
            reads=_count(let) + 1.0,
            writes=_count(let) + 1.0,
        )
        return Parts(
            structs=(numbers,),
            call_args=(PARAMS, value, RESULT, WorkspaceArg(name="sums")),
            constants=linked,
            workspaces=(sums,),
            sub_steps=2,
            argument_stops=(1,),
            result_start=1,
        )


class MeanF32(PortableKernel):
    """MEAN on float32; the result holds the sums while it goes on."""

    op, stem, name = "MEAN", "mean_f32", "mean_f32_portable"
    argument = result = DType.FLOAT32

    def fields(self, let: Let) -> Fields:
        """Fields of the `cg_reduction`, the number that sums are divided by last."""
        return reduction_fields(let)

    def check(self, let: Let) -> None:
        """Refuse more than five nested loops."""
        self.fields(let)

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        value, linked = value_argument(let, 0, "argument", constants)
        return Parts(
            structs=(params("cg_reduction", *self.fields(let)),),
            call_args=(PARAMS, value, RESULT),
            constants=linked,
        )


class Resize(PortableKernel):
    """RESIZE_BILINEAR on int8 or float32."""

    op = "RESIZE_BILINEAR"

    def __init__(self, stem: str, dtype: DType) -> None:
        self.stem, self.name = stem, f"{stem}_portable"
        self.argument = self.result = dtype

    @property
    def header(self) -> str:
        return "cg_kernels_families.h"

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        image, linked = value_argument(let, 0, "image", constants)
        call_args = (PARAMS, image, RESULT)
        return Parts(structs=(self.numbers(let),), call_args=call_args, constants=linked)

    def bind(self, let: Let, constants: ConstantData, name: str) -> PrimFunc:
        """Bind a call. Four channels of int8 are read at a time."""
        prim = super().bind(let, constants, name)
        if self.argument is not DType.INT8 or let.var.type.shape[-1] % 4:
            return prim
        linked = tuple(replace(constant, alignment=4) for constant in prim.constants)
        return replace(prim, argument_alignment=4, constants=linked)

    def numbers(self, let: Let) -> CStruct:
        """The parameter struct."""
        attrs = narrow(let.call.attrs, ResizeAttrs)
        batches, rows, columns, channels = arg_type(let, 0).shape
        shape: Fields = (
            ("batches", batches),
            ("rows", rows),
            ("columns", columns),
            ("channels", channels),
            ("out_rows", attrs.size[0]),
            ("out_columns", attrs.size[1]),
        )
        if self.argument is DType.FLOAT32:
            return params(
                "cg_resize_params_f32",
                *shape,
                ("row_scale", resize_scale(rows, attrs.size[0], attrs)),
                ("column_scale", resize_scale(columns, attrs.size[1], attrs)),
                ("middle", 0.5 if attrs.half_pixel_centers else 0.0),
            )
        row_step, row_start = resize_step(rows, attrs.size[0], attrs)
        column_step, column_start = resize_step(columns, attrs.size[1], attrs)
        return params(
            "cg_resize_params",
            *shape,
            ("row_step", row_step),
            ("row_start", row_start),
            ("column_step", column_step),
            ("column_start", column_start),
        )


register(Pool2D("AVERAGE_POOL_2D", "avg_pool2d_s8", DType.INT8))
register(Pool2D("AVERAGE_POOL_2D", "avg_pool2d_u8", DType.INT8, HalvesUp))
register(Pool2D("AVERAGE_POOL_2D", "avg_pool2d_s16", DType.INT16))
register(Pool2D("AVERAGE_POOL_2D", "avg_pool2d_f32", DType.FLOAT32))
register(Pool2D("MAX_POOL_2D", "max_pool2d_s8", DType.INT8))
register(Pool2D("MAX_POOL_2D", "max_pool2d_s16", DType.INT16))
register(Pool2D("MAX_POOL_2D", "max_pool2d_f32", DType.FLOAT32))
MEAN_S8 = MeanInteger("mean_s8", DType.INT8)

register(MEAN_S8)
register(MeanInteger("mean_s16", DType.INT16))
register(MeanF32())
register(Resize("resize_bilinear_s8", DType.INT8))
register(Resize("resize_bilinear_f32", DType.FLOAT32))
