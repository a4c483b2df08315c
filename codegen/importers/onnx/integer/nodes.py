"""Nodes of integer networks, one by one: QuantizeLinear, DequantizeLinear, and the QLinear forms."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from codegen.importers.onnx import arithmetic, arranging
from codegen.importers.onnx.file.records import FileGraph
from codegen.importers.onnx.integer import layers
from codegen.importers.onnx.integer.groups import is_op
from codegen.importers.onnx.integer.normalizing import softmax
from codegen.importers.onnx.integer.scales import (
    HELD,
    IntegerTarget,
    LeftInFloat,
    axes_of,
    rounded,
    scale_at,
    stored,
    stored_at,
    target_at,
)
from codegen.importers.onnx.layouts import Known, Stored, StoredAs, Value
from codegen.importers.onnx.node_site import MOVES, Site, value_type
from codegen.importers.reporting import Refused
from codegen.ir import DType, Quantization, TensorType
from codegen.ir.ops import ONNX, RoundedAttrs

CHANNELS_SINCE = 13
"""Opset that knows an axis of scales; onnxruntime's quantiser writes one into older models all the same."""


def target_of(site: Site) -> IntegerTarget:
    """Scale, zero point and type of a QuantizeLinear's result. Raises Refused for other types or blocks."""
    if site.integer("block_size", 0):
        raise Refused("E301", "quantisation in blocks is not supported")
    if site.opset >= CHANNELS_SINCE:
        site.integer("axis", 1)
    site.integer("saturate", 1)
    site.integer("precision", 0)
    if site.integer("output_dtype", 0) and not site.has(2):
        raise Refused("E301", "a result without a zero point is not supported, give one")
    return target_at(site, 1)


def quantize_linear(site: Site) -> Value:
    """QuantizeLinear of real numbers that a step computes."""
    return _quantized(site, site.value(0), target_of(site))


def _quantized(site: Site, value: Value, target: IntegerTarget) -> Value:
    if value_type(value) != DType.FLOAT32.value:
        raise Refused("E301", f"works on {value_type(value)}, supported is float32")
    if isinstance(value, Known):
        whole = rounded(value.data, target).astype(np.int32) + target.less
        return Known(data=whole.astype(f"u{target.dtype.value}" if target.less else target.dtype.numpy))
    quantized = site.steps.step(
        "QUANTIZE",
        [value.var],
        RoundedAttrs(rounding=ONNX),
        axes=axes_of(value),
        stored=StoredAs(dtype=target.dtype, quantization=target.quantization),
    )
    return target.held(quantized)


def dequantize_linear(site: Site) -> Stored:
    """DequantizeLinear: nothing is computed until somebody reads real numbers."""
    if site.integer("block_size", 0):
        raise Refused("E301", "quantisation in blocks is not supported")
    site.integer("output_dtype", 0)
    axis = site.integer("axis", 1) if site.opset >= CHANNELS_SINCE else 0
    value = site.operand(0)
    if isinstance(value, Stored):
        raise Refused("E303", "works on real numbers, needs integers")
    return stored(site, value, scale_at(site, 1), 2, axis)


def _always(make: Callable[[Site], Value]) -> Callable[[Site], Value]:
    """A QLinear node, which has no form on real numbers: what cannot be an integer step is refused."""

    def translate(site: Site) -> Value:
        try:
            return make(site)
        except LeftInFloat as reason:
            raise Refused("E301", str(reason)) from reason

    return translate


def _conv(site: Site) -> Value:
    image, target = stored_at(site, 0), target_at(site, 6)
    weights = stored_at(site, 3)
    return target.held(layers.conv(site, image, weights, _bias(site, 8, image, weights), target))


def _bias(site: Site, position: int, image: Stored, weights: Stored) -> Stored | None:
    """An int32 bias in units of the products."""
    if not site.has(position):
        return None
    data = site.known(position, "the bias")
    if data.dtype != np.int32:
        raise Refused("E303", f"the bias is {data.dtype}, it has to be int32")
    scale = np.float32(image.scale) * weights.scale.astype(np.float32)
    return Stored(value=Known(data=data.astype(np.int64)), scale=scale, zero=np.zeros((), np.int64), axis=0)


def _matmul(site: Site) -> Value:
    target = target_at(site, 6)
    first, second = stored_at(site, 0), stored_at(site, 3, axis=1)
    if layers.is_layer(first, second):
        return target.held(layers.gemm(site, first, second, None, target))
    return target.held(layers.product(site, first, second, target))


def _gemm(site: Site) -> Value:
    if not site.has(7):
        raise Refused("E301", "a float32 result is not supported")
    image = stored_at(site, 0)
    weights = stored_at(site, 3, axis=0 if site.integer("transB", 0) else 1)
    target = target_at(site, 7)
    return target.held(layers.gemm(site, image, weights, _bias(site, 6, image, weights), target))


def _pair(op: str) -> Callable[[Site], Value]:
    def make(site: Site) -> Value:
        target = target_at(site, 6)
        return target.held(layers.pair(site, op, (stored_at(site, 0), stored_at(site, 3)), target))

    return make


def _mean(site: Site) -> Value:
    if site.integer("channels_last", 0):
        raise LeftInFloat("channels_last is not supported")
    target = target_at(site, 3)
    return target.held(layers.mean(site, stored_at(site, 0), target))


def _table(function: Callable[[Site], Value]) -> Callable[[Site], Value]:
    def make(site: Site) -> Value:
        target = target_at(site, 3)
        return target.held(layers.table(site, stored_at(site, 0), target, function))

    return make


def _softmax(site: Site) -> Value:
    target = target_at(site, 3)
    return target.held(softmax(site, stored_at(site, 0), target, site.integer("opset", 13)))


def _concat(site: Site) -> Value:
    target = target_at(site, 0)
    parts: dict[int, Value] = {}
    for position in range(2, len(site.node.inputs), 3):
        part = stored_at(site, position)
        parts[position] = layers.brought_to(site, part, target)
    return target.held(arranging.joined(site, list(parts.values())))


NODES: Mapping[str, Callable[[Site], Value | Stored]] = MappingProxyType(
    {
        "DequantizeLinear": dequantize_linear,
        "QLinearConv": _always(_conv),
        "QLinearMatMul": _always(_matmul),
        "QuantizeLinear": quantize_linear,
        "com.microsoft.DequantizeLinear": dequantize_linear,
        "com.microsoft.QGemm": _always(_gemm),
        "com.microsoft.QLinearAdd": _always(_pair("ADD")),
        "com.microsoft.QLinearAveragePool": _always(_mean),
        "com.microsoft.QLinearConcat": _always(_concat),
        "com.microsoft.QLinearGlobalAveragePool": _always(_mean),
        "com.microsoft.QLinearLeakyRelu": _always(_table(arithmetic.leaky_relu)),
        "com.microsoft.QLinearMul": _always(_pair("MUL")),
        "com.microsoft.QLinearSigmoid": _always(_table(arithmetic.unary("LOGISTIC"))),
        "com.microsoft.QLinearSoftmax": _always(_softmax),
        "com.microsoft.QuantizeLinear": quantize_linear,
    }
)
"""Translators by ONNX's name, with the domain where it is another than ONNX's own."""


_OPERANDS = {"QLinearMatMul": (0, 3), "QLinearAdd": (0, 3), "QLinearMul": (0, 3)}
"""Positions of integers in nodes that have several computed ones; their scales are behind them."""


_INTEGER = ("QLinear", "QGemm")


def with_quantization(graph: FileGraph, name: str, kind: TensorType) -> TensorType:
    """The type of a graph input of 8 or 16 bits as the first node that reads it, moved or not, means it."""
    if kind.dtype.value not in HELD:
        return kind
    moved = {name}
    for node in graph.nodes:
        if node.op in MOVES and node.inputs and node.inputs[0] in moved:
            moved.update(filter(None, node.outputs[:1]))
            continue
        positions = range(2, len(node.inputs), 3) if node.op == "QLinearConcat" else _OPERANDS.get(node.op)
        if positions is None:
            positions = (0,) if is_op(node, "DequantizeLinear") or node.op.startswith(_INTEGER) else ()
        for position in positions:
            names = (*node.inputs[position : position + 3], "", "", "")[:3]
            meaning = _meaning(graph.constants.get(names[1]), graph.constants.get(names[2]))
            if names[0] in moved and meaning is not None:
                return TensorType(shape=kind.shape, dtype=kind.dtype, quantization=meaning)
    return kind


def _meaning(scale: np.ndarray | None, zero: np.ndarray | None) -> Quantization | None:
    """One float32 scale and one zero point; None for anything else, which the node itself is told of."""
    if scale is None or scale.dtype != np.float32 or scale.size != 1:
        return None
    number, offset = float(scale.reshape(-1)[0]), 0
    if not (np.isfinite(number) and number > 0):
        return None
    if zero is not None:
        if zero.size != 1 or str(zero.dtype) not in HELD:
            return None
        offset = int(zero.reshape(-1)[0])
    return Quantization(scales=(number,), zero_points=(offset,))
