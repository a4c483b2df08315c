"""Planning alone: of a model without a toolchain, or of a bare allocation problem."""

import time
from dataclasses import replace
from pathlib import Path

from codegen import board as boards
from codegen.driver.build import Planned, Share, memory_of, plan_model
from codegen.driver.checks.fit import telling
from codegen.driver.inputs.declared_pools import option_board
from codegen.driver.options import Options
from codegen.driver.report.buffers import buffers_report
from codegen.driver.report.certificate import CUT_SHORT
from codegen.driver.report.single import SCHEMA
from codegen.errors import CodegenError, Message, counted
from codegen.ir import Board, Region
from codegen.plan import validate
from codegen.plan.clock import Clock
from codegen.plan.place import planners, problem_files
from codegen.plan.place.access import access_cost
from codegen.plan.place.budgets import Budgets, shortage, smallest_budgets
from codegen.plan.place.planners import Planner
from codegen.problem.problem import (
    NO_LIMIT_BYTES,
    Limits,
    MemoryPlan,
    Pool,
    Problem,
    limited,
    overfull,
    peak_bytes,
)
from codegen.problem.shortage import DoesNotFit
from codegen.progress import Progress, silent

_ROOM = 1 << 29
"""Bytes of the pool, and for constants, when no board was named: larger than any microcontroller's memories,
and than any network's constants that was planned (411 MB). Less would cost minutes of compressing them."""


@telling()
def plan_only(path: Path, options: Options, *, progress: Progress = silent) -> Planned:
    """Plan a model for `options.board`, or for `stm32`'s kernels in one roomy pool if none was named.

    Raises CodegenError as import, search and the board's catalogue do.
    """
    return plan_model(path, planning_board(options), options, share=Share(alone=True), progress=progress)


def planning_board(options: Options) -> Board:
    """The board that was named; if none was, `stm32` with one roomy pool. Raises CodegenError E25x."""
    if options.pools and not options.board:
        raise CodegenError(
            Message(
                code="E258",
                where=f"--pool {options.pools[0]}",
                text="there is no board in whose memory it could lie",
                help="name one with --board",
            )
        )
    if not options.board:
        return _roomy(boards.load_board("stm32"))
    return option_board(options.board, options.pools, memory_of(options))


def _roomy(board: Board) -> Board:
    data = board.region(board.data_region)
    room = Region(name=data.name, address=0, size_bytes=_ROOM, writable=True)
    code = board.region(board.code_region)
    npu = boards.load_board("host").npu
    reached = None if npu is None else replace(npu, reach=(data.name, code.name))
    regions = room, replace(code, address=0, size_bytes=_ROOM)
    return replace(board, regions=regions, reserved_bytes=0, npu=reached)


@telling()
def plan_problem(path: Path, options: Options) -> tuple[Problem, MemoryPlan]:
    """Plan a problem file. A CSV has one pool, `ram`, limited by `--pool ram=BYTES`.

    Raises CodegenError for a malformed file, an unknown planner or a problem that does not fit.
    """
    limit = options.pool_limits.get("ram", _ROOM)
    pools = (Pool(name="ram", region="RAM", limit_bytes=limit, alignment=1),)
    limits = Limits(seed=options.seed, deadline_seconds=options.deadline_seconds)
    begun = time.monotonic()
    problem = problem_files.read_problem(path, pools, limits)
    seconds = options.deadline_seconds
    # The checks of the plan take about as long as reading did.
    clock = Clock(None if seconds is None else max(seconds - 2 * (time.monotonic() - begun), 0.0))
    named = planners.find(options.planner)

    def planner(problem: Problem) -> MemoryPlan:
        """The planner that was named, with what is left of the time."""
        return named(replace(problem, limits=replace(limits, deadline_seconds=clock.left())))

    try:
        plan = planner(problem)
    except DoesNotFit as error:
        plan = _smallest(problem, planner, error)
    faults = validate.violations(problem, plan)
    if faults:
        raise ValueError(f"planner {options.planner} made a wrong plan:\n" + "\n".join(faults))
    return problem, plan


def _smallest(problem: Problem, planner: Planner, missed: DoesNotFit) -> MemoryPlan:
    """Raises `DoesNotFit` with the smallest budgets that `planner` finds a plan for; a plan within the limits
    that turns up on the way is the answer."""
    short = [item.pool for item in missed.shortages]

    def ask(budgets: Budgets) -> MemoryPlan | None:
        try:
            return planner(replace(problem, pools=limited(problem.pools, budgets)))
        except DoesNotFit:
            return None

    def taken(plan: MemoryPlan) -> Budgets:
        return {pool.name: peak_bytes(problem, plan, pool.name) for pool in short}

    first = ask({pool.name: NO_LIMIT_BYTES for pool in short})
    smallest = (
        None if first is None else smallest_budgets(ask, taken, first, short, bisect=len(problem.pools) > 1)
    )
    if smallest is None:
        raise missed
    plan, budgets = smallest
    if not overfull(problem, plan):
        return plan
    raise shortage(problem, plan).with_budgets(budgets)


def problem_proof(problem: Problem, plan: MemoryPlan) -> str:
    """One line: is the plan of a bare problem proved optimal, by whom."""
    peak = sum(peak_bytes(problem, plan, pool.name) for pool in problem.pools)
    bound = sum(plan.lower_bounds[pool.name] for pool in problem.pools)
    above = f"{counted(peak - bound, 'byte')} above the bound"
    proof = above if peak > bound else "the pools are not proved best"
    proof = "proved optimal" if plan.proved_optimal else proof
    return proof + ("" if plan.reproducible else f"; {CUT_SHORT}")


def problem_report(problem: Problem, plan: MemoryPlan) -> dict[str, object]:
    """The document of `plan --json` for a bare problem: peaks against bounds, and every place."""
    names = [pool.name for pool in problem.pools]
    peaks = {name: peak_bytes(problem, plan, name) for name in names}
    summary = {
        "planner": plan.planner,
        "solver": plan.solver,
        "proved_optimal": plan.proved_optimal,
        "peak_bytes": sum(peaks.values()),
        "lower_bound_bytes": sum(plan.lower_bounds[name] for name in names),
        "access_cost": access_cost(problem, plan),
        "access_cost_bound": plan.access_cost_bound,
        "reproducible": plan.reproducible,
        "pools": [
            {
                "name": pool.name,
                "region": pool.region,
                "section": pool.section,
                "alignment_bytes": pool.alignment,
                "peak_bytes": peaks[pool.name],
                "size_bytes": peaks[pool.name],
                "limit_bytes": None if pool.limit_bytes == _ROOM else pool.limit_bytes,
                "lower_bound_bytes": plan.lower_bounds[pool.name],
            }
            for pool in problem.pools
        ],
        "certificate": {"words": [problem_proof(problem, plan)]},
        "buffers": buffers_report(problem, plan),
    }
    places = [(buffer.id, plan.placements[buffer.id]) for buffer in problem.buffers]
    return {
        "schema": SCHEMA,
        "plan": summary,
        "offsets": {id_: place.offset for id_, place in places},
        "in_pools": {id_: place.pool for id_, place in places},
    }
