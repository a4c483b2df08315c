"""GRU and RNN of float32 on cores with an FPU or float Helium."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from codegen.ir import Let
from codegen.ir.ops.gated import Gated
from codegen.kernels.base.c_kernel import FastKernel
from codegen.kernels.base.registry import register
from codegen.kernels.portable.gated import GATED_F32, GatedF32, blocks_of
from codegen.kernels.primfunc import PrimFunc
from codegen.targets.arm import FLOAT_MVE, FPU
from codegen.targets.core_family import KernelSet


@dataclass(frozen=True, kw_only=True, slots=True)
class _Price:
    """Instructions of the loops in assembly."""

    block: int
    """A block of four rows beside its values."""
    turn: tuple[int, int]
    """Values of a turn, and instructions of it."""
    value: int
    """Each value behind the last turn."""
    curve: int
    """Four values through an activation."""


_PRICES = {
    "fpu": _Price(block=10, turn=(8, 69), value=12, curve=104),
    "mve": _Price(block=7, turn=(4, 10), value=4, curve=22),
}
_MOMENT, _UNIT, _UNIT_GRU = 110, 10, 21
"""Instructions in C of a moment and of each of its units, and of a GRU's in addition."""


def _instructions(operator: Gated, let: Let, price: _Price) -> int:
    """Predicted instructions of a call whose activations are sigmoid and tanh."""
    sizes = operator.sizes(let.call.types)

    def products(blocks: int, count: int) -> int:
        turns, values = divmod(count, price.turn[0])
        return blocks * (price.block + turns * price.turn[1] + values * price.value)

    blocks = blocks_of((operator.gates - 1) * sizes.units) + blocks_of(sizes.units)
    unit = _UNIT + (_UNIT_GRU if operator.gates > 1 else 0)
    sums = products(blocks, sizes.inputs) + products(blocks, sizes.units)
    moment = _MOMENT + sums + blocks * price.curve + unit * sizes.units
    return sizes.batches * sizes.moments * moment


class GatedFast(FastKernel):
    """GRU or RNN whose products and usual activations are in assembly; weights lie as in C."""

    takes_constants = True

    def __init__(self, portable: GatedF32, kernel_set: KernelSet) -> None:
        self.op, self.portable, self.kernel_set = portable.op, portable, kernel_set
        self._operator = portable.operator
        self.room = "mve" if kernel_set is FLOAT_MVE else "fpu"
        self.name = f"{portable.stem}_{self.room}"

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        return replace(
            self.portable.bind(let, constants, name),
            kernel=self.name,
            symbol=f"cg_{self.name}",
            sources=(f"kernels/{self.room}/gated_f32_{self.room}.S", f"kernels/{self.room}/{self.name}.c"),
            instructions=_instructions(self._operator, let, _PRICES[self.room]),
        )


for _kernel_set in (FPU, FLOAT_MVE):
    for _portable in GATED_F32:
        register(GatedFast(_portable, _kernel_set))
