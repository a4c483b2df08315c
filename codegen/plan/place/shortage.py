"""What to tell a user whose buffers do not fit: which pool, how many bytes, when, and what lives there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from codegen.errors import CodegenError, Message, in_bytes
from codegen.plan.place.bounds import alive_at, lower_bound
from codegen.program.problem import Buffer, MemoryPlan, Problem, peak_bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class Shortage:
    """A pool over its limit: the best plan found needs `needed_bytes`, no plan of its buffers less than
    `bound_bytes`.

    `time` is where most bytes are alive, `alive` what lives in the pool then, the biggest first. `step` names
    the step of that time, `budget_bytes` is the smallest limit that a plan was found for; None: not known.
    """

    pool: str
    limit_bytes: int
    needed_bytes: int
    bound_bytes: int
    time: int
    alive: tuple[Buffer, ...]
    step: str | None = None
    budget_bytes: int | None = None
    room_bytes: int | None = None
    """The largest limit that the board's region permits; None: not known."""
    models: tuple[tuple[str, int], ...] = ()
    """In a build of several models: the one that is short, or those that are concurrent, and the bytes that
    the smallest plan found of each takes of the pool."""
    is_budget_for_all: bool = False
    """Whether plans of all models of the build were found for the budget."""

    @property
    def missing_bytes(self) -> int:
        """Bytes the pool lacks for the best plan found."""
        return self.needed_bytes - self.limit_bytes


class DoesNotFit(CodegenError):
    """E401: no plan found within the pools' limits. `shortages` has the facts, one a pool.

    Budgets hold together: where several pools are short, a plan was found for all of theirs at once.
    """

    def __init__(self, shortages: Sequence[Shortage]) -> None:
        self.shortages = tuple(shortages)
        advice = _advice(self.shortages)
        super().__init__([_message(item, advice, alone=len(shortages) == 1) for item in self.shortages])

    @property
    def missing_bytes(self) -> int:
        """Bytes that all pools lack together."""
        return sum(item.missing_bytes for item in self.shortages)

    def with_steps(self, times: Sequence[tuple[int, int]], names: Sequence[str]) -> "DoesNotFit":
        """The same, its peak named by step: `times[i]` is the interval of the step called `names[i]`."""
        return DoesNotFit([replace(item, step=_step(item.time, times, names)) for item in self.shortages])

    def with_budgets(self, budgets: Mapping[str, int] | Mapping[str, None]) -> "DoesNotFit":
        """The same, saying the smallest limits by pool that a plan was found for; None: not known."""
        return DoesNotFit(
            [replace(item, budget_bytes=budgets.get(item.pool, item.budget_bytes)) for item in self.shortages]
        )

    def of_model(self, name: str) -> "DoesNotFit":
        """The same, of a model of a build of several."""
        return DoesNotFit([replace(item, models=((name, item.needed_bytes),)) for item in self.shortages])


def shortage(problem: Problem, plan: MemoryPlan) -> DoesNotFit:
    """The error for a plan that exceeds at least one pool's limit (ValueError if none is)."""
    found: list[Shortage] = []
    for pool in problem.pools:
        needed = peak_bytes(problem, plan, pool.name)
        if needed > pool.limit_bytes:
            here = frozenset(id_ for id_, place in plan.placements.items() if place.pool == pool.name)
            bound = lower_bound(problem, here)
            found.append(
                Shortage(
                    pool=pool.name,
                    limit_bytes=pool.limit_bytes,
                    room_bytes=pool.room_bytes,
                    needed_bytes=needed,
                    bound_bytes=bound.bytes,
                    time=bound.time,
                    alive=alive_at(problem, plan, pool.name, bound.time),
                )
            )
    return DoesNotFit(found)


def _step(time: int, times: Sequence[tuple[int, int]], names: Sequence[str]) -> str | None:
    for (start, stop), name in zip(times, names, strict=True):
        if start <= time < stop:
            return name
    return None


def _advice(shortages: Sequence[Shortage]) -> str:
    """What to try first: the limits that together do, as flags; nothing if one is not known or more than its
    region has."""
    flags: list[str] = []
    for item in shortages:
        if item.budget_bytes is None or not _is_granted(item):
            return ""
        flags.append(f"--pool {item.pool}={item.budget_bytes}")
    return f"{' '.join(flags)}, " if flags else ""


def _is_granted(item: Shortage) -> bool:
    return item.room_bytes is None or (item.budget_bytes or 0) <= item.room_bytes


def _message(item: Shortage, advice: str, *, alone: bool) -> Message:
    return (_of_models if len(item.models) > 1 else _of_one)(item, advice, alone=alone)


def _of_models(item: Shortage, advice: str, *, alone: bool) -> Message:
    """Concurrent models: the smallest plans that were found of each, together."""
    lines = [
        f"lacks {in_bytes(item.missing_bytes)} for models that are concurrent: together they need "
        f"{in_bytes(item.needed_bytes)}, the limit is {item.limit_bytes}",
        *(f"    {in_bytes(size, 9)}  {name}" for name, size in item.models),
        *_budget(item, "limit", alone=alone),
    ]
    help_ = "models that take turns (leave one out of --concurrent), a board with more bytes, smaller models"
    where = f"pool {item.pool}, {' and '.join(name for name, _ in item.models)}"
    return Message(code="E401", where=where, text="\n".join(lines), help=f"try {advice}{help_}")


def _of_one(item: Shortage, advice: str, *, alone: bool) -> Message:
    moment = f"time {item.time}" if item.step is None else f"step {item.step}"
    lines = [
        f"lacks {in_bytes(item.missing_bytes)}: the best plan found needs {in_bytes(item.needed_bytes)}, "
        f"the limit is {item.limit_bytes}",
        f"  most is alive at {moment}:",
        *(f"    {in_bytes(b.size_bytes, 9)}  {b.id} ({b.kind.value})" for b in item.alive),
    ]
    if item.bound_bytes > item.limit_bytes:
        lines.append(f"  these buffers need at least {in_bytes(item.bound_bytes)} in any plan")
    lines += _budget(item, "budget", alone=alone)
    help_ = "a board or a --pool limit with more bytes, a smaller model"
    if item.budget_bytes is not None:
        help_ = "a board with that many bytes, a smaller model"
    if item.bound_bytes <= item.limit_bytes:
        advice = f"another --planner, {advice}"
    where = f"pool {item.pool}" + "".join(f", {name}" for name, _ in item.models)
    return Message(code="E401", where=where, text="\n".join(lines), help=f"try {advice}{help_}")


def _budget(item: Shortage, word: str, *, alone: bool) -> list[str]:
    """What is said of the smallest budget, if one is known; not `alone`: other messages tell others."""
    if item.budget_bytes is None:
        return []
    plans = "plans of all models were" if item.is_budget_for_all else "a plan was"
    beside = "" if alone else ", with those of the other pools"
    lines = [f"  the smallest {word} for which {plans} found is {in_bytes(item.budget_bytes)}{beside}"]
    return lines if _is_granted(item) else [*lines, f"  this board has {item.room_bytes}"]
