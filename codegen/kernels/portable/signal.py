"""Portable kernels of the audio front end."""

from codegen.ir import Let
from codegen.ir.ops import WindowAttrs
from codegen.ir.ops.base.operands import narrow
from codegen.kernels.base.c_kernel import ConstantData, Parts, PortableKernel, arg_type, value_argument
from codegen.kernels.base.overlap import in_place
from codegen.kernels.base.registry import register
from codegen.kernels.call import RESULT, LiteralArg


class SignalWindow(PortableKernel):
    """SIGNAL_WINDOW, in place of the frames."""

    op, stem, name = "SIGNAL_WINDOW", "signal_window", "signal_window_portable"

    @property
    def header(self) -> str:
        """See `PortableKernel.header`."""
        return "cg_kernels_signal.h"

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        """See `PortableKernel.parts`."""
        frames, linked = value_argument(let, 0, "frames", constants)
        window, window_linked = value_argument(let, 1, "window", constants)
        numbers = (
            let.var.type.elements,
            arg_type(let, 1).elements,
            narrow(let.call.attrs, WindowAttrs).shift,
        )
        return Parts(
            call_args=(frames, window, RESULT, *(LiteralArg(value=number) for number in numbers)),
            constants=(*linked, *window_linked),
            sharing=in_place(let, 0),
        )


register(SignalWindow())
