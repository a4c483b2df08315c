"""Kernels of operators that no file has: SHIFT, whose window stays where it is while its frames move, and
DEVICE_COPY, a plain copy by the core, or by the application's driver (cg_device_copy.h)."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from codegen.ir import Let, Target, Var
from codegen.kernels.base.c_kernel import (
    ConstantData,
    Parts,
    PortableKernel,
    arg_type,
    element_alignment,
    value_argument,
)
from codegen.kernels.base.registry import Kernel, register
from codegen.kernels.call import ARGUMENT, RESULT, LiteralArg, ResultArg
from codegen.kernels.primfunc import PrimFunc


class Shift(PortableKernel):
    """SHIFT of any type, in place: there is no other way, for the window is state."""

    op, stem, name = "SHIFT", "shift", "shift_portable"

    def refusal(self, let: Let, target: Target) -> str | None:
        """Refuse a constant window: it could not change."""
        if not isinstance(let.call.args[0], Var):
            return "SHIFT of a constant: it should have been folded into another constant"
        return super().refusal(let, target)

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        frame, linked = value_argument(let, 1, "frame", constants)
        added = arg_type(let, 1).size_bytes
        kept = let.var.type.size_bytes - added
        return Parts(
            call_args=(frame, LiteralArg(value=added), ResultArg(), LiteralArg(value=kept)),
            constants=linked,
            in_place=0,
        )

    def bind(self, let: Let, constants: ConstantData, name: str) -> PrimFunc:
        """Bind a call. Words are moved where the frames are whole words."""
        prim = super().bind(let, constants, name)
        in_words = arg_type(let, 1).size_bytes % 4 == 0
        return replace(prim, argument_alignment=4) if in_words else prim


register(Shift())


class DeviceCopy(Kernel):
    """DEVICE_COPY of any type. Argument and result lie apart: nothing is shared, no row kernel."""

    op, name = "DEVICE_COPY", "device_copy"

    def refusal(self, let: Let, target: Target) -> str | None:
        """Refuse a constant: it is linked where it is wanted, not copied."""
        del target
        if not isinstance(let.call.args[0], Var):
            return "DEVICE_COPY of a constant: it should have been folded into another constant"
        return None

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        del constants
        return PrimFunc(
            name=name,
            let=let,
            kernel=self.name,
            symbol="cg_device_copy",
            sources=("kernels/portable/device_copy.c",),
            argument_alignment=element_alignment(let),
            call_args=(ARGUMENT, RESULT, LiteralArg(value=let.var.type.size_bytes)),
            headers=("cg_device_copy.h",),
        )


DEVICE_COPY_KERNEL = register(DeviceCopy())
