"""Int8 kernels with Helium that have no weights: ADD and SUB of one shape, average and maximum pools."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from codegen.ir import DType, Let, TensorType, Var
from codegen.ir.ops.base.parameters import AddParams, add_params, sub_params
from codegen.kernels.base.c_kernel import FastKernel, arg_type, row_kernel
from codegen.kernels.base.overlap import in_place
from codegen.kernels.base.registry import register
from codegen.kernels.base.result_limits import limits_of
from codegen.kernels.base.walk import Fields, params
from codegen.kernels.call import ARGUMENT, PARAMS, RESULT, ValueArg
from codegen.kernels.mve.convolution import HEADER, reverse_of
from codegen.kernels.mve.pixel_groups import striped_sharing
from codegen.kernels.portable.elementwise import AddInteger
from codegen.kernels.portable.pooling import Pool2D, pool_window
from codegen.kernels.primfunc import PrimFunc
from codegen.targets.arm import MVE

HALF = 1 << 30
"""Multiplier of a scale of one half: with shift 0 the argument is only shifted, exactly."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Scaling:
    """How an argument is brought to the common scale."""

    multiplier: int
    shift: int

    @property
    def is_exact(self) -> bool:
        """By one half or minus that: a shift does."""
        return abs(self.multiplier) == HALF and self.shift == 0

    def fields(self, type_: TensorType, left_shift: int, *, is_short: bool) -> Fields:
        """Fields of a `cg_add_argument_mve`; `is_short`: the kernel leaves multiplier and shift out."""
        sign = -1 if self.multiplier < 0 else 1
        scale, shift = 1 << left_shift, self.shift
        if is_short:
            scale = sign * scale // 2
        elif self.is_exact:
            # Twice as much to the left, once to the right: so the shift is negative, and nothing is lost.
            scale, shift = 2 * scale, -1
        return (
            ("scale", scale),
            ("offset", -type_.zero_point * scale),
            ("multiplier", self.multiplier),
            ("shift", shift),
        )


class Add(FastKernel):
    """ADD or SUB, two run-time arguments, no broadcasting."""

    kernel_set, takes_constants = MVE, True

    def __init__(self, op: str) -> None:
        self.op, self.name = op, f"{op.lower()}_s8_mve"
        self.portable = AddInteger(op, DType.INT8)

    def other_reason(self, let: Let) -> str | None:
        """Broadcasting, constants, a scale of the result that no shift goes with."""
        args = let.call.args
        if any(not isinstance(arg, Var) or arg.type.shape != let.var.type.shape for arg in args):
            return f"the kernel {self.name} is for two run-time arguments of one shape"
        scalings = self._scalings(let)
        shifts = [self._numbers(let).result_shift]
        shifts += [scaling.shift for scaling in scalings if not scaling.is_exact]
        return "a scale is not below one half" if max(shifts) > -1 else None

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        """See `Kernel.bind`."""
        del constants
        numbers = self._numbers(let)
        low, high = limits_of(let)
        lhs, rhs = self._scalings(let)
        exact = 1 if lhs.is_exact else 2 if rhs.is_exact else 0
        count = let.var.type.elements
        struct = params(
            "cg_add_params_mve",
            ("count", count),
            ("lhs", lhs.fields(arg_type(let, 0), numbers.left_shift, is_short=exact == 1)),
            ("rhs", rhs.fields(arg_type(let, 1), numbers.left_shift, is_short=exact == 2)),
            ("multiplier", numbers.result_multiplier),
            ("shift", numbers.result_shift),
            ("out_zero", let.var.type.zero_point),
            ("act_min", low),
            ("act_max", high),
            ("exact", exact),
        )
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol="cg_add_s8_mve",
            sources=("kernels/mve/add_s8_mve.S",),
            headers=(HEADER,),
            structs=(struct,),
            call_args=(PARAMS, ARGUMENT, ValueArg(index=1), RESULT),
            sharing=in_place(let, 0, 1),
            instructions=40 + -(-count // 4) * (18 if exact else 22),
            rows=row_kernel(let, "cg_add_s8_mve_run"),
        )

    def _numbers(self, let: Let) -> AddParams:
        rule = add_params if self.op == "ADD" else sub_params
        return rule(arg_type(let, 0), arg_type(let, 1), let.var.type)

    def _scalings(self, let: Let) -> tuple[Scaling, Scaling]:
        numbers = self._numbers(let)
        return (
            Scaling(multiplier=numbers.first_multiplier, shift=numbers.first_shift),
            Scaling(multiplier=numbers.second_multiplier, shift=numbers.second_shift),
        )


register(Add("ADD"))
register(Add("SUB"))


class PoolMve(FastKernel):
    """One of the pools: `channels` of a pixel at a time."""

    kernel_set = MVE

    def __init__(self, op: str, stem: str, channels: int) -> None:
        self.op, self.name = op, f"{stem}_s8_mve"
        self.symbol, self.channels = f"cg_{stem}_s8_mve", channels
        self.reverse_symbol = f"cg_{stem}_reverse_s8_mve"
        self.portable = Pool2D(op, f"{stem}_s8", DType.INT8)

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        """See `Kernel.bind`."""
        prim = self.portable.bind(let, constants, name)
        window = pool_window(let)
        sharing = striped_sharing(let, window, 1, chunk=self.channels)
        batch, height, width, channels = window.result
        taps = window.window[0] * window.window[1]
        blocks = -(-channels // self.channels)
        each = 30 + 6 * window.window[0] + 5 * taps + (80 if self.channels == 4 else 20)
        prim = replace(
            prim,
            kernel=self.name,
            symbol=self.symbol,
            sources=("kernels/mve/pool2d_s8_mve.c", "kernels/mve/pool_taps_s8_mve.S"),
            headers=(HEADER,),
            sharing=sharing,
            instructions=batch * height * width * (60 + blocks * each),
            rows=row_kernel(let, f"{self.symbol}_row", window),
        )
        return replace(prim, reverse=reverse_of(prim, sharing, self.reverse_symbol))


register(PoolMve("AVERAGE_POOL_2D", "avg_pool2d", 4))
register(PoolMve("MAX_POOL_2D", "max_pool2d", 16))
