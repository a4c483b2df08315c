"""Portable kernels of one argument, by element or row: tables, activations, softmax, quantisation."""

import dataclasses

import numpy as np

from codegen.ir import DType, Let, Var
from codegen.ir.ops import LeakyReluAttrs, SoftmaxAttrs
from codegen.ir.ops.parameters import softmax_params
from codegen.ir.ops.rules import narrow
from codegen.kernels.overlap import in_place
from codegen.kernels.portable import (
    FLT_MAX,
    ConstantData,
    Parts,
    PortableKernel,
    arg_type,
    row_kernel,
    value_argument,
)
from codegen.kernels.primfunc import (
    ConstantArg,
    CScalar,
    CStruct,
    LinkedConstant,
    LiteralArg,
    ResultArg,
    Sharing,
    StructArg,
)
from codegen.kernels.registry import register
from codegen.kernels.walk import params

TABLE_LEN = 256
"""Values an int8 can have."""

SOFTMAX_DEPTH_LIMIT = 4096
"""Rows this long could overflow TFLite's Q12.19 sum of exponentials."""


class Table(PortableKernel):
    """Any function of one int8: its 256 results, as the operator's reference evaluates them, in a table."""

    stem = "lut_s8"
    argument = result = DType.INT8

    def __init__(self, op: str) -> None:
        self.op, self.name = op, f"{op.lower()}_s8_table"

    def check(self, let: Let) -> None:
        """The operator must be able to compute with these quantisations."""
        self.table(let)

    def table(self, let: Let) -> np.ndarray:
        """int8[256], indexed by the argument's byte read as unsigned."""
        every = np.arange(TABLE_LEN, dtype=np.uint8).view(np.int8)
        argument = dataclasses.replace(arg_type(let, 0), shape=(TABLE_LEN,))
        result = dataclasses.replace(let.var.type, shape=(TABLE_LEN,))
        return let.call.op.evaluate(let.call.attrs, (every,), (argument,), result)

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        """See `PortableKernel.parts`."""
        value, linked = value_argument(let, 0, "argument", constants)
        table = LinkedConstant(role="table", data=self.table(let), alignment=1)
        count = LiteralArg(value=let.var.type.elements)
        return Parts(
            call_args=(ConstantArg(role="table"), value, ResultArg(), count),
            constants=(table, *linked),
            sharing=in_place(let, 0),
            rows=row_kernel(let, self.symbol),
        )


class ElementwiseF32(PortableKernel):
    """A float32 function (input, output, count, further numbers...)."""

    argument = result = DType.FLOAT32

    def __init__(self, op: str, stem: str, *numbers: CScalar) -> None:
        self.op, self.stem, self.name = op, stem, f"{op.lower()}_f32_portable"
        self._numbers = numbers

    def numbers(self, let: Let) -> tuple[CScalar, ...]:
        """What follows the count in the call."""
        del let
        return self._numbers

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        """See `PortableKernel.parts`."""
        value, linked = value_argument(let, 0, "argument", constants)
        literals = (LiteralArg(value=number) for number in (let.var.type.elements, *self.numbers(let)))
        return Parts(call_args=(value, ResultArg(), *literals), constants=linked, sharing=in_place(let, 0))


class LeakyReluF32(ElementwiseF32):
    """LEAKY_RELU on float32."""

    def numbers(self, let: Let) -> tuple[CScalar, ...]:
        """The slope."""
        return (float(np.float32(narrow(let.call.attrs, LeakyReluAttrs).alpha)),)


class _ParamsCall(PortableKernel):
    """Shared by the rest: the call (params, argument, result)."""

    def numbers(self, let: Let) -> CStruct:
        """The parameter struct; raises ValueError if a number is out of range."""
        raise NotImplementedError

    def sharing(self, let: Let) -> tuple[Sharing, ...]:
        """Where the result may lie."""
        return in_place(let, 0)

    def check(self, let: Let) -> None:
        """Numbers in range."""
        self.numbers(let)

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        """See `PortableKernel.parts`."""
        value, linked = value_argument(let, 0, "argument", constants)
        return Parts(
            structs=(self.numbers(let),),
            call_args=(StructArg(suffix="params"), value, ResultArg()),
            constants=linked,
            sharing=self.sharing(let),
        )


def _rows(let: Let) -> tuple[tuple[str, int], tuple[str, int]]:
    depth = let.var.type.shape[-1]
    return ("rows", let.var.type.elements // depth), ("depth", depth)


class SoftmaxS8(_ParamsCall):
    """SOFTMAX on int8."""

    op, stem, name = "SOFTMAX", "softmax_s8", "softmax_s8_portable"
    argument = result = DType.INT8

    def numbers(self, let: Let) -> CStruct:
        """See `_ParamsCall.numbers`."""
        rows, depth = _rows(let)
        if depth[1] >= SOFTMAX_DEPTH_LIMIT:
            raise ValueError(
                f"a softmax over {depth[1]} int8 elements overflows TFLite's fixed-point sum, "
                f"supported are fewer than {SOFTMAX_DEPTH_LIMIT}"
            )
        found = softmax_params(narrow(let.call.attrs, SoftmaxAttrs).beta, arg_type(let, 0))
        scaling = (
            ("multiplier", found.multiplier),
            ("shift", found.left_shift),
            ("diff_min", found.least_difference),
        )
        return params("cg_softmax_params", rows, depth, *scaling)


class SoftmaxF32(_ParamsCall):
    """SOFTMAX on float32."""

    op, stem, name = "SOFTMAX", "softmax_f32", "softmax_f32_portable"
    argument = result = DType.FLOAT32

    def numbers(self, let: Let) -> CStruct:
        """See `_ParamsCall.numbers`."""
        beta = float(np.float32(narrow(let.call.attrs, SoftmaxAttrs).beta))
        return params("cg_softmax_params_f32", *_rows(let), ("beta", beta))


class QuantizeF32(_ParamsCall):
    """QUANTIZE from float32 to int8."""

    op, stem, name = "QUANTIZE", "quantize_f32_s8", "quantize_f32_s8_portable"
    argument, result = DType.FLOAT32, DType.INT8

    def numbers(self, let: Let) -> CStruct:
        """See `_ParamsCall.numbers`."""
        result = let.var.type
        fields = (("count", result.elements), ("scale", result.scale), ("zero", result.zero_point))
        return params("cg_quantize_params", *fields)

    def sharing(self, let: Let) -> tuple[Sharing, ...]:
        """Element i is written to byte i after bytes 4i to 4i + 3 were read: up to 3 bytes above is safe."""
        return (Sharing(argument=0, below=-3),) if isinstance(let.call.args[0], Var) else ()


class DequantizeS8(_ParamsCall):
    """DEQUANTIZE from int8 to float32."""

    op, stem, name = "DEQUANTIZE", "dequantize_s8_f32", "dequantize_s8_f32_portable"
    argument, result = DType.INT8, DType.FLOAT32

    def numbers(self, let: Let) -> CStruct:
        """See `_ParamsCall.numbers`."""
        argument = arg_type(let, 0)
        fields = (("count", argument.elements), ("scale", argument.scale), ("zero", argument.zero_point))
        return params("cg_quantize_params", *fields)

    def sharing(self, let: Let) -> tuple[Sharing, ...]:
        """Element i fills bytes 4i to 4i + 3 while byte i + 1 is still to be read: safe 3 (count - 1) below.

        The last element has no successor; for the one before it, i = count - 2: 4i + 4 <= distance + i + 1.
        """
        distance = 3 * (let.var.type.elements - 1)
        return (Sharing(argument=0, below=distance),) if isinstance(let.call.args[0], Var) else ()


for _op in ("LOGISTIC", "TANH", "RELU", "RELU6", "LEAKY_RELU", "QUANTIZE"):
    register(Table(_op))
register(ElementwiseF32("LOGISTIC", "logistic_f32"))
register(ElementwiseF32("TANH", "tanh_f32"))
register(ElementwiseF32("RELU", "clamp_f32", 0.0, FLT_MAX))
register(ElementwiseF32("RELU6", "clamp_f32", 0.0, 6.0))
register(LeakyReluF32("LEAKY_RELU", "leaky_relu_f32"))
register(SoftmaxS8())
register(SoftmaxF32())
register(QuantizeF32())
register(DequantizeS8())
