"""Attempts: a choice of blocks carried through to a memory plan, with kernels that replace their argument."""

import time
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

from codegen.ir import Board, Function, Var
from codegen.ir.states import StateRule
from codegen.kernels.primfunc import PrimFunc
from codegen.plan.access import access_cost, least_access_cost
from codegen.plan.bounds import covered_bytes, lower_bound
from codegen.plan.constant_rules import ConstantRule
from codegen.plan.keeping import Keep
from codegen.plan.liveness import Liveness, liveness
from codegen.plan.planners import Planner
from codegen.plan.problem import BufferKind, Limits, MemoryPlan, Pool, Problem, peak_bytes
from codegen.plan.program import IoMode
from codegen.plan.shortage import DoesNotFit
from codegen.search import fuse, in_place, lean, states, views
from codegen.search.binding import Binder
from codegen.search.block_costs import BlockCosts
from codegen.search.compressing import CompressMode
from codegen.search.costs import FLASH_WORTH, cheapest
from codegen.search.fuse import Segment, apply
from codegen.search.recompute import Need, Variant, variants
from codegen.search.schedule import ScheduleMode
from codegen.search.sharing import SharingMode, permitted, replacing
from codegen.search.staging import StageMode
from codegen.search.tiling import Lifetimes, Tiler

Grouping = Literal["whole", "blocks"]
"""Every value lies in memory whole, or steps run in the blocks that need least."""

Reach = Literal["chosen", "replacing", "least"]
"""chosen: kernels as `--optimize` has them. replacing: those that replace their argument may take any
workspace and time. least: besides, those that need fewer bytes any time, wherever they lower the peak."""

_WEIGHED_SHARE = 100
"""An attempt that is weighed against others gets the planner's effort divided by this: one tenth of a second
at most with `optimal`."""

_FINAL_SHARE = 20
"""The attempt that is taken gets the effort divided by this: whole models are planned within a second."""

_EFFORT: Mapping[Grouping, int] = {"whole": 10_000, "blocks": 500}
"""What `recomputing` may look at: blocks have to be simulated, whole tensors are quick."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Choices:
    """What the user fixes of the search. `pool_limits`: pool -> hard limit in bytes; `beside_code`: constant
    pool -> what a link found the code to leave."""

    planner: str
    optimize: str = "balanced"
    """speed: no blocks unless a limit is missed; balanced: those that lower the peak without an extra
    multiply-accumulate; size: the least peak for `choose.EXTRA_PERCENT` more multiply-accumulates."""
    io: IoMode = IoMode.POOL
    keep_inputs: Keep = False
    pool_limits: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    beside_code: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    limits: Limits = field(default_factory=Limits)
    schedule: ScheduleMode = "optimal"
    stream_input: bool = False
    """The application delivers the only input row by row; it never lies in memory whole."""
    blocks: bool = True
    """Off: no blocks, every value lies in memory whole."""
    sharing: SharingMode = "overlap"
    constant_rules: tuple[ConstantRule, ...] = ()
    among_others: bool = False
    """Other models are built too: a rule that applies to nothing here may be for one of them."""
    """Where the user wants constants to lie."""
    stage: StageMode = "auto"
    """Whether constants that are read often are copied to faster memory where that pays."""
    compress: CompressMode = "auto"
    """Whether constants that do not fit otherwise are stored compressed."""
    states: tuple[StateRule, ...] = ()
    """Outputs that are inputs of the next inference."""
    state_inputs: frozenset[str] = frozenset()
    """Those inputs: `search` knows them when it has paired `states`."""
    alone: bool = False
    """No other model runs in the same pools, so that copies made at start-up last."""
    emulated: bool = True
    """Leave out regions that the board's emulator lacks."""
    placed: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Value -> who gave it its device, for messages."""
    reads: Mapping[str, tuple[str, str]] = field(default_factory=lambda: MappingProxyType({}))
    """Value -> memory scope in which the step that computes it finds its arguments, and who wants that."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """Steps, liveness, problem and plan that belong together."""

    function: Function
    prim_funcs: tuple[PrimFunc, ...]
    live: Liveness
    problem: Problem
    plan: MemoryPlan

    @property
    def peak_bytes(self) -> int:
        """Sum of the pools' peaks."""
        return sum(peak_bytes(self.problem, self.plan, pool.name) for pool in self.problem.pools)

    @property
    def extra_cost(self) -> int:
        """Access cost beyond every buffer in its cheapest pool: 0 wherever there is one pool."""
        return access_cost(self.problem, self.plan) - least_access_cost(self.problem)

    @property
    def macs(self) -> int:
        """Multiply-accumulates executed."""
        return sum(prim.macs for prim in self.prim_funcs)

    @property
    def block_steps(self) -> int:
        """Steps that run as stages of blocks."""
        return sum(len(prim.block.stages) for prim in self.prim_funcs if prim.block is not None)


class Planning:
    """One function with everything that is the same in all attempts."""

    def __init__(
        self,
        variant: Variant,
        binder: Binder,
        *,
        board: Board,
        pools: Sequence[Pool],
        planner: Planner,
        choices: Choices,
        reach: Reach = "chosen",
    ) -> None:
        self._variant, self._binder, self._costs = variant, binder, BlockCosts()
        self._board, self.pools, self._planner, self._choices = board, tuple(pools), planner, choices
        self._reach: Reach = reach
        self._variants: dict[Grouping, tuple[Variant, ...]] = {}
        self._flash_worth = FLASH_WORTH[choices.optimize]
        params = variant.function.params
        self.streamed = params[0].name if choices.stream_input and params else None

    @property
    def has_blocks(self) -> bool:
        """Whether steps may run together."""
        return self._choices.blocks

    @property
    def macs(self) -> int:
        """Multiply-accumulates of the steps, those that run twice counted twice."""
        return sum(prim.macs for prim in self._variant.prim_funcs)

    @property
    def extra_macs(self) -> int:
        """Multiply-accumulates of steps that run twice."""
        return self._variant.extra_macs

    def limited(self, limits: Mapping[str, int]) -> "Planning":
        """The same with other limits in bytes, by pool."""
        pools = [replace(pool, limit_bytes=limits.get(pool.name, pool.limit_bytes)) for pool in self.pools]
        return self._like(pools=pools)

    def reaching(self, reach: Reach) -> "Planning":
        """The same with kernels so chosen."""
        return self._like(reach=reach)

    def lean_rows(self) -> "Planning | None":
        """The same that reaches for the `least`, its blocks of the kernels that need the fewest bytes; None
        if they are that already."""
        steps = fuse.lean_row_steps(self._variant.prim_funcs, self._binder, self._flash_worth)
        if fuse.kernels_of(steps) == fuse.kernels_of(self._variant.steps):
            return None
        other = self._of(replace(self._variant, steps=steps))
        other._reach = "least"
        return other

    def recomputing(self, grouping: Grouping) -> Iterator["Planning"]:
        """The same with some steps run twice: each needs less than the one before if its steps are grouped
        so, and more work."""
        if grouping == "whole" and self.streamed is not None:
            return  # a streamed input is never whole
        if grouping not in self._variants:
            self._variants[grouping] = tuple(self._recomputed(grouping))
        for variant in self._variants[grouping]:
            yield self._of(variant)

    def _recomputed(self, grouping: Grouping) -> Iterator[Variant]:
        def profile(variant: Variant, limit_bytes: int | None) -> tuple[Need, ...]:
            return self._of(variant).needs(grouping, limit_bytes)

        once = () if self.streamed is None else (self.streamed,)
        return variants(self._variant, profile, once=once, effort=_EFFORT[grouping])

    def _of(self, variant: Variant) -> "Planning":
        other = self._like(variant=variant)
        other._variants = {}
        return other

    def _like(
        self,
        *,
        variant: Variant | None = None,
        pools: Sequence[Pool] | None = None,
        reach: Reach | None = None,
    ) -> "Planning":
        """A copy that knows what this one knows of blocks and variants, which no limit decides."""
        other = Planning(
            variant or self._variant,
            self._binder,
            board=self._board,
            pools=self.pools if pools is None else pools,
            planner=self._planner,
            choices=self._choices,
            reach=reach or self._reach,
        )
        other._costs, other._variants = self._costs, self._variants
        return other

    def needs(self, grouping: Grouping, limit_bytes: int | None = None) -> tuple[Need, ...]:
        """What has to be there when, all pools together; above `limit_bytes` floors will do."""
        if grouping == "blocks":
            below = None if limit_bytes is None else limit_bytes + 1
            return self.tiler().needs(recompute=True, below_bytes=below)
        function, prims = self._variant.function, self._variant.prim_funcs
        live = self._live(function, self._restricted(function, prims))
        starts = [start for start, _ in live.times]
        found: list[Need] = []
        for at in covered_bytes(live.problem(self.pools)):
            stop = bisect_right(starts, at.time)
            found.append(Need(start=stop - 1, stop=stop, bytes=at.bytes))
        return tuple(found)

    def tiler(self) -> Tiler:
        """Chooses blocks of this function."""
        function, prims, steps = self._variant.function, self._variant.prim_funcs, self._variant.steps
        callers: frozenset[str] = frozenset()
        if self._choices.io is IoMode.CALLER:
            results = [result for result in function.results if isinstance(result, Var)]
            callers = frozenset(var.name for var in (*function.params, *results))
        if self.streamed is not None:
            callers |= {self.streamed}
        lives = Lifetimes(function, prims, callers=callers, keep_inputs=self._choices.keep_inputs)
        return Tiler(
            function,
            prims,
            steps if self._choices.blocks else (None,) * len(steps),
            lives,
            self.streamed,
            costs=self._costs,
            overlap=self._choices.sharing == "overlap",
        )

    def attempt(self, segments: Sequence[Segment]) -> Attempt:
        """The plan with these blocks. Raises DoesNotFit, the peak named by its step."""
        found = self.attempt_below(segments, None)
        assert found is not None, "no limit was given"
        return found

    def attempt_below(self, segments: Sequence[Segment], below_bytes: int | None) -> Attempt | None:
        """As `attempt`; None if no lower bound is below `below_bytes`."""
        function, prims = self._variant.function, self._variant.prim_funcs
        if segments:
            function, prims = apply(function, prims, self._variant.steps, segments)
        others: dict[int, PrimFunc] = {}
        if self._choices.sharing == "overlap":
            others = views.alternatives(function, prims, io=self._choices.io, streamed=self.streamed)
            others = states.apart(function, prims, others, self._choices.state_inputs)
        if below_bytes is not None:
            ways = self._ways(function, prims, others)
            if all(self.bound_bytes(function, way) >= below_bytes for way in ways):
                return None
        return self._lowest(function, prims, others)

    def _ways(
        self, function: Function, prims: Sequence[PrimFunc], others: Mapping[int, PrimFunc]
    ) -> Iterator[Sequence[PrimFunc]]:
        """The steps with and without `others`, and of each what needs less: kernels in place, lean ones."""
        apart = [prims, in_place.replaced(prims, others)] if others else [prims]
        yield from apart
        for way in apart:
            yield in_place.replaced(way, self._replacing(function, way))
        for way in apart:
            yield from self._leanest(function, way)

    def _lowest(
        self, function: Function, prims: Sequence[PrimFunc], others: Mapping[int, PrimFunc]
    ) -> Attempt:
        """The plan of these steps, some without a copy as in `others`, some by kernels that replace their
        argument where that lowers it. Raises DoesNotFit."""
        planner = in_place.Planner(
            plan=lambda prims: self.place(function, prims),
            bound_bytes=lambda prims: self.bound_bytes(function, prims),
        )
        eager = self._choices.optimize == "speed" and self._reach == "chosen"
        try:
            first = views.choose(prims, others, planner, eager=eager)
            prims = first.prim_funcs
        except DoesNotFit as error:
            first = error
        try:
            lower = in_place.lower_peak(prims, self._replacing(function, prims), planner, first)
        except DoesNotFit as error:
            return lean.lowest(prims, error, self._leanest(function, prims), planner)
        if not isinstance(first, DoesNotFit) and lower.extra_cost > first.extra_cost:
            # The peaks' sum is lower because dear pools hold more.
            lower = first
        if self._choices.optimize != "size" and self._reach != "least":
            return lower
        other = lean.lowest(prims, lower, self._leanest(function, prims), planner)
        return other if other.extra_cost <= lower.extra_cost else lower

    def _leanest(self, function: Function, prims: Sequence[PrimFunc]) -> list[tuple[PrimFunc, ...]]:
        """The steps with the kernels that need the fewest bytes, apart and in place; none where speed goes
        before RAM."""
        if self._reach == "replacing" or (self._choices.optimize != "size" and self._reach == "chosen"):
            return []
        slower = lean.SLOWER_PERCENT if self._reach == "chosen" else None

        def least(found: Sequence[PrimFunc]) -> PrimFunc:
            return lean.leanest(found, slower_percent=slower, flash_worth=worth)

        worth = self._flash_worth
        others = lean.alternatives(prims, self._binder, slower_percent=slower, flash_worth=worth)
        apart = in_place.replaced(prims, others)
        replacing = self._replacing(function, apart, least)
        return [apart, in_place.replaced(apart, replacing)] if others or replacing else []

    def _replacing(
        self,
        function: Function,
        prims: Sequence[PrimFunc],
        best: Callable[[Sequence[PrimFunc]], PrimFunc] | None = None,
    ) -> dict[int, PrimFunc]:
        """By step: the kernel made to replace its argument."""
        if self._choices.sharing == "none":
            return {}
        return in_place.alternatives(
            function,
            prims,
            self._binder,
            optimize=self._choices.optimize if self._reach == "chosen" else "size",
            keep_inputs=self._choices.keep_inputs,
            io=self._choices.io,
            streamed=self.streamed,
            best=best or (lambda found: cheapest(found, self._flash_worth)),
        )

    def finished(self, attempt: Attempt) -> Attempt:
        """`attempt`, or, if it is not proved optimal, a better plan of its steps that takes more effort."""
        if attempt.plan.proved_optimal:
            return attempt
        try:
            again = self.place(attempt.function, attempt.prim_funcs, _FINAL_SHARE)
        except DoesNotFit:
            return attempt
        better = (again.extra_cost, again.peak_bytes) < (attempt.extra_cost, attempt.peak_bytes)
        return again if better or again.plan.proved_optimal else attempt

    def place(self, function: Function, prims: Sequence[PrimFunc], share: int = _WEIGHED_SHARE) -> Attempt:
        """The plan of these steps, for the effort divided by `share`. Raises DoesNotFit, the peak named by
        its step."""
        prims = self._restricted(function, prims)
        live = self._live(function, prims)
        limits = self._choices.limits
        problem = live.problem(self.pools, replace(limits, effort=limits.effort // share))
        started = time.monotonic()
        try:
            plan = self._planner(problem)
        except DoesNotFit as error:
            raise error.with_steps(live.times, [prim.let.where for prim in prims]) from None
        plan = replace(plan, seconds=time.monotonic() - started)
        return Attempt(function=function, prim_funcs=tuple(prims), live=live, problem=problem, plan=plan)

    def bound_bytes(self, function: Function, prims: Sequence[PrimFunc]) -> int:
        """What these steps need at least: of all pools together, the sum of their peaks."""
        live = self._live(function, self._restricted(function, prims))
        return lower_bound(live.problem(self.pools)).bytes

    def _restricted(self, function: Function, prims: Sequence[PrimFunc]) -> tuple[PrimFunc, ...]:
        """`prims` with the sharing that the user permits."""
        if self._choices.sharing == "overlap":
            return tuple(prims)
        fixed = self._choices.io is IoMode.CALLER or self._choices.keep_inputs
        return replacing(function, permitted(prims, self._choices.sharing), fixed_inputs=fixed)

    def _live(self, function: Function, prims: Sequence[PrimFunc]) -> Liveness:
        return liveness(
            prims,
            function,
            io=self._choices.io,
            keep_inputs=self._choices.keep_inputs,
            pool_candidates=dict.fromkeys(BufferKind, tuple(pool.name for pool in self.pools)),
            minimum_alignment=self._board.buffer_alignment_bytes,
            streamed=self.streamed,
        )
