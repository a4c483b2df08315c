"""The body of a function, made for one node: which inputs it has, and their shapes, decide the nodes."""

from collections.abc import Sequence

import numpy as np

from codegen.importers.onnx.file.records import Attribute, FileBody, FileNode
from codegen.importers.onnx.layouts import Value
from codegen.importers.onnx.node_site import value_type
from codegen.importers.reporting import Refused

_OPSET = 23
"""Opset of the nodes in bodies: the first with RotaryEmbedding."""


class BodyBuilder:
    """A body under construction; values are named by numbers."""

    def __init__(self, node: FileNode, values: Sequence[Value | None]) -> None:
        self._node, self._values = node, values
        self._nodes: list[FileNode] = []
        self._constants: dict[str, np.ndarray] = {}
        self.inputs = tuple(f"in{position}" for position in range(len(values)))
        self.asked: set[str] = set()

    def has(self, position: int) -> bool:
        """True if the node has input `position`."""
        return 0 <= position < len(self._values) and self._values[position] is not None

    def is_read(self, position: int) -> bool:
        """True if the node names output `position`."""
        return position < len(self._node.outputs) and self._node.outputs[position] != ""

    def shape(self, position: int) -> tuple[int, ...]:
        """Extents of an input."""
        return self._value(position).shape

    def rank(self, position: int) -> int:
        """Dimensions of an input."""
        return len(self.shape(position))

    def element_type(self, position: int) -> str:
        """NumPy's name of an input's element type."""
        return value_type(self._value(position))

    def _value(self, position: int) -> Value:
        value = self._values[position] if position < len(self._values) else None
        if value is None:
            raise Refused("E303", f"input {position} is left out, which this operator does not allow")
        return value

    def optional_inputs(self) -> tuple[str, ...]:
        """Names of all inputs; those that the node leaves out are empty."""
        return tuple(name if self.has(position) else "" for position, name in enumerate(self.inputs))

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

    def remaining_attributes(self) -> dict[str, Attribute]:
        """The attributes that nobody asked for."""
        remaining = {name: value for name, value in self._node.attributes.items() if name not in self.asked}
        self.asked.update(remaining)
        return remaining

    def constant(self, data: np.ndarray) -> str:
        """A constant of the body."""
        name = f"c{len(self._constants)}"
        self._constants[name] = data
        return name

    def real(self, number: float) -> str:
        """A number as a constant of the body."""
        return self.constant(np.full((), number, np.float32))

    def whole(self, *numbers: int) -> str:
        """A list of integers as a constant of the body."""
        return self.constant(np.array(numbers, np.int64))

    def op(self, op: str, *inputs: str, **attributes: Attribute) -> str:
        """The result of one of ONNX's own nodes."""
        return self.results(op, 1, *inputs, **attributes)[0]

    def results(self, op: str, count: int, *inputs: str, **attributes: Attribute) -> tuple[str, ...]:
        """The `count` results of one of ONNX's own nodes."""
        names = tuple(f"v{len(self._nodes)}_{position}" for position in range(count))
        self._nodes.append(
            FileNode(index=0, op=op, domain="", inputs=inputs, outputs=names, attributes=attributes)
        )
        return names

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
