"""What to tell a user whose buffers do not fit: which pool, how many bytes, when, and what lives there."""

from collections.abc import Sequence
from dataclasses import dataclass

from codegen.errors import CodegenError, Message
from codegen.plan.bounds import alive_at, lower_bound
from codegen.plan.problem import Buffer, MemoryPlan, Problem, peak_bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class Shortage:
    """A pool over its limit: the best plan found needs `needed_bytes`, none needs less than `bound_bytes`.

    `time` is where most bytes are alive, `alive` what lives in the pool then, the biggest first.
    """

    pool: str
    limit_bytes: int
    needed_bytes: int
    bound_bytes: int
    time: int
    alive: tuple[Buffer, ...]

    @property
    def missing_bytes(self) -> int:
        """Bytes the pool lacks for the best plan found."""
        return self.needed_bytes - self.limit_bytes


class DoesNotFit(CodegenError):
    """E401: no plan found within the pools' limits. `shortages` has the facts, one a pool."""

    def __init__(self, shortages: Sequence[Shortage], steps: Sequence[str] | None = None) -> None:
        self.shortages = tuple(shortages)
        super().__init__(
            [
                _message(item, steps[i] if steps else f"time {item.time}")
                for i, item in enumerate(self.shortages)
            ]
        )

    def with_steps(self, times: Sequence[tuple[int, int]], names: Sequence[str]) -> "DoesNotFit":
        """The same, its peak named by step: `times[i]` is the interval of the step called `names[i]`."""
        return DoesNotFit(self.shortages, [_step(item.time, times, names) for item in self.shortages])


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
                    needed_bytes=needed,
                    bound_bytes=bound.bytes,
                    time=bound.time,
                    alive=alive_at(problem, plan, pool.name, bound.time),
                )
            )
    return DoesNotFit(found)


def _step(time: int, times: Sequence[tuple[int, int]], names: Sequence[str]) -> str:
    for (start, stop), name in zip(times, names, strict=True):
        if start <= time < stop:
            return f"step {name}"
    return f"time {time}"


def _message(item: Shortage, moment: str) -> Message:
    lines = [
        f"lacks {item.missing_bytes} bytes: the best plan found needs {item.needed_bytes} bytes, "
        f"the limit is {item.limit_bytes}",
        f"  most is alive at {moment}:",
        *(f"    {b.size_bytes:>9} bytes  {b.id} ({b.kind.value})" for b in item.alive),
    ]
    if item.bound_bytes > item.limit_bytes:
        lines.append(f"  these buffers need at least {item.bound_bytes} bytes in any plan")
    help_ = "a board or a --pool limit with more bytes, a smaller model"
    if item.bound_bytes <= item.limit_bytes:
        help_ = f"another --planner, {help_}"
    return Message(code="E401", where=f"pool {item.pool}", text="\n".join(lines), help=f"try {help_}")
