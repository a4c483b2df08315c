"""Finds what becomes one integer step: an operator between DequantizeLinear and QuantizeLinear."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from codegen.importers.onnx.file.records import FileGraph, FileNode
from codegen.importers.onnx.node_site import MOVES

WEIGHTED = frozenset({"Conv", "Gemm", "MatMul"})
"""Operators with weights; their bias may be left out."""

PAIRS = frozenset({"Add", "Sub", "Mul"})

MOVED = MOVES | {"Pad"}
"""Node types that only move integers, and Pad, whose number is quantised as the elements are."""

TABLES = frozenset(
    {"Abs", "Ceil", "Clip", "Cos", "Elu", "Erf", "Exp", "Floor", "Gelu", "HardSigmoid", "HardSwish"}
    | {"LeakyRelu", "Log", "Neg", "Reciprocal", "Relu", "Round", "Sigmoid", "Sin", "Softplus", "Softsign"}
    | {"Sqrt", "Tanh"}
)
"""Functions of one element."""

MEANS = frozenset({"AveragePool", "GlobalAveragePool"})

ROWS = frozenset({"LayerNormalization", "Softmax"})
"""Operators on rows, whose other arguments are constants."""

RESIZED = frozenset({"Resize"})
"""Operators that read their other arguments as constants."""

ACTIVATIONS = frozenset({"Clip", "Relu"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """Nodes of one step; the last is the QuantizeLinear."""

    node: FileNode
    activation: FileNode | None
    """A Relu or Clip behind the operator."""
    last: FileNode

    @property
    def inner(self) -> tuple[FileNode, ...]:
        """All but the last, in order."""
        return (self.node,) if self.activation is None else (self.node, self.activation)


def is_op(node: FileNode | None, name: str) -> bool:
    """True if `node` is of ONNX's type `name`, or of onnxruntime's type of that name."""
    return node is not None and node.op == name and node.domain in ("", "com.microsoft")


def groups_of(graph: FileGraph, uses: Mapping[str, int]) -> Sequence[Group]:
    """All groups of a graph; nodes in one are read by nobody else. `uses`: readers of each value."""
    makers = {name: node for node in graph.nodes for name in node.outputs if name}
    groups: list[Group] = []
    for last in graph.nodes:
        if not is_op(last, "QuantizeLinear") or not last.inputs:
            continue
        node = _only(makers, uses, last.inputs[0])
        if node is None:
            continue
        activation = None
        if node.op in ACTIVATIONS and not _is_stored(makers, node):
            activation, node = node, _only(makers, uses, node.inputs[0] if node.inputs else "")
        if node is not None and _is_stored(makers, node, with_activation=activation is not None):
            groups.append(Group(node=node, activation=activation, last=last))
    return groups


def left_alone(graph: FileGraph, grouped: Collection[int]) -> Iterator[FileNode]:
    """Nodes in no group that compute on what DequantizeLinear gives, moved or not: in float32.

    `grouped`: indices of nodes in groups. Nodes are in an order of execution; those that have none, as they
    wait for each other, are told where they are translated.
    """
    stored: set[str] = set()
    for node in graph.nodes:
        first = node.inputs[0] if node.inputs else ""
        if is_op(node, "DequantizeLinear"):
            gives_stored = first not in graph.constants
        else:
            gives_stored = node.op in MOVES and first in stored
        if gives_stored:
            stored.update(filter(None, node.outputs))
        moves = node.op in MOVES or is_op(node, "QuantizeLinear") or is_op(node, "DequantizeLinear")
        if node.index not in grouped and not moves and not stored.isdisjoint(node.inputs):
            yield node


def _only(makers: Mapping[str, FileNode], uses: Mapping[str, int], name: str) -> FileNode | None:
    """The node that computes `name`, if it computes nothing else and one node reads that."""
    node = makers.get(name)
    if node is None or uses.get(name) != 1 or any(uses.get(output) for output in node.outputs[1:]):
        return None
    return node


def _is_stored(makers: Mapping[str, FileNode], node: FileNode, *, with_activation: bool = False) -> bool:
    """True if `node` is an operator that works on integers, and its arguments come from DequantizeLinear."""
    if node.domain or not node.inputs:
        return False
    alone = node.op in MOVED | TABLES | RESIZED | ROWS | {"DequantizeLinear"}
    if with_activation and alone:
        return False
    count = 2 if node.op in WEIGHTED | PAIRS else 1
    if node.op == "Concat":
        count = len(node.inputs)
    if node.op == "DequantizeLinear":
        return True
    if node.op not in WEIGHTED | PAIRS | MOVED | TABLES | MEANS | RESIZED | ROWS:
        return False
    return len(node.inputs) >= count and all(
        is_op(makers.get(name), "DequantizeLinear") for name in node.inputs[:count]
    )
