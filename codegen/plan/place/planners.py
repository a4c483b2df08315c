"""Planners by name: our own from a table, others through the entry point group `codegen.planners`."""

import difflib
import functools
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from codegen.errors import CodegenError, Message
from codegen.plan.place.exact import optimal
from codegen.plan.place.hill_climb import hill_climb
from codegen.plan.place.placing import greedy_by_conflicts, greedy_by_size
from codegen.plan.validate import violations
from codegen.problem.problem import MemoryPlan, Problem
from codegen.problem.shortage import DoesNotFit

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Planner = Callable[[Problem], MemoryPlan]

GROUP = "codegen.planners"

# The table, not our own metadata, is the source: a checkout that is not installed has no metadata.
BUILTIN: Mapping[str, Planner] = MappingProxyType(
    {
        "greedy_by_size": greedy_by_size,
        "greedy_by_conflicts": greedy_by_conflicts,
        "hill_climb": hill_climb,
        "optimal": optimal,
    }
)


def names() -> tuple[str, ...]:
    """Names of all planners: ours in order, then those of other packages, sorted."""
    return (*BUILTIN, *sorted({point.name for point in _external()} - BUILTIN.keys()))


def find(name: str) -> Planner:
    """The planner called `name`.

    Raises CodegenError E210 for an unknown name or one that several packages claim, E216 if its package
    cannot be loaded. Plans of an external planner are validated: E216 if it raises or its plan does not hold.
    """
    points = [point for point in _external() if point.name == name]
    if len(points) + (name in BUILTIN) > 1:
        claims = ", ".join(sorted(point.value for point in points))
        builtin = "codegen itself and " if name in BUILTIN else ""
        raise CodegenError(
            Message(
                code="E210",
                where=f"planner {name}",
                text=f"several packages offer it: {builtin}{claims}",
                help="uninstall one, or rename its entry point",
            )
        )
    if name in BUILTIN:
        return BUILTIN[name]
    if not points:
        raise CodegenError(
            Message(
                code="E210",
                where=f"planner {name}",
                text=f"there is no such planner; known are {', '.join(names())}",
                help=_suggestion(name),
            )
        )
    return _guarded(name, points[0])


def _external() -> "tuple[EntryPoint, ...]":
    """Entry points of other packages; an installed copy of this one lists its own, which are in the table."""
    return _found_in(tuple(sys.path))


@functools.lru_cache(maxsize=1)
def _found_in(places: tuple[str, ...]) -> "tuple[EntryPoint, ...]":
    """Looked up once: it takes as long as planning a small model. `places`: what an answer holds for."""
    from importlib.metadata import entry_points  # a twentieth of a command's start, and seldom asked for

    points = {(point.name, point.value): point for point in entry_points(group=GROUP)}
    return tuple(point for point in points.values() if not point.value.startswith("codegen."))


def _suggestion(name: str) -> str:
    near = difflib.get_close_matches(name, names(), n=1)
    if near:
        return f"did you mean {near[0]}?"
    return f"take one of these, or install a package with an entry point in group {GROUP}"


def _broken(name: str, text: str) -> CodegenError:
    return CodegenError(
        Message(
            code="E216",
            where=f"planner {name}",
            text=text,
            help="this planner comes from another package; report it there, or use --planner optimal",
        )
    )


def _guarded(name: str, point: "EntryPoint") -> Planner:
    try:
        planner = point.load()
    except Exception as error:  # whatever a foreign module raises on import is its own mistake
        raise _broken(name, f"{point.value} cannot be loaded: {type(error).__name__}: {error}") from error
    if not callable(planner):
        raise _broken(name, f"{point.value} is not a function")

    def plan(problem: Problem) -> MemoryPlan:
        try:
            result: object = planner(problem)
        except (CodegenError, DoesNotFit):
            raise
        except Exception as error:
            raise _broken(name, f"it failed: {type(error).__name__}: {error}") from error
        if not isinstance(result, MemoryPlan):
            raise _broken(name, f"it returned {type(result).__name__}, not a MemoryPlan")
        if wrong := violations(problem, result):
            more = f" (and {len(wrong) - 3} more)" if len(wrong) > 3 else ""
            raise _broken(name, f"its plan does not hold: {'; '.join(wrong[:3])}{more}")
        return result

    return plan
