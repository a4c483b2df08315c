"""Attempts: a choice of blocks carried through to a memory plan, with kernels that replace their argument."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from codegen.ir import Board, Function
from codegen.kernels.primfunc import PrimFunc
from codegen.lifetimes.liveness import Liveness, liveness
from codegen.lifetimes.tie_faults import Colliding
from codegen.plan.place.access import access_cost, least_access_cost
from codegen.plan.place.bounds import covered_bytes, lower_bound
from codegen.plan.place.planners import Planner
from codegen.problem import problem as problems
from codegen.problem.problem import BufferKind, MemoryPlan, Pool, Problem, has_room, limited, peak_bytes
from codegen.problem.shortage import DoesNotFit
from codegen.program.interface import Edge
from codegen.search import states
from codegen.search.blocks.block_costs import BlockCosts
from codegen.search.blocks.row_blocks import Segment, apply
from codegen.search.blocks.tiling import StepKernels, Tiler
from codegen.search.choices import Choices
from codegen.search.kernels import fewest_bytes, in_place, view_choice
from codegen.search.kernels.binding import Binder
from codegen.search.kernels.costs import FLASH_WORTH, RAM_WORTH, cheapest
from codegen.search.kernels.in_place import permitted, replacing
from codegen.search.kernels.selection import used_code_bytes
from codegen.search.memory.lowest_plan import lowest_plan
from codegen.search.steps.recompute import Need, Variant, variants
from codegen.search.steps.schedule import Lifetimes, Scheduled

Grouping = Literal["whole", "blocks"]
"""Every value lies in memory whole, or steps run in the blocks that need least."""

_WEIGHED_SHARE = 100
"""An attempt that is weighed against others gets the planner's effort divided by this: one tenth of a second
at most with `optimal`."""

_FINAL_SHARE = 20
"""The attempt that is taken gets the effort divided by this: whole models are planned within a second."""

_EFFORT: Mapping[Grouping, int] = {"whole": 10_000, "blocks": 500}
"""Steps that `recomputing` may look at: blocks have to be simulated, whole tensors are quick."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """Steps, liveness, problem and plan that belong together."""

    ordered: Scheduled
    """The steps before blocks and kernels in place, in their order."""
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


@dataclass(kw_only=True, slots=True)
class _Found:
    """Answers about a function that no limit changes."""

    plannings: dict[Grouping, tuple["Planning", ...]] = field(
        default_factory=dict[Grouping, tuple["Planning", ...]]
    )
    """By grouping its variants; whoever asks sets the limits."""
    tiler: Tiler | None = None


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Planning:
    """One function with everything that is the same in all attempts."""

    ordered: Scheduled
    """The function and its kernels in the chosen order."""
    variant: Variant
    """The function as it is planned: that of `ordered`, or one with some steps twice."""
    binder: Binder
    board: Board
    pools: tuple[Pool, ...]
    planner: Planner
    choices: Choices
    costs: BlockCosts = field(default_factory=BlockCosts)
    """Needs of blocks, for this function, its variants and other choices of its kernels."""
    answers: _Found = field(default_factory=_Found)
    """Answers so far."""

    @property
    def edge(self) -> Edge:
        """Inputs and outputs that are the application's."""
        return self.choices.edge(self.variant.function)

    @property
    def streamed(self) -> str | None:
        """The input that is delivered row by row."""
        return self.edge.streamed

    @property
    def is_hopeless(self) -> bool:
        """True if it is known without a search that nothing fits."""
        return not has_room(self.pools, self.tiler().least_bytes)

    @property
    def has_blocks(self) -> bool:
        """True if steps may run together."""
        return self.choices.blocks

    @property
    def macs(self) -> int:
        """Multiply-accumulates of the steps, those that run twice counted twice."""
        return sum(prim.macs for prim in self.variant.prim_funcs)

    @property
    def extra_macs(self) -> int:
        """Multiply-accumulates of steps that run twice."""
        return self.variant.extra_macs

    def limited(self, limits: Mapping[str, int]) -> "Planning":
        """Plan within other limits in bytes, by pool."""
        return replace(self, pools=limited(self.pools, limits))

    def with_rows(self, steps: tuple[PrimFunc | None, ...]) -> "Planning":
        """Give the steps of blocks other row kernels."""
        return replace(self, variant=replace(self.variant, steps=steps), answers=_Found())

    def in_pools(self, pools: tuple[Pool, ...]) -> "Planning":
        """Plan in other pools."""
        return replace(self, pools=pools)

    def recomputing(self, grouping: Grouping) -> Iterator["Planning"]:
        """Plannings with some steps run twice: each needs fewer bytes than the one before, in steps that are
        grouped by `grouping`, and more work.
        """
        if grouping == "whole" and self.streamed is not None:
            return  # a streamed input is never whole
        if grouping not in self.answers.plannings:
            self.answers.plannings[grouping] = tuple(map(self._of, self._recomputed(grouping)))
        for other in self.answers.plannings[grouping]:
            yield replace(other, pools=self.pools)

    def _recomputed(self, grouping: Grouping) -> Iterator[Variant]:
        def profile(variant: Variant, most_bytes: int | None) -> tuple[Need, ...]:
            return self._of(variant).needs(grouping, most_bytes)

        once = () if self.streamed is None else (self.streamed,)
        clock = self.choices.clock
        return variants(self.variant, profile, once=once, effort=_EFFORT[grouping], clock=clock)

    def _of(self, variant: Variant) -> "Planning":
        """Plan another function, whose variants are others."""
        return replace(self, variant=variant, answers=_Found())

    def needs(self, grouping: Grouping, most_bytes: int | None = None) -> tuple[Need, ...]:
        """Bytes that have to be there, all pools together, step by step; above `most_bytes` floors will
        do.
        """
        if grouping == "blocks":
            below = None if most_bytes is None else most_bytes + 1
            return self.tiler().needs(recompute=True, below_bytes=below)
        function, prims = self.variant.function, self.variant.prim_funcs
        live, *_ = self._lives(function, self._restricted(function, prims))
        starts = [start for start, _ in live.times]
        needs: list[Need] = []
        for at in covered_bytes(live.problem(self.pools)):
            stop = bisect_right(starts, at.time)
            needs.append(Need(start=stop - 1, stop=stop, bytes=at.bytes))
        return tuple(needs)

    def tiler(self) -> Tiler:
        """Chooses blocks of this function; one for all limits, which remembers what it found."""
        if self.answers.tiler is None:
            self.answers.tiler = self._tiler()
        return self.answers.tiler

    def choosing_tiler(self) -> Tiler:
        """A tiler that chooses kernels of steps outside of blocks as well."""
        return self._tiler(
            in_place.every_kernel(self.variant.function, self.variant.prim_funcs, self.binder, self.edge)
        )

    def _tiler(self, others: Mapping[int, Sequence[PrimFunc]] | None = None) -> Tiler:
        function, prims, steps = self.variant.function, self.variant.prim_funcs, self.variant.steps
        lives = Lifetimes(function, prims, self.edge)
        overlap = self.choices.sharing == "overlap"
        kernels = StepKernels(
            chosen=prims,
            as_rows=steps if self.choices.blocks else (None,) * len(steps),
            others=others if overlap and others else {},
            in_patches=self.choices.patches,
        )
        return Tiler(function, kernels, lives, costs=self.costs, overlap=overlap, clock=self.choices.clock)

    def attempt(self, segments: Sequence[Segment]) -> Attempt:
        """The plan with these blocks. Raises DoesNotFit, the peak named by its step."""
        attempt = self.attempt_below(segments, None)
        assert attempt is not None, "no limit was given"
        return attempt

    def attempt_below(self, segments: Sequence[Segment], below_bytes: int | None) -> Attempt | None:
        """The attempt with these blocks; None if no lower bound is below `below_bytes`."""
        function, prims = self.variant.function, self.variant.prim_funcs
        if segments:
            function, prims = apply(function, prims, self.variant.steps, segments)
        others = self.views(function, prims)
        if below_bytes is not None:
            candidates = self._candidates(function, prims, others)
            if all(self.bound_bytes(function, candidate) >= below_bytes for candidate in candidates):
                return None
        return self._lowest(function, prims, others)

    def views(self, function: Function, prims: Sequence[PrimFunc]) -> Mapping[int, PrimFunc]:
        """By step: how it goes without a copy, where sharing is permitted."""
        if self.choices.sharing != "overlap":
            return {}
        alternatives = view_choice.alternatives(function, prims, self.edge)
        return states.apart(function, prims, alternatives, self.choices.lasting.names)

    def _candidates(
        self, function: Function, prims: Sequence[PrimFunc], others: Mapping[int, PrimFunc]
    ) -> Iterator[Sequence[PrimFunc]]:
        """The steps with and without `others`, and of each what needs less: kernels in place, lean ones."""
        apart = [prims, in_place.replaced(prims, others)] if others else [prims]
        yield from apart
        for candidate in apart:
            yield in_place.replaced(candidate, self._replacing(function, candidate))
        for candidate in apart:
            yield from self._fewest_bytes(function, candidate)

    def _lowest(
        self, function: Function, prims: Sequence[PrimFunc], others: Mapping[int, PrimFunc]
    ) -> Attempt:
        """The plan of these steps, some without a copy as in `others`, some by kernels that replace their
        argument where that lowers it. Raises DoesNotFit."""
        planner, optimize = self._placer(function), self.choices.optimize
        plain = view_choice.choose(prims, others, planner, eager=optimize == "speed")
        prims = plain.prim_funcs
        if optimize == "speed":
            return fewest_bytes.paying(plain, lambda steps: self._nearly_as_fast(function, steps), planner)
        lower = in_place.lower_peak(prims, self._replacing(function, prims), planner, plain)
        if lower.extra_cost > plain.extra_cost:
            lower = plain  # the peaks' sum may be lower because dear pools hold more
        if optimize == "balanced":
            return lower
        lean = fewest_bytes.lowest(prims, lower, self._fewest_bytes(function, prims), planner)
        if lean.extra_cost > lower.extra_cost:
            lean = lower
        return min((plain, lower, lean), key=lambda attempt: (_flash_and_ram(attempt), attempt.peak_bytes))

    def _placer(self, function: Function) -> in_place.Planner[Attempt]:
        return in_place.Planner(
            plan=lambda prims: self.place(function, prims),
            bound_bytes=lambda prims: self.bound_bytes(function, prims),
            clock=self.choices.clock,
        )

    def _fewest_bytes(self, function: Function, prims: Sequence[PrimFunc]) -> list[tuple[PrimFunc, ...]]:
        """The steps with the kernels that need the fewest bytes, apart and in place; none where speed goes
        before RAM."""
        if self.choices.optimize != "size":
            return []
        worth = FLASH_WORTH[self.choices.optimize]

        def smallest(able: Sequence[PrimFunc]) -> PrimFunc:
            return fewest_bytes.of_fewest_bytes(able, flash_worth=worth)

        others = fewest_bytes.alternatives(prims, self.binder, flash_worth=worth)
        apart = in_place.replaced(prims, others)
        replacing = self._replacing(function, apart, smallest)
        return [apart, in_place.replaced(apart, replacing)] if others or replacing else []

    def _nearly_as_fast(self, function: Function, prims: Sequence[PrimFunc]) -> list[dict[int, PrimFunc]]:
        """Kernels that `speed` takes for RAM, by step: kernels in place, then those that need less room."""
        if self.choices.sharing == "none":
            return [{}, {}]
        replacing = in_place.alternatives(function, prims, self.binder, optimize="balanced", edge=self.edge)
        less = fewest_bytes.smaller(prims, self.binder)
        return [fewest_bytes.nearly_as_fast(prims, others) for others in (replacing, less)]

    def _replacing(
        self,
        function: Function,
        prims: Sequence[PrimFunc],
        best: Callable[[Sequence[PrimFunc]], PrimFunc] | None = None,
    ) -> dict[int, PrimFunc]:
        """By step: the kernel made to replace its argument; with speed one that is nearly as fast."""
        if self.choices.sharing == "none":
            return {}
        if self.choices.optimize == "speed":
            replacing, less = self._nearly_as_fast(function, prims)
            return less | replacing
        best = best or (lambda able: cheapest(able, FLASH_WORTH[self.choices.optimize]))
        return in_place.alternatives(
            function, prims, self.binder, optimize=self.choices.optimize, edge=self.edge, best=best
        )

    def finished(self, attempt: Attempt) -> Attempt:
        """`attempt`, or, if it is not proved optimal, a better plan of its steps that takes more effort."""
        if attempt.plan.proved_optimal:
            return attempt
        try:
            again = self.place(attempt.function, attempt.prim_funcs, all_effort=True)
        except DoesNotFit:
            return attempt
        better = (again.extra_cost, again.peak_bytes) < (attempt.extra_cost, attempt.peak_bytes)
        return again if better or again.plan.proved_optimal else attempt

    def place(self, function: Function, prims: Sequence[PrimFunc], *, all_effort: bool = False) -> Attempt:
        """The plan of these steps, as one that is weighed against others, or with `all_effort`. Raises
        DoesNotFit, the peak named by its step."""
        share = _FINAL_SHARE if all_effort else _WEIGHED_SHARE
        prims = self._restricted(function, prims)
        try:
            lives = self._lives(function, prims)
        except Colliding:  # a part of the ties that hold together may not hold
            raise DoesNotFit(()) from None
        limits = self.choices.limits
        limits = replace(limits, effort=limits.effort // share, deadline_seconds=self.choices.clock.left())
        try:
            names = [prim.let.where for prim in prims]
            live, problem, plan = lowest_plan(
                lives, lambda live: live.problem(self.pools, limits), self.planner, names
            )
        finally:
            self.choices.plans.add()
        return Attempt(
            ordered=self.ordered,
            function=function,
            prim_funcs=tuple(prims),
            live=live,
            problem=problem,
            plan=plan,
        )

    def bound_bytes(self, function: Function, prims: Sequence[PrimFunc]) -> int:
        """Lower bound of the bytes that these steps need of all pools; no limit where ties collide."""
        try:
            lives = self._lives(function, self._restricted(function, prims))
        except Colliding:
            return problems.NO_LIMIT_BYTES
        return min(lower_bound(live.problem(self.pools)).bytes for live in lives)

    def _restricted(self, function: Function, prims: Sequence[PrimFunc]) -> tuple[PrimFunc, ...]:
        """`prims` with the sharing that the user permits."""
        if self.choices.sharing == "overlap":
            return tuple(prims)
        return replacing(function, permitted(prims, self.choices.sharing), self.edge)

    def _pool_candidates(self, buffer: str, kind: BufferKind) -> Sequence[str]:
        """Pools of a buffer: state is apart from all else, of several models or where a rule says so."""
        del kind
        choices = self.choices
        if buffer in choices.lasting.memories:
            return [choices.lasting.memories[buffer]]
        names = [pool.name for pool in self.pools if pool.name not in choices.state_pools]
        if not choices.state_bytes:
            return names
        return names[-1:] if buffer in choices.lasting.names else names[:-1]

    def _lives(self, function: Function, prims: Sequence[PrimFunc]) -> list[Liveness]:
        """Buffers to be placed; by an NPU's scratch, with fewer and with more of its hollows filled."""
        has_scratch = any(prim.inlets for prim in prims)
        return [
            liveness(
                prims,
                function,
                edge=self.edge,
                pool_candidates=self._pool_candidates,
                minimum_alignment=self.board.buffer_alignment_bytes,
                fills_edges=fills_edges,
            )
            for fills_edges in ((False, True) if has_scratch else (False,))
        ]


def _flash_and_ram(attempt: Attempt) -> int:
    """Figure that `--optimize size` weighs: bytes of the kernels' code, and RAM at its price in flash."""
    return used_code_bytes(attempt.prim_funcs) + RAM_WORTH * attempt.peak_bytes
