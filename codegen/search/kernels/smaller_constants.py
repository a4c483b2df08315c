"""Kernels with fewer constant bytes: what each step could run instead, and the cheapest choice of that."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from codegen.constants.compressible import Option
from codegen.constants.knapsack import KnapsackItem, cheapest
from codegen.constants.linking import missing_bytes, with_scopes
from codegen.constants.merging import merge
from codegen.ir import Let
from codegen.ir.ops.base.operands import narrow
from codegen.ir.ops.inserted import FusedAttrs
from codegen.ir.rules import ConstantRule
from codegen.kernels.base.portable_work import estimated_work
from codegen.kernels.contract import LinkedConstant
from codegen.kernels.fused import can_fuse
from codegen.kernels.primfunc import PrimFunc
from codegen.program.program import Program
from codegen.search.kernels.binding import Binder, Cap, Caps, step_key


def program_cost(program: Program, binder: Binder) -> int:
    """Instructions of an inference of `program`, whose constants are not linked yet."""
    return sum(
        sum(estimated_work(inner) for inner in _inner(prim, binder)) if prim.work is None else prim.work
        for prim in program.steps.prim_funcs
        if prim.is_call
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class StepChoice:
    """A step of a program, alone or in a block, and what it could run instead."""

    prims: tuple[PrimFunc, ...]
    """The step, and its repetitions: their constants are there once."""
    others: tuple[PrimFunc, ...]
    """Kernels with fewer constant bytes that no other beats, the largest first."""

    @property
    def key(self) -> str:
        """The step's name in `Caps`."""
        return step_key(self.prims[0].let)

    def saved_bytes(self, other: PrimFunc) -> int:
        """By how much smaller `other` makes the constants, if they are nobody else's."""
        return self.prims[0].constant_bytes - other.constant_bytes

    def more(self, other: PrimFunc) -> int:
        """Instructions that `other` takes more."""
        return max(estimated_work(other) - estimated_work(self.prims[0]), 0)


Taken = Mapping[str, PrimFunc]
"""By step key the kernel of fewer constant bytes that it is to run."""


class Smaller:
    """The steps of a program and kernels with fewer constant bytes for them."""

    def __init__(self, program: Program, binder: Binder, rules: Sequence[ConstantRule]) -> None:
        """`rules`: where the user wants constants to lie."""
        self._pools, self._rules = program.constants.candidates, rules
        self._owners = {
            (prim.name, constant.role): (*constant.steps, prim.name)[0]
            for prim in program.steps.prim_funcs
            for constant in prim.constants
        }
        by_step: dict[str, list[tuple[PrimFunc, Sequence[PrimFunc]]]] = {}
        for prim in program.steps.prim_funcs:
            for inner, others in _steps(prim, binder):
                by_step.setdefault(step_key(inner.let), []).append((inner, others))
        # Repetitions are bound as the first one is, or they would not share its constants.
        self._steps = tuple(
            StepChoice(
                prims=tuple(prim for prim, _ in same),
                others=_unbeaten(same[0][0], same[0][1]) if _are_alike(prim for prim, _ in same) else (),
            )
            for same in by_step.values()
        )

    def least(self) -> Taken:
        """Every step's kernel of fewest bytes."""
        return {step.key: step.others[-1] for step in self._steps if step.others}

    def lesser(self, sizes: Mapping[str, int], least: Mapping[str, int]) -> Taken:
        """Kernels of `least()` whose constants are fewer bytes compressed, too.
        `sizes`: bytes by step in the program, `least`: in one with these kernels.
        """
        return {
            step.key: step.others[-1]
            for step in self._steps
            for name in [step.prims[0].name]
            if step.others and least.get(name, 0) < sizes.get(name, 0)
        }

    def caps(self, taken: Taken, *, predicted: bool) -> Caps:
        """Caps with which a search takes `taken`, or kernels as small.
        All other steps get none with more constant bytes than they have, on which `alone` counts.
        `predicted`: none without a prediction instead of one with.
        """
        chosen = {step.key: taken.get(step.key, step.prims[0]) for step in self._steps}
        return {
            key: Cap(
                constant_bytes=prim.constant_bytes, predicted=predicted and prim.instructions is not None
            )
            for key, prim in chosen.items()
        }

    def saving(self, need: int) -> Taken | None:
        """The cheapest choice that saves so many bytes, were none shared or padded; None if none does."""
        chosen = cheapest([_items(step) for step in self._steps], need)
        if chosen is None:
            return None
        return {
            step.key: step.others[item]
            for step, item in zip(self._steps, chosen.items, strict=True)
            if item is not None
        }

    def saved_bytes(self, taken: Taken) -> int:
        """Bytes that `saving` counts for `taken`."""
        return sum(step.saved_bytes(taken[step.key]) for step in self._steps if step.key in taken)

    def alone(self, need: int) -> Taken | None:
        """Kernels as `saving` chooses them, then as much more as the pools' limits take; None if none is
        within them.
        """
        while True:
            taken = self.saving(need)
            if taken is None:
                return None
            left = self._missing(taken)
            if not left:
                return self._pruned(taken)
            need = self.saved_bytes(taken) + left

    def beside(self, options: Sequence[Sequence[Option]], need: int) -> Taken | None:
        """Kernels as `saving` chooses them, while some steps keep theirs and have constants compressed, as
        cheaply as that goes.
        `options` are the ways, a unit each.
        None if that does not save enough, or is one of both means alone. Effects of shared and padded
        bytes are left to those who try it.
        """
        steps = {prim.name: step for step in self._steps for prim in step.prims}
        groups: list[list[KnapsackItem]] = []
        whose: list[tuple[StepChoice | None, int]] = []
        left = {step.key: step for step in self._steps}
        for unit in options:
            packings = (way for option in unit for way in option.packings)
            owners = {self._owners[user] for member, _ in packings for user in member.users}
            step = steps.get(next(iter(owners))) if len(owners) == 1 else None
            step = step and left.pop(step.key, None)
            mine = _items(step) if step else []
            groups.append(
                [
                    *mine,
                    *(KnapsackItem(saved=option.saved_bytes, cost=option.instructions) for option in unit),
                ]
            )
            whose.append((step, len(mine)))
        groups += [_items(step) for step in left.values()]
        whose += [(step, len(step.others)) for step in left.values()]
        chosen = cheapest(groups, need)
        if chosen is None:
            return None
        taken = {
            step.key: step.others[item]
            for (step, count), item in zip(whose, chosen.items, strict=True)
            if step is not None and item is not None and item < count
        }
        return taken if 0 < len(taken) < sum(item is not None for item in chosen.items) else None

    def _pruned(self, taken: Taken) -> Taken:
        """`taken` without what is not needed for the limits, the dearest first: such a step keeps its kernel,
        or has the fastest smaller one that does. What shared and padded bytes save was not counted."""
        steps = sorted(
            (step for step in self._steps if step.key in taken), key=lambda s: -s.more(taken[s.key])
        )
        for step in steps:
            kept = {key: prim for key, prim in taken.items() if key != step.key}
            # By identity: comparing packed weights is expensive.
            faster = takewhile(lambda other, slow=taken[step.key]: other is not slow, step.others)
            milder = (kept, *({**kept, step.key: other} for other in faster))
            taken = next((fewer for fewer in milder if not self._missing(fewer)), taken)
        return taken

    def _missing(self, taken: Taken) -> int:
        """Bytes that constants lack if these steps run other kernels."""
        owned: list[tuple[str, LinkedConstant]] = []
        for step in self._steps:
            for prim in [taken[step.key]] if step.key in taken else step.prims:
                owned += [(prim.name, constant) for constant in with_scopes(prim, self._rules)]
        return missing_bytes(merge(owned, self._pools), self._pools)


def _items(step: StepChoice) -> list[KnapsackItem]:
    return [KnapsackItem(saved=step.saved_bytes(other), cost=step.more(other)) for other in step.others]


def _are_alike(prims: Iterator[PrimFunc]) -> bool:
    return len({prim.constant_bytes for prim in prims}) == 1


def _steps(prim: PrimFunc, binder: Binder) -> Iterator[tuple[PrimFunc, Sequence[PrimFunc]]]:
    """The steps of `prim`, a block's each, with the other kernels that could run them there."""
    if prim.block is None:
        yield prim, () if prim.joined or not prim.is_call else binder.others(prim)
        return
    for inner in _inner(prim, binder):
        others = _row_kernels(inner.let, binder)
        yield (
            inner,
            [kernel for kernel in others if kernel.kernel != inner.kernel and _is_as_small(kernel, inner)],
        )


def _is_as_small(other: PrimFunc, inner: PrimFunc) -> bool:
    """True if a block that runs `inner` has room for the other row kernel, if it is one of several rows."""
    one, inner_rows = other.rows, inner.rows
    assert one is not None and inner_rows is not None, "both are row kernels"
    if one.turn_rows == 1:
        return True
    sizes = [0 if rows.workspace is None else rows.workspace.size_bytes for rows in (one, inner_rows)]
    return one.turn_rows <= inner_rows.turn_rows and sizes[0] <= sizes[1]


def _inner(prim: PrimFunc, binder: Binder) -> list[PrimFunc]:
    """The steps of a block as they are bound; of what is none, itself."""
    if prim.block is None:
        return [prim]
    symbols = [stage.kernel.symbol for stage in prim.block.stages if stage.kernel is not None]
    lets = narrow(prim.let.call.attrs, FusedAttrs).function.body
    return [_bound_as(let, symbol, prim, binder) for let, symbol in zip(lets, symbols, strict=True)]


def _bound_as(let: Let, symbol: str, block: PrimFunc, binder: Binder) -> PrimFunc:
    """A step of `block` that calls the row kernel `symbol`."""
    constant_sizes = [
        constant.data.nbytes for constant in block.constants if let.var.name in constant.steps[:1]
    ]
    for bound in _row_kernels(let, binder):
        if bound.rows and bound.rows.symbol == symbol and bound.constant_bytes == sum(constant_sizes):
            return bound
    raise ValueError(f"{block.name}: no kernel of {let.var.name} calls {symbol}")


def _row_kernels(let: Let, binder: Binder) -> list[PrimFunc]:
    able = [*binder.able(let), *binder.able(let, in_place=True)]
    bound = [binder.bind(kernel, let, let.var.name) for kernel in able]
    return [kernel for kernel in bound if can_fuse(kernel)]


def _unbeaten(prim: PrimFunc, others: Sequence[PrimFunc]) -> tuple[PrimFunc, ...]:
    """Kernels of `others` with fewer constant bytes than `prim` that none beats in bytes and instructions."""
    unbeaten: list[PrimFunc] = []
    for other in sorted(others, key=lambda kernel: (estimated_work(kernel), kernel.constant_bytes)):
        if other.constant_bytes < (unbeaten[-1] if unbeaten else prim).constant_bytes:
            unbeaten.append(other)
    return tuple(unbeaten)
