"""Portable kernel of TABLE_RESIZE."""

import math

from codegen.ir import ConstRef, DType, Let
from codegen.ir.ops import TableResizeAttrs
from codegen.ir.ops.base.operands import narrow
from codegen.kernels.base.c_kernel import (
    ConstantData,
    Parts,
    PortableKernel,
    arg_type,
    constant_data,
    value_argument,
)
from codegen.kernels.base.registry import register
from codegen.kernels.base.walk import params
from codegen.kernels.call import PARAMS, RESULT, CStruct

_CONSTANTS = ("rows", "row_shares", "columns", "column_shares")


class TableResize(PortableKernel):
    """TABLE_RESIZE by constant places and shares."""

    op, stem, name = "TABLE_RESIZE", "table_resize_s8", "table_resize_s8_portable"
    argument = result = DType.INT8

    def check(self, let: Let) -> None:
        """Refuse arguments but the image that are computed at run time."""
        for role, arg in zip(_CONSTANTS, let.call.args[1:], strict=True):
            if not isinstance(arg, ConstRef):
                raise ValueError(f"{role} are computed at run time")

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        axis = narrow(let.call.attrs, TableResizeAttrs).axis
        for index in (1, 3):
            places = constant_data(let, index, constants)
            extent = arg_type(let, 0).shape[axis + index // 2]
            if places is None or places.min() < 0 or places.max() >= extent:
                raise ValueError(f"{_CONSTANTS[index - 1]} lie outside the {extent} of the image")
        image, linked = value_argument(let, 0, "image", constants)
        tables = [value_argument(let, index, role, constants) for index, role in enumerate(_CONSTANTS, 1)]
        return Parts(
            structs=(self.numbers(let),),
            call_args=(PARAMS, *(arg for arg, _ in tables), image, RESULT),
            constants=(*(table for _, held in tables for table in held), *linked),
        )

    def numbers(self, let: Let) -> CStruct:
        """The parameter struct."""
        axis = narrow(let.call.attrs, TableResizeAttrs).axis
        image, result = arg_type(let, 0), let.var.type
        return params(
            "cg_table_resize_params",
            ("batches", math.prod(image.shape[:axis])),
            ("rows", image.shape[axis]),
            ("columns", image.shape[axis + 1]),
            ("channels", math.prod(image.shape[axis + 2 :])),
            ("out_rows", result.shape[axis]),
            ("out_columns", result.shape[axis + 1]),
            ("zero", image.zero_point),
            ("out_zero", result.zero_point),
            ("scale", image.scale),
            ("out_scale", result.scale),
        )


register(TableResize())
