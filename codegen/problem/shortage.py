"""Why nothing fits, in numbers: pools that lack bytes for buffers, or for constants.

Planners and search raise these; `driver/checks/fit.py` alone makes sentences of them.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from codegen.problem.problem import Buffer, Pool, Problem


@dataclass(frozen=True, kw_only=True, slots=True)
class Shortage:
    """A pool over its limit: the best plan found needs `needed_bytes`, no plan of its buffers less than
    `bound_bytes`.

    `time` is where most bytes are alive, `alive` what lives in the pool then, the biggest first. `step` names
    the step of that time, `budget_bytes` is the smallest limit that a plan was found for; None: not known.
    """

    pool: Pool
    needed_bytes: int
    bound_bytes: int
    time: int
    alive: tuple[Buffer, ...]
    step: str | None = None
    budget_bytes: int | None = None
    models: tuple[tuple[str, int], ...] = ()
    """In a build of several models: the one that is short, or those that are concurrent, and the bytes that
    the smallest plan found of each takes of the pool."""
    is_budget_for_all: bool = False
    """True if plans of all models of the build were found for the budget."""
    whole: tuple[str, int] | None = None
    """Inputs or outputs, and their bytes, if no plan has room for these alone."""
    sizes: str = ""
    """In a model whose sizes are ranges: the sizes of the range that fit."""

    @property
    def missing_bytes(self) -> int:
        """Bytes the pool lacks for the best plan found."""
        return self.pool.missing_bytes(self.needed_bytes)


class DoesNotFit(Exception):
    """No plan found within the pools' limits. `shortages` has the facts, one a pool.

    Budgets hold together: where several pools are short, a plan was found for all of theirs at once.
    """

    def __init__(self, shortages: Sequence[Shortage]) -> None:
        self.shortages = tuple(shortages)
        super().__init__(*self.shortages)

    @property
    def missing_bytes(self) -> int:
        """Bytes that all pools lack together."""
        return sum(item.missing_bytes for item in self.shortages)

    def with_steps(self, times: Sequence[tuple[int, int]], names: Sequence[str]) -> "DoesNotFit":
        """Return a copy whose peak is named by step: `times[i]` is the interval of the step called
        `names[i]`.
        """
        return DoesNotFit([replace(item, step=_step(item.time, times, names)) for item in self.shortages])

    def with_budgets(self, budgets: Mapping[str, int] | Mapping[str, None]) -> "DoesNotFit":
        """Return a copy with the smallest limits by pool that a plan was found for; None: not known."""
        return DoesNotFit(
            [
                replace(item, budget_bytes=budgets.get(item.pool.name, item.budget_bytes))
                for item in self.shortages
            ]
        )

    def with_whole(self, problem: Problem, kinds: Mapping[str, Collection[str]]) -> "DoesNotFit":
        """Return a copy that names what alone is too large: `kinds` are buffers that are all there at one
        time, such as a model's outputs.
        """
        return DoesNotFit([replace(item, whole=_whole(problem, item.pool, kinds)) for item in self.shortages])

    def with_sizes(self, sizes: str) -> "DoesNotFit":
        """Return a copy that says which sizes of a range fit."""
        return DoesNotFit([replace(item, sizes=sizes) for item in self.shortages])

    def of_model(self, name: str) -> "DoesNotFit":
        """Return a copy for one model of a build of several."""
        return DoesNotFit([replace(item, models=((name, item.needed_bytes),)) for item in self.shortages])


def _whole(problem: Problem, pool: Pool, kinds: Mapping[str, Collection[str]]) -> tuple[str, int] | None:
    for kind, names in kinds.items():
        held = [
            buffer for buffer in problem.buffers if buffer.id in names and pool.name in buffer.pool_candidates
        ]
        candidates = {candidate for buffer in held for candidate in buffer.pool_candidates}
        room = sum(
            candidate_pool.limit_bytes
            for candidate_pool in problem.pools
            if candidate_pool.name in candidates
        )
        size_bytes = sum(buffer.size_bytes for buffer in held)
        if size_bytes > room:
            return kind, size_bytes
    return None


def _step(time: int, times: Sequence[tuple[int, int]], names: Sequence[str]) -> str | None:
    for (start, stop), name in zip(times, names, strict=True):
        if start <= time < stop:
            return name
    return None


@dataclass(frozen=True, kw_only=True, slots=True)
class ConstantShortage:
    """Constants that may lie in no other pools than `pools`, and need more bytes than those have; where they
    do not, their pieces do not fit side by side."""

    pools: tuple[str, ...]
    needed_bytes: int
    limits_bytes: tuple[int, ...]
    """By pool, in the order of `pools`."""
    biggest: tuple[tuple[str, int], ...]
    """Name and bytes of the largest constants."""

    @property
    def missing_bytes(self) -> int:
        """Bytes that the pools lack; 0 or less where only the order of the pieces is at fault."""
        return self.needed_bytes - sum(self.limits_bytes)


@dataclass(frozen=True, kw_only=True, slots=True)
class ProgramPrice:
    """Resources of a program that a message compares."""

    ram_bytes: int
    instructions: int
    """Predicted instructions of an inference; cycles where a memory model is named."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SmallestLimit:
    """The smallest limit of `pool` in bytes that a program was found for; `room_bytes`: the largest there
    can be, None: any. `kept`: why constants of that program are not compressed -> their bytes."""

    pool: str
    limit_bytes: int
    room_bytes: int | None
    kept: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    prices: tuple[ProgramPrice, ProgramPrice] | None = None
    """Prices of that program and of the one without the limit."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FlashShortage:
    """Bytes that pools of constants lack. `smallest`: None where no single limit is at fault."""

    shares: tuple[ConstantShortage, ...]
    smallest: SmallestLimit | None = None
    lacking_bytes: int = 0
    """How many bytes are too many at least when all that may be compressed is."""
    model: str | None = None
    """In a build of several models: whose constants they are."""
    excluded: str = ""
    """Options that exclude compression; empty if none was given."""


class DoesNotLink(Exception):
    """Linked constants exceed the limits of their pools; `shortage` has the facts."""

    def __init__(self, shortage: FlashShortage) -> None:
        self.shortage = shortage
        super().__init__(shortage)
