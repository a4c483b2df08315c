"""MAXIMUM, MINIMUM, MUL and PRELU with Helium."""

from codegen.ir import Let
from codegen.ir.ops.base.parameters import mul_multiplier, prelu_params
from codegen.kernels.base.broadcast import RunKernel, RunNumbers, broadcast_fields
from codegen.kernels.base.c_kernel import arg_type
from codegen.kernels.base.registry import register
from codegen.kernels.base.result_limits import limits_of
from codegen.kernels.base.walk import Fields, params
from codegen.kernels.call import ConstantPointer
from codegen.kernels.portable.elementwise import MUL_S8
from codegen.kernels.portable.pairwise import EXTREMES_S8, PRELU_S8, positive_table
from codegen.targets.arm import MVE


class ExtremeMve(RunKernel):
    """MAXIMUM or MINIMUM of int8."""

    def numbers(self, let: Let) -> RunNumbers:
        return RunNumbers(struct=EXTREMES_S8[self.op].numbers(let))

    def run_instructions(self, let: Let, count: int, *, aligned: bool) -> int:
        del let, aligned
        return 7 + 5 * -(-count // 16)


class MulMve(RunKernel):
    """MUL of int8."""

    def other_reason(self, let: Let) -> str | None:
        """Refuse broadcasting along the last axis, a scale from one half on."""
        _, shift = mul_multiplier(arg_type(let, 0), arg_type(let, 1), let.var.type)
        return super().other_reason(let) or shift_reason(shift)

    def numbers(self, let: Let) -> RunNumbers:
        scale = mul_multiplier(arg_type(let, 0), arg_type(let, 1), let.var.type)
        low, high = limits_of(let)
        return RunNumbers(
            struct=params(
                "cg_mul_params_mve",
                *_head(let, ("lhs_offset", "rhs_offset"), scale),
                ("act_min", low),
                ("act_max", high),
            )
        )

    def run_instructions(self, let: Let, count: int, *, aligned: bool) -> int:
        del let, aligned
        return 8 + 14 * -(-count // 4)


class PreluMve(RunKernel):
    """PRELU: results of values from the zero point on are looked up."""

    def other_reason(self, let: Let) -> str | None:
        """Refuse broadcasting along the last axis, a scale from one half on."""
        scales = prelu_params(arg_type(let, 0), arg_type(let, 1), let.var.type)
        return super().other_reason(let) or shift_reason(scales.negative_shift)

    def numbers(self, let: Let) -> RunNumbers:
        scales = prelu_params(arg_type(let, 0), arg_type(let, 1), let.var.type)
        scale = scales.negative_multiplier, scales.negative_shift
        struct = params(
            "cg_prelu_params_mve",
            *_head(let, ("in_offset", "slope_offset"), scale),
            ("positive", ConstantPointer(role="positive")),
        )
        return RunNumbers(struct=struct, constants=(positive_table(let),))

    def run_instructions(self, let: Let, count: int, *, aligned: bool) -> int:
        del let, aligned
        return 16 + 18 * -(-count // 4)


def shift_reason(shift: int) -> str | None:
    """Why the short requantization is not exact, or None."""
    return None if -31 <= shift <= -1 else "a scale is not below one half"


def _head(let: Let, offsets: tuple[str, str], scale: tuple[int, int]) -> Fields:
    zeros: Fields = tuple((word, -arg_type(let, index).zero_point) for index, word in enumerate(offsets))
    scaling: Fields = (("multiplier", scale[0]), ("shift", scale[1]), ("out_zero", let.var.type.zero_point))
    return (("shape", broadcast_fields(let)), *zeros, *scaling)


for _kernel in EXTREMES_S8.values():
    register(ExtremeMve(_kernel, "extreme_s8", MVE))
register(MulMve(MUL_S8, "mul_s8", MVE))
register(PreluMve(PRELU_S8, "prelu_s8", MVE))
