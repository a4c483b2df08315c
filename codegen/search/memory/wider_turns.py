"""Row kernels of several rows a turn, in the blocks of a plan: the faster ones, where they pay and fit.

Blocks are chosen with kernels of a row a turn, which keep the fewest rows. Then layers get faster kernels
that compute two or four rows together, as those of Winograd. Their block keeps more rows, and has other
distances.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from codegen.ir.ops.base.operands import narrow
from codegen.ir.ops.inserted import FusedAttrs
from codegen.kernels.block import Block
from codegen.kernels.fused import bind_fused, can_fuse, layout
from codegen.kernels.primfunc import PrimFunc
from codegen.problem.problem import has_room
from codegen.problem.shortage import DoesNotFit
from codegen.search.kernels.binding import Binder
from codegen.search.kernels.costs import FLASH_WORTH, code_limit, cost, cost_in_sum
from codegen.search.kernels.selection import used_code_bytes, with_shared_code
from codegen.search.memory.attempt import Attempt, Planning

PLANS = 32
"""So many are made at most, of layers that save most: one a layer of a long chain would be its square."""
_Place = tuple[int, int]
"""A step and, of the layers of its block, which."""


def faster(planning: Planning, attempt: Attempt) -> Attempt:
    """`attempt`, its blocks with kernels of several rows a turn where these pay as `--optimize` counts.

    speed: as many as fit. balanced: those that do not raise the peak. size: none. None makes access to memory
    cost more.
    """
    optimize = planning.choices.optimize
    if optimize == "size" or not attempt.block_steps:
        return attempt
    layers = dict(_layers(attempt, planning.binder))
    wider = {place: _wider(prim, planning.binder, FLASH_WORTH[optimize]) for place, prim in layers.items()}
    if not any(wider.values()):
        return attempt
    return _Turns(planning, attempt, layers).best_attempt(
        {place: kernels for place, kernels in wider.items() if kernels}
    )


def _layers(attempt: Attempt, binder: Binder) -> Iterator[tuple[_Place, PrimFunc]]:
    """The layers of all blocks, as they are bound."""
    for step, prim in enumerate(attempt.prim_funcs):
        if prim.block is None:
            continue
        stages = [stage for stage in prim.block.stages if stage.kernel is not None]
        lets = narrow(prim.let.call.attrs, FusedAttrs).function.body
        for index, (let, stage) in enumerate(zip(lets, stages, strict=True)):
            kernel = next(kernel_ for kernel_ in binder.kernels(let) if kernel_.name == stage.binding)
            yield (step, index), replace(binder.bind(kernel, let, stage.name), let=let)


def _wider(prim: PrimFunc, binder: Binder, flash_worth: int) -> list[PrimFunc]:
    """Kernels of more rows a turn than that of a layer, which cost less."""
    able = (binder.bind(kernel, prim.let, prim.name) for kernel in binder.able(prim.let))
    rows = (
        bound for bound in able if can_fuse(bound) and bound.rows is not None and bound.rows.turn_rows > 1
    )
    cost_now = cost(prim, flash_worth)
    return [replace(bound, let=prim.let) for bound in rows if cost(bound, flash_worth) < cost_now]


@dataclass(slots=True)
class _Turns:
    """The layers of the blocks of an attempt, some of them changed."""

    planning: Planning
    best: Attempt
    layers: dict[_Place, PrimFunc]

    def best_attempt(self, wider: Mapping[_Place, list[PrimFunc]]) -> Attempt:
        """Let layers run kernels of `wider` where that is cheaper and fits; return the best attempt."""
        first, before = self.best, self._price()
        able = {place: [prim, *wider.get(place, ())] for place, prim in self.layers.items()}
        left = PLANS
        while left > 0 and not self.planning.choices.clock.late():
            cheapest = self._wanted(able)
            if not cheapest:
                break
            left -= 1
            if self._take(cheapest):
                break
            best_first = sorted(cheapest, key=lambda place: self._saved(place, cheapest[place]), reverse=True)
            for place in best_first[:left]:
                left -= 1
                prim = cheapest[place]
                taken = len(cheapest) > 1 and self._take({place: prim})
                able[place] = [prim] if taken else [kernel for kernel in able[place] if kernel is not prim]
        if self.best is first or self._price() >= before:
            return first
        return replace(self.planning.finished(self.best), ordered=first.ordered)

    def _wanted(self, able: Mapping[_Place, list[PrimFunc]]) -> dict[_Place, PrimFunc]:
        """Kernels that cost least, code that steps share counted once, of layers that run others now."""
        optimize = self.planning.choices.optimize
        fixed = [[prim] for prim in self.best.prim_funcs if prim.block is None]
        limit = code_limit(optimize, len(self.best.ordered.function.body))
        chosen = with_shared_code([*able.values(), *fixed], FLASH_WORTH[optimize], limit)
        return {
            place: prim for place, prim in zip(able, chosen, strict=False) if prim is not self.layers[place]
        }

    def _saved(self, place: _Place, prim: PrimFunc) -> float:
        return cost_in_sum(self.layers[place], 0) - cost_in_sum(prim, 0)

    def _take(self, kernels: Mapping[_Place, PrimFunc]) -> bool:
        """Change these layers, if the plan is good enough then."""
        layers = {**self.layers, **kernels}
        prims = list(self.best.prim_funcs)
        for step in {step for step, _ in kernels}:
            block = prims[step].block
            assert block is not None, "a layer is one of a block"
            inner = [prim for (at, _), prim in layers.items() if at == step]
            prims[step] = _rebound(prims[step], block, inner)
        planning, function = self.planning, self.best.function
        bound = planning.bound_bytes(function, prims)
        if not has_room(planning.pools, bound) or (not self._may_grow and bound > self.best.peak_bytes):
            return False
        try:
            outcome = planning.place(function, prims)
        except DoesNotFit:
            return False
        grows = outcome.peak_bytes > self.best.peak_bytes and not self._may_grow
        if grows or outcome.extra_cost > self.best.extra_cost:
            return False
        self.best, self.layers = outcome, layers
        return True

    @property
    def _may_grow(self) -> bool:
        return self.planning.choices.optimize == "speed"

    def _price(self) -> float:
        """Instructions, constants and code at the price of `--optimize`."""
        worth = FLASH_WORTH[self.planning.choices.optimize]
        prims = [*self.layers.values(), *(prim for prim in self.best.prim_funcs if prim.block is None)]
        return sum(cost_in_sum(prim, worth) for prim in prims) + worth * used_code_bytes(prims)


def _rebound(prim: PrimFunc, block: Block, inner: list[PrimFunc]) -> PrimFunc:
    """The step of a block, its layers bound to `inner`."""
    planned = layout(inner, block.grid, block.streamed)
    return bind_fused(prim.let, inner, planned, block.streamed)
