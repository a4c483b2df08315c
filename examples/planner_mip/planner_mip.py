"""A memory planner outside codegen: placement as one mixed-integer program, solved by HiGHS."""

import math
import time

import highspy

from codegen.errors import CodegenError, Message
from codegen.problem.problem import MemoryPlan, Placement, Problem


def plan(problem: Problem) -> MemoryPlan:
    """The smallest sum of peaks with every buffer in its first candidate pool.

    Raises CodegenError E401 if that is infeasible, or no plan is found within the limits of the search.
    """
    begun = time.monotonic()
    solver = highspy.Highs()
    for option, value in _options(problem).items():
        solver.setOptionValue(option, value)
    pools = {pool.name: pool for pool in problem.pools}
    # No optimal offset is above all buffers stacked, each with its alignment lost once.
    top = sum(max(b.size_bytes, 0) + b.alignment for b in problem.buffers)
    gaps = [max(abs(c.first_below), abs(c.second_below)) for c in problem.conflicts]
    big = 2 * top + sum(gaps)
    peaks = {name: solver.addVariable(lb=0, ub=min(pool.limit_bytes, big)) for name, pool in pools.items()}
    units = {b.id: solver.addIntegral(lb=0, ub=big // b.alignment) for b in problem.buffers}
    offsets = {b.id: b.alignment * units[b.id] for b in problem.buffers}
    home = {b.id: b.pool_candidates[0] for b in problem.buffers}
    for b in problem.buffers:
        solver.addConstr(offsets[b.id] + b.size_bytes <= peaks[home[b.id]])
    for c in problem.conflicts:
        if home[c.first] == home[c.second]:
            above = solver.addBinary()
            first, second = offsets[c.first], offsets[c.second]
            solver.addConstr(first + c.first_below <= second + 2 * big * above)
            solver.addConstr(second + c.second_below <= first + 2 * big * (1 - above))
    solver.minimize(sum(peaks.values()))
    status = solver.getModelStatus()
    info = solver.getInfo()
    if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
        raise CodegenError(
            Message(
                code="E401",
                where="planner mip",
                text="no plan with every buffer in its first pool: "
                f"the solver says {solver.modelStatusToString(status)}",
                help="try --planner optimal, which says what is missing, or pools with more bytes",
            )
        )
    found = {id_: round(solver.val(unit)) for id_, unit in units.items()}
    held = {b.id: Placement(pool=home[b.id], offset=b.alignment * found[b.id]) for b in problem.buffers}
    single = len(problem.pools) == 1
    bound = max(math.ceil(info.mip_dual_bound - 1e-6), 0)
    return MemoryPlan(
        placements=held,
        planner="mip",
        solver=f"HiGHS {solver.version()}",
        lower_bounds=dict.fromkeys(pools, bound if single else 0),
        proved_optimal=status == highspy.HighsModelStatus.kOptimal,
        reproducible=status != highspy.HighsModelStatus.kTimeLimit,
        seconds=time.monotonic() - begun,
    )


def _options(problem: Problem) -> dict[str, object]:
    options: dict[str, object] = {
        "output_flag": False,
        "threads": 1,
        "random_seed": problem.limits.seed,
        "mip_abs_gap": 0.5,
        "mip_rel_gap": 0.0,
        "mip_feasibility_tolerance": 1e-9,
        "mip_max_nodes": problem.limits.effort,
    }
    if problem.limits.deadline_seconds is not None:
        options["time_limit"] = problem.limits.deadline_seconds
    return options
