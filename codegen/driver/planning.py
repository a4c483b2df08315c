"""Planning alone: of a model without a toolchain, or of a bare allocation problem."""

from dataclasses import replace
from pathlib import Path

from codegen import board as boards
from codegen.driver.build import Planned, plan_model
from codegen.driver.options import Options
from codegen.ir import Board, Region
from codegen.plan import files, planners, validate
from codegen.plan.problem import Limits, MemoryPlan, Pool, Problem

_ROOM = 1 << 28
"""Bytes of the pool when no board was named: larger than any microcontroller's RAM."""


def plan_only(path: Path, options: Options) -> Planned:
    """Plan a model for `options.board`, or for `stm32`'s kernels in one roomy pool if none was named.

    Raises CodegenError as import, search and the board's catalogue do.
    """
    if options.board:
        return plan_model(path, boards.load_board(options.board), options)
    return plan_model(path, _roomy(boards.load_board("stm32")), options)


def _roomy(board: Board) -> Board:
    data = board.region(board.data_region)
    room = Region(name=data.name, address=0, size_bytes=_ROOM, writable=True)
    code = board.region(board.code_region)
    return replace(board, regions=(room, replace(code, address=0, size_bytes=_ROOM)), reserved_bytes=0)


def plan_problem(path: Path, options: Options) -> tuple[Problem, MemoryPlan]:
    """Plan a problem file. A CSV has one pool, `ram`, limited by `--pool ram=BYTES`.

    Raises CodegenError for a malformed file, an unknown planner or a problem that does not fit.
    """
    limit = options.pool_limits.get("ram", _ROOM)
    pools = (Pool(name="ram", region="RAM", limit_bytes=limit, alignment=1),)
    limits = Limits(seed=options.seed, deadline_seconds=options.deadline_seconds)
    problem = files.read_problem(path, pools, limits)
    plan = planners.find(options.planner)(problem)
    found = validate.violations(problem, plan)
    if found:
        raise ValueError(f"planner {options.planner} made a wrong plan:\n" + "\n".join(found))
    return problem, plan
