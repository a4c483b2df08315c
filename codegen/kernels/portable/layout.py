"""Portable kernels that move bytes of any type: CONCATENATION, PAD, RESHAPE, TRANSPOSE, GATHER and such."""

import math

import numpy as np

from codegen.ir import ConstRef, DType, Let, Target, TensorType, Var
from codegen.ir.ops import ConcatAttrs, GatherAttrs, PadAttrs, StridedSliceAttrs, TransposeAttrs
from codegen.ir.ops.base.operands import narrow
from codegen.kernels.base.c_kernel import (
    ConstantData,
    Parts,
    PortableKernel,
    arg_type,
    constant_data,
    value_argument,
)
from codegen.kernels.base.overlap import in_place
from codegen.kernels.base.registry import Kernel, register
from codegen.kernels.base.walk import Fields, axes, block_walk, broadcast_steps, dense_strides, params
from codegen.kernels.call import PARAMS, RESULT, ArrayArg, ConstantArg, ConstantPointer, ValueArg
from codegen.kernels.contract import LinkedConstant, View
from codegen.kernels.primfunc import PrimFunc


class Concatenation(PortableKernel):
    """CONCATENATION of any number of arguments along any axis."""

    op, stem, name = "CONCATENATION", "concat", "concat_portable"

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        axis = narrow(let.call.attrs, ConcatAttrs).axis
        inputs: list[ValueArg | ConstantArg] = []
        linked: list[LinkedConstant] = []
        row_bytes: list[int] = []
        for index in range(len(let.call.args)):
            passed, extra = value_argument(let, index, f"argument{index}", constants)
            inputs.append(passed)
            linked.extend(extra)
            type_ = arg_type(let, index)
            row_bytes.append(math.prod(type_.shape[axis:]) * type_.dtype.size_bytes)
        linked.append(
            LinkedConstant(
                role="row_bytes",
                is_plain=True,
                data=np.array(row_bytes, np.int32),
                alignment=4,
                layout="bytes of a row of each argument",
            )
        )
        numbers = params(
            "cg_concat_params",
            ("rows", math.prod(let.var.type.shape[:axis])),
            ("count", len(inputs)),
            ("row_bytes", ConstantPointer(role="row_bytes")),
        )
        return Parts(
            structs=(numbers,),
            call_args=(PARAMS, ArrayArg(items=tuple(inputs)), RESULT),
            constants=tuple(linked),
        )


def _pad_value(type_: TensorType, value: float) -> tuple[int, int]:
    """(bits as int32, bytes) of a padding element; one byte if all its bytes are alike. An element of 8 bytes
    is given as a number, which the kernel widens.

    Raises ValueError for one of 8 bytes that is no int32, of float64 for all but 0.
    """
    element = np.array(
        [int(value) if type_.dtype not in (DType.FLOAT32, DType.FLOAT64) else value], type_.dtype.numpy
    ).tobytes()
    if len(set(element)) == 1:
        return element[0], 1
    if type_.dtype is DType.FLOAT64:
        raise ValueError(f"padding float64 with {value:g} is not supported, only with 0")
    low, high = DType.INT32.limits
    if len(element) > 4 and not low <= value <= high:
        raise ValueError(f"padding {type_.dtype.value} with {value:.0f} is not supported, only with an int32")
    return int.from_bytes(element[:4], "little", signed=True), len(element)


class Pad(PortableKernel):
    """PAD and PADV2 on any axes."""

    op, stem, name = "PAD", "pad", "pad_portable"

    def check(self, let: Let) -> None:
        """Refuse more than five nested loops, and a value of more than four bytes."""
        self._fields(let)

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        value, linked = value_argument(let, 0, "argument", constants)
        return Parts(
            structs=(params("cg_pad_params", *self._fields(let)),),
            call_args=(PARAMS, value, RESULT),
            constants=linked,
        )

    def _fields(self, let: Let) -> Fields:
        attrs, result = narrow(let.call.attrs, PadAttrs), let.var.type
        strides = dense_strides(result.shape)
        first = sum(before * stride for (before, _), stride in zip(attrs.paddings, strides, strict=True))
        bits, value_bytes = _pad_value(result, attrs.value)
        return (
            ("walk", block_walk(arg_type(let, 0).shape, strides, first, result.dtype.size_bytes)),
            ("out_bytes", result.size_bytes),
            ("value", bits),
            ("value_bytes", value_bytes),
        )


class _StridedCopy(PortableKernel):
    """Base of TRANSPOSE and STRIDED_SLICE: strided blocks of the argument, densely written."""

    stem = "gather"

    def walk(self, let: Let) -> Fields:
        """Fields of the `cg_block_walk`; raises ValueError if it needs more than five loops."""
        raise NotImplementedError

    def check(self, let: Let) -> None:
        """Refuse more than five nested loops."""
        self.walk(let)

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        value, linked = value_argument(let, 0, "argument", constants)
        return Parts(
            structs=(params("cg_block_walk", *self.walk(let)),),
            call_args=(PARAMS, value, RESULT),
            constants=linked,
        )


class Transpose(_StridedCopy):
    """TRANSPOSE by any permutation."""

    op, name = "TRANSPOSE", "transpose_portable"

    def walk(self, let: Let) -> Fields:
        """Walk over the result's axes in order, each with the stride of the argument axis it is."""
        strides = dense_strides(arg_type(let, 0).shape)
        chosen = [strides[axis] for axis in narrow(let.call.attrs, TransposeAttrs).permutation]
        return block_walk(let.var.type.shape, chosen, 0, let.var.type.dtype.size_bytes)


class StridedSlice(_StridedCopy):
    """STRIDED_SLICE with steps of either sign."""

    op, name = "STRIDED_SLICE", "strided_slice_portable"

    def walk(self, let: Let) -> Fields:
        """Walk over the argument's axes in order, each with its own begin, step and count."""
        attrs, strides = narrow(let.call.attrs, StridedSliceAttrs), dense_strides(arg_type(let, 0).shape)
        first = sum(begin * stride for begin, stride in zip(attrs.begins, strides, strict=True))
        moves = [step * stride for step, stride in zip(attrs.strides, strides, strict=True)]
        return block_walk(attrs.counts, moves, first, let.var.type.dtype.size_bytes)


class BroadcastTo(_StridedCopy):
    """BROADCAST_TO any shape: steps of 0 along the axes that repeat."""

    op, name = "BROADCAST_TO", "broadcast_to_portable"

    def walk(self, let: Let) -> Fields:
        """Walk over the result's axes in order, with steps of 0 where the argument is broadcast."""
        shape = let.var.type.shape
        strides = broadcast_steps(arg_type(let, 0).shape, len(shape))
        return block_walk(shape, strides, 0, let.var.type.dtype.size_bytes)


class Take(PortableKernel):
    """GATHER and GATHER_ND: blocks of the values at places that indices say, of int32 or int64."""

    stem = "take"

    def __init__(self, op: str) -> None:
        self.op, self.name = op, f"{op.lower()}_portable"

    def check(self, let: Let) -> None:
        """Refuse more than five indices a place."""
        self._fields(let)

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        value, linked = value_argument(let, 0, "values", constants)
        places = constant_data(let, 1, constants) if isinstance(let.call.args[1], ConstRef) else None
        indices = ValueArg(index=1) if places is None else ConstantArg(role="indices")
        if places is not None:
            flat = places.reshape(-1).astype(np.int32)
            linked = (
                *linked,
                LinkedConstant(
                    role="indices", data=flat, alignment=4, layout="as in the file", is_plain=True
                ),
            )
        return Parts(
            structs=(params("cg_take_params", *self._fields(let)),),
            call_args=(PARAMS, value, indices, RESULT),
            constants=linked,
        )

    def _fields(self, let: Let) -> Fields:
        """Fields of the struct. Places are found along `depth` axes; GATHER's one axis is one of a group of
        values."""
        shape, indices = arg_type(let, 0).shape, arg_type(let, 1)
        attrs, element = let.call.attrs, let.var.type.dtype.size_bytes
        if isinstance(attrs, GatherAttrs):
            axis, shared = attrs.axis, attrs.batch_axes
            extents, block = shape[axis : axis + 1], math.prod(shape[axis + 1 :])
            batches, groups = math.prod(shape[:shared]), math.prod(shape[shared:axis])
        else:
            depth = indices.shape[-1]
            extents, block, batches, groups = shape[:depth], math.prod(shape[depth:]), 1, 1
        steps = [stride * block * element for stride in dense_strides(extents)]
        return (
            ("extent", axes(extents, 1)),
            ("step_bytes", axes(steps, 0)),
            ("depth", len(extents)),
            ("batches", batches),
            ("groups", groups),
            ("count", indices.elements // (batches * len(extents))),
            ("index_words", 1 if isinstance(let.call.args[1], ConstRef) else indices.dtype.size_bytes // 4),
            ("group_bytes", math.prod(extents) * block * element),
            ("block_bytes", block * element),
        )


class UpdateSlice(PortableKernel):
    """DYNAMIC_UPDATE_SLICE, in place of the value."""

    op, stem, name = "DYNAMIC_UPDATE_SLICE", "update_slice", "dynamic_update_slice_portable"

    @property
    def header(self) -> str:
        return "cg_kernels_families.h"

    def check(self, let: Let) -> None:
        """Refuse more than five axes."""
        self._fields(let)

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        arguments = [
            value_argument(let, i, role, constants) for i, role in enumerate(("value", "part", "starts"))
        ]
        apart = let.call.args[0] not in let.call.args[1:]
        return Parts(
            structs=(params("cg_update_params", *self._fields(let)),),
            call_args=(PARAMS, *(passed for passed, _ in arguments), RESULT),
            constants=tuple(constant for _, linked in arguments for constant in linked),
            sharing=in_place(let, 0) if apart else (),
        )

    def _fields(self, let: Let) -> Fields:
        shape, part, result = arg_type(let, 0).shape, arg_type(let, 1).shape, let.var.type
        element = result.dtype.size_bytes
        room = [whole - length for whole, length in zip(shape, part, strict=True)]
        return (
            ("extent", axes((*part[:-1], 1), 1)),
            ("room", axes(room, 0)),
            ("step_bytes", axes([step * element for step in dense_strides(shape)], 0)),
            ("rank", len(shape)),
            ("index_words", arg_type(let, 2).dtype.size_bytes // 4),
            ("row_bytes", part[-1] * element),
            ("bytes", result.size_bytes),
        )


class Reshape(Kernel):
    """RESHAPE: the result is the argument's bytes, no code runs."""

    op, name = "RESHAPE", "reshape_view"

    def refusal(self, let: Let, target: Target) -> str | None:
        """Refuse a constant: it has no bytes in a workspace pool to look at."""
        del target
        if not isinstance(let.call.args[0], Var):
            return "RESHAPE of a constant: it should have been folded into another constant"
        return None

    def bind(self, let: Let, constants: ConstantData, name: str) -> PrimFunc:
        del constants
        return PrimFunc(name=name, let=let, kernel=self.name, view=View(argument=0))


register(Concatenation())
register(Pad())
register(Transpose())
register(StridedSlice())
register(BroadcastTo())
register(Take("GATHER"))
register(Take("GATHER_ND"))
register(UpdateSlice())
register(Reshape())
