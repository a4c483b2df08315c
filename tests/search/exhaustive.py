"""Every way to run a small network, tried: the fewest instructions that a limit of RAM permits.

Any kernel in each step, any runs of steps as blocks, any row kernels in them, any grid. Way after way in the
order of their instructions is planned until one fits. Nothing here asks the frontier or the tiler.
"""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from codegen.ir import Board, Function, Module
from codegen.kernels.base.portable_work import estimated_work
from codegen.kernels.block_layout import work
from codegen.kernels.fused import can_fuse, layout
from codegen.kernels.primfunc import PrimFunc
from codegen.kernels.rows import Grid
from codegen.plan.place import planners
from codegen.problem.problem import Pool, has_room, limited
from codegen.problem.shortage import DoesNotFit
from codegen.search import Choices, search
from codegen.search.blocks.block_costs import INNER_GRIDS
from codegen.search.blocks.row_blocks import BlockRuns, Segment, apply
from codegen.search.kernels.binding import Binder
from codegen.search.kernels.in_place import every_kernel, replaced
from codegen.search.kernels.selection import select
from codegen.search.memory.attempt import Planning
from codegen.search.steps.recompute import Variant
from codegen.search.steps.schedule import schedule

_Kernels = tuple[PrimFunc, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """Steps from `start` on as they may run: a step by one kernel, or a block of row kernels in a grid."""

    start: int
    kernels: _Kernels
    grid: Grid | None
    instructions: int

    @property
    def stop(self) -> int:
        """The step behind it."""
        return self.start + len(self.kernels)


def limits_of(module: Module, board: Board, choices: Choices, count: int) -> list[int]:
    """So many limits of the first pool, from the smallest that is kept to what the plan without any needs."""
    pool = choices.pools(board)[0].name
    most = least = search(module, board, choices, name="model").memory.peaks[pool]
    try:
        search(module, board, replace(choices, pool_limits={pool: 1}), name="model")
    except DoesNotFit as missed:
        least = missed.shortages[0].budget_bytes or most
    return sorted({least + (most - least) * index // max(count - 1, 1) for index in range(count)})


class Exhaustive:
    """All ways to run a module on a board, all values in one pool."""

    def __init__(self, module: Module, board: Board, pool: Pool) -> None:
        data = {id_: constant.data for id_, constant in module.constants.items()}
        self._binder, self._pool = Binder(data, board.target), pool
        choices = Choices(planner="optimal", optimize="speed")
        prims = select(module.main, self._binder)
        ordered = schedule(module.main, prims, mode="optimal", edge=choices.edge())
        self._function, self._prims = ordered.function, ordered.prim_funcs
        self._planning = Planning(
            ordered=ordered,
            variant=Variant(function=self._function, prim_funcs=self._prims, steps=(None,) * len(prims)),
            binder=self._binder,
            board=board,
            pools=(pool,),
            planner=planners.find("optimal"),
            choices=choices,
        )
        self._parts: list[list[Part]] = [[] for _ in prims]
        for part in (*self._plain(), *self._blocks()):
            self._parts[part.start].append(part)
        for parts in self._parts:
            parts.sort(key=lambda part: part.instructions)

    def fewest_instructions(self, limit_bytes: int, most: int) -> int | None:
        """Instructions of the quickest way within the limit; None if it takes `most` of them or more."""
        pools = limited((self._pool,), {self._pool.name: limit_bytes})
        planning = self._planning.in_pools(pools)
        for instructions, parts in self._ways():
            if instructions >= most:
                return None
            function, prims = self._applied(parts)
            views = planning.views(function, prims)
            for able in [prims, replaced(prims, views)] if views else [prims]:
                if not has_room(pools, planning.bound_bytes(function, able)):
                    continue
                try:
                    planning.place(function, able)
                except DoesNotFit:
                    continue
                return instructions
        return None

    def _plain(self) -> Iterator[Part]:
        others = every_kernel(self._function, self._prims, self._binder, self._planning.edge)
        for start, prim in enumerate(self._prims):
            for kernel in (prim, *others.get(start, ())):
                instructions = estimated_work(kernel) if kernel.is_call else 0
                yield Part(start=start, kernels=(kernel,), grid=None, instructions=instructions)

    def _blocks(self) -> Iterator[Part]:
        rows = [self._rows(prim) for prim in self._prims]
        runs = BlockRuns(self._function, [able[0] if able else None for able in rows])
        for stop in range(1, len(self._prims) + 1):
            for start in runs.starts(stop):
                for kernels, grid in product(product(*rows[start:stop]), INNER_GRIDS):
                    columns = max(kernels[-1].let.var.type.shape[2:3], default=1)
                    if stop - start > 1 and grid.stripes <= columns:
                        planned = layout(kernels, grid)
                        count = work(kernels, list(map(estimated_work, kernels)), planned)
                        yield Part(start=start, kernels=kernels, grid=grid, instructions=count)

    def _rows(self, prim: PrimFunc) -> list[PrimFunc]:
        able = [*self._binder.able(prim.let), *self._binder.able(prim.let, in_place=True)]
        bound = (self._binder.bind(kernel, prim.let, prim.name) for kernel in able)
        return [replace(row, let=prim.let) for row in bound if can_fuse(row)]

    def _ways(self) -> Iterator[tuple[int, tuple[Part, ...]]]:
        """Ways in the order of their instructions: best first, with the exact rest as the bound."""
        count = len(self._prims)
        rest = [0] * (count + 1)
        for start in range(count - 1, -1, -1):
            rest[start] = min(part.instructions + rest[part.stop] for part in self._parts[start])
        waiting: list[tuple[int, int, int, tuple[Part, ...]]] = [(rest[0], 0, 0, ())]
        number = 0
        while waiting:
            _, _, done, parts = heapq.heappop(waiting)
            at = parts[-1].stop if parts else 0
            if at == count:
                yield done, parts
                continue
            for part in self._parts[at]:
                number += 1
                after = done + part.instructions
                heapq.heappush(waiting, (after + rest[part.stop], number, after, (*parts, part)))

    def _applied(self, parts: Sequence[Part]) -> tuple[Function, _Kernels]:
        kernels = tuple(kernel for part in parts for kernel in part.kernels)
        segments = [Segment(start=p.start, stop=p.stop, grid=p.grid) for p in parts if p.grid is not None]
        return apply(self._function, kernels, kernels, segments)
