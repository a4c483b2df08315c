"""Lean kernels: slower ones that work in fewer bytes, taken where a limit or `--optimize size` demands it,
and by `speed` where they cost next to nothing."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

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


def alternatives(
    prim_funcs: Sequence[PrimFunc], binder: Binder, *, slower_percent: int | None, flash_worth: int
) -> dict[int, PrimFunc]:
    """By step: the kernel that works in the fewest bytes, of those the one whose result may overlap its
    argument on both sides, of those the `cheapest`; where that is not the kernel the step has.

    None that is predicted to run more than `slower_percent` more instructions than that (None: any may).
    Blocks, views, results that replace an argument and joins keep what they have.
    """
    found: dict[int, PrimFunc] = {}
    for step, prim in enumerate(prim_funcs):
        if prim.block is not None or prim.tied is not None or prim.joined or not prim.is_call:
            continue
        able = (prim, *binder.others(prim))
        smallest = of_fewest_bytes(able, slower_percent=slower_percent, flash_worth=flash_worth)
        if smallest is not prim:
            found[step] = smallest
    return found


def smaller(prim_funcs: Sequence[PrimFunc], binder: Binder) -> dict[int, PrimFunc]:
    """By step: the `cheapest` kernel that needs less room, where there is one."""
    others = {step: _smaller(prim, binder) for step, prim in enumerate(prim_funcs)}
    return {step: other for step, other in others.items() if other is not prim_funcs[step]}


def nearly_as_fast(prim_funcs: Sequence[PrimFunc], others: Mapping[int, PrimFunc]) -> dict[int, PrimFunc]:
    """Those of `others` that run at most `NEARLY_PERCENT` more instructions than the step of `prim_funcs`."""
    return {
        step: other for step, other in others.items() if _is_fast(other, prim_funcs[step], NEARLY_PERCENT)
    }


def faster(prim_funcs: Sequence[PrimFunc], others: Mapping[int, PrimFunc]) -> dict[int, PrimFunc]:
    """Of `others` those that save at least `NEARLY_PERCENT` of their own instructions: less is not worth
    another kernel's code. One without a prediction saves nothing."""
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


def nearer(prim_funcs: Sequence[PrimFunc], binder: Binder, planner: Planner[P]) -> P | None:
    """The first plan that fits of kernels that need ever less room, those of `prim_funcs` again where they
    still fit; None if there is none."""
    for candidate in _ever_smaller(prim_funcs, binder):
        if not planner.may_fit(candidate):
            continue
        found = planner.fitting(candidate)
        if not isinstance(found, DoesNotFit):
            steps = enumerate(zip(prim_funcs, candidate, strict=True))
            others = {step: prim for step, (prim, other) in steps if prim is not other}
            return with_as_many(found, others, planner, raises=True)
    return None


def _ever_smaller(prim_funcs: Sequence[PrimFunc], binder: Binder) -> Iterator[tuple[PrimFunc, ...]]:
    """The steps with kernels that need ever less room, each the `cheapest` of those that need less than the
    one before it, until there is none: of a kernel its workspaces, and how far its result stays from its
    argument. Blocks, views, results that replace an argument and joins keep what they have."""
    current = tuple(prim_funcs)
    while True:
        found = tuple(_smaller(prim, binder) for prim in current)
        if all(other is prim for other, prim in zip(found, current, strict=True)):
            return
        yield found
        current = found


def _smaller(prim: PrimFunc, binder: Binder) -> PrimFunc:
    if prim.block is not None or prim.tied is not None or prim.joined or not prim.is_call:
        return prim
    able = [other for other in binder.others(prim) if _room(other) < _room(prim)]
    return cheapest(able) if able else prim


def _room(prim: PrimFunc) -> int:
    sides = (side for rule in prim.sharing for side in (rule.below, rule.above))
    distance = min((side for side in sides if side is not None), default=prim.let.var.type.size_bytes)
    return sum(space.size_bytes for space in prim.workspaces) + distance


def _is_fast(other: PrimFunc, prim: PrimFunc, slower_percent: int | None) -> bool:
    return slower_percent is None or cost(other, 0) * 100 <= cost(prim, 0) * (100 + slower_percent)


def of_fewest_bytes(
    prim_funcs: Sequence[PrimFunc], *, slower_percent: int | None, flash_worth: int
) -> PrimFunc:
    """The one that needs the fewest bytes, of those that run at most `slower_percent` more instructions than
    the fastest, as `alternatives` counts both."""
    first = cheapest(prim_funcs)
    able = [prim for prim in prim_funcs if _is_fast(prim, first, slower_percent)]
    return min(able, key=lambda prim: _needs(prim, flash_worth))


def lowest(
    fast: Sequence[PrimFunc],
    first: P | DoesNotFit,
    candidates: Sequence[Sequence[PrimFunc]],
    planner: Planner[P],
) -> P:
    """The lowest plan of `candidates`, with the kernels of `fast` again wherever that does not raise it;
    `first`, the plan of `fast`, if none is lower. Raises DoesNotFit if nothing fits."""
    best = first
    for candidate in candidates:
        if not isinstance(best, DoesNotFit) and planner.bound_bytes(candidate) >= best.peak_bytes:
            continue
        found = planner.fitting(candidate)
        if isinstance(found, DoesNotFit):
            continue
        if isinstance(best, DoesNotFit) or found.peak_bytes < best.peak_bytes:
            best = found
    if isinstance(best, DoesNotFit):
        raise best
    return best if best is first else restored(best, fast, planner)


def restored(low: P, fast: Sequence[PrimFunc], planner: Planner[P]) -> P:
    """`low` with the kernels of `fast` again in every step where that does not raise the peak. Both have the
    same steps."""
    others = {step: prim for step, prim in enumerate(fast) if low.prim_funcs[step].kernel != prim.kernel}
    return with_as_many(low, others, planner)


def _needs(prim: PrimFunc, flash_worth: int) -> tuple[int, bool, float]:
    one_sided = all(rule.above is None for rule in prim.sharing)
    return sum(space.size_bytes for space in prim.workspaces), one_sided, cost(prim, flash_worth)
