"""CP-SAT of OR-Tools, where it is installed (extra `solver`): one worker, fixed seed, deterministic time."""

import importlib
from typing import Any

from codegen.plan.place.exact.conflict_graph import Graph

_WORK = 5.0 / 20_000
"""Deterministic time (CP-SAT's own count of work, about seconds) per unit of `Limits.effort`."""

_MOST_CONFLICTS = 4_000
"""Beyond this many the model itself takes too long to build and presolve."""


def solve(
    graph: Graph,
    hint: tuple[int, ...],
    bound: int,
    *,
    seed: int,
    effort: int,
    seconds: float | None = None,
) -> tuple[tuple[int, ...], int] | None:
    """Offsets with a peak no higher than the hint's, and a proved bound of any peak, both in bytes.

    `effort` is that of `Limits`, `seconds` a deadline. None if OR-Tools is missing, the graph is too large
    or CP-SAT returned nothing.
    """
    cp_model = _module()
    if cp_model is None or effort <= 0 or sum(len(row) for row in graph.edges) > 2 * _MOST_CONFLICTS:
        return None
    worst = max(o + s for o, s in zip(hint, graph.sizes, strict=True))
    model: Any = cp_model.CpModel()
    peak: Any = model.new_int_var(bound, worst, "")
    starts: list[Any] = []
    for size, alignment, offset in zip(graph.sizes, graph.alignments, hint, strict=True):
        unit: Any = model.new_int_var(0, (worst - size) // alignment, "")
        model.add_hint(unit, offset // alignment)
        starts.append(alignment * unit)
        model.add(starts[-1] + size <= peak)
    for buffer, row in enumerate(graph.edges):
        for other, below, above in row:
            if other > buffer:
                first: Any = model.new_bool_var("")
                model.add(starts[buffer] + below <= starts[other]).only_enforce_if(first)
                model.add(starts[other] + above <= starts[buffer]).only_enforce_if(first.negated())
    for section in graph.sections:
        model.add(peak >= sum(size for _, size in section))
    model.minimize(peak)
    solver: Any = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = seed & 0x7FFFFFFF
    solver.parameters.max_deterministic_time = _WORK * effort
    if seconds is not None:
        solver.parameters.max_time_in_seconds = max(seconds, 0.01)
    status: Any = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    offsets = tuple(int(solver.value(start)) for start in starts)
    proved = round(solver.best_objective_bound)
    return offsets, max(bound, proved)


def _module() -> Any | None:
    try:
        return importlib.import_module("ortools.sat.python.cp_model")
    except ImportError:
        return None
