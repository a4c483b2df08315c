"""A model at any of its sizes, and what keeps these from being one program."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from codegen.ir import Module
from codegen.ir.formulas import OpenSizes, Symbol
from codegen.ir.ranged import Axes, Unlike
from codegen.kernels.primfunc import PrimFunc
from codegen.search.kernels.binding import step_key


@dataclass(frozen=True, kw_only=True, slots=True)
class Sizes:
    """Symbols of a model, and the model at any values of them."""

    symbols: tuple[Symbol, ...]
    axes: Axes
    reference: Callable[[Mapping[str, int]], Module]
    """The model as the file has it, its symbols' values given."""
    rewritten: Callable[[Module], Module]
    """The model as the passes leave it."""
    narrowed: tuple[str, ...] = ()
    """Sizes left out of the ranges that were asked for, and the operator that forbids them: a sentence
    each.
    """

    @property
    def largest(self) -> Mapping[str, int]:
        """Every symbol at its upper end."""
        return OpenSizes(symbols=self.symbols).largest

    def module(self, values: Mapping[str, int]) -> Module:
        """The model after the passes. Raises CodegenError where an operator forbids these sizes."""
        return self.rewritten(self.reference(values))


@dataclass(frozen=True, kw_only=True, slots=True)
class LookedAt:
    """Combinations of sizes, the largest last, and the module at each."""

    combinations: Sequence[Mapping[str, int]]
    modules: Sequence[Module]


REVERSE = "_reverse"
"""Ending of the name of a kernel that runs backwards."""


class KernelUnlike(Unlike):
    """Structures that differ for the reason `kernel`: (step, kernel). Another kernel may do."""

    def __init__(self, text: str, kernel: tuple[str, str]) -> None:
        super().__init__(text)
        self.kernel = kernel


def unlike(prim: PrimFunc, text: str) -> KernelUnlike:
    """The error that `prim`'s kernel does otherwise at some sizes, as `text` says."""
    return KernelUnlike(f"{prim.let.where}: {text}", (step_key(prim.let), prim.kernel.removesuffix(REVERSE)))
