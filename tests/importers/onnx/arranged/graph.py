"""A float32 ONNX graph under construction, and its random choices."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from onnx import TensorProto, helper, numpy_helper

Shape = tuple[int, ...]
OPSET = 18
MOST_ELEMENTS = 400
MOST_RANK = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Value:
    """A float32 value of a graph."""

    name: str
    shape: Shape

    @property
    def rank(self) -> int:
        """Number of axes."""
        return len(self.shape)


class Graph:
    """Nodes, constants and values so far, and what the next ones are drawn with."""

    def __init__(self, rng: Generator) -> None:
        self.rng = rng
        self.nodes: list[Any] = []
        self.constants: dict[str, np.ndarray] = {}
        self.inputs: list[Value] = []
        self.values: list[Value] = []
        self.outputs: list[str] = []

    def below(self, limit: int, start: int = 0) -> int:
        """A number from `start` to `limit` - 1."""
        return int(self.rng.integers(start, limit))

    def chance(self, share: float) -> bool:
        """True in this share of cases."""
        return bool(self.rng.random() < share)

    def one_of(self, items: Sequence[Any]) -> Any:
        """One of these."""
        return items[self.below(len(items))]

    def input(self, shape: Shape) -> None:
        """Another graph input."""
        value = Value(name=f"x{len(self.inputs)}", shape=shape)
        self.inputs.append(value)
        self.values.append(value)

    def integers(self, *numbers: int) -> str:
        """A constant that says how: axes, a shape, indices."""
        return self._constant("i", np.array(numbers, np.int64))

    def numbers(self, shape: Shape, spread: float = 1.0, middle: float = 0.0) -> str:
        """A float32 constant that is computed with."""
        return self._constant("k", self.rng.normal(middle, spread, shape))

    def weights(self, shape: Shape, terms: int) -> str:
        """Weights of a layer that adds up this many products."""
        return self._constant("w", self.rng.normal(0, 1 / math.sqrt(terms), shape))

    def bias(self, count: int) -> str:
        """A bias of this many channels."""
        return self._constant("b", self.rng.normal(0, 0.2, count))

    def _constant(self, stem: str, data: np.ndarray) -> str:
        name = f"{stem}{len(self.constants)}"
        self.constants[name] = data if data.dtype == np.int64 else data.astype(np.float32)
        return name

    def add(self, op: str, inputs: Sequence[str], *shapes: Shape, **attributes: Any) -> Value:
        """A node with results of these shapes; the first of them."""
        results = [Value(name=f"v{len(self.values) + n}", shape=shape) for n, shape in enumerate(shapes)]
        names = [result.name for result in results]
        self.nodes.append(helper.make_node(op, list(inputs), names, **attributes))
        self.values += results
        return results[0]

    def finish(self) -> None:
        """Choose outputs: what nobody reads, and a quarter of what is read."""
        read = {name for node in self.nodes for name in node.input}
        computed = [value.name for value in self.values[len(self.inputs) :]]
        self.outputs = [name for name in computed if name not in read or self.chance(0.25)]
        self.rng.shuffle(self.outputs)

    def model(self, outputs: Sequence[str] | None = None) -> Any:
        """The graph as a model; with other outputs where they are given."""
        shapes = {value.name: value.shape for value in self.values}
        kind = TensorProto.FLOAT
        graph = helper.make_graph(
            self.nodes,
            "g",
            [helper.make_tensor_value_info(value.name, kind, value.shape) for value in self.inputs],
            [helper.make_tensor_value_info(name, kind, shapes[name]) for name in outputs or self.outputs],
            [numpy_helper.from_array(data, name) for name, data in self.constants.items()],
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)


Layer = Callable[[Graph, Value], bool]
"""Adds nodes that read the value; False where the value has no axes for it."""


def with_extent(shape: Shape, axis: int, extent: int) -> Shape:
    """The shape with another extent along one axis."""
    return (*shape[:axis], extent, *shape[axis + 1 :])
