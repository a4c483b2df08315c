"""Functions and branches become the nodes they consist of, each value under a name of its own.

A function is one of the file, or that by which ONNX itself defines a node type (the `onnx` package has it).
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from codegen.importers.limits import MAX_OPERATORS
from codegen.importers.onnx.file.reader import Reader, Unreadable, package
from codegen.importers.onnx.file.records import Attribute, FileBody, FileNode, Reference
from codegen.importers.onnx.layouts import Value
from codegen.importers.onnx.node_site import value_type
from codegen.importers.printable_names import printable
from codegen.importers.reporting import Refused

MAX_DEPTH = 16
"""Functions that call functions."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Inlined:
    """Nodes in place of one node."""

    nodes: tuple[FileNode, ...]
    opset: int
    constants: Mapping[str, np.ndarray]
    outputs: tuple[str, ...]
    """Names of what they compute, in the order of the node's outputs."""


class Inliner:
    """Puts nodes in place of others; counts them, for a function may call itself."""

    def __init__(self) -> None:
        self._count = 0

    def inlined(self, node: FileNode, body: FileBody, caller_names: Mapping[str, str], what: str) -> Inlined:
        """The nodes of `body` with names of their own.

        `caller_names`: names of the values that it reads; `what` it is, for messages. Raises Refused where
        there are too many nodes.
        """
        self._count += len(body.nodes) + 1
        if self._count > MAX_OPERATORS:
            text = f"functions, branches and loops have more than {MAX_OPERATORS} nodes together"
            raise Refused("E305", text)
        names, seen = (
            dict(caller_names),
            Counter(name for inner_node in body.nodes for name in inner_node.outputs),
        )
        for inner, outer in zip(body.outputs, node.outputs, strict=False):
            if seen[inner] == 1 and outer and inner not in names:
                names[inner] = outer
        prefix = next((name for name in node.outputs if name), node.op)
        inner_names = {name for inner_node in body.nodes for name in inner_node.outputs if name} | set(
            body.constants
        )
        names.update({name: f"{prefix}/{name}.{self._count}" for name in inner_names if name not in names})
        scope = _Scope(names=names, attributes={**body.defaults, **node.attributes}, node=node, what=what)
        return Inlined(
            nodes=tuple(scope.node_of(inner_node) for inner_node in body.nodes),
            opset=body.opset,
            constants={names[name]: data for name, data in body.constants.items()},
            outputs=tuple(names.get(name, name) for name in body.outputs),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Scope:
    names: Mapping[str, str]
    attributes: Mapping[str, Attribute]
    node: FileNode
    what: str

    def node_of(self, inner: FileNode) -> FileNode:
        """A node of the body, as one of the graph."""
        return replace(
            inner,
            index=self.node.index,
            inputs=tuple(self.names.get(name, name) for name in inner.inputs),
            outputs=tuple(self.names.get(name, name) for name in inner.outputs),
            attributes=self._attributes(inner),
            within=self.what,
        )

    def _attributes(self, inner: FileNode) -> dict[str, Attribute]:
        attributes: dict[str, Attribute] = {}
        for name, value in inner.attributes.items():
            if isinstance(value, Reference):
                if self.attributes.get(value.name) is not None:
                    attributes[name] = self.attributes[value.name]
            else:
                attributes[name] = self._body(value) if isinstance(value, FileBody) else value
        return attributes

    def _body(self, body: FileBody) -> FileBody:
        """A branch inside: what it computes itself keeps its name, what it reads from outside does not."""
        inside = {name for node in body.nodes for name in node.outputs} | {*body.constants, *body.inputs}
        outer = {name: new for name, new in self.names.items() if name not in inside}
        scope = replace(self, names=outer)
        return replace(
            body,
            nodes=tuple(replace(scope.node_of(node), index=node.index) for node in body.nodes),
            outputs=tuple(outer.get(name, name) for name in body.outputs),
        )


def caller_names(node: FileNode, body: FileBody) -> dict[str, str]:
    """The caller's names of what a function reads; what is left out has no name."""
    inputs = (*node.inputs, *[""] * len(body.inputs))
    return dict(zip(body.inputs, inputs, strict=False))


def defined(node: FileNode, opset: int, values: Callable[[], Sequence[Value | None]]) -> FileBody | None:
    """The function by which ONNX defines a node type, for inputs of their types; None if it has none."""
    onnx = package("")
    try:
        schema = onnx.defs.get_schema(node.op, opset, node.domain)
    except onnx.defs.SchemaError:
        return None
    fixed = [version for version in schema.function_opset_versions if version <= opset]
    open_ = [version for version in schema.context_dependent_function_opset_versions if version <= opset]
    if not (schema.function_opset_versions or schema.context_dependent_function_opset_versions):
        return None
    given_values = values()
    try:
        if schema.function_opset_versions:
            version = max(fixed, default=min(schema.function_opset_versions))
            data = schema.get_function_with_opset_version(version)
        else:
            version = max(open_, default=min(schema.context_dependent_function_opset_versions))
            data = schema.get_context_dependent_function_with_opset_version(
                version, _message(onnx, node, schema).SerializeToString(), _types(onnx, given_values)
            )
        function = onnx.FunctionProto.FromString(data)
        body = Reader(onnx, opset).function(function)
    except (RuntimeError, ValueError, TypeError, Unreadable):
        return None  # ONNX has no definition for these attributes or types
    declared = Reader(onnx)
    defaults = {
        name: declared.attribute(attribute.default_value) if attribute.default_value.name else None
        for name, attribute in schema.attributes.items()
    }
    return replace(body, defaults={**body.defaults, **defaults})


def defined_types() -> tuple[str, ...]:
    """Node types that ONNX defines by a function in its newest opset; before the name the domain, if any."""
    onnx = package("")
    return tuple(
        f"{schema.domain}.{schema.name}" if schema.domain else schema.name
        for schema in onnx.defs.get_all_schemas()
        if schema.function_opset_versions or schema.context_dependent_function_opset_versions
    )


def _message(onnx: Any, node: FileNode, schema: Any) -> Any:
    """The node as a message again, its defaults with it."""
    message = _node(onnx, node, frozenset())
    message.attribute.extend(
        attribute.default_value
        for name, attribute in schema.attributes.items()
        if attribute.default_value.name and name not in node.attributes
    )
    return message


def _node(onnx: Any, node: FileNode, outer: frozenset[str]) -> Any:
    message = onnx.helper.make_node(node.op, node.inputs, node.outputs, domain=node.domain)
    for name, value in node.attributes.items():
        data: Any = value
        if isinstance(value, np.ndarray):
            data = onnx.numpy_helper.from_array(value)
        elif isinstance(value, FileBody):
            data = _graph(onnx, value, outer)
        message.attribute.append(onnx.helper.make_attribute(name, data))
    return message


def _graph(onnx: Any, body: FileBody, outer: frozenset[str]) -> Any:
    """A graph inside a node as a message again; its values have no types.

    ONNX's function puts its nodes among others, so names from outside would mean something else there.
    """
    seen = outer | {"", *body.inputs, *body.constants}
    nodes: list[Any] = []
    for node in body.nodes:
        for name in set(node.inputs) - seen:
            text = f'its graph reads "{printable(name)}" from outside, supported is what it is given'
            raise Refused("E301", text, "make it a constant of that graph, or write the operators out")
        nodes.append(_node(onnx, node, seen))
        seen |= {*node.outputs}
    inputs, outputs = (
        [onnx.ValueInfoProto(name=name) for name in names] for names in (body.inputs, body.outputs)
    )
    constants = [onnx.numpy_helper.from_array(data, name) for name, data in body.constants.items()]
    return onnx.helper.make_graph(nodes, "body", inputs, outputs, constants)


def _types(onnx: Any, values: Sequence[Value | None]) -> list[bytes]:
    types: list[bytes] = []
    for value in values:
        if value is None:
            types.append(onnx.TypeProto().SerializeToString())
            continue
        kind = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(value_type(value)))
        types.append(onnx.helper.make_tensor_type_proto(kind, value.shape).SerializeToString())
    return types
