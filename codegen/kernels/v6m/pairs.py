"""MAXIMUM, MINIMUM, MUL and PRELU on ARMv6-M cores."""

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
from codegen.targets.arm import V6M

MOST_SHIFT = 16
"""Right shift, at most: a product of 16 bits, a multiplier of 15 and both halves fit 32 bits."""
LOWER = 1 << 16
"""Factor of the multiplier's upper half."""
_NO_HALF = 1 << 14
"""Products are below 2^16: with a lower bit set than this the multiplier makes no half of 2^31."""


_AROUND = 11
"""Instructions that C around a run takes more than on other cores."""


class ExtremeV6m(RunKernel):
    """MAXIMUM or MINIMUM of int8."""

    def numbers(self, let: Let) -> RunNumbers:
        return RunNumbers(struct=EXTREMES_S8[self.op].numbers(let))

    def run_instructions(self, let: Let, count: int, *, aligned: bool) -> int:
        del let
        words = count // 4 if aligned else 0
        return _AROUND + 24 + 22 * words + 9 * (count - 4 * words)


class MulV6m(RunKernel):
    """MUL, results over all of int8."""

    def other_reason(self, let: Let) -> str | None:
        """Refuse broadcasting along the last axis, a narrower range, a scale whose halves are not seen."""
        reason = clamp_reason(let) or super().other_reason(let)
        if reason is not None:
            return reason
        return _scale_reason(*mul_multiplier(arg_type(let, 0), arg_type(let, 1), let.var.type))

    def numbers(self, let: Let) -> RunNumbers:
        scale = mul_multiplier(arg_type(let, 0), arg_type(let, 1), let.var.type)
        return RunNumbers(struct=params("cg_mul_params_v6m", *_product_fields(let, *scale)))

    def run_instructions(self, let: Let, count: int, *, aligned: bool) -> int:
        del aligned
        multiplier, _ = mul_multiplier(arg_type(let, 0), arg_type(let, 1), let.var.type)
        return _AROUND + 34 + (27 if multiplier % LOWER else 24) * count


class PreluV6m(RunKernel):
    """PRELU: results of values from the zero point on are looked up."""

    def other_reason(self, let: Let) -> str | None:
        """Refuse broadcasting along the last axis, a scale whose halves are not seen."""
        scales = prelu_params(arg_type(let, 0), arg_type(let, 1), let.var.type)
        reason = super().other_reason(let)
        return reason or _scale_reason(scales.negative_multiplier, scales.negative_shift)

    def numbers(self, let: Let) -> RunNumbers:
        scales = prelu_params(arg_type(let, 0), arg_type(let, 1), let.var.type)
        fields = _product_fields(let, scales.negative_multiplier, scales.negative_shift)
        positive = ("positive", ConstantPointer(role="positive"))
        struct = params("cg_prelu_params_v6m", *fields, positive)
        return RunNumbers(struct=struct, constants=(positive_table(let),))

    def run_instructions(self, let: Let, count: int, *, aligned: bool) -> int:
        """Instructions where half of the values are below the zero point."""
        del aligned
        scales = prelu_params(arg_type(let, 0), arg_type(let, 1), let.var.type)
        below = 29 if scales.negative_multiplier % LOWER else 26
        return _AROUND + 38 + (below + 9) * count // 2


def _scale_reason(multiplier: int, shift: int) -> str | None:
    """Why the two short products are not exact, or None."""
    if not 0 <= -shift <= MOST_SHIFT:
        return f"a scale is not from 2^-{MOST_SHIFT + 1} to below 1"
    if multiplier % LOWER and multiplier % _NO_HALF == 0:
        return "a scale's halves are not seen"
    return None


def _product_fields(let: Let, multiplier: int, shift: int) -> Fields:
    """Fields of a product by `multiplier`, `-shift` bits to the right."""
    return (
        ("shape", broadcast_fields(let)),
        ("lhs_offset", -arg_type(let, 0).zero_point),
        ("rhs_offset", -arg_type(let, 1).zero_point),
        ("high", multiplier // LOWER),
        ("low", multiplier % LOWER),
        ("half", (1 << 14) + ((1 << (14 - shift)) if shift else 0)),
        ("shift", 15 - shift),
        ("zero", let.var.type.zero_point + 128),
    )


for _kernel in EXTREMES_S8.values():
    register(ExtremeV6m(_kernel, "extreme_s8", V6M))
register(MulV6m(MUL_S8, "mul_s8", V6M))
register(PreluV6m(PRELU_S8, "prelu_s8", V6M))
