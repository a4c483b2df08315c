"""Costs of accesses to pools, and the pool that a buffer prefers.

The objective of planning, in this order: everything fits the pools' limits; least access cost, the sum over
the buffers of bytes x (reads x the pool's read cost + writes x its write cost); fewest bytes outside the pool
that is listed first among a buffer's equally cheap ones; least sum of the pools' peaks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from codegen.problem.problem import Buffer, MemoryPlan, Pool, Problem


def buffer_access_cost(buffer: Buffer, pool: Pool) -> int:
    """Cost of a buffer's accesses in `pool`, in accesses to one byte where that costs 1; a whole number.

    Whole, so that sums are exact and do not depend on the order of their terms.
    """
    return round(buffer.size_bytes * (buffer.reads * pool.read_cost + buffer.writes * pool.write_cost))


def access_cost(problem: Problem, plan: MemoryPlan) -> int:
    """Cost of all accesses of one inference to the buffers where `plan` puts them."""
    return sum(pool_access_cost(problem, plan, pool.name) for pool in problem.pools)


def pool_access_cost(problem: Problem, plan: MemoryPlan, name: str) -> int:
    """Access cost of the buffers that a plan puts into the pool called `name`."""
    pool = next(pool for pool in problem.pools if pool.name == name)
    return sum(buffer_access_cost(b, pool) for b in problem.buffers if plan.placements[b.id].pool == name)


def least_access_cost(problem: Problem) -> int:
    """Cost with every buffer in its cheapest pool that is not closed, other limits set aside: a bound."""
    pools = {pool.name: pool for pool in problem.pools}
    return sum(
        min(buffer_access_cost(b, pools[name]) for name in _not_closed(b, pools)) for b in problem.buffers
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Prices:
    """Access cost and order of preference as one number: price // scale is the access cost of any sum."""

    scale: int
    rows: tuple[Mapping[str, int], ...]
    """Per buffer of the problem: pool -> price, the preferred pool first."""


def prices(problem: Problem) -> Prices:
    """Prices of all buffers in all their candidate pools that are not closed.

    The remainder price % scale counts a buffer's bytes once for each equally cheap pool listed before.
    """
    pools = {pool.name: pool for pool in problem.pools}
    scale = 1 + sum(b.size_bytes * (len(b.pool_candidates) - 1) for b in problem.buffers)
    rows: list[Mapping[str, int]] = []
    for buffer in problem.buffers:
        costs = {name: buffer_access_cost(buffer, pools[name]) for name in _not_closed(buffer, pools)}
        row: dict[str, int] = {}
        # Sorting is stable: equally cheap pools stay as listed.
        for name in sorted(costs, key=lambda name: costs[name]):
            rank = sum(costs[other] == costs[name] for other in row)
            row[name] = costs[name] * scale + buffer.size_bytes * rank
        rows.append(row)
    return Prices(scale=scale, rows=tuple(rows))


def _not_closed(buffer: Buffer, pools: Mapping[str, Pool]) -> Sequence[str]:
    """The candidate pools of a buffer but closed ones (`--pool NAME=0`); all of them where all are closed."""
    able = [name for name in buffer.pool_candidates if pools[name].limit_bytes]
    return able or buffer.pool_candidates


def preferred_pools(problem: Problem) -> dict[str, str]:
    """Buffer id -> the pool where it is best off."""
    rows = prices(problem).rows
    return {buffer.id: next(iter(row)) for buffer, row in zip(problem.buffers, rows, strict=True)}
