"""MAXIMUM, MINIMUM, MUL and PRELU on ARMv7-M cores without the DSP extension."""

from codegen.ir import Let
from codegen.ir.ops.base.parameters import mul_multiplier, prelu_params
from codegen.kernels.base.broadcast import RunKernel, RunNumbers, broadcast_fields
from codegen.kernels.base.c_kernel import arg_type
from codegen.kernels.base.registry import register
from codegen.kernels.base.result_limits import clamp_reason
from codegen.kernels.base.walk import Fields, params
from codegen.kernels.call import ConstantPointer
from codegen.kernels.portable.elementwise import MUL_S8
from codegen.kernels.portable.pairwise import EXTREMES_S8, PRELU_S8, positive_table
from codegen.kernels.v7m.packing import LEAST_SHIFT, MOST_SHIFT
from codegen.targets.arm import V7M


class ExtremeV7m(RunKernel):
    """MAXIMUM or MINIMUM of int8."""

    def numbers(self, let: Let) -> RunNumbers:
        return RunNumbers(struct=EXTREMES_S8[self.op].numbers(let))

    def run_instructions(self, let: Let, count: int, *, aligned: bool) -> int:
        del let
        words = count // 4 if aligned else 0
        return 14 + 17 * words + 8 * (count - 4 * words)


class MulV7m(RunKernel):
    """MUL, results over all of int8."""

    def other_reason(self, let: Let) -> str | None:
        """Refuse broadcasting along the last axis, a narrower range, a scale outside the short way's."""
        _, shift = mul_multiplier(arg_type(let, 0), arg_type(let, 1), let.var.type)
        return clamp_reason(let) or super().other_reason(let) or shift_reason(shift)

    def numbers(self, let: Let) -> RunNumbers:
        scale = mul_multiplier(arg_type(let, 0), arg_type(let, 1), let.var.type)
        return RunNumbers(struct=params("cg_mul_params_v7m", *_product_fields(let, *scale)))

    def run_instructions(self, let: Let, count: int, *, aligned: bool) -> int:
        del let, aligned
        return 9 + 13 * count + 2 * (count % 2)


class PreluV7m(RunKernel):
    """PRELU: results of values from the zero point on are looked up."""

    def other_reason(self, let: Let) -> str | None:
        """Refuse broadcasting along the last axis, a scale outside the short way's."""
        scales = prelu_params(arg_type(let, 0), arg_type(let, 1), let.var.type)
        return super().other_reason(let) or shift_reason(scales.negative_shift)

    def numbers(self, let: Let) -> RunNumbers:
        scales = prelu_params(arg_type(let, 0), arg_type(let, 1), let.var.type)
        fields = _product_fields(let, scales.negative_multiplier, scales.negative_shift)
        positive = ("positive", ConstantPointer(role="positive"))
        struct = params("cg_prelu_params_v7m", *fields, positive)
        return RunNumbers(struct=struct, constants=(positive_table(let),))

    def run_instructions(self, let: Let, count: int, *, aligned: bool) -> int:
        """Instructions where half of the values are below the zero point."""
        del let, aligned
        return 9 + 23 * count // 2


def _product_fields(let: Let, multiplier: int, shift: int) -> Fields:
    """Fields of a product by `multiplier`, `-shift` bits to the right."""
    return (
        ("shape", broadcast_fields(let)),
        ("lhs_zero", arg_type(let, 0).zero_point),
        ("rhs_zero", arg_type(let, 1).zero_point),
        ("multiplier", multiplier),
        ("offset", (1 << (-shift - 2)) + let.var.type.zero_point * (1 << (-shift - 1))),
        ("shift", -shift - 1),
    )


def shift_reason(shift: int) -> str | None:
    """Why the short requantization is not exact, or None."""
    if LEAST_SHIFT <= -shift <= MOST_SHIFT:
        return None
    return f"a scale is not from 2^-{MOST_SHIFT + 1} to below 2^-{LEAST_SHIFT}"


for _kernel in EXTREMES_S8.values():
    register(ExtremeV7m(_kernel, "extreme_s8", V7M))
register(MulV7m(MUL_S8, "mul_s8", V7M))
register(PreluV7m(PRELU_S8, "prelu_s8", V7M))
