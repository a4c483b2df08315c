"""Attempts: a choice of blocks carried through to a memory plan, and which of several to take."""

import time
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

from codegen.errors import CodegenError, Message
from codegen.ir import Board, Function, Var
from codegen.kernels.primfunc import PrimFunc
from codegen.plan.access import access_cost, least_access_cost
from codegen.plan.bounds import covered_bytes, lower_bound
from codegen.plan.liveness import Liveness, liveness
from codegen.plan.planners import Planner
from codegen.plan.problem import BufferKind, Limits, MemoryPlan, Pool, Problem, peak_bytes
from codegen.plan.program import IoMode
from codegen.plan.shortage import DoesNotFit
from codegen.search import in_place, views
from codegen.search.block_costs import BlockCosts
from codegen.search.fuse import Segment, apply
from codegen.search.recompute import Need, Variant, variants
from codegen.search.schedule import ScheduleMode
from codegen.search.sharing import SharingMode, permitted, replacing
from codegen.search.tiling import Lifetimes, Tiler, Tiling

Grouping = Literal["whole", "blocks"]
"""Every value lies in memory whole, or steps run in the blocks that need least."""

_EFFORT: Mapping[Grouping, int] = {"whole": 10_000, "blocks": 500}
"""What `recomputing` may look at: blocks have to be simulated, whole tensors are quick."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Choices:
    """What the user fixes of the search. `pool_limits`: pool -> hard limit in bytes."""

    planner: str
    optimize: str = "balanced"
    """speed: no blocks unless a limit is missed; balanced: those that lower the peak without an extra
    multiply-accumulate; size: the least peak, by blocks and steps that run twice."""
    io: IoMode = IoMode.POOL
    keep_inputs: bool = False
    pool_limits: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    limits: Limits = field(default_factory=Limits)
    schedule: ScheduleMode = "optimal"
    stream_input: bool = False
    """The application delivers the only input row by row; it never lies in memory whole."""
    blocks: bool = True
    """Off: no blocks, every value lies in memory whole."""
    sharing: SharingMode = "overlap"
    emulated: bool = True
    """Leave out regions that the board's emulator lacks."""


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


class Planning:
    """One function with everything that is the same in all attempts."""

    def __init__(
        self,
        variant: Variant,
        *,
        board: Board,
        pools: Sequence[Pool],
        planner: Planner,
        choices: Choices,
        costs: BlockCosts | None = None,
    ) -> None:
        """`costs`: what is known of blocks of this function or one that it is a variant of."""
        self._variant, self._costs = variant, costs or BlockCosts()
        self._board, self._pools, self._planner, self._choices = board, pools, planner, choices
        params = variant.function.params
        self.streamed = params[0].name if choices.stream_input and params else None

    @property
    def has_blocks(self) -> bool:
        """Whether steps may run together."""
        return self._choices.blocks

    @property
    def extra_macs(self) -> int:
        """Multiply-accumulates of steps that run twice."""
        return self._variant.extra_macs

    def recomputing(self, grouping: Grouping) -> Iterator["Planning"]:
        """The same with some steps run twice: each needs less than the one before if its steps are grouped
        so, and more work."""

        def profile(variant: Variant, limit_bytes: int | None) -> tuple[Need, ...]:
            return self._of(variant).needs(grouping, limit_bytes)

        once = () if self.streamed is None else (self.streamed,)
        for variant in variants(self._variant, profile, once=once, effort=_EFFORT[grouping]):
            yield self._of(variant)

    def _of(self, variant: Variant) -> "Planning":
        return Planning(
            variant,
            board=self._board,
            pools=self._pools,
            planner=self._planner,
            choices=self._choices,
            costs=self._costs,
        )

    def needs(self, grouping: Grouping, limit_bytes: int | None = None) -> tuple[Need, ...]:
        """What has to be there when, all pools together; above `limit_bytes` floors will do."""
        if grouping == "blocks":
            below = None if limit_bytes is None else limit_bytes + 1
            return self.tiler().needs(recompute=True, below_bytes=below)
        function, prims = self._variant.function, self._variant.prim_funcs
        live = self._live(function, self._restricted(function, prims))
        starts = [start for start, _ in live.times]
        found: list[Need] = []
        for at in covered_bytes(live.problem(self._pools)):
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
        if below_bytes is not None:
            ways = [prims, in_place.replaced(prims, others)] if others else [prims]
            if min(self.bound_bytes(function, way) for way in ways) >= below_bytes:
                return None
        planner = self.planner(function)
        return views.choose(prims, others, planner, eager=self._choices.optimize == "speed")

    def planner(self, function: Function) -> in_place.Planner[Attempt]:
        """Plans and bounds of other PrimFuncs of the same steps."""
        return in_place.Planner(
            plan=lambda prims: self.place(function, prims),
            bound_bytes=lambda prims: self.bound_bytes(function, prims),
        )

    def place(self, function: Function, prims: Sequence[PrimFunc]) -> Attempt:
        """The plan of these steps. Raises DoesNotFit, the peak named by its step."""
        prims = self._restricted(function, prims)
        live = self._live(function, prims)
        problem = live.problem(self._pools, self._choices.limits)
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
        return lower_bound(live.problem(self._pools)).bytes

    def _restricted(self, function: Function, prims: Sequence[PrimFunc]) -> tuple[PrimFunc, ...]:
        """`prims` with the sharing that the user permits."""
        if self._choices.sharing == "overlap":
            return tuple(prims)
        fixed = self._choices.keep_inputs or self._choices.io is IoMode.CALLER
        return replacing(function, permitted(prims, self._choices.sharing), fixed_inputs=fixed)

    def _live(self, function: Function, prims: Sequence[PrimFunc]) -> Liveness:
        return liveness(
            prims,
            function,
            io=self._choices.io,
            keep_inputs=self._choices.keep_inputs,
            pool_candidates=dict.fromkeys(BufferKind, tuple(pool.name for pool in self._pools)),
            minimum_alignment=self._board.buffer_alignment_bytes,
            streamed=self.streamed,
        )


def best_attempt(planning: Planning, optimize: str, limit_bytes: int) -> Attempt:
    """The plan that `optimize` asks for, or, if that misses a limit, the fastest one found that fits.

    `limit_bytes`: of all pools together. Raises DoesNotFit for the plan that came nearest to its limits.
    """
    tried = _Tried(planning)
    if planning.streamed is None:
        tried.add(())
    if optimize == "speed" and tried.found:
        return tried.found[0]
    tiler = planning.tiler()
    if optimize != "speed" or planning.streamed is not None:
        tried.add(tiler.least(recompute=False).segments)
    if optimize == "size":
        tried.add(tiler.least(recompute=True).segments)
        _recompute(tried, planning)
    if tried.found:
        return min(tried.found, key=lambda attempt: (attempt.extra_cost, attempt.peak_bytes, attempt.macs))
    for way in _smaller(planning, tiler, limit_bytes):
        if tried.add(way.segments, way.planning):
            return tried.found[-1]
    raise tried.nearest()


def _recompute(tried: "_Tried", planning: Planning) -> None:
    """Try what running steps twice gains, in whole tensors and in blocks."""
    if planning.streamed is None:
        for again in planning.recomputing("whole"):
            tried.add((), again)
    for again in planning.recomputing("blocks") if planning.has_blocks else ():
        tried.add(again.tiler().least(recompute=True).segments, again)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Way:
    """Blocks of a function, and what the two cost in multiply-accumulates."""

    planning: Planning
    segments: tuple[Segment, ...]
    extra_macs: int


def _smaller(planning: Planning, tiler: Tiler, limit_bytes: int) -> Iterator[_Way]:
    """Ways that may fit, the fastest first: those without extra work, then all others by their extra work."""
    yield from _tilings(planning, tiler, limit_bytes, recompute=False)
    ways = list(_tilings(planning, tiler, limit_bytes, recompute=True))
    if planning.streamed is None:
        whole = planning.recomputing("whole")
        ways += [_Way(planning=again, segments=(), extra_macs=again.extra_macs) for again in whole]
    for again in planning.recomputing("blocks") if planning.has_blocks else ():
        for recompute in (False, True):
            ways += _tilings(again, again.tiler(), limit_bytes, recompute=recompute)
    yield from sorted(ways, key=lambda way: way.extra_macs)


def _tilings(planning: Planning, tiler: Tiler, limit_bytes: int, *, recompute: bool) -> Iterator[_Way]:
    """Tilings that may fit: needs leave out alignment and chains of overlaps, so tilings that need less
    than the limit follow."""
    least = tiler.least(recompute=recompute)
    for target in (limit_bytes, (limit_bytes + least.need_bytes) // 2):
        found = tiler.within(target, recompute=recompute) if target > least.need_bytes else None
        if found is not None:
            yield _way(planning, found)
    yield _way(planning, least)


def _way(planning: Planning, tiling: Tiling) -> _Way:
    extra = planning.extra_macs + tiling.extra_macs
    return _Way(planning=planning, segments=tiling.segments, extra_macs=extra)


class _Tried:
    """Attempts made so far, those that fit and those that do not."""

    def __init__(self, planning: Planning) -> None:
        self._planning = planning
        self._seen: set[tuple[Planning, tuple[Segment, ...]]] = set()
        self._failed: list[DoesNotFit] = []
        self.found: list[Attempt] = []

    def add(self, segments: Sequence[Segment], planning: Planning | None = None) -> bool:
        """Try these blocks of `planning`'s function (None: the first one's), unless they were tried or cannot
        beat what was found; whether they fit."""
        planning = planning or self._planning
        if (planning, tuple(segments)) in self._seen:
            return False
        self._seen.add((planning, tuple(segments)))
        # Whoever must use dear pools can be beaten by a plan that is no lower.
        least = min((each.peak_bytes for each in self.found if not each.extra_cost), default=None)
        try:
            attempt = planning.attempt_below(segments, least)
        except DoesNotFit as error:
            self._failed.append(error)
            return False
        if attempt is not None:
            self.found.append(attempt)
        return attempt is not None

    def nearest(self) -> DoesNotFit:
        """The failure that lacks fewest bytes."""
        return min(self._failed, key=lambda error: sum(item.missing_bytes for item in error.shortages))


def check_stream(planning: Planning, function: Function, choices: Choices) -> None:
    """Raises CodegenError E217 if the input cannot be delivered row by row."""
    if planning.streamed is None:
        return
    readers = [let for step, let in enumerate(function.body) if step in function.uses()[planning.streamed]]
    problem = None
    if choices.keep_inputs:
        problem = "--keep-inputs keeps the bytes of an input that has none"
    elif len(function.params) != 1:
        problem = f"the model has {len(function.params)} inputs, supported is one"
    elif not choices.blocks:
        problem = "rows that arrive one by one need blocks, which --no-blocks excludes"
    elif not planning.tiler().can_stream:
        names = ", ".join(let.where for let in readers) or "nothing"
        problem = f"input {planning.streamed} is read by {names}, which cannot go row by row together"
    if problem:
        raise CodegenError(
            Message(
                code="E217",
                where="--stream-input",
                text=problem,
                help="an int8 image that convolutions or pools read first can be streamed; a float image can "
                "with --io-types int8 if the model quantises it first",
            )
        )
