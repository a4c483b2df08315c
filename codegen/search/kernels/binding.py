"""Binds steps to kernels, each once for a whole search: packing weights is much of what planning takes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from codegen.ir import Let, Target, VirtualDevice
from codegen.ir.ops import LOOP
from codegen.kernels.base.portable_work import measured_work
from codegen.kernels.base.registry import Kernel, kernels_of_step
from codegen.kernels.contract import MemoryDemand
from codegen.kernels.primfunc import PrimFunc
from codegen.search.kernels.cycle_costs import CycleCosts
from codegen.search.kernels.rated import rated


@dataclass(frozen=True, kw_only=True, slots=True)
class Cap:
    """Limit of a step's kernels: most bytes of linked constants; `predicted`: only kernels whose
    instructions are predicted.
    """

    constant_bytes: int
    predicted: bool = False

    def refusal(self, prim: PrimFunc) -> str | None:
        """Why a step may not be bound as `prim` is, or None if it may."""
        if prim.constant_bytes > self.constant_bytes:
            return (
                f"{prim.kernel} has {prim.constant_bytes} bytes of constants, more than {self.constant_bytes}"
            )
        if self.predicted and prim.instructions is None:
            return f"{prim.kernel} has no predicted instructions"
        return None


Caps = Mapping[str, Cap]
"""By `step_key`; steps not listed may have any kernel."""


def step_key(let: Let) -> str:
    """Name of a step in `Caps`: a step and its repetitions, which share their constants, have one. The steps
    of one node of the file have several: an ONNX Conv may be a move and a convolution."""
    return let.repeats or let.var.name


_Bound = tuple[str, str, Let, VirtualDevice, tuple[MemoryDemand, ...]]
"""A step as it is bound: kernel, C name, call, device, demands."""


class Binder:
    """Kernels of one target, bound to the steps of one model."""

    def __init__(
        self,
        constants: Mapping[str, np.ndarray],
        target: Target,
        costs: CycleCosts | None = None,
        loops: Kernel | None = None,
    ) -> None:
        """`constants`: data by ConstRef id. `costs`: what cycles are predicted by, if they are. `loops`: what
        binds a WHILE."""
        self._constants, self._target, self._costs, self._loops = constants, target, costs, loops
        self._caps: Caps = {}
        self._excluded: frozenset[tuple[str, str]] = frozenset()
        self._widened: dict[Let, Cap] = {}
        self._bound: dict[tuple[str, str], tuple[Let, PrimFunc]] = {}
        self._refused: dict[tuple[str, str, bool], tuple[Let, str | None]] = {}
        self._able: dict[tuple[Let, bool], tuple[Kernel, ...]] = {}
        self._others: dict[_Bound, tuple[PrimFunc, ...]] = {}

    def kernels(self, let: Let) -> Sequence[Kernel]:
        """The kernels of its operator, best first; of a loop those of its steps make one."""
        if let.call.op is LOOP and self._loops is not None:
            return (self._loops,)
        return kernels_of_step(let)

    @property
    def constants(self) -> Mapping[str, np.ndarray]:
        """Data by ConstRef id."""
        return self._constants

    def capped(self, caps: Caps) -> "Binder":
        """Return a binder with kernels within `caps`: whoever searches with it finds no other.

        A cap that no kernel of a step is within permits the smallest: an argument cannot be replaced, nor a
        block be made, in every program of a search, so that each step needs a kernel of its own in any case.
        """
        return self._with(caps, self._excluded)

    def without(self, excluded: frozenset[tuple[str, str]]) -> "Binder":
        """Return a binder without some more kernels of some steps: (`step_key`, kernel)."""
        return self._with(self._caps, self._excluded | excluded)

    def _with(self, caps: Caps, excluded: frozenset[tuple[str, str]]) -> "Binder":
        """Return a binder under other rules. Bindings and refusals of kernels depend on no rule and are
        shared.
        """
        other = Binder(self._constants, self._target, self._costs, self._loops)
        other._caps, other._excluded = caps, excluded
        other._bound, other._refused = self._bound, self._refused
        return other

    def refusal(self, kernel: Kernel, let: Let, *, at_size: bool = False) -> str | None:
        """Why `kernel` does not run `let`, or None; `at_size`: it runs that layer at another size."""
        refusal = self._own_refusal(kernel, let, at_size=at_size)
        if refusal is None and self._is_excluded(kernel, let):
            return f"{kernel.name} does not run it at all its sizes"
        if refusal is not None or step_key(let) not in self._caps:
            return refusal
        return self._cap(let).refusal(self.bind(kernel, let, let.var.name))

    def _own_refusal(self, kernel: Kernel, let: Let, *, at_size: bool = False) -> str | None:
        """Reason why the kernel itself refuses a step, None if it does not."""
        key = kernel.name, let.var.name, at_size
        if key not in self._refused or self._refused[key][0] != let:
            asked = kernel.refusal_at_size if at_size else kernel.refusal
            self._refused[key] = let, asked(let, self._target)
        return self._refused[key][1]

    def _cap(self, let: Let) -> Cap:
        """The cap of a step, wide enough for one kernel that does not replace an argument."""
        if let not in self._widened:
            cap = self._caps[step_key(let)]
            able = [
                self.bind(kernel, let, let.var.name)
                for kernel in self.kernels(let)
                if not kernel.is_in_place
                and self._own_refusal(kernel, let) is None
                and not self._is_excluded(kernel, let)
            ]
            known = [prim for prim in able if prim.instructions is not None] if cap.predicted else []
            least = min((prim.constant_bytes for prim in known or able), default=0)
            self._widened[let] = Cap(
                constant_bytes=max(cap.constant_bytes, least), predicted=cap.predicted and bool(known)
            )
        return self._widened[let]

    def _is_excluded(self, kernel: Kernel, let: Let) -> bool:
        """True if a kernel is excluded, or binds the step as one that is."""
        excluded = {name for step, name in self._excluded if step == step_key(let)}
        return bool(excluded) and not excluded.isdisjoint(
            (kernel.name, self.bind(kernel, let, let.var.name).kernel)
        )

    def able(self, let: Let, *, in_place: bool = False) -> tuple[Kernel, ...]:
        """The kernels that can run `let`: those that replace an argument, or all others."""
        key = let, in_place
        if key not in self._able:
            kernels = [kernel for kernel in self.kernels(let) if kernel.is_in_place == in_place]
            self._able[key] = tuple(kernel for kernel in kernels if self.refusal(kernel, let) is None)
        return self._able[key]

    def bind(self, kernel: Kernel, let: Let, name: str) -> PrimFunc:
        """`let` bound to `kernel`, which can run it, under this C name."""
        key = kernel.name, name
        if key not in self._bound or self._bound[key][0] != let:
            bound = rated(kernel.bind(let, self._constants, name), self._target)
            if bound.instructions is None and bound.measured_instructions is None:
                bound = replace(bound, measured_instructions=measured_work(bound, self._target))
            self._bound[key] = let, bound if self._costs is None else self._costs.priced(bound)
        return self._bound[key][1]

    def rebound(self, kernel: Kernel, prim: PrimFunc) -> PrimFunc | None:
        """The step of `prim` bound to `kernel`, with the demands that `prim` has, which are planned already.

        None where the two differ in demands: a kernel's own would come too late, one on a workspace is about
        bytes that another kernel has not, and a kernel that drives a device is the only one that does.
        """
        if not prim.device.is_free or any(demand.workspace is not None for demand in prim.memory):
            return None
        bound = self.bind(kernel, prim.let, prim.name)
        if bound.memory or not bound.device.is_free:
            return None
        return replace(bound, memory=prim.memory) if prim.memory else bound

    def others(self, prim: PrimFunc) -> tuple[PrimFunc, ...]:
        """The step of `prim` bound to the kernels it does not have, in place excepted."""
        # By what decides the answer: comparing packed weights costs more than binding.
        key = prim.kernel, prim.name, prim.let, prim.device, prim.memory
        if key not in self._others:
            self._others[key] = tuple(self._rebound(prim))
        return self._others[key]

    def _rebound(self, prim: PrimFunc) -> Iterator[PrimFunc]:
        for kernel in self.able(prim.let):
            bound = None if kernel.name == prim.kernel else self.rebound(kernel, prim)
            if bound is not None:
                yield bound
