"""The kernel of SHIFT: the window stays where it is, its frames move."""

from dataclasses import replace

from codegen.ir import Let, Target, Var
from codegen.kernels.base.c_kernel import ConstantData, Parts, PortableKernel, arg_type, value_argument
from codegen.kernels.base.registry import register
from codegen.kernels.call import LiteralArg, ResultArg
from codegen.kernels.primfunc import PrimFunc


class Shift(PortableKernel):
    """SHIFT of any type, in place: there is no other way, for the window is state."""

    op, stem, name = "SHIFT", "shift", "shift_portable"

    def refusal(self, let: Let, target: Target) -> str | None:
        """A constant window: it cannot change."""
        if not isinstance(let.call.args[0], Var):
            return "SHIFT of a constant: it should have been folded into another constant"
        return super().refusal(let, target)

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        """See `PortableKernel.parts`."""
        frame, linked = value_argument(let, 1, "frame", constants)
        added = arg_type(let, 1).size_bytes
        kept = let.var.type.size_bytes - added
        return Parts(
            call_args=(frame, LiteralArg(value=added), ResultArg(), LiteralArg(value=kept)),
            constants=linked,
            in_place=0,
        )

    def bind(self, let: Let, constants: ConstantData, name: str) -> PrimFunc:
        """Words are moved where the frames are whole words."""
        prim = super().bind(let, constants, name)
        in_words = arg_type(let, 1).size_bytes % 4 == 0
        return replace(prim, argument_alignment=4) if in_words else prim


register(Shift())
