"""MAXIMUM, MINIMUM, MUL and PRELU on cores with the DSP extension."""

import numpy as np

from codegen.ir import Let
from codegen.ir.ops.base.parameters import mul_multiplier, prelu_params
from codegen.kernels.base.broadcast import RunKernel, RunNumbers, broadcast_fields
from codegen.kernels.base.c_kernel import arg_type
from codegen.kernels.base.registry import register
from codegen.kernels.base.result_limits import clamp_reason
from codegen.kernels.base.walk import params
from codegen.kernels.call import ConstantPointer
from codegen.kernels.dsp.pairs.scale import scale_fields, scale_reason
from codegen.kernels.portable.elementwise import MUL_S8
from codegen.kernels.portable.pairwise import EXTREMES_S8, PRELU_S8, positive_table
from codegen.targets.arm import DSP


class ExtremeDsp(RunKernel):
    """MAXIMUM or MINIMUM of int8."""

    def numbers(self, let: Let) -> RunNumbers:
        return RunNumbers(struct=EXTREMES_S8[self.op].numbers(let))

    def run_instructions(self, let: Let, count: int, *, aligned: bool) -> int:
        del let
        words = count // 8 if aligned else 0
        return 12 + 12 * words + 8 * (count - 8 * words)


class MulDsp(RunKernel):
    """MUL, results over all of int8."""

    def other_reason(self, let: Let) -> str | None:
        """Refuse broadcasting along the last axis, a narrower range, a scale from one half on."""
        reason = clamp_reason(let)
        if reason is not None:
            return reason
        scale = mul_multiplier(arg_type(let, 0), arg_type(let, 1), let.var.type)
        return super().other_reason(let) or scale_reason(*scale)

    def numbers(self, let: Let) -> RunNumbers:
        zeros = [-arg_type(let, index).zero_point for index in (0, 1)]
        halves = [int(np.array([zero, zero], np.int16).view(np.int32)[0]) for zero in zeros]
        scale = mul_multiplier(arg_type(let, 0), arg_type(let, 1), let.var.type)
        return RunNumbers(
            struct=params(
                "cg_mul_params_dsp",
                ("shape", broadcast_fields(let)),
                ("lhs_zeros", halves[0]),
                ("rhs_zeros", halves[1]),
                *scale_fields(*scale),
                ("out_zero", let.var.type.zero_point),
            )
        )

    def run_instructions(self, let: Let, count: int, *, aligned: bool) -> int:
        del let
        words = count // 4 if aligned else 0
        return 12 + 36 * words + 13 * (count - 4 * words)


class PreluDsp(RunKernel):
    """PRELU: results of values from the zero point on are looked up."""

    def other_reason(self, let: Let) -> str | None:
        """Refuse broadcasting along the last axis, a scale from one half on."""
        scales = prelu_params(arg_type(let, 0), arg_type(let, 1), let.var.type)
        return super().other_reason(let) or scale_reason(scales.negative_multiplier, scales.negative_shift)

    def numbers(self, let: Let) -> RunNumbers:
        value, slope = arg_type(let, 0), arg_type(let, 1)
        scales = prelu_params(value, slope, let.var.type)
        struct = params(
            "cg_prelu_params_dsp",
            ("shape", broadcast_fields(let)),
            ("in_zero", value.zero_point),
            ("slope_zero", slope.zero_point),
            *scale_fields(scales.negative_multiplier, scales.negative_shift),
            ("out_zero", let.var.type.zero_point),
            ("positive", ConstantPointer(role="positive")),
        )
        return RunNumbers(struct=struct, constants=(positive_table(let),))

    def run_instructions(self, let: Let, count: int, *, aligned: bool) -> int:
        """Instructions where half of the values are below the zero point."""
        del let, aligned
        return 8 + 11 * count


for _kernel in EXTREMES_S8.values():
    register(ExtremeDsp(_kernel, "extreme_s8", DSP))
register(MulDsp(MUL_S8, "mul_s8", DSP))
register(PreluDsp(PRELU_S8, "prelu_s8", DSP))
