"""Kernels by operator. A kernel says whether it can run a call on a target and binds it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import numpy as np

from codegen.ir import Let, Target
from codegen.ir.ops import OPS, Rounding, TfliteRounding, rounding_of
from codegen.kernels.primfunc import PrimFunc


class Kernel(ABC):
    """A way to run one operator. Instances are stateless."""

    name: str
    op: str
    """Name of the operator it implements."""
    rounding: type[Rounding] = TfliteRounding
    """Rounding of the layers that it runs."""
    is_in_place: bool = False
    """Its PrimFuncs replace an argument (`PrimFunc.in_place`): an alternative where that argument dies,
    never a step's only kernel."""
    fast_form: str | None = None
    """Name of the fast form, where the kernel is there for speed alone: another one of its instruction set
    runs all its layers. Kernels of several operators that share code share the name."""

    @abstractmethod
    def refusal(self, let: Let, target: Target) -> str | None:
        """Why this kernel cannot run `let` on `target` (a sentence for people), or None if it can.

        A kernel may leave layers that it could run to another one that is made for them.
        """

    def refusal_at_size(self, let: Let, target: Target) -> str | None:
        """Why this kernel cannot run `let`, another size of a layer that it runs, or None. At other sizes
        it also runs calls that it leaves to faster kernels at the declared one."""
        return self.refusal(let, target)

    @abstractmethod
    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        """Bind `let`: pack constants (`constants` holds data by ConstRef id), compute parameters.

        Called only if `refusal` gave None.
        """


_KERNELS: dict[str, list[Kernel]] = {}


def register(kernel: Kernel) -> Kernel:
    """Add a kernel; earlier registrations of an operator are tried first."""
    _KERNELS.setdefault(kernel.op, []).append(kernel)
    return kernel


def kernels_for(op: str) -> Sequence[Kernel]:
    """All kernels of an operator, best first; empty if there are none."""
    return tuple(_KERNELS.get(op, ()))


def kernels_of_step(let: Let) -> Sequence[Kernel]:
    """The kernels of a step's operator that round as the step does, best first."""
    rounding = type(rounding_of(let.call.attrs))
    return tuple(kernel for kernel in kernels_for(let.call.op.name) if kernel.rounding is rounding)


def registered_ops() -> tuple[str, ...]:
    """Names of all operators with at least one kernel, sorted: those that passes make too."""
    return tuple(sorted(_KERNELS))


def supported_ops() -> tuple[str, ...]:
    """Names of all operators of files with at least one kernel, sorted: without those that users declare."""
    return tuple(name for name in registered_ops() if name in OPS)
