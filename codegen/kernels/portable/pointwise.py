"""Portable kernels of one argument, by element or row: tables, activations, softmax, quantisation."""

from dataclasses import replace

import numpy as np

from codegen.ir import DType, Let, Var
from codegen.ir.ops import (
    POINTWISE,
    GeluAttrs,
    LeakyReluAttrs,
    OnnxRounding,
    Rounding,
    SoftmaxAttrs,
    TfliteRounding,
)
from codegen.ir.ops.base.operands import narrow
from codegen.ir.ops.base.parameters import (
    leaky_relu_params,
    relu_multiplier,
    rescale_multiplier,
    softmax_params,
)
from codegen.ir.ops.nonlinear import CLAMPS
from codegen.ir.ops.scalar_functions import rsqrt_multiplier
from codegen.kernels.base.c_kernel import (
    ConstantData,
    Parts,
    PortableKernel,
    arg_type,
    element_rows,
    row_kernel,
    value_argument,
)
from codegen.kernels.base.overlap import in_place
from codegen.kernels.base.registry import register
from codegen.kernels.base.result_limits import FLT_MAX, limit_fields
from codegen.kernels.base.walk import params
from codegen.kernels.call import PARAMS, RESULT, CScalar, CStruct, LiteralArg
from codegen.kernels.contract import Sharing
from codegen.kernels.portable import curves

MOST_RIGHT_SHIFT = 31
"""Right shift of cg_requantize, at most."""

SOFTMAX_DEPTH_LIMIT = 4096
"""Length of rows that could overflow TFLite's Q12.19 sum of exponentials."""


class ElementwiseF32(PortableKernel):
    """A float32 function (numbers..., input, output, count)."""

    argument = result = DType.FLOAT32

    def __init__(self, op: str, stem: str, *numbers: CScalar) -> None:
        self.op, self.stem, self.name = op, stem, f"{op.lower()}_f32_portable"
        self._numbers = numbers

    def numbers(self, let: Let) -> tuple[CScalar, ...]:
        """Numbers in front of the arguments."""
        del let
        return self._numbers

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        value, linked = value_argument(let, 0, "argument", constants)
        numbers = (LiteralArg(value=number) for number in self.numbers(let))
        return Parts(
            call_args=(*numbers, value, RESULT, LiteralArg(value=let.var.type.elements)),
            constants=linked,
            sharing=in_place(let, 0),
            rows=row_kernel(let, self.symbol),
        )


class LeakyReluF32(ElementwiseF32):
    """LEAKY_RELU on float32."""

    def numbers(self, let: Let) -> tuple[CScalar, ...]:
        """The slope, in front of the arguments."""
        return (float(np.float32(narrow(let.call.attrs, LeakyReluAttrs).alpha)),)


class GeluF32(ElementwiseF32):
    """GELU on float32."""

    def numbers(self, let: Let) -> tuple[CScalar, ...]:
        """1 for the form by tanh, else 0."""
        return (int(narrow(let.call.attrs, GeluAttrs).approximate),)


class _ParamsCall(PortableKernel):
    """Base of the other kernels: the call (params, argument, result)."""

    def numbers(self, let: Let) -> CStruct:
        """The parameter struct; raises ValueError if a number is out of range."""
        raise NotImplementedError

    def sharing(self, let: Let) -> tuple[Sharing, ...]:
        """Overlap of the result with the argument."""
        return in_place(let, 0)

    def check(self, let: Let) -> None:
        self.numbers(let)

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        value, linked = value_argument(let, 0, "argument", constants)
        return Parts(
            structs=(self.numbers(let),),
            call_args=(PARAMS, value, RESULT),
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
        return softmax_numbers(let)


def softmax_numbers(let: Let) -> CStruct:
    """The parameter struct of an int8 softmax."""
    rows, depth = _rows(let)
    if depth[1] >= SOFTMAX_DEPTH_LIMIT:
        raise ValueError(
            f"a softmax over {depth[1]} int8 elements overflows TFLite's fixed-point sum, "
            f"supported are fewer than {SOFTMAX_DEPTH_LIMIT}"
        )
    scales = softmax_params(narrow(let.call.attrs, SoftmaxAttrs).beta, arg_type(let, 0))
    scaling = (
        ("multiplier", scales.multiplier),
        ("shift", scales.left_shift),
        ("diff_min", scales.least_difference),
    )
    return params("cg_softmax_params", rows, depth, *scaling)


class SoftmaxF32(_ParamsCall):
    """SOFTMAX on float32."""

    op, stem, name = "SOFTMAX", "softmax_f32", "softmax_f32_portable"
    argument = result = DType.FLOAT32

    def numbers(self, let: Let) -> CStruct:
        beta = float(np.float32(narrow(let.call.attrs, SoftmaxAttrs).beta))
        return params("cg_softmax_params_f32", *_rows(let), ("beta", beta))


class _Converter(_ParamsCall):
    """Base of changes of the element type, element by element, front to back."""

    def sharing(self, let: Let) -> tuple[Sharing, ...]:
        """Narrowing: element i is written to its W bytes after its R bytes were read: up to R - W bytes above
        is safe. Widening: element i is written while element i + 1 is still to be read; the last one has no
        successor, and for the one before it, i = count - 2: W (i + 1) <= distance + R (i + 1).
        """
        if not isinstance(let.call.args[0], Var):
            return ()
        if let.var.type.elements == 1:  # read before anything is written
            return (Sharing(argument=0, below=1 - arg_type(let, 0).size_bytes),)
        growth = let.var.type.dtype.size_bytes - arg_type(let, 0).dtype.size_bytes
        distance = growth if growth < 0 else growth * (let.var.type.elements - 1)
        return (Sharing(argument=0, below=distance),)


class SoftmaxS8S16(_Converter):
    """SOFTMAX of int8 to int16: a row is read, then written element by element."""

    op, stem, name = "SOFTMAX", "softmax_s8_s16", "softmax_s8_s16_portable"
    argument, result = DType.INT8, DType.INT16

    def numbers(self, let: Let) -> CStruct:
        return softmax_numbers(let)


class Requantize(_Converter):
    """QUANTIZE from one integer type to another."""

    op = "QUANTIZE"

    def __init__(self, stem: str, argument: DType, result: DType) -> None:
        self.stem, self.name = stem, f"{stem}_portable"
        self.argument, self.result = argument, result

    def numbers(self, let: Let) -> CStruct:
        argument, result = arg_type(let, 0), let.var.type
        multiplier, shift = rescale_multiplier(argument, result)
        return params(
            "cg_requantize_params",
            ("count", result.elements),
            ("in_zero", argument.zero_point),
            ("out_zero", result.zero_point),
            ("multiplier", multiplier),
            ("shift", shift),
        )


class RsqrtS16(_ParamsCall):
    """RSQRT on int16."""

    op, stem, name = "RSQRT", "rsqrt_s16", "rsqrt_s16_portable"
    argument = result = DType.INT16

    def numbers(self, let: Let) -> CStruct:
        multiplier, shift = rsqrt_multiplier(arg_type(let, 0), let.var.type)
        if shift < -MOST_RIGHT_SHIFT:
            raise ValueError(f"a result scale of {let.var.type.scale:g} is too large for RSQRT")
        return params(
            "cg_requantize_params",
            ("count", let.var.type.elements),
            ("in_zero", 0),
            ("out_zero", 0),
            ("multiplier", multiplier),
            ("shift", shift),
        )


class TurnSign(PortableKernel):
    """QUANTIZE between int8 and uint8 of one meaning: the bytes with the other sign bit."""

    op, stem = "QUANTIZE", "turn_sign"

    def __init__(self, name: str, argument: DType, result: DType) -> None:
        self.name, self.argument, self.result = f"{name}_portable", argument, result

    def check(self, let: Let) -> None:
        """Refuse types of two scales, or whose zero points are not 128 apart."""
        argument, result = arg_type(let, 0), let.var.type
        lowest = [type_.dtype.limits[0] - type_.zero_point for type_ in (argument, result)]
        if argument.scale != result.scale or lowest[0] != lowest[1]:
            raise ValueError("argument and result do not mean the same by their bytes")

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        value, linked = value_argument(let, 0, "argument", constants)
        return Parts(
            call_args=(value, RESULT, LiteralArg(value=let.var.type.elements)),
            constants=linked,
            sharing=in_place(let, 0),
            rows=element_rows(let, self.symbol),
        )


class RescaleS16(_ParamsCall):
    """Clamps, LEAKY_RELU, ABS and QUANTIZE from int16 to int16: a factor from 0 on, another below."""

    stem = "rescale_s16"
    argument = result = DType.INT16

    def __init__(self, op: str) -> None:
        self.op, self.name = op, f"{op.lower()}_s16_portable"

    def numbers(self, let: Let) -> CStruct:
        argument, result, attrs = arg_type(let, 0), let.var.type, let.call.attrs
        if isinstance(attrs, LeakyReluAttrs):
            scales = leaky_relu_params(attrs.alpha, argument, result)
            above = (scales.positive_multiplier, scales.positive_shift)
            below = (scales.negative_multiplier, scales.negative_shift)
        else:
            rule = rescale_multiplier if self.op == "QUANTIZE" else relu_multiplier
            above = below = rule(argument, result)
        if self.op == "ABS":  # times a negative factor it is the same product
            below = (-above[0], above[1])
        return params(
            "cg_rescale_s16_params",
            ("count", result.elements),
            ("multiplier", above[0]),
            ("shift", above[1]),
            ("negative_multiplier", below[0]),
            ("negative_shift", below[1]),
            *limit_fields(let),
        )


class _RealConverter(_Converter):
    """Base of conversions between integers and real numbers: the call (params, argument, result, count)."""

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        """Parts of a call that also runs row by row."""
        whole = super().parts(let, constants)
        count = LiteralArg(value=let.var.type.elements)
        return replace(whole, call_args=(*whole.call_args, count), rows=element_rows(let, self.symbol))


class QuantizeF32(_RealConverter):
    """QUANTIZE from float32 to int8, int16 or int32."""

    op, argument = "QUANTIZE", DType.FLOAT32

    def __init__(self, stem: str, result: DType, rounding: type[Rounding] = TfliteRounding) -> None:
        self.stem, self.name, self.result, self.rounding = stem, f"{stem}_portable", result, rounding

    def numbers(self, let: Let) -> CStruct:
        result = let.var.type
        return params("cg_quantize_params", ("scale", result.scale), ("zero", result.zero_point))


class Dequantize(_RealConverter):
    """DEQUANTIZE from int8, int16 or int32 to float32."""

    op, result = "DEQUANTIZE", DType.FLOAT32

    def __init__(self, stem: str, argument: DType) -> None:
        self.stem, self.name, self.argument = stem, f"{stem}_portable", argument

    def numbers(self, let: Let) -> CStruct:
        argument = arg_type(let, 0)
        return params("cg_quantize_params", ("scale", argument.scale), ("zero", argument.zero_point))


_WITH_NUMBERS = (
    ElementwiseF32("RELU", "clamp_f32", 0.0, FLT_MAX),
    ElementwiseF32("RELU6", "clamp_f32", 0.0, 6.0),
    ElementwiseF32("RELU_N1_TO_1", "clamp_f32", -1.0, 1.0),
    LeakyReluF32("LEAKY_RELU", "leaky_relu_f32"),
    GeluF32("GELU", "gelu_f32"),
    ElementwiseF32("EXP", "exponential_f32"),
)
"""Float functions of more than the argument, or whose name is taken; others are `cg_<name>_f32`."""

_FLOATS = {kernel.op: kernel for kernel in _WITH_NUMBERS}
for _each in POINTWISE:
    if _each.floats:
        register(_FLOATS.get(_each.name) or ElementwiseF32(_each.name, f"{_each.name.lower()}_f32"))
register(RsqrtS16())
register(SoftmaxS8())
register(SoftmaxS8S16())
register(SoftmaxF32())
register(QuantizeF32("quantize_f32_s8", DType.INT8))
register(QuantizeF32("quantize_f32_s16", DType.INT16))
register(QuantizeF32("quantize_f32_s32", DType.INT32))
register(QuantizeF32("quantize_linear_f32_s8", DType.INT8, OnnxRounding))
register(QuantizeF32("quantize_linear_f32_s16", DType.INT16, OnnxRounding))
register(Requantize("requantize_s8_s16", DType.INT8, DType.INT16))
register(Requantize("requantize_s8_s32", DType.INT8, DType.INT32))
register(Requantize("requantize_s16_s32", DType.INT16, DType.INT32))
register(Requantize("requantize_s32_s32", DType.INT32, DType.INT32))
register(Requantize("requantize_s8_u8", DType.INT8, DType.UINT8))
register(Requantize("requantize_u8_s8", DType.UINT8, DType.INT8))
register(TurnSign("turn_sign_s8_u8", DType.INT8, DType.UINT8))
register(TurnSign("turn_sign_u8_s8", DType.UINT8, DType.INT8))
register(Requantize("requantize_s16_s8", DType.INT16, DType.INT8))
register(Requantize("requantize_s32_s16", DType.INT32, DType.INT16))
register(Requantize("requantize_s32_s8", DType.INT32, DType.INT8))
register(Dequantize("dequantize_s8_f32", DType.INT8))
register(Dequantize("dequantize_s16_f32", DType.INT16))
register(Dequantize("dequantize_s32_f32", DType.INT32))
for _op in (*CLAMPS, "LEAKY_RELU", "QUANTIZE", "ABS"):
    register(RescaleS16(_op))
for _curve in curves.KERNELS:
    register(_curve)
