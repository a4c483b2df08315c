"""Nodes that onnxruntime's optimiser writes, as functions of ONNX's own nodes.

Bodies are made for a node: which inputs it leaves out, and the ranks of those that it has, decide them.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from codegen.importers.onnx.file.records import Attribute, FileBody, FileNode
from codegen.importers.onnx.layouts import Value
from codegen.importers.onnx.rewriting.attention import ATTENTION
from codegen.importers.onnx.rewriting.body_builder import BodyBuilder
from codegen.importers.reporting import Refused

_ACTIVATIONS = ("Relu", "Tanh", "Sigmoid", "LeakyRelu", "HardSigmoid", "Clip")


def _layer_norm(make: BodyBuilder) -> FileBody:
    """LayerNormalization in ONNX's domain before opset 17: as of opset 17."""
    return make.body(make.op("LayerNormalization", *make.optional_inputs(), **make.remaining_attributes()))


def _root_mean_square(make: BodyBuilder, value: str, scale: str, axes: Sequence[int], epsilon: float) -> str:
    """`value` by the root of its mean square, times `scale`."""
    mean = make.op(
        "ReduceMean", make.op("Mul", value, value), make.constant(np.array(axes, np.int64)), keepdims=1
    )
    root = make.op("Sqrt", make.op("Add", mean, make.real(epsilon)))
    return make.op("Mul", make.op("Div", value, root), scale)


def _simplified(make: BodyBuilder) -> FileBody:
    axis, rank = int(make.number("axis", -1)), make.rank(0)
    make.number("stash_type", 1)
    if not -rank <= axis < rank:
        raise Refused("E303", f"axis {axis} is outside {rank} dimensions")
    axes = range(axis % rank, rank)
    return make.body(_root_mean_square(make, "in0", "in1", axes, make.number("epsilon", 1e-5)))


def _skipped(make: BodyBuilder, bias: int) -> str:
    """The sum of input, skip and bias, if there is one."""
    total = make.op("Add", "in0", "in1")
    return make.op("Add", total, f"in{bias}") if make.has(bias) else total


def _skip_layer_norm(make: BodyBuilder) -> FileBody:
    total = _skipped(make, 4)
    shift = ("in3",) if make.has(3) else ()
    normal = make.op(
        "LayerNormalization", total, "in2", *shift, axis=-1, epsilon=make.number("epsilon", 1e-12)
    )
    return make.body(normal, "", "", total)


def _skip_simplified(make: BodyBuilder) -> FileBody:
    total, last = _skipped(make, 3), make.rank(0) - 1
    return make.body(
        _root_mean_square(make, total, "in2", (last,), make.number("epsilon", 1e-12)), "", "", total
    )


def _gelu(approximate: str, bias: int | None) -> "Callable[[BodyBuilder], FileBody]":
    def made(make: BodyBuilder) -> FileBody:
        value = "in0"
        if bias is not None and make.has(bias):
            value = make.op("Add", value, f"in{bias}")
        return make.body(make.op("Gelu", value, approximate=approximate))

    return made


def _quick_gelu(make: BodyBuilder) -> FileBody:
    alpha = make.number("alpha", 1.702)
    return make.body(make.op("Mul", "in0", make.op("Sigmoid", make.scaled("in0", alpha))))


def _fused_matmul(make: BodyBuilder) -> FileBody:
    sides: list[str] = []
    for position, side in enumerate("AB"):
        rank = make.rank(position)
        order = list(range(rank))
        if make.number(f"transBatch{side}", 0):
            order = [*order[1:-1], order[0], order[-1]]
        if make.number(f"trans{side}", 0) and rank > 1:
            order[-2:] = order[:-3:-1]
        name = f"in{position}"
        sides.append(name if order == list(range(rank)) else make.op("Transpose", name, perm=tuple(order)))
    return make.body(make.scaled(make.op("MatMul", *sides), make.number("alpha", 1.0)))


def _activated(make: BodyBuilder, value: str) -> str:
    """`value` through the activation that the node names."""
    kind, numbers = make.word("activation", "Relu"), make.reals("activation_params")
    named = {name: make.number(f"activation_{name}", math.nan) for name in ("alpha", "beta", "gamma")}
    numbers = numbers or tuple(number for number in named.values() if not math.isnan(number))
    if kind not in _ACTIVATIONS:
        raise Refused("E301", f"activation {kind} is not supported, supported are {', '.join(_ACTIVATIONS)}")
    if kind == "Clip":
        return make.op("Clip", value, *(make.real(number) for number in numbers))
    attributes: dict[str, Attribute] = dict(zip(("alpha", "beta"), numbers, strict=False))
    return make.op(kind, value, **attributes)


def _fused_conv(make: BodyBuilder) -> FileBody:
    convolved = ("in0", "in1", "in2") if make.has(2) else ("in0", "in1")
    make.asked |= {"activation", "activation_params"}
    value = make.op("Conv", *convolved, **make.remaining_attributes())
    if make.has(3):
        value = make.op("Add", value, "in3")
    return make.body(_activated(make, value))


def _fused_gemm(make: BodyBuilder) -> FileBody:
    make.asked |= {"activation", "activation_alpha", "activation_beta", "activation_gamma"}
    return make.body(
        _activated(make, make.op("Gemm", *make.optional_inputs(), **make.remaining_attributes()))
    )


_BODIES: Mapping[str, Callable[[BodyBuilder], FileBody]] = MappingProxyType(
    {
        "LayerNormalization": _layer_norm,
        "SimplifiedLayerNormalization": _simplified,
        "com.microsoft.BiasGelu": _gelu("none", 1),
        "com.microsoft.FastGelu": _gelu("tanh", 1),
        "com.microsoft.FusedConv": _fused_conv,
        "com.microsoft.FusedGemm": _fused_gemm,
        "com.microsoft.FusedMatMul": _fused_matmul,
        "com.microsoft.Gelu": _gelu("none", None),
        "com.microsoft.QuickGelu": _quick_gelu,
        "com.microsoft.SkipLayerNormalization": _skip_layer_norm,
        "com.microsoft.SkipSimplifiedLayerNormalization": _skip_simplified,
        **ATTENTION,
    }
)

CONTRIBUTED = tuple(_BODIES)
"""Their types; those of another domain than ONNX's own have it before their name."""

_ONNX_OPSETS = {"LayerNormalization": 17}
"""Opsets from which on ONNX itself defines a type."""


def contributed(
    node: FileNode, name: str, opset: int, values: Callable[[], Sequence[Value | None]]
) -> FileBody | None:
    """The body of a node of type `name`, for these inputs; None for any other type.

    Raises Refused for attributes that no body knows.
    """
    make = _BODIES.get(name)
    if make is None or opset >= _ONNX_OPSETS.get(name, opset + 1):
        return None
    return make(BodyBuilder(node, values()))
