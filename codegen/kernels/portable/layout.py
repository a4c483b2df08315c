"""Portable kernels that move bytes of any type: CONCATENATION, PAD, RESHAPE, TRANSPOSE, STRIDED_SLICE."""

import math

import numpy as np

from codegen.ir import DType, Let, Target, TensorType, Var
from codegen.ir.ops import ConcatAttrs, PadAttrs, StridedSliceAttrs, TransposeAttrs
from codegen.ir.ops.base.operands import narrow
from codegen.kernels.base.c_kernel import ConstantData, Parts, PortableKernel, arg_type, value_argument
from codegen.kernels.base.registry import Kernel, register
from codegen.kernels.base.walk import Fields, block_walk, dense_strides, params
from codegen.kernels.call import PARAMS, RESULT, ArrayArg, ConstantArg, ConstantPointer, ValueArg
from codegen.kernels.contract import LinkedConstant, View
from codegen.kernels.primfunc import PrimFunc


class Concatenation(PortableKernel):
    """CONCATENATION of any number of arguments along any axis."""

    op, stem, name = "CONCATENATION", "concat", "concat_portable"

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        """See `PortableKernel.parts`."""
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
    """(bits as int32, bytes) of a padding element; one byte if all its bytes are alike.

    Raises ValueError for an element of 8 bytes that are not.
    """
    element = np.array(
        [int(value) if type_.dtype is not DType.FLOAT32 else value], type_.dtype.numpy
    ).tobytes()
    if len(set(element)) == 1:
        return element[0], 1
    if len(element) > 4:
        raise ValueError(f"padding {type_.dtype.value} with {value:g} is not supported, only with 0 and -1")
    return int.from_bytes(element, "little", signed=True), len(element)


class Pad(PortableKernel):
    """PAD and PADV2 on any axes."""

    op, stem, name = "PAD", "pad", "pad_portable"

    def check(self, let: Let) -> None:
        """Five nested loops at most, a value of up to four bytes."""
        self._fields(let)

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        """See `PortableKernel.parts`."""
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


class _Gather(PortableKernel):
    """Shared by TRANSPOSE and STRIDED_SLICE: strided blocks of the argument, densely written."""

    stem = "gather"

    def walk(self, let: Let) -> Fields:
        """Fields of the `cg_block_walk`; raises ValueError if it needs more than five loops."""
        raise NotImplementedError

    def check(self, let: Let) -> None:
        """Five nested loops at most."""
        self.walk(let)

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        """See `PortableKernel.parts`."""
        value, linked = value_argument(let, 0, "argument", constants)
        return Parts(
            structs=(params("cg_block_walk", *self.walk(let)),),
            call_args=(PARAMS, value, RESULT),
            constants=linked,
        )


class Transpose(_Gather):
    """TRANSPOSE by any permutation."""

    op, name = "TRANSPOSE", "transpose_portable"

    def walk(self, let: Let) -> Fields:
        """Result axes in order, each with the stride of the argument axis it is."""
        strides = dense_strides(arg_type(let, 0).shape)
        chosen = [strides[axis] for axis in narrow(let.call.attrs, TransposeAttrs).permutation]
        return block_walk(let.var.type.shape, chosen, 0, let.var.type.dtype.size_bytes)


class StridedSlice(_Gather):
    """STRIDED_SLICE with steps of either sign."""

    op, name = "STRIDED_SLICE", "strided_slice_portable"

    def walk(self, let: Let) -> Fields:
        """Argument axes in order, each with its own begin, step and count."""
        attrs, strides = narrow(let.call.attrs, StridedSliceAttrs), dense_strides(arg_type(let, 0).shape)
        first = sum(begin * stride for begin, stride in zip(attrs.begins, strides, strict=True))
        moves = [step * stride for step, stride in zip(attrs.strides, strides, strict=True)]
        return block_walk(attrs.counts, moves, first, let.var.type.dtype.size_bytes)


class Reshape(Kernel):
    """RESHAPE: the result is the argument's bytes, no code runs."""

    op, name = "RESHAPE", "reshape_view"

    def refusal(self, let: Let, target: Target) -> str | None:
        """A constant has no bytes in a workspace pool to look at."""
        del target
        if not isinstance(let.call.args[0], Var):
            return "RESHAPE of a constant: it should have been folded into another constant"
        return None

    def bind(self, let: Let, constants: ConstantData, name: str) -> PrimFunc:
        """See `Kernel.bind`."""
        del constants
        return PrimFunc(name=name, let=let, kernel=self.name, view=View(argument=0))


register(Concatenation())
register(Pad())
register(Transpose())
register(StridedSlice())
register(Reshape())
