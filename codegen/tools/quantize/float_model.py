"""The float model as it is quantised: checked, of fixed shapes, of an opset that has scales by channel."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codegen.api import CodegenError, Message, Messages, onnx_package, printable, read_onnx_graph
from codegen.tools.quantize.samples import ModelInput

_OPSET = 13
"""The first whose DequantizeLinear has an axis."""

_IR_VERSION = 4
"""The first whose constants need not be inputs."""

_QUANTISED = ("QuantizeLinear", "DequantizeLinear", "QLinear", "DynamicQuantize")
_HELP = "give the float model that was exported; calibration makes the scales"


@dataclass(frozen=True, kw_only=True, slots=True)
class FloatModel:
    """A float model of fixed shapes."""

    proto: Any
    inputs: tuple[ModelInput, ...]
    opened: tuple[str, ...]
    """Inputs whose first extent the file leaves open; it is 1 now."""


def float_model(path: Path, data: bytes) -> FloatModel:
    """The model of a file's bytes.

    Raises CodegenError E296 for what is no .onnx, E297 for a quantised model, E298 for an open extent other
    than an input's first, E3xx as the importer does.
    """
    name = printable(path.name)
    if path.suffix.lower() != ".onnx" or data[4:8] == b"TFL3":
        text = "only .onnx files are quantised"
        help_ = "a .tflite file is quantised by the TensorFlow Lite converter when it is made"
        raise CodegenError(Message(code="E296", where=name, text=text, help=help_))
    graph = read_onnx_graph(data, name)
    for node in graph.nodes:
        if node.op.startswith(_QUANTISED) or node.op.endswith("Integer"):
            text = f"the model is quantised already: node {node.index} is {node.op}"
            raise CodegenError(Message(code="E297", where=name, text=text, help=_HELP))
    onnx = onnx_package(name)
    model = onnx.ModelProto.FromString(data)
    opened = _fix_batch(model, {graph_input.name for graph_input in graph.inputs})
    messages = Messages()
    inputs: list[ModelInput] = []
    for graph_input in graph.inputs:
        shape = graph_input.shape
        if graph_input.name in opened and shape:
            shape = (1, *shape[1:])
        if shape is None or any(extent < 1 for extent in shape):
            text = f'input "{printable(graph_input.name)}" has no fixed shape'
            help_ = (
                "export the model with fixed shapes; only an input's first extent may be open, it becomes 1"
            )
            messages.add("E298", text, where=name, help=help_)
        else:
            inputs.append(ModelInput(name=graph_input.name, shape=shape, dtype=graph_input.dtype))
    messages.raise_if_any()
    _drop_constant_inputs(model, {graph_input.name for graph_input in inputs})
    return FloatModel(proto=_of_opset(onnx, model, name), inputs=tuple(inputs), opened=tuple(sorted(opened)))


def _fix_batch(model: Any, names: set[str]) -> set[str]:
    """Set open first extents of inputs to 1, and wherever the same symbol stands; the inputs."""
    opened: set[str] = set()
    symbols: set[str] = set()
    for value in model.graph.input:
        extents = value.type.tensor_type.shape.dim
        if value.name in names and len(extents) and extents[0].WhichOneof("value") != "dim_value":
            opened.add(value.name)
            symbols.add(extents[0].dim_param)
            extents[0].dim_value = 1
    if opened:
        del model.graph.value_info[:]  # they are inferred again
        for value in (*model.graph.input, *model.graph.output):
            _set(value.type.tensor_type.shape.dim, symbols - {""})
    return opened


def _set(extents: Iterable[Any], symbols: set[str]) -> None:
    for extent in extents:
        if extent.dim_param in symbols:
            extent.dim_value = 1


def _drop_constant_inputs(model: Any, names: set[str]) -> None:
    """Old files list their constants as inputs: what could be another value is not quantised."""
    model.ir_version = max(model.ir_version, _IR_VERSION)
    kept = [value for value in model.graph.input if value.name in names]
    del model.graph.input[:]
    model.graph.input.extend(kept)


def _of_opset(onnx: Any, model: Any, name: str) -> Any:
    version = next((opset.version for opset in model.opset_import if opset.domain in ("", "ai.onnx")), _OPSET)
    if version >= _OPSET:
        return model
    try:
        return onnx.version_converter.convert_version(model, _OPSET)
    except Exception as error:  # The converter's own, and RuntimeError.
        text = f"opset {version} cannot be converted to {_OPSET}, which scales by channel need"
        help_ = f"export the model with opset {_OPSET} or later"
        raise CodegenError(Message(code="E299", where=name, text=text, help=help_)) from error
