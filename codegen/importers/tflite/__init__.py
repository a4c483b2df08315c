"""TensorFlow Lite files: `import_tflite` reads them, `writer` writes them."""

from codegen.importers.tflite.opening import input_signatures
from codegen.importers.tflite.operators.translators import CONTROL_OPS, STATE_OPS, imported_ops
from codegen.importers.tflite.translate import import_tflite
from codegen.importers.tflite.vela_compiler import compiled_for

__all__ = ["CONTROL_OPS", "STATE_OPS", "compiled_for", "import_tflite", "imported_ops", "input_signatures"]
