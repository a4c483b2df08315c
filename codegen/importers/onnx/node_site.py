"""One node while it is translated: its operands, its attributes, and who else reads them."""

from collections.abc import Callable, Mapping

import numpy as np

from codegen.importers.limits import MAX_RANK
from codegen.importers.onnx.file.records import FileBody, FileNode
from codegen.importers.onnx.held_types import other_sign
from codegen.importers.onnx.layouts import (
    DOUBLE_ADVICE,
    Computed,
    Given,
    Known,
    Listed,
    StepList,
    Stored,
    Value,
    identity,
)
from codegen.importers.printable_names import printable
from codegen.importers.reporting import AlreadyReported, Refused
from codegen.ir import Arg, DType
from codegen.ir.ops.base.operands import broadcast

MOVES = frozenset(
    {"Concat", "DepthToSpace", "Expand", "Flatten", "Gather", "Identity", "MaxPool", "Reshape", "Slice"}
    | {"SpaceToDepth", "Squeeze", "Transpose", "Unsqueeze"}
)
"""Operators that give elements of their arguments as they are, or the largest of them."""

SEQUENCE_ADVICE = "export with Split and Concat (their tensors have names), not with lists of tensors"
_SIGNED = frozenset({DType.INT8.value, DType.INT16.value})
_FIXED = "export the model with fixed shapes, so that this is a constant"


class Site:
    """A node of the file; methods raise `Refused` where nothing sensible can follow."""

    def __init__(
        self,
        node: FileNode,
        opset: int,
        values: Mapping[str, Given | None],
        uses: Mapping[str, int],
        steps: StepList,
    ) -> None:
        self.node, self.opset, self.steps = node, opset, steps
        self._values, self._uses = values, uses
        self._asked: set[str] = set()
        self._takes_integers = node.op == "MaxPool"  # the largest of integers
        self.as_held: Callable[[float], float] = float
        """A number of the node as its values hold it."""

    def reading(
        self, values: Mapping[int, Value], *, integers: Callable[[float], float] | None = None
    ) -> "Site":
        """A copy of the node's site with other values as inputs, by position.

        With `integers` they are integers where the node reads float32; it maps a number of the node to the
        number that they hold.
        """
        named = {self.node.inputs[position]: value for position, value in values.items()}
        site = Site(self.node, self.opset, {**self._values, **named}, self._uses, self.steps)
        site._asked, site._takes_integers = self._asked, integers is not None
        site.as_held = integers or self.as_held
        return site

    @property
    def outputs(self) -> int:
        """Outputs that the node lists."""
        return len(self.node.outputs)

    def has(self, position: int) -> bool:
        """True if input `position` is there."""
        return position < len(self.node.inputs) and self.node.inputs[position] != ""

    def value(self, position: int) -> Value:
        """Input `position`; AlreadyReported if the node that computes it was refused."""
        operand = self.operand(position)
        if isinstance(operand, Computed) and operand.less and not self.less:
            return other_sign(self.steps, operand)
        return self.steps.real(operand) if isinstance(operand, Stored) else operand

    @property
    def less(self) -> int:
        """`Computed.less` of what the node moves, if it does and all are alike; its result has it too."""
        if self.node.op not in MOVES or self.node.domain:
            return 0
        names = self.node.inputs if self.node.op == "Concat" else self.node.inputs[:1]
        signs = {getattr(self._values.get(name), "less", 0) for name in names}
        return signs.pop() if len(signs) == 1 else 0

    def listed(self, position: int) -> tuple[Value, ...]:
        """Input `position`, a sequence of tensors."""
        operand = self._given(position)
        if not isinstance(operand, Listed):
            raise Refused("E303", f"input {position} is a tensor, it has to be a sequence of tensors")
        return operand.values

    def operand(self, position: int) -> Value | Stored:
        """Input `position`, as integers where a DequantizeLinear gives it."""
        operand = self._given(position)
        if isinstance(operand, Listed):
            text = f"input {position} is a sequence of tensors, supported are tensors"
            raise Refused("E301", text, SEQUENCE_ADVICE)
        return operand

    def _given(self, position: int) -> Given:
        if not self.has(position):
            raise Refused("E303", f"input {position} is left out, which this operator does not allow")
        name = self.node.inputs[position]
        if name not in self._values:
            text = f'reads "{printable(name)}", which has no value: no node before this one computes it'
            raise Refused("E303", text, "a node, a graph input or a constant has to give it, without a cycle")
        operand = self._values[name]
        if operand is None:
            raise AlreadyReported
        return operand

    def all_values(self) -> list[Value]:
        """Every input, at least one."""
        if not self.node.inputs:
            raise Refused("E303", "has no inputs")
        return [self.value(position) for position in range(len(self.node.inputs))]

    def every_value(self) -> list[Value | None]:
        """Every input, None for those that are left out."""
        return [self.value(index) if self.has(index) else None for index in range(len(self.node.inputs))]

    def known(self, position: int, what: str) -> np.ndarray:
        """Input `position` as numbers of the file."""
        operand = self.value(position)
        if isinstance(operand, Known):
            return operand.data
        name = printable(self.node.inputs[position])
        reason = f"{what}: computed while the model runs, supported are constants"
        raise Refused("E301", f'"{name}" ({what}) is computed while the model runs', _FIXED, reason=reason)

    def number(self, position: int, what: str) -> float:
        """Input `position` as one number of the file, in whatever shape."""
        data = self.known(position, what)
        if data.size != 1 or data.dtype.kind not in "biuf":
            shown = f"{data.dtype}{list(data.shape)}"
            raise Refused("E303", f"{what} is {shown}, it has to be one number")
        return float(data.reshape(-1)[0])

    def whole(self, position: int, what: str) -> int:
        """Input `position` as one integer of the file, in whatever shape and element type."""
        number = self.number(position, what)
        if not number.is_integer():
            raise Refused("E303", f"{what} is {number:g}, it has to be an integer")
        return int(self.known(position, what).reshape(-1)[0])

    def known_data(self, position: int) -> np.ndarray | None:
        """Input `position` as numbers of the file, None where it is computed."""
        operand = self.operand(position)
        return operand.data if isinstance(operand, Known) else None

    def numbers(self, position: int, what: str) -> tuple[int, ...]:
        """Input `position` as a short list of integers (axes, a shape)."""
        data = self.known(position, what)
        if not np.issubdtype(data.dtype, np.integer) or data.size > MAX_RANK * 8:
            raise Refused("E303", f"{what} is {data.dtype}{list(data.shape)}, it has to be a few integers")
        return tuple(int(number) for number in data.reshape(-1))

    def is_only_use(self, position: int) -> bool:
        """True if nobody else reads input `position`."""
        return self._uses.get(self.node.inputs[position], 0) == 1

    def is_used(self, output: int) -> bool:
        """True if anybody reads output `output`."""
        return output < self.outputs and self._uses.get(self.node.outputs[output], 0) > 0

    def integer(self, name: str, default: int | None = None) -> int:
        """The integer attribute `name`."""
        number = self._attribute(name, default)
        if not isinstance(number, int):
            raise Refused("E303", f"attribute {name} has to be an integer")
        return number

    def real(self, name: str, default: float) -> float:
        """The number in attribute `name`."""
        number = self._attribute(name, default)
        if not isinstance(number, int | float):
            raise Refused("E303", f"attribute {name} has to be a number")
        return float(number)

    def word(self, name: str, default: str) -> str:
        """The word in attribute `name`."""
        word = self._attribute(name, default)
        if not isinstance(word, str):
            raise Refused("E303", f"attribute {name} has to be a word")
        return printable(word)

    def words(self, name: str, default: tuple[str, ...]) -> tuple[str, ...]:
        """The list of words in attribute `name`."""
        words = np.asarray(self._attribute(name, default))
        if words.ndim != 1 or words.dtype.kind != "U":
            raise Refused("E303", f"attribute {name} has to be a list of words")
        return tuple(printable(str(word)) for word in words)

    def integers(self, name: str, default: tuple[int, ...] | None = None) -> tuple[int, ...]:
        """The list of integers in attribute `name`."""
        attribute = self._attribute(name, default)
        numbers = np.asarray(attribute)
        if (
            not isinstance(attribute, tuple)
            or (numbers.size and numbers.dtype != np.int64)
            or numbers.ndim != 1
        ):
            raise Refused("E303", f"attribute {name} has to be a list of integers")
        return tuple(numbers.astype(np.int64).tolist())

    def has_attribute(self, name: str) -> bool:
        """True if the node states attribute `name`."""
        self._asked.add(name)
        return name in self.node.attributes

    def branch(self, name: str) -> FileBody:
        """The graph in attribute `name`."""
        body = self._attribute(name, None)
        if not isinstance(body, FileBody):
            raise Refused("E303", f"attribute {name} has to be a graph")
        return body

    def array(self, name: str) -> np.ndarray:
        """The numbers in attribute `name`."""
        attribute = self._attribute(name, None)
        if not isinstance(attribute, int | float | tuple | np.ndarray):
            raise Refused("E301", f"attribute {name} is of a kind that is not supported")
        data = np.asarray(attribute)
        wide = {"float64": np.float32, "int64": np.int64}
        return (
            data if isinstance(attribute, np.ndarray) else data.astype(wide.get(str(data.dtype), data.dtype))
        )

    def _attribute(self, name: str, default: object) -> object:
        self._asked.add(name)
        attribute = self.node.attributes.get(name, default)
        if attribute is None:
            raise Refused("E303", f"has no attribute {name}")
        return attribute

    def need_no_more(self) -> None:
        """Raise Refused for an attribute that nobody asked for: it would be ignored without a word."""
        more = sorted(set(self.node.attributes) - self._asked)
        if more:
            raise Refused("E301", f"attribute {printable(', '.join(more))} is not supported here")

    def axis(self, axis: int, rank: int) -> int:
        """`axis`, counted from the end if it is negative, among `rank`."""
        if not -rank <= axis < rank:
            raise Refused("E303", f"axis {axis} is outside {rank} dimensions")
        return axis % rank

    def axes(self, axes: tuple[int, ...], rank: int) -> tuple[int, ...]:
        """Several axes, ascending."""
        return tuple(sorted({self.axis(axis, rank) for axis in axes}))

    def need_float(self, *values: Value) -> None:
        """Raise Refused unless all values are float32."""
        for value in values:
            dtype = value_type(value)
            if dtype != DType.FLOAT32.value and not (self._takes_integers and dtype in _SIGNED):
                text = f"works on {dtype}, supported is float32"
                raise Refused("E301", text, DOUBLE_ADVICE)

    def together(self, values: list[Value]) -> tuple[list[Arg], tuple[int, ...]]:
        """Values that broadcast, as arguments of one rank stored alike; and how they are stored: as the
        largest of them is already."""
        shape: tuple[int, ...] = ()
        try:
            for value in values:
                shape = broadcast(shape, value.shape)
        except ValueError as error:
            raise Refused("E306", str(error)) from error
        rank = len(shape)
        whole = [value for value in values if isinstance(value, Computed) and len(value.axes) == rank]
        best = max(whole, key=lambda value: value.var.type.elements, default=None)
        axes = identity(rank) if best is None else best.axes
        return [
            self.steps.stored(self.steps.reshape(value, (1,) * (rank - len(value.shape)) + value.shape), axes)
            for value in values
        ], axes


def value_type(value: Value) -> str:
    """NumPy's name of a value's element type."""
    return str(value.data.dtype) if isinstance(value, Known) else value.var.type.dtype.value
