"""Which buffer goes to which pool: branch and bound over the choice, each pool's room found exactly.

A node has some buffers assigned. Its bound is that of `contention.py`. Where all others fit, by that
measure, into the pool they prefer, the exact placement search says whether they really do; if so the node is
solved. If not, a buffer is branched on, its cheapest pool first. What a stopped placement search leaves open
is never taken for an answer: such a node's bound stays in what is proved (`Assignment.bound`).

Of the assignments of least price a second search takes the one with the least sum of peaks.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from codegen.plan.place.exact.conflict_graph import Graph
from codegen.plan.place.exact.contention import FREE, IMPOSSIBLE, Contention
from codegen.plan.place.exact.rooms import Rooms, members


@dataclass(kw_only=True, slots=True)
class Assignment:
    """Pool of every buffer, price of that; no assignment that fits has a price below `bound`."""

    pools: tuple[int, ...] | None = None
    price: int = IMPOSSIBLE
    bound: int = 0
    peaks_floor: int = 0
    """No other assignment of this price has a lower sum of peaks, in bytes; known once `proved`."""

    @property
    def proved(self) -> bool:
        """True if no assignment that fits has a lower price."""
        return self.pools is not None and self.bound >= self.price


@dataclass(kw_only=True, slots=True)
class _SearchFrame:
    buffer: int
    bound: int
    left: list[int]
    """Pools to try yet, the cheapest last."""


class Assigner:
    """Searches the assignments of one graph's buffers."""

    def __init__(self, graph: Graph, relaxed: Contention, rooms: Rooms) -> None:
        self._graph = graph
        self._relaxed = relaxed
        self._rooms = rooms
        self.best = Assignment(bound=relaxed.bound)
        for buffer, row in enumerate(relaxed.prices):
            if len(row) == 1:
                relaxed.assign(buffer, relaxed.preferred[buffer])

    def offer(self, pools: Sequence[int]) -> None:
        """Take over an assignment that is known to fit if its price is lower."""
        price = sum(row[pool] for row, pool in zip(self._relaxed.prices, pools, strict=True))
        if price < self.best.price:
            self.best.pools, self.best.price = tuple(pools), price

    def minimise(self, nodes: int, *, floor_only: bool = False) -> None:
        """Lower the price and raise its bound, in at most `nodes` nodes.

        `floor_only`: where room is in doubt go no deeper, but prove as much as can be proved all the same.
        """
        search = _LeastPrice(self._relaxed, self._rooms, self.best, floor_only)
        left_open = _walk(self._relaxed, self._rooms, search.visit, nodes)
        bound = min(self.best.price, search.open_bound, left_open)
        self.best.bound = max(self.best.bound, bound)

    def improve(self, questions: int) -> None:
        """Move buffers to cheaper pools, and out of them for others, where that lowers the price."""
        if self.best.pools is not None:
            climb = _Exchange(self._graph, self._relaxed, self._rooms, list(self.best.pools), questions)
            self.offer(climb.run())

    def lower_peaks(self, nodes: int) -> None:
        """Among the assignments of the least price, which must be proved, take the one of least peaks."""
        search = _LeastPeaks(self._graph, self._relaxed, self._rooms, self.best)
        left_open = _walk(self._relaxed, self._rooms, search.visit, nodes)
        self.best.peaks_floor = search.floor if left_open < IMPOSSIBLE else search.open_peaks


def _walk(relaxed: Contention, rooms: Rooms, visit: Callable[[], int | None], nodes: int) -> int:
    """Depth first: `visit` names the buffer to branch on, None where a node is done with.

    Returns the least bound of what was left open: IMPOSSIBLE if nothing was.
    """
    frames: list[_SearchFrame] = []
    while True:
        buffer = visit()
        nodes -= 1
        if buffer is not None:
            row = relaxed.prices[buffer]
            pools = sorted(row, key=lambda pool: row[pool], reverse=True)
            frames.append(_SearchFrame(buffer=buffer, bound=relaxed.bound, left=pools))
        while frames and not frames[-1].left:
            if relaxed.pools[frames.pop().buffer] != FREE:
                relaxed.undo()
        if not frames:
            return IMPOSSIBLE
        if relaxed.pools[frames[-1].buffer] != FREE:
            relaxed.undo()
        if nodes <= 0 or rooms.budget.spent:
            break
        relaxed.assign(frames[-1].buffer, frames[-1].left.pop())
    left_open = min(frame.bound for frame in frames if frame.left)
    for frame in reversed(frames[:-1]):
        if relaxed.pools[frame.buffer] != FREE:
            relaxed.undo()
    return left_open


@dataclass(slots=True)
class _LeastPrice:
    relaxed: Contention
    rooms: Rooms
    best: Assignment
    floor_only: bool
    open_bound: int = IMPOSSIBLE
    """Least bound of nodes where a placement search was stopped."""

    def visit(self) -> int | None:
        """Visit the present assignment for `_walk`: the buffer to branch on, or None if nothing better lies
        below."""
        relaxed = self.relaxed
        bound = relaxed.bound
        if bound >= (min(self.best.price, self.open_bound) if self.floor_only else self.best.price):
            return None
        critical = relaxed.critical()
        if critical is not None:
            return critical
        answers = [self.rooms.fits(pool, mask) for pool, mask in enumerate(relaxed.masks)]
        if all(answers):
            self.best.pools, self.best.price = relaxed.completion(), relaxed.base
            return None
        return self._blamed(answers, bound)

    def _blamed(self, answers: Sequence[bool | None], bound: int) -> int | None:
        """A buffer that may leave a pool which has no room for all; None if no completion can fit."""
        movable: list[int] = []
        for pool, answer in enumerate(answers):
            if answer:
                continue
            fixed = self.relaxed.fixed[pool]
            if answer is False and self.rooms.fits(pool, fixed) is False:
                return None
            movable.extend(members(self.relaxed.masks[pool] & ~fixed))
        if not movable or (self.floor_only and False not in answers):
            self.open_bound = min(self.open_bound, bound)
            return None
        return max(movable, key=lambda buffer: (self.rooms.sizes[buffer], -buffer))


@dataclass(slots=True)
class _LeastPeaks:
    graph: Graph
    relaxed: Contention
    rooms: Rooms
    best: Assignment
    peaks: int = IMPOSSIBLE
    floor: int = 0
    """No assignment at all has a lower sum of peaks."""
    open_peaks: int = IMPOSSIBLE
    """Least floor of assignments other than the best whose peaks were not settled."""
    _own: tuple[int, ...] = ()
    _extras: list[int] = field(default_factory=list[int])
    """Least extra cost of putting each buffer elsewhere than it prefers."""

    def __post_init__(self) -> None:
        assert self.best.pools is not None and self.best.proved
        self.floor = max((sum(size for _, size in section) for section in self.graph.sections), default=0)
        masks = [0] * len(self.relaxed.masks)
        for buffer, pool in enumerate(self.best.pools):
            masks[pool] |= 1 << buffer
        self.peaks = sum(self.rooms.lowest(pool, mask)[0] for pool, mask in enumerate(masks))
        self._own = tuple(masks)
        ordered = [sorted(row.values()) for row in self.relaxed.prices]
        self._extras = [row[1] - row[0] if len(row) > 1 else IMPOSSIBLE for row in ordered]

    def visit(self) -> int | None:
        """Visit the present assignment for `_walk`: the buffer to branch on, or None if no lower peaks lie
        below."""
        relaxed = self.relaxed
        if relaxed.bound > self.best.price or self.peaks <= self.floor:
            return None
        undecided = [
            buffer
            for buffer, pool in enumerate(relaxed.pools)
            if pool == FREE and relaxed.base + self._extras[buffer] <= self.best.price
        ]
        bits = sum(1 << buffer for buffer in undecided)
        decided = [mask & ~bits for mask in relaxed.masks]
        if self._piles(decided) >= self.peaks:
            return None
        if any(self.rooms.fits(pool, mask) is False for pool, mask in enumerate(decided)):
            return None
        if undecided:
            return max(undecided, key=lambda buffer: (self.rooms.sizes[buffer], -buffer))
        self._compare_peaks(decided)
        return None

    def _piles(self, masks: Sequence[int]) -> int:
        """A floor of the sum of the peaks of these sets."""
        return sum(
            max(
                sum(size for buffer, size in section if mask >> buffer & 1) for section in self.graph.sections
            )
            for mask in masks
            if mask
        )

    def _compare_peaks(self, masks: Sequence[int]) -> None:
        """The only assignment left below this node: what are its peaks?"""
        if self.relaxed.base != self.best.price or tuple(masks) == self._own:
            return
        if None in [self.rooms.fits(pool, mask) for pool, mask in enumerate(masks)]:
            self.open_peaks = min(self.open_peaks, self._piles(masks))
            return
        peaks_and_floors = [self.rooms.lowest(pool, mask) for pool, mask in enumerate(masks)]
        peaks, floor = sum(peak for peak, _ in peaks_and_floors), sum(bound for _, bound in peaks_and_floors)
        if peaks < self.peaks:
            before = [self.rooms.lowest(pool, mask)[1] for pool, mask in enumerate(self._own)]
            self.open_peaks = min(self.open_peaks, sum(before))
            self.peaks, self._own, self.best.pools = peaks, tuple(masks), self.relaxed.completion()
        else:
            self.open_peaks = min(self.open_peaks, floor)


@dataclass(slots=True)
class _Exchange:
    """Local search: a buffer into a cheaper pool, alone or in exchange for one that loses less."""

    graph: Graph
    relaxed: Contention
    rooms: Rooms
    pools: list[int]
    questions: int
    _masks: list[int] = field(default_factory=list[int])

    def run(self) -> list[int]:
        """The pools in the end."""
        self._masks = [0] * len(self.relaxed.masks)
        for buffer, pool in enumerate(self.pools):
            self._masks[pool] |= 1 << buffer
        while self.questions > 0 and self._round():
            pass
        return self.pools

    def _round(self) -> bool:
        gains = {b: row[self.pools[b]] - min(row.values()) for b, row in enumerate(self.relaxed.prices)}
        moved = sorted((b for b, gain in gains.items() if gain), key=lambda b: (-gains[b], b))
        # All of them, also after the first that is better off.
        return sum(self._better(buffer) for buffer in moved) > 0

    def _better(self, buffer: int) -> bool:
        row = self.relaxed.prices[buffer]
        for pool in sorted(row, key=lambda pool: row[pool]):
            if row[pool] >= row[self.pools[buffer]]:
                return False
            if self._try({buffer: pool}) or self._in_exchange(buffer, pool):
                return True
        return False

    def _in_exchange(self, buffer: int, pool: int) -> bool:
        gain = self.relaxed.prices[buffer][self.pools[buffer]] - self.relaxed.prices[buffer][pool]
        losses: list[tuple[int, int, int]] = []
        for other, _, _ in self.graph.edges[buffer]:
            prices = self.relaxed.prices[other]
            if self.pools[other] == pool:
                losses += [(price - prices[pool], other, to) for to, price in prices.items() if to != pool]
        return any(self._try({buffer: pool, other: to}) for loss, other, to in sorted(losses) if loss < gain)

    def _try(self, moves: dict[int, int]) -> bool:
        """Make the moves if everything fits afterwards."""
        masks = list(self._masks)
        for buffer, pool in moves.items():
            masks[self.pools[buffer]] &= ~(1 << buffer)
            masks[pool] |= 1 << buffer
        for pool, mask in enumerate(masks):
            if mask & ~self._masks[pool]:
                self.questions -= 1
                if self.questions < 0 or not self.rooms.fits(pool, mask):
                    return False
        self._masks = masks
        for buffer, pool in moves.items():
            self.pools[buffer] = pool
        return True
