"""Reads the container: protobuf messages, taken apart by the `onnx` package, become bounded plain records."""

import importlib
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from codegen.errors import CodegenError, Message
from codegen.extras import install_extra
from codegen.importers.graph_inputs import InputSignature
from codegen.importers.limits import (
    MAX_NAME_BYTES,
    MAX_OPERANDS,
    MAX_OPERATORS,
    MAX_OPTION_BYTES,
    MAX_RANK,
    MAX_TENSORS,
    RAISE,
    STATED,
    ByteLimits,
)
from codegen.importers.onnx.file.node_order import in_order
from codegen.importers.onnx.file.records import (
    Attribute,
    FileBody,
    FileGraph,
    FileNode,
    FileValue,
    Reference,
)
from codegen.importers.printable_names import printable

_OLDEST_OPSET = 7

BROADCASTING = frozenset({"Add", "And", "Div", "Equal", "Greater", "Less", "Mul", "Or", "Pow", "Sub", "Xor"})
"""Operators that opset 6 tells how to broadcast, by attributes."""
_READ_OF_SIX = BROADCASTING | {"AveragePool", "BatchNormalization", "Dropout", "Gemm", "PRelu"}
"""Operators that changed in the oldest opset, and are read of the one before it too."""
"""Before it broadcasting was an attribute."""

MAX_NESTING = 8
"""Graphs and functions inside each other."""


def read_graph(data: bytes, file_name: str, limits: ByteLimits = STATED) -> FileGraph:
    """The graph of a file.

    Raises CodegenError: E313 without the `onnx` package, E302 for what is no such file, E301, E303 or E305
    for a part that cannot be imported.
    """
    onnx, model = parsed(data, file_name)
    try:
        return Reader(onnx, limits=limits).graph(model)
    except Unreadable as problem:
        message = Message(code=problem.code, where=file_name, text=str(problem), help=problem.help)
        raise CodegenError(message) from problem


def parsed(data: bytes, file_name: str) -> tuple[Any, Any]:
    """The `onnx` package, and the messages of a file. Raises CodegenError E313 and E302."""
    onnx = package(file_name)
    try:
        return onnx, onnx.ModelProto.FromString(data)
    except Exception as error:  # The class belongs to protobuf, which has no interface for its name.
        if type(error).__name__ != "DecodeError":
            raise
        text = "this is not an ONNX file, or it is damaged: its protobuf messages cannot be read"
        help_ = "export or download the file again"
        raise CodegenError(Message(code="E302", where=file_name, text=text, help=help_)) from error


def graph_inputs(data: bytes, file_name: str, limits: ByteLimits = STATED) -> tuple[InputSignature, ...]:
    """The graph inputs of a file, in order. Raises CodegenError as `read_graph` does."""
    return tuple(
        InputSignature(name=value.name, shape=value.shape or (), symbols=value.symbols)
        for value in read_graph(data, file_name, limits).inputs
    )


def package(file_name: str) -> Any:
    """The `onnx` package; raises CodegenError E313 without it."""
    try:
        return importlib.import_module("onnx")
    except ImportError as error:
        raise CodegenError(
            Message(
                code="E313",
                where=file_name,
                text="the package `onnx` is not installed: it is needed to read ONNX files",
                help=install_extra("onnx"),
            )
        ) from error


class Unreadable(Exception):
    """Why a file is not read."""

    def __init__(self, code: str, text: str, help: str | None = None) -> None:
        super().__init__(text)
        self.code, self.help = code, help


class Reader:
    """Turns messages into records; counts what it has read so far."""

    def __init__(self, onnx: Any, opset: int = 1, limits: ByteLimits = STATED) -> None:
        self._onnx = onnx
        self._constant_elements, self._most_elements = 0, limits.constants
        self._nodes = 0
        self._nesting = 0
        self._opset = opset
        self._has_halves = False

    def graph(self, model: Any) -> FileGraph:
        """The records of a model."""
        graph = model.graph
        opset = self._opset = self._opset_of(model.opset_import, graph.node)
        _need_few(len(graph.initializer) + len(graph.input) + len(graph.output), MAX_TENSORS, "tensors")
        _need_few(sum(len(node.input) + len(node.output) for node in graph.node), MAX_OPERANDS, "operands")
        if graph.sparse_initializer:
            raise Unreadable(
                "E301", "sparse constants are not supported", "export the model with dense weights"
            )
        constants = self._constants(graph.initializer)
        functions = {(_domain(f.domain), _name(f.name)): self.function(f) for f in model.functions}
        return FileGraph(
            opset=opset,
            inputs=tuple(self._value(value) for value in graph.input if _name(value.name) not in constants),
            outputs=tuple(self._value(value) for value in graph.output),
            nodes=self._body_nodes(graph.node),
            constants=constants,
            functions=functions,
            has_halves=self._has_halves,
        )

    def function(self, function: Any) -> FileBody:
        """The record of a function; its opset is the model's where it says none."""
        versions = {_domain(opset.domain): int(opset.version) for opset in function.opset_import}
        outer, self._opset = self._opset, versions.get("", self._opset)
        defaults: dict[str, Attribute] = {_name(attribute): None for attribute in function.attribute}
        defaults.update(
            (_name(attribute.name), self.attribute(attribute)) for attribute in function.attribute_proto
        )
        body = FileBody(
            inputs=_names(function.input),
            outputs=_names(function.output),
            nodes=self._body_nodes(function.node),
            constants={},
            opset=self._opset,
            defaults=defaults,
        )
        self._opset = outer
        return body

    def _inner(self, graph: Any) -> FileBody:
        self._nesting += 1
        _need_few(self._nesting, MAX_NESTING, "graphs inside each other")
        body = FileBody(
            inputs=_names(value.name for value in graph.input),
            outputs=_names(value.name for value in graph.output),
            constants=self._constants(graph.initializer),
            nodes=self._body_nodes(graph.node),
            opset=self._opset,
            defaults={},
        )
        self._nesting -= 1
        return body

    def _constants(self, tensors: Any) -> dict[str, np.ndarray]:
        constants: dict[str, np.ndarray] = {}
        for tensor in tensors:
            name = _name(tensor.name)
            if name in constants:
                raise Unreadable("E303", f'two constants are called "{printable(name)}"')
            constants[name] = self._array(tensor)
        return constants

    def _body_nodes(self, nodes: Any) -> tuple[FileNode, ...]:
        self._nodes += len(nodes)
        _need_few(self._nodes, MAX_OPERATORS, "nodes")
        return in_order([self._node(index, node) for index, node in enumerate(nodes)])

    def _opset_of(self, imports: Any, nodes: Any) -> int:
        versions = {_name(opset.domain): int(opset.version) for opset in imports}
        opset = versions.get("", versions.get("ai.onnx"))
        newest = int(self._onnx.defs.onnx_opset_version())
        if opset is None:
            if not nodes:
                raise Unreadable("E302", "this is not an ONNX file: it has neither a graph nor an opset")
            return 1 if not versions else newest
        if 0 < opset < _OLDEST_OPSET and nodes and all(self._is_read(node, opset) for node in nodes):
            return _OLDEST_OPSET - any(node.op_type in _READ_OF_SIX for node in nodes)
        if not _OLDEST_OPSET <= opset <= newest:
            text = f"the model uses opset {opset}, supported are {_OLDEST_OPSET} to {newest}"
            raise Unreadable("E301", text, "export the model with one of these (`opset_version`)")
        return opset

    def _is_read(self, node: Any, opset: int) -> bool:
        """True if a node means the same in an older opset and in the oldest one that is supported.

        For some types the one before that counts too.
        """
        defs = self._onnx.defs
        newest = _OLDEST_OPSET - (node.op_type in _READ_OF_SIX)
        try:
            schema, oldest = (
                defs.get_schema(node.op_type, version, node.domain) for version in (opset, newest)
            )
        except defs.SchemaError:
            return False
        return schema.since_version == oldest.since_version and not any(
            attribute.HasField("g") for attribute in node.attribute
        )

    def _node(self, index: int, node: Any) -> FileNode:
        return FileNode(
            index=index,
            op=printable(_name(node.op_type)),
            domain=_domain(node.domain),
            inputs=_names(node.input),
            outputs=_names(node.output),
            attributes={_name(attribute.name): self.attribute(attribute) for attribute in node.attribute},
        )

    def attribute(self, attribute: Any) -> Attribute:
        """The value of an attribute."""
        kinds = self._onnx.AttributeProto
        kind = attribute.type
        if attribute.ref_attr_name:
            return Reference(name=_name(attribute.ref_attr_name))
        if kind == kinds.GRAPH:
            return self._inner(attribute.g)
        if kind == kinds.INT:
            return int(attribute.i)
        if kind == kinds.FLOAT:
            return float(attribute.f)
        if kind == kinds.STRING:
            return bytes(attribute.s[:MAX_OPTION_BYTES]).decode(errors="replace")
        if kind == kinds.TENSOR:
            return self._array(attribute.t)
        if kind in (kinds.INTS, kinds.FLOATS):
            numbers = attribute.ints if kind == kinds.INTS else attribute.floats
            _need_few(len(numbers), MAX_OPTION_BYTES, "numbers in one attribute")
            return tuple(numbers)
        if kind == kinds.STRINGS:
            _need_few(len(attribute.strings), MAX_RANK * 8, "words in one attribute")
            return tuple(
                bytes(word[:MAX_OPTION_BYTES]).decode(errors="replace") for word in attribute.strings
            )
        return None

    def _array(self, tensor: Any) -> np.ndarray:
        """The data of a constant, looked at only after its declared size was found to be bounded.

        Every float16 is a float32, and is read as that.
        """
        name, shape = printable(_name(tensor.name)), tuple(int(extent) for extent in tensor.dims)
        if tensor.data_location == self._onnx.TensorProto.EXTERNAL:
            raise Unreadable("E314", f'constant "{name}" lies in another file, and there is only this one')
        if len(shape) > MAX_RANK or any(extent < 0 for extent in shape):
            raise Unreadable("E303", f'constant "{name}" has shape {list(shape)}')
        self._constant_elements += math.prod(shape)
        if self._constant_elements > self._most_elements:
            text = f"constants have more than {self._most_elements} elements together"
            raise Unreadable("E305", text, RAISE)
        try:
            array = np.asarray(self._onnx.numpy_helper.to_array(tensor))
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            text = f'the data of constant "{name}" do not fit its type and shape {list(shape)}'
            raise Unreadable("E303", text) from error
        if array.shape != shape:
            raise Unreadable("E303", f'constant "{name}" of shape {list(shape)} holds {list(array.shape)}')
        if array.dtype == np.float16:
            self._has_halves = True
            return array.astype(np.float32)
        return array

    def _value(self, value: Any) -> FileValue:
        name, kind = _name(value.name), value.type
        if kind.WhichOneof("value") != "tensor_type":
            raise Unreadable("E301", f'"{printable(name)}" is no tensor, which is not supported')
        tensor = kind.tensor_type
        try:
            dtype = str(np.dtype(self._onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)))
        except KeyError:
            dtype = f"type number {tensor.elem_type}"
        if not tensor.HasField("shape"):
            return FileValue(name=name, dtype=dtype, shape=None)
        if len(tensor.shape.dim) > MAX_RANK:
            text = (
                f'"{printable(name)}" has {len(tensor.shape.dim)} dimensions, up to {MAX_RANK} are supported'
            )
            raise Unreadable("E305", text)
        shape = tuple(
            int(dim.dim_value) if dim.WhichOneof("value") == "dim_value" else -1 for dim in tensor.shape.dim
        )
        if any(extent < -1 for extent in shape):
            raise Unreadable("E303", f'"{printable(name)}" has shape {list(shape)}')
        symbols = tuple(dim.dim_param for dim in tensor.shape.dim)
        return FileValue(name=name, dtype=dtype, shape=shape, symbols=symbols)


def _need_few(count: int, limit: int, what: str) -> None:
    if count > limit:
        raise Unreadable("E305", f"the file has {count} {what}, up to {limit} are imported")


def _names(names: Iterable[str | bytes]) -> tuple[str, ...]:
    return tuple(_name(name) for name in names)


def _domain(domain: str | bytes) -> str:
    return "" if domain == "ai.onnx" else printable(_name(domain))


def _name(name: str | bytes) -> str:
    """A name of the file; one that is no UTF-8 comes as bytes."""
    name = name if isinstance(name, str) else name.decode(errors="replace")
    if len(name) > MAX_NAME_BYTES:
        raise Unreadable("E305", f"a name has {len(name)} characters, up to {MAX_NAME_BYTES} are imported")
    return name
