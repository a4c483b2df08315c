"""The kernel of DEVICE_COPY: a plain copy by the core, or by the application's driver (cg_device_copy.h)."""

from collections.abc import Mapping

import numpy as np

from codegen.ir import Let, Target, Var
from codegen.kernels.base.c_kernel import element_alignment
from codegen.kernels.base.registry import Kernel, register
from codegen.kernels.call import ARGUMENT, RESULT, LiteralArg
from codegen.kernels.primfunc import PrimFunc


class DeviceCopy(Kernel):
    """DEVICE_COPY of any type. Argument and result lie apart: nothing is shared, no row kernel."""

    op, name = "DEVICE_COPY", "device_copy"

    def refusal(self, let: Let, target: Target) -> str | None:
        """A constant: it is linked where it is wanted, not copied."""
        del target
        if not isinstance(let.call.args[0], Var):
            return "DEVICE_COPY of a constant: it should have been folded into another constant"
        return None

    def bind(self, let: Let, constants: Mapping[str, np.ndarray], name: str) -> PrimFunc:
        """See `Kernel.bind`."""
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
