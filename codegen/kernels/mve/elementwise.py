"""Int8 kernels with Helium that have no weights: ADD and SUB of one shape, average and maximum pools."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from codegen.ir import DType, Let, TensorType, Var
from codegen.ir.operator import Attrs, Op
from codegen.kernels.base.c_kernel import FastKernel, row_kernel
from codegen.kernels.base.overlap import in_place
from codegen.kernels.base.registry import register
from codegen.kernels.base.result_limits import limits_of
from codegen.kernels.base.walk import params
from codegen.kernels.call import ARGUMENT, PARAMS, RESULT, ValueArg
from codegen.kernels.mve.convolution import HEADER, reverse_of
from codegen.kernels.mve.pixel_groups import striped_sharing
from codegen.kernels.portable.elementwise import AddInteger
from codegen.kernels.portable.pooling import Pool2D, pool_window
from codegen.kernels.primfunc import PrimFunc
from codegen.targets.arm import MVE


@dataclass(frozen=True, kw_only=True, slots=True)
class _Once:
    """A sum that is scaled once: (first * `first` + second * `second` + `offset`) >> `shift`, rounded."""

    first: int
    second: int
    offset: int
    shift: int


_BYTES = np.arange(-128, 128, dtype=np.int64)
_NEAR = sorted(
    ((one, other) for one in range(-3, 4) for other in range(-3, 4)), key=lambda at: math.hypot(*at)
)
"""Distances of the factors that are tried from the real ones, in order."""


@lru_cache(maxsize=1 << 8)
def _once(
    op: Op, attrs: Attrs, types: tuple[TensorType, TensorType, TensorType], limits: tuple[int, int]
) -> _Once | None:
    """The `_Once` that equals the operator for all 65,536 pairs of values, if one is found; `limits` of the
    result, types of any shape.

    Each pair of values bounds the offset that goes with two factors: those that round as the operator does.
    """
    first, second, result = types
    values = (_BYTES.astype(np.int8)[:, None], _BYTES.astype(np.int8)[None, :])
    results = np.clip(op.evaluate(attrs, values, (first, second), result), *limits).astype(np.int64)
    sign = -1 if op.name == "SUB" else 1
    ratios = first.scale / result.scale, sign * second.scale / result.scale
    offset = result.zero_point - ratios[0] * first.zero_point - ratios[1] * second.zero_point
    # Sums, with half a result more, stay within 32 bits.
    shift = 31 - math.ceil(math.log2(130 * (abs(ratios[0]) + abs(ratios[1])) + abs(offset) + 2))
    if shift < 1:
        return None
    least = (results << shift) - (1 << shift - 1)
    above, below = results > limits[0], results < limits[1]
    real = [round(ratio * 2.0**shift) for ratio in ratios]
    for near in _NEAR:
        one, other = real[0] + near[0], real[1] + near[1]
        free = least - (_BYTES[:, None] * one + _BYTES[None, :] * other)
        low = int(free.max(where=above, initial=-(1 << 31)))
        high = int(free.min(where=below, initial=1 << 31)) + (1 << shift) - 1
        if low <= high:
            rest = min(max(round(offset * 2.0**shift), low), high)
            return _Once(first=one, second=other, offset=rest, shift=shift)
    return None


class Add(FastKernel):
    """ADD or SUB, two run-time arguments, no broadcasting."""

    kernel_set, takes_constants = MVE, True

    def __init__(self, op: str) -> None:
        self.op, self.name = op, f"{op.lower()}_s8_mve"
        self.portable = AddInteger(op, DType.INT8)

    def other_reason(self, let: Let) -> str | None:
        """Refuse broadcasting, constants, and scales that no sum of two products expresses."""
        args = let.call.args
        if any(not isinstance(arg, Var) or arg.type.shape != let.var.type.shape for arg in args):
            return f"the kernel {self.name} is for two run-time arguments of one shape"
        return (
            None
            if _once_of(let)
            else "no sum that is scaled once equals the operator for all pairs of values"
        )

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        del constants
        once, (low, high) = _once_of(let), limits_of(let)
        assert once is not None, "see `other_reason`"
        count = let.var.type.elements
        struct = params(
            "cg_add_params_mve",
            ("count", count),
            ("lhs", once.first),
            ("rhs", once.second),
            ("offset", once.offset),
            ("shift", -once.shift),
            ("act_min", low),
            ("act_max", high),
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
            instructions=20 + 9 * -(-count // 4),
            rows=row_kernel(let, "cg_add_s8_mve_run"),
        )


def _once_of(let: Let) -> _Once | None:
    first, second, result = (
        replace(type_, shape=()) for type_ in (*let.call.types[:2], let.var.type) if type_
    )
    return _once(let.call.op, let.call.attrs, (first, second, result), limits_of(let))


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
        prim = self.portable.bind(let, constants, name)
        window = pool_window(let)
        sharing = striped_sharing(let, window, 1, chunk=self.channels)
        batch, height, width, channels = window.result
        taps = window.window[0] * window.window[1]
        blocks = -(-channels // self.channels)
        block = 30 + 6 * window.window[0] + 5 * taps + (80 if self.channels == 4 else 20)
        prim = replace(
            prim,
            kernel=self.name,
            symbol=self.symbol,
            sources=("kernels/mve/pool2d_s8_mve.c", "kernels/mve/pool_taps_s8_mve.S"),
            headers=(HEADER,),
            sharing=sharing,
            instructions=batch * height * width * (60 + blocks * block),
            rows=row_kernel(let, f"{self.symbol}_row", window),
        )
        return replace(prim, reverse=reverse_of(prim, sharing, self.reverse_symbol))


register(PoolMve("AVERAGE_POOL_2D", "avg_pool2d", 4))
register(PoolMve("MAX_POOL_2D", "max_pool2d", 16))
