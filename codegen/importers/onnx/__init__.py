"""ONNX files: `import_onnx` reads them; the `onnx` package takes the container apart."""

from typing import TYPE_CHECKING

from codegen.late_imports import late_imports

if TYPE_CHECKING:
    from codegen.importers.onnx.file.beside import whole
    from codegen.importers.onnx.file.reader import graph_inputs
    from codegen.importers.onnx.file_import import import_onnx, import_with_tensors

__all__ = ["graph_inputs", "import_onnx", "import_with_tensors", "whole"]

__getattr__ = late_imports(__name__, __file__)
