"""What to tell a user whose buffers do not fit: which pool, how many bytes, when, and what lives there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from codegen.errors import CodegenError, Message
from codegen.plan.bounds import alive_at, lower_bound
from codegen.plan.problem import Buffer, MemoryPlan, Problem, peak_bytes


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

    @property
    def missing_bytes(self) -> int:
        """Bytes the pool lacks for the best plan found."""
        return self.needed_bytes - self.limit_bytes


class DoesNotFit(CodegenError):
    """E401: no plan found within the pools' limits. `shortages` has the facts, one a pool."""

    def __init__(self, shortages: Sequence[Shortage]) -> None:
        self.shortages = tuple(shortages)
        super().__init__([_message(item) for item in self.shortages])

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


def _message(item: Shortage) -> Message:
    return _of_models(item) if len(item.models) > 1 else _of_one(item)


def _of_models(item: Shortage) -> Message:
    """Concurrent models: the smallest plans that were found of each, together."""
    lines = [
        f"lacks {item.missing_bytes} bytes for models that are concurrent: together they need "
        f"{item.needed_bytes} bytes, the limit is {item.limit_bytes}",
        *(f"    {size:>9} bytes  {name}" for name, size in item.models),
    ]
    help_ = "models that take turns (leave one out of --concurrent), a board with more bytes, smaller models"
    if item.budget_bytes is not None:
        lines.append(
            f"  the smallest limit for which plans of all models were found is {item.budget_bytes} bytes"
        )
        if item.room_bytes is None or item.budget_bytes <= item.room_bytes:
            help_ = f"--pool {item.pool}={item.budget_bytes}, {help_}"
        else:
            lines.append(f"  this board has {item.room_bytes}")
    where = f"pool {item.pool}, {' and '.join(name for name, _ in item.models)}"
    return Message(code="E401", where=where, text="\n".join(lines), help=f"try {help_}")


def _of_one(item: Shortage) -> Message:
    moment = f"time {item.time}" if item.step is None else f"step {item.step}"
    lines = [
        f"lacks {item.missing_bytes} bytes: the best plan found needs {item.needed_bytes} bytes, "
        f"the limit is {item.limit_bytes}",
        f"  most is alive at {moment}:",
        *(f"    {b.size_bytes:>9} bytes  {b.id} ({b.kind.value})" for b in item.alive),
    ]
    if item.bound_bytes > item.limit_bytes:
        lines.append(f"  these buffers need at least {item.bound_bytes} bytes in any plan")
    help_ = "a board or a --pool limit with more bytes, a smaller model"
    if item.budget_bytes is not None:
        plans = "plans of all models were" if item.models else "a plan was"
        lines.append(f"  the smallest budget for which {plans} found is {item.budget_bytes} bytes")
        help_ = "a board with that many bytes, a smaller model"
        if item.room_bytes is None or item.budget_bytes <= item.room_bytes:
            help_ = f"--pool {item.pool}={item.budget_bytes}, {help_}"
        else:
            lines.append(f"  this board has {item.room_bytes}")
    if item.bound_bytes <= item.limit_bytes:
        help_ = f"another --planner, {help_}"
    where = f"pool {item.pool}" + "".join(f", {name}" for name, _ in item.models)
    return Message(code="E401", where=where, text="\n".join(lines), help=f"try {help_}")
