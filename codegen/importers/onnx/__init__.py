"""ONNX files: `import_onnx` reads them; the `onnx` package takes the container apart."""

from codegen.importers.onnx.file.beside import whole
from codegen.importers.onnx.file.reader import graph_inputs
from codegen.importers.onnx.file_import import import_onnx, import_with_tensors
from codegen.importers.onnx.node_types import function_types, node_types

__all__ = ["function_types", "graph_inputs", "import_onnx", "import_with_tensors", "node_types", "whole"]
