"""Exact network reduction: channels that are constant or unread are taken out, results stay bit-equal.

Value ranges (`value_ranges`) show which channels are constant for every input; `flow` says which channels
each step reads, and what constants add to the accumulators of the steps that read them, and finds the least
set of channels that must be computed; `rewrite` cuts weights, biases, scales and shapes down to it and folds
the rest into biases. One run is the fixed point: what is constant depends only on what comes before, and
needs only grow.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from codegen.ir import Function, Module
from codegen.ir.dataflow import channels
from codegen.passes.reduce.account import Removal, Work, removals, work
from codegen.passes.reduce.flow import flow, needs
from codegen.passes.reduce.rewrite import rewrite, surviving
from codegen.passes.reduce.value_ranges import ranges

__all__ = ["Reduce", "Reduction", "Removal", "Work", "reduce"]


MOST_CHANNELS = 1 << 20
"""Most channels of all values of a function together, at some 50 bytes each; a larger function is left as
it is.
Networks have far fewer: only files made to harm have axes of millions.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reduction:
    """A reduced module and what it lost."""

    original: Module
    """The module that was reduced: what its values are to be compared with."""
    module: Module
    removed: tuple[Removal, ...]
    """Every step that lost channels, steps that are gone altogether too, in order."""
    surviving: Mapping[str, tuple[int, ...]]
    """For each value of `module` that shrank, the indices (last axis) of the channels it still has."""
    before: Work
    after: Work

    @property
    def is_nothing(self) -> bool:
        """True if the module is as it was."""
        return self.module.functions == self.original.functions


def reduce(module: Module) -> Reduction:
    """`module` without what its results do not depend on. Inputs and results keep their shapes."""
    reduced, removed, left = module, list[Removal](), dict[str, tuple[int, ...]]()
    for function in module.functions.values():
        reduced, lost, shrunk = _reduce(module, reduced, function)
        removed += lost
        left |= shrunk
    return Reduction(
        original=module,
        module=reduced,
        removed=tuple(removed),
        surviving=left,
        before=work(module),
        after=work(reduced),
    )


def _reduce(
    module: Module, reduced: Module, function: Function
) -> tuple[Module, list[Removal], dict[str, tuple[int, ...]]]:
    if sum(channels(var.type.shape) for var in function.variables()) > MOST_CHANNELS:
        return reduced, [], {}
    known = ranges(module, function)
    flows = {let.var.name: flow(module, let, known) for let in function.body}
    needed = needs(function, flows, known)
    lost = list(removals(module, function, flows, known, needed))
    if not lost:
        return reduced, [], {}
    names = [let.var.name for let in function.body if let.var.name in needed.computed]
    return rewrite(reduced, function, flows, known, needed), lost, surviving(needed.kept, names)


@dataclass(frozen=True, kw_only=True, slots=True)
class Reduce:
    """The reduction as a pass; `tell` hears what was taken out."""

    name: str = "reduce"
    tell: Callable[[Reduction], None] | None = None

    def run(self, module: Module) -> Module:
        """The reduced module."""
        reduction = reduce(module)
        if self.tell is not None:
            self.tell(reduction)
        return reduction.module
