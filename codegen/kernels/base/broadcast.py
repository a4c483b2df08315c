"""Two arguments with broadcasting: how they are walked, and fast kernels that go run by run."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from codegen.ir import Let, Target, Var
from codegen.kernels.base.c_kernel import FastKernel, PortableKernel, arg_type, row_kernel
from codegen.kernels.base.walk import Fields, Walk, axes, broadcast_steps, merge
from codegen.kernels.call import CStruct
from codegen.kernels.contract import LinkedConstant
from codegen.kernels.primfunc import PrimFunc
from codegen.targets.core_family import KernelSet


def broadcast_walk(let: Let) -> Walk:
    """Loops over the result's elements and how they move in both arguments; without broadcasting one loop."""
    shape = let.var.type.shape
    return merge(shape, *(broadcast_steps(arg_type(let, index).shape, len(shape)) for index in (0, 1)))


def broadcast_fields(let: Let) -> Fields:
    """Fields of a `cg_broadcast`."""
    walk = broadcast_walk(let)
    return (
        ("extent", axes(walk.extents, 1)),
        ("lhs_step", axes(walk.steps[0], 0)),
        ("rhs_step", axes(walk.steps[1], 0)),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class RunNumbers:
    """Parameters and linked constants of a call."""

    struct: CStruct
    constants: tuple[LinkedConstant, ...] = ()


class RunKernel(FastKernel):
    """An operator of two arguments in runs along which neither is broadcast: `cg_<stem>` walks them, and
    `cg_<stem>_run` is called with `count` elements."""

    takes_constants = True
    folder: str
    """Folder of its sources, `pairs_s8_<folder>.c` and `pairs_run_s8_<folder>.S`."""

    def __init__(self, portable: PortableKernel, stem: str, kernel_set: KernelSet) -> None:
        self.portable, self.op, self.kernel_set = portable, portable.op, kernel_set
        self.folder = kernel_set.folder
        self.symbol = f"cg_{stem}_{self.folder}"
        self.name = f"{self.op.lower()}_s8_{self.folder}"

    @abstractmethod
    def numbers(self, let: Let) -> RunNumbers:
        """The parameter struct, which begins with a `cg_broadcast`."""

    @abstractmethod
    def run_instructions(self, let: Let, count: int, *, aligned: bool) -> int:
        """Predicted instructions of a run of `count` elements that begins where words do, if `aligned`."""

    def other_reason(self, let: Let) -> str | None:
        """Refuse an argument that is broadcast along the innermost axis."""
        walk = broadcast_walk(let)
        if any(steps[-1:] == (0,) for steps in walk.steps):
            return f"the kernel {self.name} is for arguments that are not broadcast along the last axis"
        return None

    def refusal(self, let: Let, target: Target) -> str | None:
        """Refuse two constants, which are folded, then what a fast kernel refuses."""
        if not any(isinstance(arg, Var) for arg in let.call.args):
            return "both arguments are constants"
        return super().refusal(let, target)

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        prim, numbers, walk = self.portable.bind(let, constants, name), self.numbers(let), broadcast_walk(let)
        elements = let.var.type.elements
        count = walk.extents[-1] if walk.extents else 1
        run = self.run_instructions(let, count, aligned=count == elements or count % 4 == 0)
        return replace(
            prim,
            kernel=self.name,
            symbol=self.symbol,
            sources=(
                f"kernels/{self.folder}/pairs_s8_{self.folder}.c",
                f"kernels/{self.folder}/pairs_run_s8_{self.folder}.S",
            ),
            headers=(f"cg_pairs_{self.folder}.h",),
            argument_alignment=4,
            structs=(numbers.struct,),
            constants=(*prim.constants, *numbers.constants),
            instructions=CALL + elements // count * (RUN + run),
            rows=row_kernel(let, f"{self.symbol}_run"),
        )


CALL, RUN = 60, 29
"""Instructions of the C around all runs and around each."""
