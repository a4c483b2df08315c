"""Lean kernels: slower ones that work in fewer bytes, taken where a limit or `--optimize size` demands it,
and by `speed` where they cost next to nothing."""

import math
from collections.abc import Callable, Mapping, Sequence

from codegen.kernels.primfunc import PrimFunc
from codegen.problem.shortage import DoesNotFit
from codegen.search.kernels.binding import Binder
from codegen.search.kernels.costs import cheapest, cost
from codegen.search.kernels.in_place import P, Planner, lower_peak, with_as_many

SLOWER_PERCENT = 50
"""`--optimize size` takes a kernel of fewer bytes for at most so many more instructions."""

NEARLY_PERCENT = 6
"""`--optimize speed` takes a kernel that needs less room for at most so many more instructions of its step,
where that lowers the peak by `GAIN_PERCENT`."""
GAIN_PERCENT = 10
"""Less RAM that is worth these instructions, in percent of the peak."""


def alternatives(prim_funcs: Sequence[PrimFunc], binder: Binder, *, flash_worth: int) -> dict[int, PrimFunc]:
    """By step: the kernel that works in the fewest bytes, of those the one whose result may overlap its
    argument on both sides, of those the `cheapest`; where that is not the kernel the step has.

    None that is predicted to run more than `SLOWER_PERCENT` more instructions than that.
    Blocks, views, results that replace an argument and joins keep what they have.
    """
    smaller_kernels: dict[int, PrimFunc] = {}
    for step, prim in enumerate(prim_funcs):
        if prim.block is not None or prim.tied is not None or prim.joined or not prim.is_call:
            continue
        able = (prim, *binder.others(prim))
        smallest = of_fewest_bytes(able, flash_worth=flash_worth)
        if smallest is not prim:
            smaller_kernels[step] = smallest
    return smaller_kernels


def smaller(prim_funcs: Sequence[PrimFunc], binder: Binder) -> dict[int, PrimFunc]:
    """By step: the `cheapest` kernel that needs less room, where there is one."""
    others = {step: _smaller(prim, binder) for step, prim in enumerate(prim_funcs)}
    return {step: other for step, other in others.items() if other is not prim_funcs[step]}


def nearly_as_fast(prim_funcs: Sequence[PrimFunc], others: Mapping[int, PrimFunc]) -> dict[int, PrimFunc]:
    """Kernels of `others` that run at most `NEARLY_PERCENT` more instructions than the step of
    `prim_funcs`.
    """
    return {
        step: other for step, other in others.items() if _is_fast(other, prim_funcs[step], NEARLY_PERCENT)
    }


def faster(prim_funcs: Sequence[PrimFunc], others: Mapping[int, PrimFunc]) -> dict[int, PrimFunc]:
    """Kernels of `others` that save at least `NEARLY_PERCENT` of the instructions: a smaller gain is not
    worth another kernel's code.
    A kernel without a prediction saves nothing.
    """
    costs = {step: (cost(other, 0), cost(prim_funcs[step], 0)) for step, other in others.items()}
    worth = 1 + NEARLY_PERCENT / 100
    return {
        step: others[step] for step, (less, more) in costs.items() if less < math.inf and less * worth <= more
    }


Stages = Sequence[Mapping[int, PrimFunc]]
"""Other kernels by step: those in place, then those that need less room."""


def paying(first: P, stages: Callable[[Sequence[PrimFunc]], Stages], planner: Planner[P]) -> P:
    """`first` with those kernels in place that are faster (`faster`), as many as fit.

    Then with kernels of the `stages` of these steps, those of one after those of the other, each time only if
    that lowers the peak by `GAIN_PERCENT` and access costs no more.
    """
    others_by_stage = stages(first.prim_funcs)
    quicker = faster(first.prim_funcs, others_by_stage[0])
    if quicker:
        first = with_as_many(first, quicker, planner)
        others_by_stage = stages(first.prim_funcs)
    for others in others_by_stage:
        lower = lower_peak(first.prim_funcs, others, planner, first)
        if lower.peak_bytes * 100 <= first.peak_bytes * (100 - GAIN_PERCENT):
            first = first if lower.extra_cost > first.extra_cost else lower
    return first


def _smaller(prim: PrimFunc, binder: Binder) -> PrimFunc:
    if prim.block is not None or prim.tied is not None or prim.joined or not prim.is_call:
        return prim
    able = [other for other in binder.others(prim) if _room(other) < _room(prim)]
    return cheapest(able) if able else prim


def _room(prim: PrimFunc) -> int:
    sides = (side for rule in prim.sharing for side in (rule.below, rule.above))
    distance = min((side for side in sides if side is not None), default=prim.let.var.type.size_bytes)
    return sum(space.size_bytes for space in prim.workspaces) + distance


def _is_fast(other: PrimFunc, prim: PrimFunc, slower_percent: int) -> bool:
    return cost(other, 0) * 100 <= cost(prim, 0) * (100 + slower_percent)


def of_fewest_bytes(prim_funcs: Sequence[PrimFunc], *, flash_worth: int) -> PrimFunc:
    """The one that needs the fewest bytes, of those that run at most `SLOWER_PERCENT` more instructions than
    the fastest, as `alternatives` counts both."""
    fastest = cheapest(prim_funcs)
    able = [prim for prim in prim_funcs if _is_fast(prim, fastest, SLOWER_PERCENT)]
    return min(able, key=lambda prim: needed_bytes(prim, flash_worth))


def lowest(
    fast: Sequence[PrimFunc], plan: P, candidates: Sequence[Sequence[PrimFunc]], planner: Planner[P]
) -> P:
    """The lowest plan of `candidates`, with the kernels of `fast` again wherever that does not raise it;
    `plan`, that of `fast`, if none is lower."""
    best = plan
    for candidate in candidates:
        if planner.bound_bytes(candidate) < best.peak_bytes:
            outcome = planner.fitting(candidate)
            if not isinstance(outcome, DoesNotFit) and outcome.peak_bytes < best.peak_bytes:
                best = outcome
    if best is plan:
        return plan
    others = {step: prim for step, prim in enumerate(fast) if best.prim_funcs[step].kernel != prim.kernel}
    return with_as_many(best, others, planner)


def needed_bytes(prim: PrimFunc, flash_worth: int) -> tuple[int, bool, float]:
    """Order of kernels by need: bytes of workspace, overlap on one side only, cost."""
    one_sided = all(rule.above is None for rule in prim.sharing)
    return sum(space.size_bytes for space in prim.workspaces), one_sided, cost(prim, flash_worth)
