"""Lean kernels: slower ones that work in fewer bytes, taken where a limit or `--optimize size` demands it."""

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from codegen.ir import Target
from codegen.kernels.primfunc import PrimFunc
from codegen.kernels.registry import kernels_for
from codegen.plan.shortage import DoesNotFit
from codegen.search.in_place import P, Planner, replaced

WORTH_PERCENT = 10
"""`--optimize size` gives up fast kernels only if the peak falls by at least this much."""


class Bindings:
    """Every other kernel that can run a step, bound; found once for a step, whatever the attempt."""

    def __init__(self, constants: Mapping[str, np.ndarray], target: Target) -> None:
        """`constants`: data by ConstRef id."""
        self._constants, self._target = constants, target
        self._found: dict[int, tuple[PrimFunc, tuple[PrimFunc, ...]]] = {}

    def others(self, prim: PrimFunc) -> tuple[PrimFunc, ...]:
        """The step of `prim` bound to the kernels it does not have, in place excepted."""
        # By identity: comparing packed weights costs more than binding. The key's owner is kept, so no other
        # PrimFunc can get its number.
        if id(prim) not in self._found:
            self._found[id(prim)] = prim, tuple(self._bound(prim))
        return self._found[id(prim)][1]

    def _bound(self, prim: PrimFunc) -> Iterator[PrimFunc]:
        for kernel in kernels_for(prim.let.call.op.name):
            if kernel.is_in_place or kernel.name == prim.kernel:
                continue
            if kernel.refusal(prim.let, self._target) is None:
                yield kernel.bind(prim.let, self._constants, prim.name)


def alternatives(prim_funcs: Sequence[PrimFunc], bindings: Bindings) -> dict[int, PrimFunc]:
    """By step: the kernel that works in the fewest bytes, of those the one whose result may overlap its
    argument on both sides, of those the fastest; where that is not the kernel the step has.

    Blocks, views, results that replace an argument and joins keep what they have.
    """
    found: dict[int, PrimFunc] = {}
    for step, prim in enumerate(prim_funcs):
        if prim.block is not None or prim.tied is not None or prim.joined or not prim.is_call:
            continue
        least = leanest((prim, *bindings.others(prim)))
        if least is not prim:
            found[step] = least
    return found


def leanest(prim_funcs: Sequence[PrimFunc]) -> PrimFunc:
    """The one that needs the fewest bytes, as `alternatives` counts them."""
    return min(prim_funcs, key=_needs)


def lowest(
    fast: Sequence[PrimFunc],
    first: P | DoesNotFit,
    ways: Sequence[Sequence[PrimFunc]],
    planner: Planner[P],
    *,
    at_most_bytes: int | None,
) -> P:
    """The lowest plan of `ways`, with the kernels of `fast` again wherever that does not raise it; `first`,
    the plan of `fast`, if none is lower and needs `at_most_bytes` (None: any will do). Raises DoesNotFit if
    nothing fits."""
    best = first
    for way in ways:
        if at_most_bytes is not None and planner.bound_bytes(way) > at_most_bytes:
            continue
        found = planner.fitting(way)
        if isinstance(found, DoesNotFit) or (at_most_bytes is not None and found.peak_bytes > at_most_bytes):
            continue
        if isinstance(best, DoesNotFit) or found.peak_bytes < best.peak_bytes:
            best = found
    if isinstance(best, DoesNotFit):
        raise best
    return best if best is first else _restored(best, fast, planner)


def _restored(low: P, fast: Sequence[PrimFunc], planner: Planner[P]) -> P:
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


def _needs(prim: PrimFunc) -> tuple[int, bool, float]:
    one_sided = all(rule.above is None for rule in prim.sharing)
    speed = math.inf if prim.instructions is None else prim.instructions
    return sum(space.size_bytes for space in prim.workspaces), one_sided, speed


def worth_bytes(before_bytes: int) -> int:
    """The most that a plan of lean kernels may need for `--optimize size` to take it instead of one that
    needs `before_bytes`."""
    return before_bytes * (100 - WORTH_PERCENT) // 100
