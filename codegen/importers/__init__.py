"""Model files to `Module`s: `load` picks the importer by the file's contents.

Message codes of all importers:

| code | says |
|---|---|
| E300 | the format is not one that can be imported, or the file is empty |
| E301 | an operator, option or element type that is not supported |
| E302 | the container is damaged: offsets, tables, vectors, version |
| E303 | the contents contradict each other: tensor numbers, order of operators, buffers, shapes, options |
| E304 | quantisation parameters that mean nothing, or not for this tensor |
| E305 | larger than what is ever imported |
| E306 | an operator's operands break its rule, or a combination of them is not supported |
| E313 | a package that reads the format is not installed |
| E316 | layers that Vela compiled for an NPU contradict themselves |
| E317 | Vela has no such configuration of an NPU |
| E318 | Vela cannot compile the file |
| E314 | a constant lies in a file beside the model that is missing, too short or outside of its folder |
| E211 | the path cannot be read (wrong usage, not a wrong model) |
"""

from typing import TYPE_CHECKING

from codegen.late_imports import late_imports

if TYPE_CHECKING:
    from codegen.importers.dispatch import load, load_for_npu, load_with_tensors, model_bytes, signatures
    from codegen.importers.file_tensors import Imported, NamedTensor
    from codegen.importers.graph_inputs import Extents, InputSignature
    from codegen.importers.onnx.node_types import function_types, node_types
    from codegen.importers.tflite import CONTROL_OPS, STATE_OPS, imported_ops

__all__ = [
    "CONTROL_OPS",
    "STATE_OPS",
    "Extents",
    "Imported",
    "InputSignature",
    "NamedTensor",
    "function_types",
    "imported_ops",
    "load",
    "load_for_npu",
    "load_with_tensors",
    "model_bytes",
    "node_types",
    "signatures",
]

__getattr__ = late_imports(__name__, __file__)
