"""Nodes that onnxruntime's optimiser writes, as functions of ONNX's own nodes.

Bodies are made for a node: which inputs it leaves out, and the ranks of those that it has, decide them.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from codegen.importers.onnx.file.records import Attribute, FileBody, FileNode
from codegen.importers.onnx.layouts import Value
from codegen.importers.reporting import Refused

_OPSET = 20
"""Opset of the nodes in bodies: the first with Gelu."""

_ACTIVATIONS = ("Relu", "Tanh", "Sigmoid", "LeakyRelu", "HardSigmoid", "Clip")


class _Body:
    """A body under construction; values are named by numbers."""

    def __init__(self, node: FileNode, values: Sequence[Value | None]) -> None:
        self._node, self._values = node, values
        self._nodes: list[FileNode] = []
        self._constants: dict[str, np.ndarray] = {}
        self.inputs = tuple(f"in{position}" for position in range(len(values)))
        self.asked: set[str] = set()

    def has(self, position: int) -> bool:
        """True if the node has input `position`."""
        return position < len(self._values) and self._values[position] is not None

    def rank(self, position: int) -> int:
        """Dimensions of an input."""
        value = self._values[position] if position < len(self._values) else None
        if value is None:
            raise Refused("E303", f"input {position} is left out, which this operator does not allow")
        return len(value.shape)

    def number(self, name: str, default: float) -> float:
        """A number of the node's attributes."""
        self.asked.add(name)
        value = self._node.attributes.get(name, default)
        if not isinstance(value, int | float):
            raise Refused("E303", f"attribute {name} has to be a number")
        return float(value)

    def word(self, name: str, default: str) -> str:
        """A word of the node's attributes."""
        self.asked.add(name)
        value = self._node.attributes.get(name, default)
        return value if isinstance(value, str) else default

    def reals(self, name: str) -> tuple[float, ...]:
        """A list of numbers in the node's attributes; empty where there is none."""
        self.asked.add(name)
        value = self._node.attributes.get(name)
        return () if value is None else tuple(np.asarray(value, np.float64).reshape(-1).tolist())

    def rest(self) -> dict[str, Attribute]:
        """The attributes that nobody asked for."""
        rest = {name: value for name, value in self._node.attributes.items() if name not in self.asked}
        self.asked.update(rest)
        return rest

    def constant(self, data: np.ndarray) -> str:
        """A constant of the body."""
        name = f"c{len(self._constants)}"
        self._constants[name] = data
        return name

    def real(self, number: float) -> str:
        """A number as a constant of the body."""
        return self.constant(np.full((), number, np.float32))

    def op(self, op: str, *inputs: str, **attributes: Attribute) -> str:
        """The result of one of ONNX's own nodes."""
        name = f"v{len(self._nodes)}"
        self._nodes.append(
            FileNode(index=0, op=op, domain="", inputs=inputs, outputs=(name,), attributes=attributes)
        )
        return name

    def scaled(self, value: str, factor: float) -> str:
        """`value` times a number."""
        return value if factor == 1.0 else self.op("Mul", value, self.real(factor))

    def body(self, *outputs: str) -> FileBody:
        """The finished body. Raises Refused for an attribute that it does not know."""
        unknown = sorted(set(self._node.attributes) - self.asked)
        if unknown:
            raise Refused("E301", f"attribute {', '.join(unknown)} is not supported here")
        return FileBody(
            inputs=self.inputs,
            outputs=outputs,
            nodes=tuple(self._nodes),
            constants=self._constants,
            opset=_OPSET,
            defaults={},
        )


def _layer_norm(make: _Body) -> FileBody:
    """LayerNormalization in ONNX's domain before opset 17: as of opset 17."""
    return make.body(make.op("LayerNormalization", *_given(make), **make.rest()))


def _given(make: _Body) -> tuple[str, ...]:
    return tuple(name if make.has(position) else "" for position, name in enumerate(make.inputs))


def _root_mean_square(make: _Body, value: str, scale: str, axes: Sequence[int], epsilon: float) -> str:
    """`value` by the root of its mean square, times `scale`."""
    mean = make.op(
        "ReduceMean", make.op("Mul", value, value), make.constant(np.array(axes, np.int64)), keepdims=1
    )
    root = make.op("Sqrt", make.op("Add", mean, make.real(epsilon)))
    return make.op("Mul", make.op("Div", value, root), scale)


def _simplified(make: _Body) -> FileBody:
    axis, rank = int(make.number("axis", -1)), make.rank(0)
    make.number("stash_type", 1)
    if not -rank <= axis < rank:
        raise Refused("E303", f"axis {axis} is outside {rank} dimensions")
    axes = range(axis % rank, rank)
    return make.body(_root_mean_square(make, "in0", "in1", axes, make.number("epsilon", 1e-5)))


def _skipped(make: _Body, bias: int) -> str:
    """The sum of input, skip and bias, if there is one."""
    total = make.op("Add", "in0", "in1")
    return make.op("Add", total, f"in{bias}") if make.has(bias) else total


def _skip_layer_norm(make: _Body) -> FileBody:
    total = _skipped(make, 4)
    shift = ("in3",) if make.has(3) else ()
    normal = make.op(
        "LayerNormalization", total, "in2", *shift, axis=-1, epsilon=make.number("epsilon", 1e-12)
    )
    return make.body(normal, "", "", total)


def _skip_simplified(make: _Body) -> FileBody:
    total, last = _skipped(make, 3), make.rank(0) - 1
    return make.body(
        _root_mean_square(make, total, "in2", (last,), make.number("epsilon", 1e-12)), "", "", total
    )


def _gelu(approximate: str, bias: int | None) -> "Callable[[_Body], FileBody]":
    def made(make: _Body) -> FileBody:
        value = "in0"
        if bias is not None and make.has(bias):
            value = make.op("Add", value, f"in{bias}")
        return make.body(make.op("Gelu", value, approximate=approximate))

    return made


def _quick_gelu(make: _Body) -> FileBody:
    alpha = make.number("alpha", 1.702)
    return make.body(make.op("Mul", "in0", make.op("Sigmoid", make.scaled("in0", alpha))))


def _fused_matmul(make: _Body) -> FileBody:
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


def _activated(make: _Body, value: str) -> str:
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


def _fused_conv(make: _Body) -> FileBody:
    convolved = ("in0", "in1", "in2") if make.has(2) else ("in0", "in1")
    make.asked |= {"activation", "activation_params"}
    value = make.op("Conv", *convolved, **make.rest())
    if make.has(3):
        value = make.op("Add", value, "in3")
    return make.body(_activated(make, value))


def _fused_gemm(make: _Body) -> FileBody:
    make.asked |= {"activation", "activation_alpha", "activation_beta", "activation_gamma"}
    return make.body(_activated(make, make.op("Gemm", *_given(make), **make.rest())))


_BODIES: Mapping[str, Callable[[_Body], FileBody]] = MappingProxyType(
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
    }
)

CONTRIBUTED = tuple(_BODIES)
"""Their types; those of another domain than ONNX's own have it before their name."""

_FIRST = {"LayerNormalization": 17}
"""Opsets from which on ONNX itself defines a type."""


def contributed(
    node: FileNode, name: str, opset: int, values: Callable[[], Sequence[Value | None]]
) -> FileBody | None:
    """The body of a node of type `name`, for these inputs; None for any other type.

    Raises Refused for attributes that no body knows.
    """
    make = _BODIES.get(name)
    if make is None or opset >= _FIRST.get(name, opset + 1):
        return None
    return make(_Body(node, values()))
