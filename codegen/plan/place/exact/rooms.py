"""Remembered answers to one question: can a set of buffers be placed below a pool's limit?

Sets are bits of an int. A set that fits also fits without some of it; one that does not fit does not with
more.
"""

from collections.abc import Iterator, Mapping, Sequence

from codegen.plan.place.exact.conflict_graph import Graph, graph
from codegen.plan.place.exact.contention import Contention
from codegen.plan.place.exact.squeeze import SolverBudget, Squeeze
from codegen.problem.problem import Pool, Problem

_MOST_REMEMBERED = 400
"""Sets looked through for a larger or smaller one, per pool and answer."""

_QUESTION = 60
"""A question gets at most the budget's effort divided by this."""

_PER_CONFLICT = 8
"""Units of work a question costs for each buffer and conflict of the problem, whatever its answer."""


def fits(squeeze: Squeeze, pool: Pool, budget: SolverBudget) -> bool:
    """True if the buffers of `squeeze` are placed below the limit of a pool before the budget runs out."""
    return bool(squeeze.fit_into(pool, budget))


class Rooms:
    """Questions about the buffers of one problem, numbered as in `whole`, their graph."""

    def __init__(self, problem: Problem, whole: Graph, budget: SolverBudget) -> None:
        """`budget` is shared by all questions but those that are given their own."""
        self.budget = budget
        self._problem, self._whole = problem, whole
        self.ids = whole.ids
        self.sizes = whole.sizes
        self._effort = budget.effort // _QUESTION
        self._toll = _PER_CONFLICT * (len(problem.buffers) + len(problem.conflicts))
        self._answers: dict[tuple[int, int], bool | None] = {}
        self._fitting: list[list[int]] = [[] for _ in problem.pools]
        self._failing: list[list[int]] = [[] for _ in problem.pools]
        self._offsets: dict[tuple[int, int], tuple[int, ...]] = {}
        self._lowest: dict[tuple[int, int], tuple[int, int]] = {}

    def relaxed(self, prices: Sequence[Mapping[int, int]]) -> Contention:
        """Bounds on the choice of pools from the limits alone; `prices` as `Contention` takes them."""
        return Contention(self._whole, prices, self._problem.pools)

    def fits(self, pool: int, mask: int, budget: SolverBudget | None = None) -> bool | None:
        """True if the buffers of `mask` fit into `pool`; None if the budget ran out before the answer."""
        if not mask:
            return True
        known = self._answers.get((pool, mask))
        if known is not None:
            return known
        if any(mask & other == mask for other in self._fitting[pool]):
            return True
        if any(mask & other == other for other in self._failing[pool]):
            return False
        if (pool, mask) in self._answers and budget is None:
            return None
        return self._ask(pool, mask, budget)

    def _ask(self, pool: int, mask: int, budget: SolverBudget | None) -> bool | None:
        squeeze = self.squeeze(mask)
        question = budget or self._question()
        before = question.effort
        answer = squeeze.fit_into(self._problem.pools[pool], question)
        self._pay(0 if budget else before - question.effort, question)
        self._answers[pool, mask] = answer
        if answer:
            self._offsets[pool, mask] = squeeze.offsets
        if answer is not None:
            remembered = self._fitting[pool] if answer else self._failing[pool]
            remembered.append(mask)
            # The newest are the likeliest to be asked about again.
            del remembered[:-_MOST_REMEMBERED]
        return answer

    def squeeze(self, mask: int) -> Squeeze:
        """Start a search for offsets of the buffers in `mask`, alone in one pool, at the greedy plan."""
        # The graph of some of the buffers has them in the same order.
        numbers = graph(self._problem, [self.ids[index] for index in members(mask)])
        bound = max((sum(size for _, size in section) for section in numbers.sections), default=0)
        largest = max(numbers.sizes, default=0)
        return Squeeze(numbers, max(bound, largest), self._problem.limits.seed)

    def offsets(self, pool: int, mask: int) -> list[int] | None:
        """Offsets of these buffers below the limit, in order of their numbers; None if none are known."""
        for (where, other), offsets in self._offsets.items():
            if where == pool and mask & other == mask:
                placed = zip(members(other), offsets, strict=True)
                return [offset for index, offset in placed if mask >> index & 1]
        return None

    def tell(self, pool: int, mask: int, offsets: Sequence[int]) -> None:
        """These buffers fit at `offsets`, in order of their numbers."""
        self._answers[pool, mask] = True
        self._fitting[pool].append(mask)
        self._offsets[pool, mask] = tuple(offsets)

    def lowest(self, pool: int, mask: int) -> tuple[int, int]:
        """(Lowest peak found, what is proved of it) in bytes, of buffers that fit into `pool`."""
        if not mask:
            return 0, 0
        if (pool, mask) not in self._lowest:
            squeeze = self.squeeze(mask)
            offsets = self.offsets(pool, mask)
            if offsets is not None:
                squeeze.offer(offsets)
            question = self._question()
            before = question.effort
            squeeze.minimise(question)
            self._pay(before - question.effort, question)
            self._lowest[pool, mask] = squeeze.peak, squeeze.bound
            self._offsets[pool, mask] = squeeze.offsets
        return self._lowest[pool, mask]

    def _question(self) -> SolverBudget:
        return SolverBudget(effort=min(self._effort, self.budget.effort), deadline=self.budget.deadline)

    def _pay(self, effort: int, question: SolverBudget) -> None:
        self.budget.effort -= effort + self._toll
        self.budget.late = self.budget.late or question.late


def members(mask: int) -> Iterator[int]:
    """Numbers of the bits that are set, in order."""
    while mask:
        yield (mask & -mask).bit_length() - 1
        mask &= mask - 1
