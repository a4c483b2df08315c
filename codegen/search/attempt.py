"""Attempts: a choice of blocks carried through to a memory plan, and which of several to take."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from codegen.errors import CodegenError, Message
from codegen.ir import Board, Function, Var
from codegen.kernels.primfunc import PrimFunc
from codegen.plan.access import access_cost, least_access_cost
from codegen.plan.bounds import lower_bound
from codegen.plan.liveness import Liveness, liveness
from codegen.plan.planners import Planner
from codegen.plan.problem import BufferKind, Limits, MemoryPlan, Pool, Problem, peak_bytes
from codegen.plan.program import IoMode
from codegen.plan.shortage import DoesNotFit
from codegen.search import in_place, views
from codegen.search.fuse import Segment, apply
from codegen.search.schedule import ScheduleMode
from codegen.search.tiling import Lifetimes, Tiler


@dataclass(frozen=True, kw_only=True, slots=True)
class Choices:
    """What the user fixes of the search. `pool_limits`: pool -> hard limit in bytes."""

    planner: str
    optimize: str = "balanced"
    """speed: no blocks unless a limit is missed; balanced: those that lower the peak without an extra
    multiply-accumulate; size: the least peak."""
    io: IoMode = IoMode.POOL
    keep_inputs: bool = False
    pool_limits: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    limits: Limits = field(default_factory=Limits)
    schedule: ScheduleMode = "optimal"
    stream_input: bool = False
    """The application delivers the only input row by row; it never lies in memory whole."""
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
        function: Function,
        prim_funcs: Sequence[PrimFunc],
        steps: Sequence[PrimFunc | None],
        *,
        board: Board,
        pools: Sequence[Pool],
        planner: Planner,
        choices: Choices,
    ) -> None:
        """`steps`: the steps as a block would run them (`row_steps`)."""
        self._function, self._prims, self._steps = function, tuple(prim_funcs), steps
        self._pools, self._planner, self._choices = pools, planner, choices
        self._alignment = board.buffer_alignment_bytes
        self.streamed = function.params[0].name if choices.stream_input and function.params else None

    def tiler(self) -> Tiler:
        """Chooses blocks of this function."""
        callers: frozenset[str] = frozenset()
        if self._choices.io is IoMode.CALLER:
            results = [result for result in self._function.results if isinstance(result, Var)]
            callers = frozenset(var.name for var in (*self._function.params, *results))
        if self.streamed is not None:
            callers |= {self.streamed}
        lives = Lifetimes(self._function, self._prims, callers=callers, keep_inputs=self._choices.keep_inputs)
        return Tiler(self._function, self._prims, self._steps, lives, self.streamed)

    def attempt(self, segments: Sequence[Segment]) -> Attempt:
        """The plan with these blocks. Raises DoesNotFit, the peak named by its step."""
        found = self.attempt_below(segments, None)
        assert found is not None, "no limit was given"
        return found

    def attempt_below(self, segments: Sequence[Segment], below_bytes: int | None) -> Attempt | None:
        """As `attempt`; None if no lower bound is below `below_bytes`."""
        function, prims = self._function, self._prims
        if segments:
            function, prims = apply(function, prims, self._steps, segments)
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
        return lower_bound(self._live(function, prims).problem(self._pools)).bytes

    def _live(self, function: Function, prims: Sequence[PrimFunc]) -> Liveness:
        return liveness(
            prims,
            function,
            io=self._choices.io,
            keep_inputs=self._choices.keep_inputs,
            pool_candidates=dict.fromkeys(BufferKind, tuple(pool.name for pool in self._pools)),
            minimum_alignment=self._alignment,
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
    if tried.found:
        return min(tried.found, key=lambda attempt: (attempt.extra_cost, attempt.peak_bytes, attempt.macs))
    for segments in _smaller(tiler, limit_bytes):
        if tried.add(segments):
            return tried.found[-1]
    raise tried.nearest()


def _smaller(tiler: Tiler, limit_bytes: int) -> Iterator[Sequence[Segment]]:
    """Tilings that may fit, the fastest first: needs leave out alignment and chains of overlaps, so
    tilings that need less than the limit follow."""
    for recompute in (False, True):
        least = tiler.least(recompute=recompute)
        for target in (limit_bytes, (limit_bytes + least.need_bytes) // 2):
            found = tiler.within(target, recompute=recompute) if target > least.need_bytes else None
            if found is not None:
                yield found.segments
        yield least.segments


class _Tried:
    """Attempts made so far, those that fit and those that do not."""

    def __init__(self, planning: Planning) -> None:
        self._planning = planning
        self._seen: set[tuple[Segment, ...]] = set()
        self._failed: list[DoesNotFit] = []
        self.found: list[Attempt] = []

    def add(self, segments: Sequence[Segment]) -> bool:
        """Try these blocks, unless they were tried or cannot beat what was found; whether they fit."""
        if tuple(segments) in self._seen:
            return False
        self._seen.add(tuple(segments))
        # Whoever must use dear pools can be beaten by a plan that is no lower.
        least = min((each.peak_bytes for each in self.found if not each.extra_cost), default=None)
        try:
            attempt = self._planning.attempt_below(segments, least)
        except DoesNotFit as error:
            self._failed.append(error)
            return False
        if attempt is not None:
            self.found.append(attempt)
        return attempt is not None

    def nearest(self) -> DoesNotFit:
        """The failure that lacks fewest bytes."""
        return min(self._failed, key=lambda error: sum(item.missing_bytes for item in error.shortages))


def check_stream(planning: Planning, function: Function, *, keep_inputs: bool) -> None:
    """Raises CodegenError E217 if the input cannot be delivered row by row."""
    if planning.streamed is None:
        return
    readers = [let for step, let in enumerate(function.body) if step in function.uses()[planning.streamed]]
    problem = None
    if keep_inputs:
        problem = "--keep-inputs keeps the bytes of an input that has none"
    elif len(function.params) != 1:
        problem = f"the model has {len(function.params)} inputs, supported is one"
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
