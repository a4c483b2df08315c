"""Problems for tests of the exact portfolio, and their lowest peak by brute force."""

import random
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import strategies as st

from codegen.plan.place.exact import native
from codegen.plan.place.exact.conflict_graph import Graph, graph
from codegen.problem.problem import (
    Buffer,
    Conflict,
    Limits,
    MemoryPlan,
    Pool,
    Problem,
    interval_conflicts,
    peak_bytes,
    plain,
)

POOL = Pool(name="sram", region="SRAM", limit_bytes=1 << 30)
SMALL = Limits(effort=40)
needs_c = pytest.mark.skipif(native.library() is None, reason="no C compiler, or no Python headers")


def buffer(
    name: str, size: int, start: int, stop: int, alignment: int = 1, pools: tuple[str, ...] = ("sram",)
) -> Buffer:
    return Buffer(
        id=name, size_bytes=size, start=start, stop=stop, alignment=alignment, pool_candidates=pools
    )


def whole(problem: Problem) -> Graph:
    return graph(problem, [b.id for b in problem.buffers])


def peak(problem: Problem, plan: MemoryPlan) -> int:
    return peak_bytes(problem, plan, "sram")


def lowest_peak(problem: Problem) -> int:
    """By brute force: every offset of every buffer that holds bytes, for ever larger peaks."""
    buffers = [b for b in problem.buffers if b.size_bytes]
    index = {b.id: i for i, b in enumerate(buffers)}
    checks: list[list[Conflict]] = [[] for _ in buffers]
    for conflict in problem.conflicts:
        if conflict.first in index and conflict.second in index:
            checks[max(index[conflict.first], index[conflict.second])].append(conflict)

    def fits(offsets: list[int], limit: int) -> bool:
        here = len(offsets)
        if here == len(buffers):
            return True
        for offset in range(0, limit - buffers[here].size_bytes + 1, buffers[here].alignment):
            offsets.append(offset)
            holds = all(c.holds(offsets[index[c.first]], offsets[index[c.second]]) for c in checks[here])
            if holds and fits(offsets, limit):
                return True
            offsets.pop()
        return False

    limit = max((b.size_bytes for b in buffers), default=0)
    while not fits([], limit):
        limit += 1
    return limit


@st.composite
def problems(draw: st.DrawFn, most: int = 6, sizes: int = 5) -> Problem:
    """Equal intervals, no bytes, one byte, large alignments, overlaps, conflicts no interval explains."""
    buffers: list[Buffer] = []
    for index in range(draw(st.integers(1, most))):
        start = draw(st.integers(0, 4))
        size = draw(st.sampled_from([0, 1, 1, *range(2, sizes + 1)]))
        alignment = draw(st.sampled_from([1, 1, 1, 1, 2, 4, 16]))
        buffers.append(buffer(f"b{index}", size, start, start + draw(st.integers(0, 3)), alignment))
    explained = {(c.first, c.second) for c in interval_conflicts(buffers)}
    overlaps = draw(st.booleans())
    conflicts: list[Conflict] = []
    for first, second in combinations(buffers, 2):
        if (first.id, second.id) not in explained and draw(st.integers(0, 3)):
            continue
        below, above = first.size_bytes, second.size_bytes
        if overlaps and draw(st.booleans()):
            below, above = draw(st.integers(-sizes, below)), draw(st.integers(-sizes, above))
        conflicts.append(Conflict(first=first.id, second=second.id, first_below=below, second_below=above))
    return Problem(buffers=tuple(buffers), conflicts=tuple(conflicts), pools=(POOL,), limits=SMALL)


def chain(count: int, generator: random.Random) -> Problem:
    """A network: each result may start inside the bytes of the argument it consumes."""
    sizes = [generator.randrange(1, 60) for _ in range(count)]
    buffers = [buffer(f"b{i}", size, i, i + generator.choice([2, 2, 3, 5])) for i, size in enumerate(sizes)]
    conflicts: list[Conflict] = []
    for conflict in interval_conflicts(buffers):
        first, second = int(conflict.first[1:]), int(conflict.second[1:])
        if second == first + 1 and buffers[first].stop == second + 1 and generator.random() < 0.7:
            # The result below its argument, by a distance between none and its size; or wholly above.
            distance = generator.randrange(-5, sizes[second] + 1)
            conflict = replace(conflict, second_below=distance)
        conflicts.append(conflict)
    return Problem(buffers=tuple(buffers), conflicts=tuple(conflicts), pools=(POOL,))


def rectangles(count: int, generator: random.Random) -> Problem:
    buffers: list[Buffer] = []
    for index in range(count):
        start = generator.randrange(count)
        stop = start + generator.randrange(1, 8)
        buffers.append(buffer(f"b{index}", generator.randrange(1, 40), start, stop))
    return Problem(buffers=tuple(buffers), conflicts=interval_conflicts(buffers), pools=(POOL,))


def odd(count: int, generator: random.Random) -> Problem:
    """Alignments, overlaps and conflicts that no interval explains: the bound is often out of reach."""
    buffers: list[Buffer] = []
    for index in range(count):
        start = generator.randrange(2 * count)
        stop = start + generator.randrange(1, 5)
        alignment = generator.choice([1, 1, 1, 8, 32])
        buffers.append(buffer(f"b{index}", generator.randrange(1, 40), start, stop, alignment))
    conflicts = {(c.first, c.second): c for c in interval_conflicts(buffers)}
    for first, second in combinations(buffers, 2):
        if generator.random() < 2.5 / count:
            conflicts.setdefault((first.id, second.id), plain(first, second))
    for pair, conflict in conflicts.items():
        if generator.random() < 0.2:
            below = generator.randrange(-10, conflict.first_below + 1)
            conflicts[pair] = replace(conflict, first_below=below)
    return Problem(buffers=tuple(buffers), conflicts=tuple(conflicts.values()), pools=(POOL,))


def gap() -> Problem:
    """Five buffers of 2 bytes, in conflict round a circle though never alive together, and one aside.

    An odd circle needs three layers: the lowest peak is 6; no two are alive at once, so the bound is 2.
    """
    buffers = tuple(buffer(f"b{i}", 2, 2 * i, 2 * i + 1) for i in range(5))
    conflicts = tuple(plain(buffers[i], buffers[(i + 1) % 5]) for i in range(5))
    return Problem(buffers=buffers, conflicts=conflicts, pools=(POOL,))


def small(seed: int, *, aligned: bool, overlapping: bool) -> Problem:
    """15 to 25 buffers of lives long and short; alignments up to 64; 3 of 10 conflicts permit overlap."""
    generator = random.Random(seed)
    count = generator.randrange(15, 26)
    buffers: list[Buffer] = []
    for index in range(count):
        start = generator.randrange(count)
        stop = start + generator.randrange(1, 15)
        size = generator.randrange(1, 400)
        alignment = generator.choice([1, 4, 16, 32, 64]) if aligned else 1
        buffers.append(buffer(f"b{index}", size, start, stop, alignment))
    conflicts: list[Conflict] = []
    for conflict in interval_conflicts(buffers):
        if overlapping and generator.random() < 0.3:
            if generator.random() < 0.5:
                conflict = replace(conflict, first_below=generator.randrange(conflict.first_below + 1))
            else:
                conflict = replace(conflict, second_below=generator.randrange(conflict.second_below + 1))
        conflicts.append(conflict)
    return Problem(buffers=tuple(buffers), conflicts=tuple(conflicts), pools=(POOL,))
