"""TensorFlow Lite files: `import_tflite` reads them, `writer` writes them."""

from typing import TYPE_CHECKING

from codegen.late_imports import late_imports

if TYPE_CHECKING:
    from codegen.importers.tflite.opening import input_signatures
    from codegen.importers.tflite.operators.translators import CONTROL_OPS, STATE_OPS, imported_ops
    from codegen.importers.tflite.translate import import_tflite
    from codegen.importers.tflite.vela_compiler import compiled_for

__all__ = ["CONTROL_OPS", "STATE_OPS", "compiled_for", "import_tflite", "imported_ops", "input_signatures"]

__getattr__ = late_imports(__name__, __file__)
