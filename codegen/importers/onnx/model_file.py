"""Reads the container: protobuf messages, taken apart by the `onnx` package, become bounded plain records."""

import importlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from codegen.errors import CodegenError, Message
from codegen.importers.graph_inputs import InputSignature
from codegen.importers.limits import (
    MAX_NAME_BYTES,
    MAX_OPERANDS,
    MAX_OPERATORS,
    MAX_OPTION_BYTES,
    MAX_RANK,
    MAX_TENSOR_BYTES,
    MAX_TENSORS,
)
from codegen.importers.printable_names import printable

_OLDEST_OPSET = 7
"""Before it broadcasting was an attribute."""

Attribute = int | float | str | np.ndarray | Sequence[int] | Sequence[float] | None
"""The value of a node's attribute; None for a kind that nothing here reads (graphs, lists of texts)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FileValue:
    """A graph input or output as the file declares it; extents that it leaves open are -1."""

    name: str
    dtype: str
    """NumPy's name of the element type."""
    shape: tuple[int, ...] | None
    """None where the file says nothing of it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FileNode:
    """One node of the graph; an input or output that is left out has an empty name."""

    index: int
    op: str
    domain: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Attribute]


@dataclass(frozen=True, kw_only=True, slots=True)
class FileGraph:
    """What a file holds: values by name, nodes in order."""

    opset: int
    inputs: tuple[FileValue, ...]
    """Those that no constant of the file stands for."""
    outputs: tuple[FileValue, ...]
    nodes: tuple[FileNode, ...]
    constants: Mapping[str, np.ndarray]


def read_graph(data: bytes, file_name: str) -> FileGraph:
    """The graph of a file.

    Raises CodegenError: E313 without the `onnx` package, E302 for what is no such file, E301, E303 or E305
    for a part that cannot be imported.
    """
    onnx = _package(file_name)
    try:
        model: Any = onnx.ModelProto.FromString(data)
    except Exception as error:  # The class belongs to protobuf, which has no interface for its name.
        if type(error).__name__ != "DecodeError":
            raise
        text = "this is not an ONNX file, or it is damaged: its protobuf messages cannot be read"
        help_ = "export or download the file again"
        raise CodegenError(Message(code="E302", where=file_name, text=text, help=help_)) from error
    try:
        return _Reader(onnx).graph(model)
    except _Unreadable as found:
        message = Message(code=found.code, where=file_name, text=str(found), help=found.help)
        raise CodegenError(message) from found


def graph_inputs(data: bytes, file_name: str) -> tuple[InputSignature, ...]:
    """The graph inputs of a file, in order. Raises CodegenError as `read_graph` does."""
    return tuple(
        InputSignature(name=each.name, shape=each.shape or ()) for each in read_graph(data, file_name).inputs
    )


def _package(file_name: str) -> Any:
    try:
        return importlib.import_module("onnx")
    except ImportError as error:
        raise CodegenError(
            Message(
                code="E313",
                where=file_name,
                text="the package `onnx` is not installed: it is needed to read ONNX files",
                help="pip install 'codegen[onnx]'",
            )
        ) from error


class _Unreadable(Exception):
    """Why a file is not read."""

    def __init__(self, code: str, text: str, help: str | None = None) -> None:
        super().__init__(text)
        self.code, self.help = code, help


class _Reader:
    def __init__(self, onnx: Any) -> None:
        self._onnx = onnx
        self._constant_elements = 0

    def graph(self, model: Any) -> FileGraph:
        """The records of a model."""
        graph = model.graph
        opset = self._opset(model)
        _need_few(len(graph.node), MAX_OPERATORS, "nodes")
        _need_few(len(graph.initializer) + len(graph.input) + len(graph.output), MAX_TENSORS, "tensors")
        _need_few(sum(len(node.input) + len(node.output) for node in graph.node), MAX_OPERANDS, "operands")
        if model.functions:
            raise _Unreadable(
                "E301", "functions of the model are not supported", "export with functions inlined"
            )
        if graph.sparse_initializer:
            raise _Unreadable(
                "E301", "sparse constants are not supported", "export the model with dense weights"
            )
        constants: dict[str, np.ndarray] = {}
        for tensor in graph.initializer:
            name = _name(tensor.name)
            if name in constants:
                raise _Unreadable("E303", f'two constants are called "{printable(name)}"')
            constants[name] = self._array(tensor)
        nodes = tuple(self._node(index, node) for index, node in enumerate(graph.node))
        return FileGraph(
            opset=opset,
            inputs=tuple(self._value(each) for each in graph.input if _name(each.name) not in constants),
            outputs=tuple(self._value(each) for each in graph.output),
            nodes=nodes,
            constants=constants,
        )

    def _opset(self, model: Any) -> int:
        versions = {_name(each.domain): int(each.version) for each in model.opset_import}
        opset = versions.get("", versions.get("ai.onnx"))
        newest = int(self._onnx.defs.onnx_opset_version())
        if opset is None:
            if not model.graph.node:
                raise _Unreadable("E302", "this is not an ONNX file: it has neither a graph nor an opset")
            return 1 if not versions else newest
        if not _OLDEST_OPSET <= opset <= newest:
            text = f"the model uses opset {opset}, supported are {_OLDEST_OPSET} to {newest}"
            raise _Unreadable("E301", text, "export the model with one of these (`opset_version`)")
        return opset

    def _node(self, index: int, node: Any) -> FileNode:
        return FileNode(
            index=index,
            op=printable(_name(node.op_type)),
            domain="" if node.domain == "ai.onnx" else printable(_name(node.domain)),
            inputs=_names(node.input),
            outputs=_names(node.output),
            attributes={_name(each.name): self._attribute(each) for each in node.attribute},
        )

    def _attribute(self, attribute: Any) -> Attribute:
        kinds = self._onnx.AttributeProto
        kind = attribute.type
        if kind == kinds.INT:
            return int(attribute.i)
        if kind == kinds.FLOAT:
            return float(attribute.f)
        if kind == kinds.STRING:
            return bytes(attribute.s[:MAX_OPTION_BYTES]).decode(errors="replace")
        if kind == kinds.TENSOR:
            return self._array(attribute.t)
        if kind in (kinds.INTS, kinds.FLOATS):
            found = attribute.ints if kind == kinds.INTS else attribute.floats
            _need_few(len(found), MAX_OPTION_BYTES, "numbers in one attribute")
            return tuple(found)
        return None

    def _array(self, tensor: Any) -> np.ndarray:
        """The data of a constant, looked at only after its declared size was found to be bounded."""
        name, shape = printable(_name(tensor.name)), tuple(int(extent) for extent in tensor.dims)
        if tensor.data_location == self._onnx.TensorProto.EXTERNAL:
            raise _Unreadable(
                "E301",
                f'constant "{name}" lies in another file, which is not supported',
                "save the model as one file (onnx.save with save_as_external_data=False)",
            )
        if len(shape) > MAX_RANK or any(extent < 0 for extent in shape):
            raise _Unreadable("E303", f'constant "{name}" has shape {list(shape)}')
        self._constant_elements += math.prod(shape)
        if self._constant_elements > MAX_TENSOR_BYTES:
            raise _Unreadable("E305", f"constants have more than {MAX_TENSOR_BYTES} elements together")
        try:
            found = np.asarray(self._onnx.numpy_helper.to_array(tensor))
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            text = f'the data of constant "{name}" do not fit its type and shape {list(shape)}'
            raise _Unreadable("E303", text) from error
        if found.shape != shape:
            raise _Unreadable("E303", f'constant "{name}" of shape {list(shape)} holds {list(found.shape)}')
        return found

    def _value(self, value: Any) -> FileValue:
        name, kind = _name(value.name), value.type
        if kind.WhichOneof("value") != "tensor_type":
            raise _Unreadable("E301", f'"{printable(name)}" is no tensor, which is not supported')
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
            raise _Unreadable("E305", text)
        shape = tuple(
            int(each.dim_value) if each.WhichOneof("value") == "dim_value" else -1
            for each in tensor.shape.dim
        )
        if any(extent < -1 for extent in shape):
            raise _Unreadable("E303", f'"{printable(name)}" has shape {list(shape)}')
        return FileValue(name=name, dtype=dtype, shape=shape)


def _need_few(found: int, limit: int, what: str) -> None:
    if found > limit:
        raise _Unreadable("E305", f"the file has {found} {what}, up to {limit} are imported")


def _names(names: Iterable[str | bytes]) -> tuple[str, ...]:
    return tuple(_name(name) for name in names)


def _name(name: str | bytes) -> str:
    """A name of the file; one that is no UTF-8 comes as bytes."""
    name = name if isinstance(name, str) else name.decode(errors="replace")
    if len(name) > MAX_NAME_BYTES:
        raise _Unreadable("E305", f"a name has {len(name)} characters, up to {MAX_NAME_BYTES} are imported")
    return name
