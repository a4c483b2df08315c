"""How often linked constants are read in one inference: what a memory's access cost is multiplied by."""

from dataclasses import replace

from codegen.ir import Var
from codegen.kernels.contract import LinkedConstant
from codegen.kernels.primfunc import PrimFunc


def constant_reads(prim: PrimFunc, constant: LinkedConstant) -> float:
    """How often each byte of `constant` is read in one run of `prim`, on average.

    As its kernel says. Else, where the step multiplies, by every pixel or tile of pixels: as often as each
    weight is multiplied, over the pixels that one reading serves; biases, multipliers and shifts are read
    beside the weights of their channel. Once where nothing is multiplied.
    """
    if constant.reads is not None:
        return constant.reads
    weights = max(
        (arg.type.elements for arg in prim.let.call.args if arg and not isinstance(arg, Var)), default=0
    )
    if not prim.macs or not weights:
        return 1.0
    return max(prim.macs / weights / prim.pixels_at_once, 1.0)


def with_reads(prim: PrimFunc) -> PrimFunc:
    """`prim`, every linked constant with its reads."""
    constants = tuple(replace(each, reads=constant_reads(prim, each)) for each in prim.constants)
    return replace(prim, constants=constants)
