"""Layers that are rounded as ONNX does, made of drawn ones: the same numbers, one float32 scale a channel.

NumPy's result of these operators is compared with onnxruntime's by tests/importers/onnx/test_integer.py.
"""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from codegen.ir import ConstRef, DType, TensorType
from codegen.ir.ops import (
    ONNX,
    HalvesUp,
    HybridRounding,
    LayerNormAttrs,
    OnnxRounding,
    RoundedAttrs,
    Rounding,
    SoftmaxAttrs,
    TfliteRounding,
)
from codegen.ir.ops.base.operands import operand
from codegen.kernels import Kernel, kernels_for
from codegen.kernels.fpu.convolution import FpuProductHalves
from codegen.kernels.portable.convolution import CONV_2D_F32W16, FULLY_CONNECTED_F32W16
from tests.kernels.layers import Layer, Operand, float32, int8_type, integer, layer, symmetric
from tests.tensor_types import per_tensor, tensor_type

_SUFFIXES: Mapping[type[Rounding], str] = {
    TfliteRounding: "",
    HalvesUp: "",
    OnnxRounding: "/onnx",
    HybridRounding: "/hybrid",
}
ROUNDED = {f"{op}/onnx": op for op in ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")}
"""Kinds of layers with a scale a channel, and the operators whose layers are drawn for them."""
PAIRS = {f"{op}/onnx": op for op in ("ADD", "SUB", "MUL")}
"""The same of two values, element by element."""
PRODUCTS = {"BATCH_MATMUL/onnx": "BATCH_MATMUL"}
"""The same of two matrices."""
ROWS = {"SOFTMAX/onnx": "SOFTMAX", "LAYER_NORMALIZATION/onnx": "L2_NORMALIZATION"}
"""The same of rows."""
HALVES = {f"{op}/halves": op for op in ("CONV_2D", "FULLY_CONNECTED")}
"""Layers of float32 by weights that lie as float16."""
WITHOUT_ENGINE = ROUNDED | PAIRS | PRODUCTS | ROWS | HALVES
"""Kinds that TFLite's engines do not have."""


def types_without_engine(kind: str) -> tuple[DType, ...]:
    """Element types that layers of one of these kinds are drawn with."""
    if kind in HALVES:
        return (DType.FLOAT32,)
    return (DType.INT8,) if kind in PRODUCTS | ROWS else (DType.INT8, DType.INT16)


def kind_of(kernel: Kernel) -> str:
    """Kind of the layers that it runs: the operator, and how it is rounded if not as TFLite does."""
    if kernel in (CONV_2D_F32W16, FULLY_CONNECTED_F32W16) or isinstance(kernel, FpuProductHalves):
        return f"{kernel.op}/halves"
    return kernel.op + _SUFFIXES[kernel.rounding]


def kernels_of_kind(kind: str) -> list[Kernel]:
    """The kernels of a kind, best first."""
    return [kernel for kernel in kernels_for(kind.partition("/")[0]) if kind_of(kernel) == kind]


def made_of(kind: str, drawn: Layer, seed: int) -> Layer:
    """A layer of a kind, made of a drawn one."""
    if kind in HALVES:
        return halved(drawn)
    if kind in PRODUCTS:
        return multiplied(drawn, seed)
    if kind in ROWS:
        return of_rows(kind, drawn, seed)
    return rounded(drawn, seed) if kind in ROUNDED else paired(drawn, seed)


def rounded(found: Layer, seed: int) -> Layer:
    """`found` as ONNX rounds it. One in four has scales that are powers of two: their halves go to even."""
    call, result = found.let.call, found.let.var.type
    weights = call.args[1]
    assert isinstance(weights, ConstRef) and weights.type.quantization is not None
    numbers = np.broadcast_to(weights.type.quantization.scales, result.shape[-1]).astype(np.float32)
    scales = np.float32(operand(call.types, 0, "image").scale) * numbers / np.float32(result.scale)
    if result.dtype is DType.INT16:  # results spread over 16 bits
        taps = weights.type.elements // result.shape[-1]
        wanted = 2.0 ** np.random.default_rng([seed, 17]).uniform(-9, -6) / taps**0.5
        scales = (scales * (wanted / scales.max() / (256 if seed % 2 else 1))).astype(np.float32)
    if seed % 4 == 3:
        scales = np.exp2(np.round(np.log2(scales))).astype(np.float32)
    assert isinstance(call.attrs, RoundedAttrs)
    attrs = replace(call.attrs, rounding=OnnxRounding(scales=tuple(scales.tolist())))
    if result.dtype is DType.INT16 or call.op.name == "DEPTHWISE_CONV_2D":  # int4 weights are for others
        weights = replace(weights, type=replace(weights.type, dtype=DType.INT8))
    let = replace(found.let, call=replace(call, args=(call.args[0], weights, *call.args[2:])))
    found = replace(found, let=let)
    if result.dtype is DType.INT16:
        found = _of_sixteen_bits(found, seed)
        let = found.let
    plain = symmetric(found).let
    let = replace(plain, call=replace(plain.call, attrs=attrs))
    let.call.op.check(attrs, let.call.types, let.var.type)
    return replace(found, let=let)


def multiplied(layer: Layer, seed: int) -> Layer:
    """`layer`, a product of matrices, as ONNX rounds it; one in four by a scale that is a power of two."""
    let = layer.let
    first, second = (operand(let.call.types, index, "factor").scale for index in (0, 1))
    scale = float(np.float32(first) * np.float32(second) / np.float32(let.var.type.scale))
    if seed % 4 == 3:
        scale = 2.0 ** round(math.log2(scale))
    assert isinstance(let.call.attrs, RoundedAttrs)
    attrs = replace(let.call.attrs, rounding=OnnxRounding(scales=(scale,)))
    let.call.op.check(attrs, let.call.types, let.var.type)
    return replace(layer, let=replace(let, call=replace(let.call, attrs=attrs)))


def of_rows(kind: str, drawn: Layer, seed: int) -> Layer:
    """The image of `drawn` as rows of a softmax or of a layer normalisation, results of any scale."""
    rng = np.random.default_rng([seed, 19])
    image = operand(drawn.let.call.types, 0, "argument")
    data = drawn.values[0]
    assert data is not None
    if seed % 5 == 0:  # rows of one number, which have no deviation
        data = np.broadcast_to(data[..., :1], data.shape).copy()
    operands = [Operand(type=image, data=data)]
    if kind.startswith("SOFTMAX"):
        result = int8_type(rng, (), 2.0 ** rng.uniform(-10, -5))
        return layer("SOFTMAX", SoftmaxAttrs(rounding=ONNX), operands, result)
    for spread in (2.0, 1.0):
        numbers = (rng.standard_normal(image.shape[-1:]) * spread).astype(np.float32)
        operands.append(Operand(type=tensor_type(numbers.shape, DType.FLOAT32), data=numbers, constant=True))
    attrs = LayerNormAttrs(rounding=ONNX, epsilon=float32(10.0 ** rng.uniform(-12, -1)))
    return layer("LAYER_NORMALIZATION", attrs, operands, int8_type(rng, (), 2.0 ** rng.uniform(-7, -3)))


def halved(layer: Layer) -> Layer:
    """`layer` by the float16 weights that are nearest to its own."""
    call = layer.let.call
    weights = call.args[1]
    assert isinstance(weights, ConstRef)
    data = layer.constants[weights.id].astype(np.float16)
    args = (call.args[0], replace(weights, type=replace(weights.type, dtype=DType.FLOAT16)), *call.args[2:])
    let = replace(layer.let, call=replace(call, args=args))
    constants = {**layer.constants, weights.id: data}
    return replace(layer, let=let, constants=constants, values=(layer.values[0], data, *layer.values[2:]))


def paired(found: Layer, seed: int) -> Layer:
    """`found`, of two values, as ONNX rounds it: int16 with any zero points, where TFLite's have none; one
    in four has scales that are powers of two. Nothing ran these kernels at their distances or by rows."""
    rng = np.random.default_rng([seed, 18])
    let = found.let

    def meant(type_: TensorType) -> TensorType:
        assert type_.quantization is not None
        [zero], scale = type_.quantization.zero_points, type_.scale
        if type_.dtype is DType.INT16 and seed % 8:
            zero = int(rng.choice([-32768, 32767, 0, integer(rng, -32768, 32767)]))
        if seed % 4 == 3:
            scale = 2.0 ** round(math.log2(scale))
        return replace(type_, quantization=per_tensor(scale, zero))

    args = tuple(None if arg is None else replace(arg, type=meant(arg.type)) for arg in let.call.args)
    var, attrs = replace(let.var, type=meant(let.var.type)), let.call.attrs
    assert isinstance(attrs, RoundedAttrs)
    let = replace(let, var=var, call=replace(let.call, args=args, attrs=replace(attrs, rounding=ONNX)))
    let.call.op.check(let.call.attrs, let.call.types, var.type)
    return replace(found, let=let)


def _of_sixteen_bits(found: Layer, seed: int) -> Layer:
    """A layer of int16 with a bias of int32; most with zero points, every second by weights of int16."""
    rng = np.random.default_rng([seed, 16])
    let, values, constants = found.let, list(found.values), dict(found.constants)
    args = list(let.call.args)
    zeros = [int(zero) if seed % 4 else 0 for zero in rng.integers(-32768, 32768, 2)]

    def around(type_: TensorType, zero: int) -> TensorType:
        assert type_.quantization is not None
        return replace(type_, quantization=replace(type_.quantization, zero_points=(zero,)))

    def held(index: int, dtype: DType, data: np.ndarray) -> None:
        ref = args[index]
        assert isinstance(ref, ConstRef)
        args[index] = replace(ref, type=replace(ref.type, dtype=dtype))
        values[index] = constants[ref.id] = data.astype(dtype.numpy)

    image, weights, bias = args[0], values[1], values[2] if len(values) > 2 else None
    assert image is not None and weights is not None
    args[0] = replace(image, type=around(image.type, zeros[0]))
    if seed % 2:
        held(1, DType.INT16, weights.astype(np.int32) * 256 + rng.integers(0, 256, weights.shape))
    if bias is not None:
        held(2, DType.INT32, np.clip(bias, -(2**31), 2**31 - 1))
    var = replace(let.var, type=around(let.var.type, zeros[1]))
    let = replace(let, var=var, call=replace(let.call, args=tuple(args)))
    return replace(found, let=let, values=tuple(values), constants=constants)
