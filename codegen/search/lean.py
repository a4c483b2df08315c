"""Lean kernels: slower ones that work in fewer bytes, taken where a limit or `--optimize size` demands it."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from codegen.ir import Target
from codegen.kernels.primfunc import PrimFunc
from codegen.kernels.registry import kernels_for
from codegen.plan.shortage import DoesNotFit
from codegen.search.in_place import P, Planner, replaced

WORTH_PERCENT = 10
"""`--optimize size` gives up fast kernels only if the peak falls by at least this much."""


def alternatives(
    prim_funcs: Sequence[PrimFunc], constants: Mapping[str, np.ndarray], target: Target
) -> dict[int, PrimFunc]:
    """By step: the kernel that works in the fewest bytes, of those the one whose result may overlap its
    argument on both sides, of those the fastest; where that is not the kernel the step has.

    Blocks, views, results that replace an argument and joins keep what they have.
    """
    found: dict[int, PrimFunc] = {}
    for step, prim in enumerate(prim_funcs):
        if prim.block is not None or prim.tied is not None or prim.joined or not prim.is_call:
            continue
        least = leanest((prim, *_others(prim, constants, target)))
        if least is not prim:
            found[step] = least
    return found


def leanest(prim_funcs: Sequence[PrimFunc]) -> PrimFunc:
    """The one that needs the fewest bytes, as `alternatives` counts them."""
    return min(prim_funcs, key=_needs)


def restored(low: P, fast: Sequence[PrimFunc], planner: Planner[P]) -> P:
    """`low` with the kernels of `fast` again in every step where that does not raise the peak."""
    for step, prim in enumerate(fast):
        if low.prim_funcs[step].kernel == prim.kernel or low.prim_funcs[step].in_place is not None:
            continue
        prims = replaced(low.prim_funcs, {step: prim})
        if planner.bound_bytes(prims) > low.peak_bytes:
            continue
        tried = planner.fitting(prims)
        if not isinstance(tried, DoesNotFit) and tried.peak_bytes <= low.peak_bytes:
            low = tried
    return low


def _others(prim: PrimFunc, constants: Mapping[str, np.ndarray], target: Target) -> list[PrimFunc]:
    able = [
        kernel
        for kernel in kernels_for(prim.let.call.op.name)
        if not kernel.is_in_place and kernel.name != prim.kernel and kernel.refusal(prim.let, target) is None
    ]
    return [kernel.bind(prim.let, constants, prim.name) for kernel in able]


def _needs(prim: PrimFunc) -> tuple[int, bool, float]:
    one_sided = all(rule.above is None for rule in prim.sharing)
    speed = math.inf if prim.instructions is None else prim.instructions
    return sum(space.size_bytes for space in prim.workspaces), one_sided, speed


def is_worth(lower_bytes: int, before_bytes: int) -> bool:
    """Whether `--optimize size` takes a plan of lean kernels instead of one that needs `before_bytes`."""
    return lower_bytes * 100 <= before_bytes * (100 - WORTH_PERCENT)
