"""The frontier of a function: ways to run it, from the fewest instructions to the fewest bytes.

A way is a choice of kernel, block and view for all steps. No limit decides which ways there are. A limit
takes the way of fewest instructions that fits, so a tighter limit never leads to a faster plan. The curve of
RAM against work shows the same ways.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from codegen.ir import Function, Var
from codegen.kernels.base.portable_work import estimated_work
from codegen.kernels.primfunc import PrimFunc
from codegen.plan.place.budgets import Budgets, shortage, smallest_budgets
from codegen.problem.problem import NO_LIMIT_BYTES, Pool, has_room, limited, overfull, peak_bytes
from codegen.problem.shortage import DoesNotFit
from codegen.progress import Progress
from codegen.search.blocks.row_blocks import apply
from codegen.search.blocks.tiling import Tiling
from codegen.search.kernels.in_place import replaced
from codegen.search.memory import wider_turns
from codegen.search.memory.attempt import Attempt, Planning

MOST_STEPS = 1000
"""Most steps in all ways of one function together. A count, not a time, so that answers repeat."""

_AGAIN = 32
"""Most ways that are placed a second time, without limits: the plan within limits may miss one that fits."""

_LOWER, _TURNS_PERCENT = 3, 15
"""So many plans of tighter limits are looked at, whether they are faster; what rows of several a turn save at
most, about."""

_ASKED_STEPS = 1200
"""Most steps in all plans that are tried to find the smallest budgets of RAM."""
_FEWEST_ASKED = 8
"""Budgets of RAM that are tried however many steps a plan has."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ChosenSteps:
    """Steps that compute a function, all chosen: kernels, blocks, views."""

    planning: Planning
    function: Function
    prim_funcs: tuple[PrimFunc, ...]
    instructions: int
    """Predicted instructions of an inference; cycles where a memory model is named."""
    bound_bytes: int
    """Lower bound of the bytes in all pools together."""

    def placed(self, pools: tuple[Pool, ...]) -> Attempt:
        """The plan of these steps in `pools`. Raises DoesNotFit."""
        planning = self.planning.in_pools(pools)
        return planning.finished(planning.place(self.function, self.prim_funcs))

    def placed_as_roomy(self, pools: tuple[Pool, ...]) -> Attempt:
        """The plan that is found without the limits of `pools`, if it keeps them. Raises DoesNotFit.

        The search within limits may miss it.
        """
        attempt = self.placed(limited(pools, {pool.name: NO_LIMIT_BYTES for pool in pools}))
        attempt = replace(attempt, problem=replace(attempt.problem, pools=pools))
        if _is_over(attempt):
            raise shortage(attempt.problem, attempt.plan)
        return attempt


def inference_instructions(prim_funcs: Sequence[PrimFunc]) -> int:
    """Instructions of these steps, or cycles: predicted, or assumed for kernels without a prediction."""
    return sum(estimated_work(prim) for prim in prim_funcs if prim.is_call)


class Frontier:
    """The ways of one function, and the plans that limits choose from them."""

    def __init__(
        self,
        plannings: Sequence[Planning],
        others: Callable[[], Iterable[tuple[Planning, Attempt]]],
        asked: Attempt | None,
    ) -> None:
        """`plannings` differ in their kernels, from the fastest to the fewest bytes. Only the first and the
        last may run steps twice. `others`: plans of another search; `asked`: the one of them that is taken
        without limits."""
        self._plannings, self._others, self._asked = tuple(plannings), others, asked

    @cached_property
    def ways(self) -> tuple[ChosenSteps, ...]:
        """All ways, those of fewest instructions first. Ways that are quicker than the plan without limits
        and no larger come last: that plan takes less flash, and a limit of RAM buys no speed by flash."""
        known = [_way(planning, attempt.function, attempt.prim_funcs) for planning, attempt in self._others()]
        seen: set[tuple[object, ...]] = set()
        for planning in self._plannings:
            known += _ways(planning, seen)
        for planning in (self._plannings[0], self._plannings[-1]):
            for grouping in ("whole", "blocks"):
                for again in planning.recomputing(grouping):
                    known += _ways(again, seen)
        return tuple(
            sorted(known, key=lambda way: (self._is_refused(way), way.instructions, way.bound_bytes))
        )

    def _is_refused(self, way: ChosenSteps) -> bool:
        """True if the plan without limits costs more than this way, in bytes and in instructions."""
        asked = self._asked
        if asked is None or way.bound_bytes > asked.peak_bytes:
            return False
        return way.instructions < inference_instructions(asked.prim_funcs)

    def fitting(self, pools: tuple[Pool, ...]) -> Attempt:
        """The way of fewest instructions that fits `pools`.

        Raises DoesNotFit, which holds the smallest plan against the limits and has the smallest ones that do.
        """
        return self.fastest(pools) or self._least_within(pools)

    def fastest(self, pools: tuple[Pool, ...]) -> Attempt | None:
        """The way of fewest instructions that fits `pools`, of those that make memory cost least to access;
        None if none fits.

        Rows of several a turn make ways faster, in blocks alone. So the plan of a tighter limit may be faster
        than this one: the fastest of the next few is taken.
        """
        best = self._quickest(pools)
        lower = best
        for _ in range(_LOWER):
            if len(pools) != 1 or best is None or lower is None or not lower.block_steps:
                break
            most = inference_instructions(best.prim_funcs) * 100 // (100 - _TURNS_PERCENT)
            lower = self._quickest(limited(pools, {pools[0].name: lower.peak_bytes - 1}), most)
            if lower and inference_instructions(lower.prim_funcs) < inference_instructions(best.prim_funcs):
                best = replace(lower, problem=replace(lower.problem, pools=pools))
        return best

    def _quickest(self, pools: tuple[Pool, ...], most_instructions: int | None = None) -> Attempt | None:
        """The first way that fits, rows of several a turn in its blocks where that pays and fits; None also
        where its instructions without such rows are more than `most_instructions`."""
        known = self._first_way(pools)
        if known is None or (most_instructions is not None and known[0].instructions > most_instructions):
            return None
        return wider_turns.faster(known[0].planning.in_pools(pools), known[1])

    def _first_way(self, pools: tuple[Pool, ...]) -> tuple[ChosenSteps, Attempt] | None:
        """The first way that fits `pools`, of those that make memory cost least to access."""
        best: tuple[ChosenSteps, Attempt] | None = None
        left = _AGAIN
        for way in self.ways:
            if not has_room(pools, way.bound_bytes):
                continue
            try:
                attempt = way.placed(pools)
            except DoesNotFit:
                left -= 1
                if left < 0:
                    continue
                try:
                    attempt = way.placed_as_roomy(pools)
                except DoesNotFit:
                    continue
            if best is None or attempt.extra_cost < best[1].extra_cost:
                best = way, attempt
            if not attempt.extra_cost or way.planning.choices.clock.late():
                break
        return best

    def points(self, pools: tuple[Pool, ...], progress: Progress, stage: str) -> list[Attempt]:
        """Plans in order: each needs fewer bytes and more instructions than the one before it."""
        plans: list[Attempt] = []
        for index, way in enumerate(self.ways):
            progress(stage, index, len(self.ways))
            if not has_room(pools, way.bound_bytes) or (plans and way.bound_bytes >= plans[-1].peak_bytes):
                continue
            try:
                attempt = way.placed(pools)
            except DoesNotFit:
                continue
            if not plans or attempt.peak_bytes < plans[-1].peak_bytes:
                if plans and inference_instructions(plans[-1].prim_funcs) == way.instructions:
                    plans.pop()  # As much work for more bytes.
                plans.append(attempt)
        return plans or [self.fitting(pools)]

    def _least_within(self, pools: tuple[Pool, ...]) -> Attempt:
        """The plan of fewest bytes, if `fastest` missed that it fits. Raises DoesNotFit as `fitting` does."""
        attempt, lifted = self._least(pools)
        if not _is_over(attempt):
            return attempt
        attempt, budgets = self._smallest_budgets(pools, attempt, lifted)
        if not _is_over(attempt):
            return attempt
        steps = [prim.let.where for prim in attempt.prim_funcs]
        missed = shortage(attempt.problem, attempt.plan).with_steps(attempt.live.times, steps)
        function = attempt.function
        whole = {
            "outputs": {result.name for result in function.results if isinstance(result, Var)},
            "inputs": {param.name for param in function.params},
        }
        raise missed.with_whole(attempt.problem, whole).with_budgets(budgets)

    def _least(self, pools: tuple[Pool, ...]) -> tuple[Attempt, frozenset[str]]:
        """The plan of fewest bytes without the limits of pools that are short, and the names of these."""
        lifted: frozenset[str] = frozenset()
        by_bytes = sorted(self.ways, key=lambda way: (way.bound_bytes, way.instructions))
        while True:
            roomy, best = limited(pools, dict.fromkeys(lifted, NO_LIMIT_BYTES)), None
            for way in by_bytes:
                if best is not None and way.bound_bytes >= best.peak_bytes:
                    break
                try:
                    attempt = way.placed(roomy)
                except DoesNotFit as error:
                    if best is None:
                        lifted |= {item.pool.name for item in error.shortages}
                        break
                    continue
                if best is None or attempt.peak_bytes < best.peak_bytes:
                    best = attempt
            if best is not None:
                return replace(best, problem=replace(best.problem, pools=pools)), lifted

    def _smallest_budgets(
        self, pools: tuple[Pool, ...], attempt: Attempt, lifted: Collection[str]
    ) -> tuple[Attempt, Mapping[str, int]]:
        """Find the smallest limits of the `lifted` pools that a plan keeps, and that plan.

        Fewer limits are tried for a function of many steps.
        """
        left = max(_FEWEST_ASKED, _ASKED_STEPS // len(attempt.prim_funcs))

        def ask(budgets: Budgets) -> Attempt | None:
            nonlocal left
            left -= 1
            if left < 0 or self._plannings[0].choices.clock.late():
                return None
            plan = self._quickest(limited(pools, budgets))
            return plan and replace(plan, problem=replace(plan.problem, pools=pools))

        def taken(attempt: Attempt) -> Budgets:
            return {name: peak_bytes(attempt.problem, attempt.plan, name) for name in lifted}

        rest = [pool for pool in pools if pool.name not in lifted]
        if not has_room(rest, 1) and len(lifted) == 1:
            return attempt, taken(attempt)
        short = [pool for pool in pools if pool.name in lifted]
        return smallest_budgets(ask, taken, attempt, short, bisect=True) or (attempt, {})


def _way(planning: Planning, function: Function, prim_funcs: Sequence[PrimFunc]) -> ChosenSteps:
    return ChosenSteps(
        planning=planning,
        function=function,
        prim_funcs=tuple(prim_funcs),
        instructions=inference_instructions(prim_funcs),
        bound_bytes=planning.bound_bytes(function, prim_funcs),
    )


def _ways(planning: Planning, seen: set[tuple[object, ...]]) -> Iterator[ChosenSteps]:
    """The ways of one function that were not `seen`, with views and without."""
    for tiling in planning.choosing_tiler().from_fast_to_small(MOST_STEPS):
        function, prims = _applied(planning, tiling)
        key = tuple(map(_identity, prims))
        if key in seen:
            continue
        seen.add(key)
        yield _way(planning, function, prims)
        views = planning.views(function, prims)
        if views:
            yield _way(planning, function, replaced(prims, views))


def _identity(prim: PrimFunc) -> tuple[object, ...]:
    """Facts that tell a step from another way to run it."""
    if prim.block is None:
        return prim.name, prim.kernel, prim.in_place
    stages = tuple((stage.name, stage.binding) for stage in prim.block.stages)
    return prim.name, stages, prim.block.grid, prim.workspaces


def _applied(planning: Planning, tiling: Tiling) -> tuple[Function, tuple[PrimFunc, ...]]:
    variant = planning.variant
    prims = replaced(variant.prim_funcs, tiling.kernels)
    return apply(variant.function, prims, variant.steps, tiling.segments)


def _is_over(attempt: Attempt) -> bool:
    """True if a pool has more bytes than its limit."""
    return bool(overfull(attempt.problem, attempt.plan))
