"""Quantised numbers without kernels of their own: computed scales, scales of channels or blocks.

They become real numbers and back by steps of float32, as ONNX defines both nodes.
"""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from codegen.importers.onnx import arranging
from codegen.importers.onnx.arithmetic import convert, number_like, pair
from codegen.importers.onnx.composed.choosing import taken
from codegen.importers.onnx.composed.element_functions import Real
from codegen.importers.onnx.composed.integers import need_exact
from codegen.importers.onnx.composed.windows import conv, part
from codegen.importers.onnx.integer import CHANNELS_SINCE, HELD, NODES
from codegen.importers.onnx.layouts import Computed, Known, Stored, Value
from codegen.importers.onnx.matrices import multiplied
from codegen.importers.onnx.node_site import Site, value_type
from codegen.importers.reporting import Refused

TYPES = ("int8", "uint8", "int16", "uint16")
"""Integer types of which float32 holds every number."""


def scaled_like(site: Site, position: int, value: Value, axis: int, block: int) -> Value:
    """Input `position`, scales or zero points, as float32 that broadcasts to `value`."""
    scales, rank = convert(site, site.value(position), "float32"), len(value.shape)
    if all(extent == 1 for extent in scales.shape) and not block:
        return site.steps.reshape(scales, (1,) * rank)
    axis = site.axis(axis, rank)
    if block:
        extent = value.shape[axis]
        if len(scales.shape) != rank or scales.shape[axis] != -(-extent // block):
            raise Refused(
                "E303", f"blocks of {block} of {list(value.shape)} with scales {list(scales.shape)}"
            )
        return taken(site, scales, np.arange(extent) // block, axis)
    if scales.shape != (value.shape[axis],):
        raise Refused("E303", f"scales {list(scales.shape)} do not fit axis {axis} of {list(value.shape)}")
    return site.steps.reshape(scales, tuple(e if i == axis else 1 for i, e in enumerate(value.shape)))


def quantized(site: Site, dtype: str, axis: int, block: int) -> Value:
    """QuantizeLinear: divided by the scale, to the nearest whole number, the even one of two; clamped."""
    value = site.value(0)
    site.need_float(value)
    if dtype not in TYPES:
        raise Refused("E301", f"a result of type {dtype} is not supported, supported are int8 and uint8")
    scale = scaled_like(site, 1, value, axis, block)
    units = Real(site, pair(site, "DIV", [value, scale])).of("ROUND")
    if site.has(2):
        units = units + Real(site, scaled_like(site, 2, value, axis, block))
    return clamped(units, dtype)


def clamped(units: Real, dtype: str) -> Value:
    """Whole numbers as integers of a type, those beyond it as its last."""
    ends = np.iinfo(dtype)
    return convert(units.site, units.at_least(float(ends.min)).at_most(float(ends.max)).value, dtype)


def dequantized(site: Site, value: Value, axis: int, block: int) -> Value:
    """DequantizeLinear: less the zero point, times the scale."""
    if value_type(value) not in (*TYPES, "int4", "uint4", "int2", "uint2", "int32"):
        raise Refused("E301", f"integers of type {value_type(value)} are not supported")
    real = _centred(site, value, 2, axis, block)
    return pair(site, "MUL", [real, scaled_like(site, 1, value, axis, block)])


def _centred(site: Site, value: Value, zero: int, axis: int = 0, block: int = 0) -> Value:
    """Integers less their zero point, input `zero`, as float32."""
    real = convert(site, value, "float32")
    if not site.has(zero):
        return real
    return pair(site, "SUB", [real, scaled_like(site, zero, value, axis, block)])


def _is_plain(site: Site) -> bool:
    """True if scale and zero point are one known number each, of 8 or 16 bits: kernels take no others."""
    scale = site.known_data(1)
    zero = site.known_data(2) if site.has(2) else np.zeros(1, np.uint8)
    return (
        scale is not None
        and zero is not None
        and scale.size == zero.size == 1
        and str(zero.dtype) in HELD
        and not site.integer("block_size", 0)
    )


def _is_held(site: Site, value: Computed) -> bool:
    """True if kernels read these integers: signed ones, or unsigned ones that are held so."""
    return value_type(value) in ("int8", "int16") and _is_plain(site)


def _axis(site: Site) -> int:
    return site.integer("axis", 1) if site.opset >= CHANNELS_SINCE else 0


def _quantize_linear(site: Site) -> Value | Stored:
    if _is_plain(site):
        return NODES["QuantizeLinear"](site)
    site.integer("saturate", 1)
    site.integer("precision", 0)
    kind = value_type(site.value(2)) if site.has(2) else ""
    kind = kind or arranging.TYPES.get(site.integer("output_dtype", 0), "uint8")
    return quantized(site, kind, _axis(site), site.integer("block_size", 0))


def _dequantize_linear(site: Site) -> Value | Stored:
    value = site.operand(0)
    block = site.integer("block_size", 0)
    if isinstance(value, Stored) or (not block and (isinstance(value, Known) or _is_held(site, value))):
        return NODES["DequantizeLinear"](site)
    site.integer("output_dtype", 0)
    return dequantized(site, site.value(0), _axis(site), block)


def _matmul(site: Site) -> Value | Stored:
    """QLinearMatMul: an integer step, else a product of float32 where that is exact."""
    try:
        return NODES["QLinearMatMul"](site)
    except Refused as reason:
        refused = reason
    scales = [site.known(position, "the scale") for position in (1, 4, 6)]
    scales = [scale.astype(np.float32) if scale.dtype == np.float16 else scale for scale in scales]
    zero = site.known(7, "the zero point")
    if zero.size != 1 or any(scale.size != 1 or scale.dtype != np.float32 for scale in scales):
        raise refused
    first, second, result = (np.float32(scale.reshape(-1)[0]) for scale in scales)
    return _product(site, float(first * second / result), zero)


def _product(site: Site, scale: float, zero: np.ndarray) -> Value:
    """QLinearMatMul without an integer step: sums that float32 holds exactly."""
    first, second = (_centred(site, site.value(position), position + 2) for position in (0, 3))
    need_exact(first.shape[-1])
    sums = multiplied(site, first, second)
    units = Real(site, pair(site, "MUL", [sums, number_like(scale, sums)])).of("ROUND")
    return clamped(units + float(zero.reshape(-1)[0]), str(zero.dtype))


def _conv(site: Site) -> Value | Stored:
    """QLinearConv: an integer step, else a convolution in float32 where its sums are exact."""
    weights = site.known(3, "the weights").astype(np.float32)
    try:
        return NODES["QLinearConv"](site)
    except Refused as reason:
        refused = reason
    first, second, result = (site.known(position, "the scale") for position in (1, 4, 6))
    offsets, zero = site.known(5, "the zero point").astype(np.float32), site.known(7, "the zero point")
    bias = site.known(8, "the bias") if site.has(8) else np.zeros(len(weights), np.int32)
    sizes = (1, len(weights))
    if (
        not first.size == result.size == zero.size == 1
        or second.size not in sizes
        or offsets.size not in sizes
    ):
        raise refused
    need_exact(math.prod(weights.shape[1:]), int(np.abs(bias.astype(np.int64)).max(initial=0)))
    behind = (1,) * (weights.ndim - 2)
    values = [
        _centred(site, site.value(0), 2),
        Known(data=weights - offsets.reshape(-1, 1, *behind)),
        Known(data=bias.astype(np.float32)),
    ]
    sums = conv(part(site, values, site.node.attributes))
    for name in site.node.attributes:
        site.has_attribute(name)
    scale = (
        np.float32(first.reshape(-1)[0]) * second.reshape(1, -1, *behind) / np.float32(result.reshape(-1)[0])
    )
    site.steps.left_in_float.append(f"{site.steps.source}: {refused}")
    units = Real(site, pair(site, "MUL", [sums, Known(data=scale.astype(np.float32))])).of("ROUND")
    return clamped(units + float(zero.reshape(-1)[0]), str(zero.dtype))


def _gemm(site: Site) -> Value | Stored:
    """QGemm: an integer step, else a product of float32 where its sums are exact."""
    try:
        return NODES["com.microsoft.QGemm"](site)
    except Refused as reason:
        refused = reason
    if not site.has(7) or site.integer("transA", 0) or site.real("alpha", 1.0) != 1.0:
        raise refused
    weights = site.known(3, "the weights").astype(np.float32)
    first, second, result = (site.known(position, "the scale") for position in (1, 4, 7))
    offsets, zero = site.known(5, "the zero point").astype(np.float32), site.known(8, "the zero point")
    weights = weights.T if site.integer("transB", 0) else weights
    columns = weights.shape[-1]
    bias = site.known(6, "the bias") if site.has(6) else np.zeros(columns, np.int32)
    if not first.size == result.size == zero.size == 1 or {second.size, offsets.size} - {1, columns}:
        raise refused
    need_exact(len(weights), int(np.abs(bias.astype(np.int64)).max(initial=0)))
    sums = multiplied(site, _centred(site, site.value(0), 2), Known(data=weights - offsets.reshape(1, -1)))
    real = Real(site, sums) + Real(site, Known(data=bias.astype(np.float32).reshape(1, -1)))
    scale = np.float32(first.reshape(-1)[0]) * second.reshape(1, -1) / np.float32(result.reshape(-1)[0])
    site.steps.left_in_float.append(f"{site.steps.source}: {refused}")
    units = (real * Real(site, Known(data=scale.astype(np.float32)))).of("ROUND")
    return clamped(units + float(zero.reshape(-1)[0]), str(zero.dtype))


PLAIN: Mapping[str, Callable[[Site], Value | Stored]] = MappingProxyType(
    {
        "DequantizeLinear": _dequantize_linear,
        "QLinearConv": _conv,
        "QLinearMatMul": _matmul,
        "QuantizeLinear": _quantize_linear,
        "com.microsoft.DequantizeLinear": _dequantize_linear,
        "com.microsoft.QGemm": _gemm,
        "com.microsoft.QuantizeLinear": _quantize_linear,
    }
)
"""Nodes of integer networks that have a form without integer kernels too."""
