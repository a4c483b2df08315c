"""Which of several attempts to take: what `--optimize` asks for, what a limit demands, all that pay."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from codegen.problem.problem import has_room, overfull
from codegen.problem.shortage import DoesNotFit
from codegen.search.memory import wider_turns
from codegen.search.memory.attempt import Attempt, Planning
from codegen.search.memory.candidates import (
    NEAR_PERCENT,
    History,
    PlanCandidate,
    capped,
    lines,
    whole,
)
from codegen.search.memory.frontier import Frontier

EXTRA_PERCENT = 50
"""The most extra multiply-accumulates of `--optimize size`, in percent of the model's own."""


def within_limits(planning: Planning, asked: Attempt | None, frontier: Callable[[], Frontier]) -> Attempt:
    """Return `asked` if it keeps the limits of `planning`, which then change nothing; else the fastest that
    does.

    Raises DoesNotFit as `Frontier.fitting` does.
    """
    kept = asked and _kept(planning, asked)
    if asked is not None and kept is not None and kept.extra_cost <= asked.extra_cost:
        return kept
    ways = frontier()
    fastest = ways.fastest(planning.pools)
    if len(planning.pools) > 1 and (fastest is None or fastest.extra_cost):
        # Where memories are small or dear, blocks that are chosen for these pools may be better.
        chosen = objective_attempt(planning, planning.choices.optimize)
        plans = [plan for plan in (fastest, chosen) if plan is not None]
        fastest = min(plans, key=lambda plan: plan.extra_cost, default=None)
    return fastest or ways.fitting(planning.pools)


def without_limits(planning: Planning) -> Planning:
    """`planning` in pools of all the room that the board has for them."""
    rooms = {pool.name: pool.room_bytes for pool in planning.pools if pool.room_bytes is not None}
    return planning.limited(rooms)


def objective_attempt(planning: Planning, optimize: str) -> Attempt | None:
    """The plan that `optimize` asks for; None if none of those that it looks at fits.

    speed: values in memory whole. balanced: the least peak without an extra multiply-accumulate. size: the
    least peak for `EXTRA_PERCENT` more of them; up to `NEAR_PERCENT` above it if that saves some. Blocks have
    the kernels of `wider_turns`.
    """
    if planning.is_hopeless:
        return None
    history = History()
    for candidate in _asked_for(planning, optimize):
        history.add(candidate)
        if history.found and (optimize == "speed" or planning.choices.clock.late()):
            break
    if not history.found:
        return None
    return wider_turns.faster(planning, planning.finished(_preferred(history.found, optimize)))


def _kept(planning: Planning, asked: Attempt) -> Attempt | None:
    """The steps of `asked` within the limits; None where they do not fit."""
    if planning.pools == asked.problem.pools:
        return asked
    within = replace(asked, problem=replace(asked.problem, pools=planning.pools))
    if not overfull(within.problem, within.plan):
        return within
    if not has_room(planning.pools, planning.bound_bytes(asked.function, asked.prim_funcs)):
        return None
    try:
        return replace(
            planning.finished(planning.place(asked.function, asked.prim_funcs)), ordered=asked.ordered
        )
    except DoesNotFit:
        return None


def _asked_for(planning: Planning, optimize: str) -> Iterator[PlanCandidate]:
    """Blocks come first where they are looked for: what they need often shows by its bound alone that values
    in memory whole are not worth planning."""
    if optimize == "speed":
        yield from whole(planning)
    if optimize != "speed" or planning.streamed is not None:
        yield from lines(planning)
    if optimize != "speed":
        yield from whole(planning)
    if optimize == "size":
        yield from capped(planning, planning.macs * EXTRA_PERCENT // 100)


def _preferred(attempts: Sequence[Attempt], optimize: str) -> Attempt:
    """The attempt of the least peak, of those whose buffers are in the best pools; with size also one a
    little above it, if that saves work.
    """
    cost = min(attempt.extra_cost for attempt in attempts)
    cheap = [attempt for attempt in attempts if attempt.extra_cost == cost]
    smallest = min(attempt.peak_bytes for attempt in cheap)
    percent = NEAR_PERCENT if optimize == "size" else 0
    near = [attempt for attempt in cheap if attempt.peak_bytes * 100 <= smallest * (100 + percent)]
    return min(near, key=lambda attempt: (attempt.macs, attempt.peak_bytes, attempt.block_steps))
