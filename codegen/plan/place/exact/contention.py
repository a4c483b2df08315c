"""A lower bound of the price of assigning buffers to pools, kept while the search assigns them.

A buffer has a price in each pool that it may lie in. Buffers of a section are alive together, so those in a
set of pools take no more bytes than the limits of these pools together. Bytes in excess have to leave, and
each buffer pays what its cheapest pool outside costs more. In truth whole buffers leave. The bound lets a
part of a buffer leave, cheapest bytes first (the relaxed knapsack problem, Dantzig 1957).

Bounds of sections without a common buffer add up. A buffer's sections follow one another in time, so one pass
in order of time finds the best sum.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from codegen.plan.place.exact.conflict_graph import Graph
from codegen.problem.problem import Pool, excess_bytes

IMPOSSIBLE = 1 << 200
"""Price of an assignment that no limits permit: above any sum of prices."""

_MOST_POOLS = 4
"""Most pools of which every set is examined. If there are more: each alone, and for each k the k that most
buffers prefer."""

FREE = -1
"""A buffer that is not assigned yet."""


@dataclass(slots=True)
class _BufferItem:
    """A buffer that may leave a set of pools, and the price of that."""

    buffer: int
    size: int
    """Bytes the buffer adds to a pile of the section."""
    regret: int
    """Price in the cheapest pool outside the set, minus that in the cheapest inside."""


@dataclass(slots=True)
class _PoolGroup:
    """A section and a set of pools with less room than the buffers that may lie there."""

    pools: frozenset[int]
    section: int
    excess: int
    """Bytes beyond the limits if every buffer stays that may; it falls as buffers are assigned elsewhere."""
    items: list[_BufferItem] = field(default_factory=list[_BufferItem])
    """Buffers that can leave, the cheapest a byte first."""


class Contention:
    """Assigned pools of a graph's buffers, and a lower bound of the price of any completion."""

    def __init__(self, graph: Graph, prices: Sequence[Mapping[int, int]], pools: Sequence[Pool]) -> None:
        """`prices`: per buffer its price in each pool (an index of `pools`), the preferred pool first."""
        self.prices = prices
        self.pools = [FREE] * len(graph)
        self.masks = [0] * len(pools)
        """Per pool, as bits: the buffers assigned to it, and those not assigned that prefer it."""
        self.fixed = [0] * len(pools)
        """Per pool, as bits: the buffers assigned to it."""
        self.base = 0
        """Price of all buffers, those not assigned in the pool they prefer."""
        for buffer, row in enumerate(prices):
            self.masks[next(iter(row))] |= 1 << buffer
            self.base += min(row.values())
        self.preferred = [next(iter(row)) for row in prices]
        self._groups: list[_PoolGroup] = []
        self._values: list[int] = []
        self._homes: list[list[tuple[int, int]]] = [[] for _ in prices]
        """Per buffer: (group, bytes)."""
        self._build(graph, pools)
        self._sections, self._before = self._order()
        self._trail: list[tuple[int, int, list[int]]] = []
        self._values = [self._value(group) for group in self._groups]

    def _build(self, graph: Graph, every: Sequence[Pool]) -> None:
        for section, members in enumerate(graph.sections):
            sizes = {buffer: size for buffer, size in members if size}
            for pools in _sets(self.prices, len(every)):
                group = _group(section, pools, sizes, self.prices, [every[pool] for pool in pools])
                if group is not None:
                    for buffer in _insiders(sizes, pools, self.prices):
                        self._homes[buffer].append((len(self._groups), sizes[buffer]))
                    self._groups.append(group)

    def _order(self) -> tuple[list[list[int]], list[int]]:
        """Groups of each section that lacks room, in order of time; and for each such section, how many of
        those from the first on have no buffer in common with it."""
        sections = [
            list(section_groups)
            for _, section_groups in itertools.groupby(
                range(len(self._groups)), key=lambda index: self._groups[index].section
            )
        ]
        first: dict[int, int] = {}
        before: list[int] = []
        for position, groups in enumerate(sections):
            members = {item.buffer for index in groups for item in self._groups[index].items}
            for buffer in members:
                first.setdefault(buffer, position)
            before.append(min((first[buffer] for buffer in members), default=position))
        return sections, before

    def _value(self, group: _PoolGroup) -> int:
        excess, value = group.excess, 0
        if excess <= 0:
            return 0
        for item in group.items:
            if self.pools[item.buffer] == FREE:
                if item.size >= excess:
                    # Prices are whole, so the part of one is rounded up.
                    return value + -(-item.regret * excess // item.size)
                excess -= item.size
                value += item.regret
        return IMPOSSIBLE

    @property
    def bound(self) -> int:
        """The lower bound of any completion of what is assigned; IMPOSSIBLE if there is no completion."""
        best = [0]
        for groups, before in zip(self._sections, self._before, strict=True):
            value = max(self._values[index] for index in groups)
            best.append(max(best[-1], value + best[before]))
        return min(self.base + best[-1], IMPOSSIBLE)

    def assign(self, buffer: int, pool: int) -> None:
        """Put `buffer`, which is free, into `pool`."""
        groups = [index for index, _ in self._homes[buffer]]
        self._trail.append((buffer, self.base, [self._values[index] for index in groups]))
        self._move(buffer, self.preferred[buffer], pool)
        self.fixed[pool] |= 1 << buffer
        self.pools[buffer] = pool
        self.base += self.prices[buffer][pool] - self.prices[buffer][self.preferred[buffer]]
        for index, size in self._homes[buffer]:
            if pool not in self._groups[index].pools:
                self._groups[index].excess -= size
            self._values[index] = self._value(self._groups[index])

    def undo(self) -> None:
        """Take the last assignment back."""
        buffer, self.base, values = self._trail.pop()
        pool = self.pools[buffer]
        self._move(buffer, pool, self.preferred[buffer])
        self.fixed[pool] &= ~(1 << buffer)
        self.pools[buffer] = FREE
        for (index, size), value in zip(self._homes[buffer], values, strict=True):
            if pool not in self._groups[index].pools:
                self._groups[index].excess += size
            self._values[index] = value

    def _move(self, buffer: int, old: int, new: int) -> None:
        self.masks[old] &= ~(1 << buffer)
        self.masks[new] |= 1 << buffer

    def critical(self) -> int | None:
        """The free buffer to decide next: the largest of the section where leaving costs most.

        None if all of them fit the relaxed limits where they prefer to be.
        """
        if not any(self._values):
            return None
        index = max(range(len(self._values)), key=lambda index: self._values[index])
        free = [item for item in self._groups[index].items if self.pools[item.buffer] == FREE]
        return max(free, key=lambda item: (item.size, item.regret, -item.buffer)).buffer

    def completion(self) -> tuple[int, ...]:
        """Pool of every buffer, those not assigned in the pool they prefer."""
        return tuple(
            self.preferred[buffer] if pool == FREE else pool for buffer, pool in enumerate(self.pools)
        )


def _sets(prices: Sequence[Mapping[int, int]], pools: int) -> Iterator[frozenset[int]]:
    """Sets of pools whose limits are looked at together: see `_MOST_POOLS`."""
    if pools <= _MOST_POOLS:
        for count in range(1, pools + 1):
            for chosen in itertools.combinations(range(pools), count):
                yield frozenset(chosen)
        return
    # By how many buffers prefer it.
    liked = sorted(range(pools), key=lambda pool: -sum(next(iter(row)) == pool for row in prices))
    pool_sets = {frozenset((pool,)) for pool in liked}
    pool_sets |= {frozenset(liked[:count]) for count in range(1, pools + 1)}
    yield from sorted(pool_sets, key=lambda chosen: (len(chosen), sorted(chosen)))


def _insiders(
    sizes: Mapping[int, int], pools: frozenset[int], prices: Sequence[Mapping[int, int]]
) -> list[int]:
    return [buffer for buffer in sizes if not pools.isdisjoint(prices[buffer])]


def _group(
    section: int,
    pools: frozenset[int],
    sizes: Mapping[int, int],
    prices: Sequence[Mapping[int, int]],
    room: Sequence[Pool],
) -> _PoolGroup | None:
    """The group of a section and the set `pools`; None if all buffers that may lie there fit."""
    inside = _insiders(sizes, pools, prices)
    excess = excess_bytes(room, sum(sizes[buffer] for buffer in inside))
    if excess <= 0:
        return None
    group = _PoolGroup(pools=pools, section=section, excess=excess)
    for buffer in inside:
        outside = [price for pool, price in prices[buffer].items() if pool not in pools]
        if outside:
            within = min(price for pool, price in prices[buffer].items() if pool in pools)
            regret = max(min(outside) - within, 0)
            group.items.append(_BufferItem(buffer=buffer, size=sizes[buffer], regret=regret))
    group.items.sort(key=lambda item: (Fraction(item.regret, item.size), item.buffer))
    return group
