"""Steps that need no copy: slices as views, arguments of a CONCATENATION born in its result's bytes.

A view keeps its argument's buffer where it is, a join its result's from the first argument on, so either may
cost memory; both save a copy. They are taken where they do not raise the peak.
"""

from collections.abc import Callable, Mapping, Sequence

from codegen.ir import Function
from codegen.kernels.base.views import joinable, joined, slice_view
from codegen.kernels.primfunc import PrimFunc
from codegen.lifetimes.tie_faults import broken
from codegen.problem.shortage import DoesNotFit
from codegen.program.interface import Edge
from codegen.program.program import core_of
from codegen.search.kernels.in_place import P, Planner, replaced, with_as_many

_FUTILE_PLANS = 4
"""So many in a row that are not lower end the search for views to give up: each is a placement. In the 2,256
small models that the importer's fuzz starts from, none was lower."""


def alternatives(function: Function, prim_funcs: Sequence[PrimFunc], edge: Edge) -> dict[int, PrimFunc]:
    """By step: the PrimFunc that does without a copy, or with a smaller one. All of them can be taken
    together, and any part of them.

    Earlier steps, and of one step earlier arguments, come first where two exclude each other. A step of which
    a certain memory is demanded copies: without a call it would read nothing there.
    """
    views: dict[int, PrimFunc] = {}

    def holds(step: int, prim: PrimFunc) -> bool:
        prims = replaced(prim_funcs, {**views, step: prim})
        return not broken(function, prims, edge)

    for step, prim in enumerate(prim_funcs):
        if (prim.memory and not prim.inlets) or core_of(prim):
            continue
        view = slice_view(prim)
        if view is not None and holds(step, view):
            views[step] = view
        arguments = _held(joinable(prim), lambda some, step=step, prim=prim: holds(step, joined(prim, some)))
        if arguments:
            views[step] = joined(prim, arguments)
    return views


def _held(arguments: tuple[int, ...], holds: Callable[[tuple[int, ...]], bool]) -> tuple[int, ...]:
    """Arguments that hold together, earlier ones first: all are tried at once, and halves of those that do
    not hold.
    A loop that is unrolled joins hundreds.
    """
    held: tuple[int, ...] = ()
    waiting = [arguments] if arguments else []
    while waiting:
        some = waiting.pop()
        if holds((*held, *some)):
            held += some
        elif len(some) > 1:
            half = len(some) // 2
            waiting += [some[half:], some[:half]]
    return held


def choose(
    prim_funcs: Sequence[PrimFunc], others: Mapping[int, PrimFunc], planner: Planner[P], *, eager: bool
) -> P:
    """The plan of `prim_funcs` with those of `others` that do not raise its peak; `eager`: all that fit.

    Raises DoesNotFit if it fits neither without any nor with all of them, for what came nearest.
    """
    if not others:
        return planner.plan(prim_funcs)
    none, every = planner.fitting(prim_funcs), planner.fitting(replaced(prim_funcs, others))
    if isinstance(every, DoesNotFit):
        if isinstance(none, DoesNotFit):
            raise min(none, every, key=lambda error: error.missing_bytes)
        return with_as_many(none, others, planner, raises=eager)
    if eager:
        return every
    if isinstance(none, DoesNotFit) or every.peak_bytes <= none.peak_bytes:
        return _removing(prim_funcs, others, planner, every)
    return with_as_many(none, others, planner)


def _removing(
    prim_funcs: Sequence[PrimFunc], others: Mapping[int, PrimFunc], planner: Planner[P], best: P
) -> P:
    """`best`, the plan with all, or a lower one without those that stand in its way."""
    chosen, futile = dict(others), 0
    for step in others:
        if planner.clock.late() or futile >= _FUTILE_PLANS:
            break
        fewer = {other: prim for other, prim in chosen.items() if other != step}
        prims = replaced(prim_funcs, fewer)
        if planner.bound_bytes(prims) >= best.peak_bytes:
            continue
        outcome = planner.fitting(prims)
        if not isinstance(outcome, DoesNotFit) and outcome.peak_bytes < best.peak_bytes:
            chosen, best, futile = fewer, outcome, 0
        else:
            futile += 1
    return best
