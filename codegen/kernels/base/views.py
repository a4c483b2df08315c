"""Steps that need no copy: slices as views, arguments joined in the result of a CONCATENATION."""

import math
from collections.abc import Sequence
from dataclasses import replace

from codegen.ir import Let, Var
from codegen.ir.ops import ConcatAttrs, StridedSliceAttrs
from codegen.ir.ops.base.operands import narrow
from codegen.ir.ops.npu_layers import NpuValueAttrs
from codegen.kernels.base.c_kernel import arg_type
from codegen.kernels.base.walk import dense_strides, merge
from codegen.kernels.call import ArrayArg, CallArg, NullArg, ValueArg
from codegen.kernels.contract import View
from codegen.kernels.primfunc import PrimFunc


def slice_view(prim: PrimFunc) -> PrimFunc | None:
    """A STRIDED_SLICE whose elements lie side by side in its argument as a view of it; else None."""
    let = prim.let
    if let.call.op.name == "NPU_VALUE" and prim.view is None:
        view = View(argument=0, offset_bytes=narrow(let.call.attrs, NpuValueAttrs).offset, is_alone=True)
        return PrimFunc(name=prim.name, let=let, kernel="npu_value_view", view=view)
    if prim.view is not None or let.call.op.name != "STRIDED_SLICE" or not isinstance(let.call.args[0], Var):
        return None
    attrs, strides = narrow(let.call.attrs, StridedSliceAttrs), dense_strides(arg_type(let, 0).shape)
    walk = merge(attrs.counts, [step * stride for step, stride in zip(attrs.strides, strides, strict=True)])
    if walk.steps[0] not in ((), (1,)):
        return None
    first = sum(begin * stride for begin, stride in zip(attrs.begins, strides, strict=True))
    view = View(argument=0, offset_bytes=first * let.var.type.dtype.size_bytes)
    return PrimFunc(name=prim.name, let=let, kernel="strided_slice_view", view=view)


def joinable(prim: PrimFunc) -> tuple[int, ...]:
    """Arguments of a CONCATENATION that can lie in its result's bytes: each is one run of bytes there, is
    computed at run time and passed once. The operator has no other quantisation than theirs."""
    let = prim.let
    if prim.inlets and not prim.joined:
        passed = let.call.times_passed()
        args = [(inlet.argument, let.call.args[inlet.argument]) for inlet in prim.inlets]
        return tuple(index for index, arg in args if isinstance(arg, Var) and passed[arg.name] == 1)
    if prim.joined or let.call.op.name != "CONCATENATION" or not _is_one_row(let):
        return ()
    args, passed = let.call.args, let.call.times_passed()
    return tuple(i for i, arg in enumerate(args) if isinstance(arg, Var) and passed[arg.name] == 1)


def _is_one_row(let: Let) -> bool:
    return math.prod(let.var.type.shape[: narrow(let.call.attrs, ConcatAttrs).axis]) == 1


def joined(prim: PrimFunc, arguments: Sequence[int]) -> PrimFunc:
    """The CONCATENATION `prim` with `arguments` (of `joinable`) in its result's bytes: its kernel copies the
    others, if there are any."""
    if prim.inlets:
        call = tuple(_without(arg, arguments) for arg in prim.call_args)
        return replace(prim, joined=tuple(arguments), call_args=call)
    if len(arguments) == len(prim.let.call.args):
        return PrimFunc(name=prim.name, let=prim.let, kernel="concat_join", joined=tuple(arguments))
    call = tuple(_without(arg, arguments) for arg in prim.call_args)
    return replace(prim, kernel="concat_join", joined=tuple(arguments), call_args=call)


def _without(arg: CallArg, arguments: Sequence[int]) -> CallArg:
    if not isinstance(arg, ArrayArg):
        return arg
    gone = {ValueArg(index=index) for index in arguments}
    return ArrayArg(items=tuple(NullArg() if item in gone else item for item in arg.items))
