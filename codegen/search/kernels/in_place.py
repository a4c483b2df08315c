"""Results in the bytes of arguments, as far as the user permits it.

Kernels that replace their argument are the slower ones: they are taken where that lowers the peak. Which way
a kernel runs follows from the plan: it says on which side of its argument a result lies.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, Protocol, TypeVar

from codegen.ir import Function, Var
from codegen.kernels.contract import Sharing
from codegen.kernels.primfunc import PrimFunc
from codegen.lifetimes.tie_faults import broken
from codegen.lifetimes.ties import Replaceable, may_replace, misfits, ties
from codegen.plan.clock import Clock
from codegen.problem.problem import MemoryPlan
from codegen.problem.shortage import DoesNotFit
from codegen.program.interface import Edge
from codegen.program.program import BufferSlice
from codegen.search.kernels.binding import Binder
from codegen.search.kernels.costs import cheapest
from codegen.settings import SharingMode

BALANCED_WORKSPACE_BYTES = 2048
"""The most that `--optimize balanced` gives a kernel to work in, for elements of one byte; wider ones get as
many elements."""


PLANNED_STEPS = 10_000
"""Most steps, of all functions together, that are planned to give fast kernels back.
A count, so that answers repeat; up to 70 steps it is never reached.
"""


class PlannedSteps(Protocol):
    """Result of a way of planning."""

    @property
    def prim_funcs(self) -> tuple[PrimFunc, ...]:
        """The steps planned."""
        ...

    @property
    def peak_bytes(self) -> int:
        """Sum of the pools' peaks."""
        ...

    @property
    def extra_cost(self) -> int:
        """Access cost beyond every buffer in its cheapest pool."""
        ...


P = TypeVar("P", bound=PlannedSteps)


@dataclass(frozen=True, kw_only=True, slots=True)
class Planner(Generic[P]):
    """`plan` plans PrimFuncs (raises DoesNotFit); `bound_bytes` is a lower bound of what that needs."""

    plan: Callable[[Sequence[PrimFunc]], P]
    bound_bytes: Callable[[Sequence[PrimFunc]], int]
    clock: Clock = field(default_factory=Clock)

    def fitting(self, prim_funcs: Sequence[PrimFunc]) -> P | DoesNotFit:
        """The plan, or what is said where it does not fit."""
        try:
            return self.plan(prim_funcs)
        except DoesNotFit as error:
            return error


def alternatives(
    function: Function,
    prim_funcs: Sequence[PrimFunc],
    binder: Binder,
    *,
    optimize: str,
    edge: Edge,
    best: Callable[[Sequence[PrimFunc]], PrimFunc] = cheapest,
) -> dict[int, PrimFunc]:
    """By step: the PrimFunc that replaces an argument, where there is one and nobody needs that later.

    Workspaces up to `BALANCED_WORKSPACE_BYTES` unless `optimize` is size. All of them can be taken together,
    and any part of them. `best` chooses where a step has several.
    """
    replaceable = Replaceable(function, prim_funcs, edge)
    able: list[tuple[int, PrimFunc]] = []
    for step, prim in enumerate(prim_funcs):
        for kernel in binder.able(prim.let, in_place=True):
            # Devices are planned already, the binding has them from the let.
            bound = binder.rebound(kernel, prim)
            if bound is None:
                continue
            most = max((space.size_bytes for space in bound.workspaces), default=0)
            room = BALANCED_WORKSPACE_BYTES * prim.let.var.type.dtype.size_bytes
            is_small = optimize == "size" or most <= room
            if is_small and replaceable.may(step, argument=bound.in_place):
                able.append((step, bound))

    def is_sound(others: Mapping[int, PrimFunc]) -> bool:
        return not broken(function, replaced(prim_funcs, others), edge)

    return _taken({}, able, best, is_sound)


def every_kernel(
    function: Function, prim_funcs: Sequence[PrimFunc], binder: Binder, edge: Edge
) -> dict[int, list[PrimFunc]]:
    """Further kernels by step: all that can run it, and those that work in place where that is sound."""
    others: dict[int, list[PrimFunc]] = {}
    for step, prim in enumerate(prim_funcs):
        if prim.is_call and prim.block is None and prim.tied is None and not prim.joined:
            others[step] = list(binder.others(prim))
    for best in (cheapest, _least_workspace):
        taken = alternatives(function, prim_funcs, binder, optimize="size", edge=edge, best=best)
        for step, prim in taken.items():
            others.setdefault(step, []).append(prim)
    return others


def _least_workspace(prim_funcs: Sequence[PrimFunc]) -> PrimFunc:
    return min(prim_funcs, key=lambda prim: sum(space.size_bytes for space in prim.workspaces))


def _taken(
    taken: dict[int, PrimFunc],
    able: Sequence[tuple[int, PrimFunc]],
    best: Callable[[Sequence[PrimFunc]], PrimFunc],
    is_sound: Callable[[Mapping[int, PrimFunc]], bool],
) -> dict[int, PrimFunc]:
    """Add to `taken` the alternatives of `able` that are sound with it, those in front first.

    A part of a sound set is sound. So all are tried at once, and halves of them where that fails.
    """
    every = dict(taken)
    for step, bound in able:
        every[step] = best([every[step], bound] if step in every else [bound])
    if all(every[step] is taken.get(step) for step, _ in able) or is_sound(every):
        return every
    if len(able) == 1:
        return taken
    middle = len(able) // 2
    return _taken(_taken(taken, able[:middle], best, is_sound), able[middle:], best, is_sound)


def replaced(prim_funcs: Sequence[PrimFunc], others: Mapping[int, PrimFunc]) -> tuple[PrimFunc, ...]:
    """`prim_funcs` with those of `others` in their steps."""
    return tuple(others.get(step, prim) for step, prim in enumerate(prim_funcs))


def lower_peak(
    prim_funcs: Sequence[PrimFunc], others: Mapping[int, PrimFunc], planner: Planner[P], plan: P
) -> P:
    """Lower the peak of `plan`, which places `prim_funcs`, by as few kernels of `others` as that takes.

    `others` has alternative kernels by step. All of them are tried together. Then each is taken back unless
    the peak would rise, since a slower kernel away from the peak gains nothing. Without a lower peak `plan`
    is returned.
    """
    prims = replaced(prim_funcs, others)
    if not others or planner.bound_bytes(prims) >= plan.peak_bytes:
        return plan
    best = planner.fitting(prims)
    if isinstance(best, DoesNotFit) or best.peak_bytes >= plan.peak_bytes:
        return plan
    return with_as_many(best, {step: prim_funcs[step] for step in others}, planner)


def with_as_many(best: P, others: Mapping[int, PrimFunc], planner: Planner[P], *, raises: bool = False) -> P:
    """Put kernels of `others` into plan `best` that keep its peak, or with `raises` that keep its limits.

    `others` has alternative kernels by step. All are tried at once. If that fails, each half is tried, down
    to single steps. The plan is the one that trying step after step would give, after far fewer plans where
    most alternatives change nothing. The plans that are tried have at most `PLANNED_STEPS` steps together.
    """
    groups = [sorted(others)] if others else []
    effort = PLANNED_STEPS
    while groups and effort > 0 and not planner.clock.late():
        group = groups.pop()
        effort -= len(best.prim_funcs)
        prims = replaced(best.prim_funcs, {step: others[step] for step in group})
        if raises or planner.bound_bytes(prims) <= best.peak_bytes:
            outcome = planner.fitting(prims)
            if not isinstance(outcome, DoesNotFit) and (raises or outcome.peak_bytes <= best.peak_bytes):
                best = outcome
                continue
        if len(group) > 1:
            middle = len(group) // 2
            groups += [group[middle:], group[:middle]]
    return best


def permitted(prim_funcs: Sequence[PrimFunc], mode: SharingMode) -> tuple[PrimFunc, ...]:
    """`prim_funcs` without the sharing that `mode` excludes."""
    if mode == "overlap":
        return tuple(prim_funcs)
    return tuple(replace(prim, sharing=_exact(prim, mode), reverse=None) for prim in prim_funcs)


def _exact(prim: PrimFunc, mode: SharingMode) -> tuple[Sharing, ...]:
    """Sharing rules that put the result exactly over an argument of equal size."""
    if mode == "none" or prim.block is not None:
        return ()
    rules: list[Sharing] = []
    for rule in prim.sharing:
        arg = prim.let.call.args[rule.argument]
        equal = isinstance(arg, Var) and arg.type.size_bytes == prim.let.var.type.size_bytes
        if equal and rule.below is not None and rule.below <= 0:
            rules.append(Sharing(argument=rule.argument, below=0))
    return tuple(rules)


def replacing(function: Function, prim_funcs: Sequence[PrimFunc], edge: Edge) -> tuple[PrimFunc, ...]:
    """Put every result over the first argument that it may replace and that nobody reads later.

    `permitted` has left exact sharing alone. Results share bytes with nothing else. A result stays apart
    where devices or kernels want it in another memory than the argument.
    """
    prims = list(prim_funcs)
    for step, prim in enumerate(prim_funcs):
        if prim.in_place is not None or prim.view is not None:
            continue
        free = [
            rule.argument
            for rule in prim.sharing
            if may_replace(function, prims, step, argument=rule.argument, edge=edge)
        ]
        prims[step] = replace(prim, sharing=())
        for argument in free:
            taken = replace(prim, sharing=(), in_place=argument)
            outcome = [*prims[:step], taken, *prims[step + 1 :]]
            if not misfits(ties(function, outcome), outcome):
                prims[step] = taken
                break
    return tuple(prims)


def directed(
    prim_funcs: Sequence[PrimFunc], slices: Mapping[str, BufferSlice], plan: MemoryPlan
) -> tuple[PrimFunc, ...]:
    """The PrimFuncs with one direction each: back to front where the result lies over its argument from
    above, front to back everywhere else. Each keeps only the sharing that its direction permits."""
    return tuple(_directed(prim, slices, plan) if prim.reverse else prim for prim in prim_funcs)


def _directed(prim: PrimFunc, slices: Mapping[str, BufferSlice], plan: MemoryPlan) -> PrimFunc:
    """Raises ValueError for a kernel with rules for several arguments: one direction has to suit them all."""
    if len(prim.sharing) != 1 or prim.reverse is None:
        raise ValueError(f"{prim.name}: a kernel that goes either way has one rule, for one argument")
    [rule] = prim.sharing
    if not _needs_reverse(prim, rule, slices, plan):
        forward = (replace(rule, above=None),) if rule.below is not None else ()
        return replace(prim, reverse=None, sharing=forward)
    return replace(
        prim,
        kernel=f"{prim.kernel}_reverse",
        symbol=prim.reverse.symbol,
        sources=prim.reverse.sources,
        reverse=None,
        sharing=(replace(rule, below=None),),
    )


def _needs_reverse(
    prim: PrimFunc, rule: Sharing, slices: Mapping[str, BufferSlice], plan: MemoryPlan
) -> bool:
    arg = prim.let.call.args[rule.argument]
    here, there = slices.get(prim.let.var.name), slices.get(arg.name) if isinstance(arg, Var) else None
    if here is None or there is None:
        return False
    result, argument = (plan.placements[part.buffer] for part in (here, there))
    start, source = result.offset + here.offset_bytes, argument.offset + there.offset_bytes
    together = start < source + there.size_bytes and source < start + here.size_bytes
    forward = rule.below is not None and start + rule.below <= source
    return result.pool == argument.pool and together and not forward
