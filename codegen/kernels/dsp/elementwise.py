"""ADD of int8 tensors of one shape on cores with the DSP extension."""

from collections.abc import Mapping

import numpy as np

from codegen.ir import DType, Let, Var
from codegen.ir.ops.base.parameters import add_params
from codegen.kernels.base.c_kernel import FastKernel, arg_type, row_kernel
from codegen.kernels.base.overlap import in_place
from codegen.kernels.base.registry import register
from codegen.kernels.base.result_limits import clamp_reason
from codegen.kernels.base.walk import params
from codegen.kernels.call import ARGUMENT, PARAMS, RESULT, ValueArg
from codegen.kernels.portable.elementwise import AddInteger
from codegen.kernels.primfunc import PrimFunc
from codegen.targets.arm import DSP

HALF = 1 << 30
"""Multiplier of a scale of one half: with shift 0 the argument is only shifted, exactly."""


class Add(FastKernel):
    """ADD of two run-time arguments, no broadcasting, results over all of int8."""

    op, name = "ADD", "add_s8_dsp"
    kernel_set, takes_constants = DSP, True
    portable = AddInteger("ADD", DType.INT8)

    def other_reason(self, let: Let) -> str | None:
        """Refuse broadcasting, constants, a narrower range, and scales that no shift expresses."""
        args = let.call.args
        if any(not isinstance(arg, Var) or arg.type.shape != let.var.type.shape for arg in args):
            return f"the kernel {self.name} is for two run-time arguments of one shape"
        reason = clamp_reason(let)
        if reason is not None:
            return reason
        numbers = add_params(arg_type(let, 0), arg_type(let, 1), let.var.type)
        scaled = (numbers.first_multiplier, numbers.first_shift)
        if scaled == (HALF, 0):
            scaled = (numbers.second_multiplier, numbers.second_shift)
        if not -31 <= numbers.result_shift <= -1 or not (-31 <= scaled[1] <= -1 or scaled == (HALF, 0)):
            return "a scale is not below one half"
        return None

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        del constants
        left, right = arg_type(let, 0), arg_type(let, 1)
        numbers = add_params(left, right, let.var.type)
        is_swapped = (numbers.first_multiplier, numbers.first_shift) != (HALF, 0)
        large, small = (right, left) if is_swapped else (left, right)
        multiplier = numbers.first_multiplier if is_swapped else numbers.second_multiplier
        shift = -(numbers.first_shift if is_swapped else numbers.second_shift)
        zeros = large.zero_point + (small.zero_point if shift == 0 else 0)
        count = let.var.type.elements
        struct = params(
            "cg_add_params_dsp",
            ("count", count),
            ("is_swapped", int(is_swapped)),
            ("offset", -small.zero_point * (1 << numbers.left_shift)),
            ("multiplier", 2 * multiplier - (1 << 32)),
            ("shift", shift),
            ("base", -zeros * (1 << (numbers.left_shift - 1))),
            ("out_multiplier", 2 * numbers.result_multiplier - (1 << 32)),
            ("out_shift", -numbers.result_shift),
            ("out_zero", let.var.type.zero_point),
        )
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol="cg_add_s8_dsp",
            sources=("kernels/dsp/add_s8_dsp.S",),
            headers=("cg_add_dsp.h",),
            structs=(struct,),
            call_args=(PARAMS, ARGUMENT, ValueArg(index=1), RESULT),
            sharing=in_place(let, 0, 1),
            instructions=_instructions(count, is_equal=shift == 0),
            rows=row_kernel(let, "cg_add_s8_dsp_run"),
        )


def _instructions(count: int, *, is_equal: bool) -> int:
    """Predicted instructions of a call: elements, turns of four, and those in front of them."""
    return 25 + count * (10 if is_equal else 14) + 2 * (count // 4 + count % 4)


register(Add())
