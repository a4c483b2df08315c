"""TensorFlow Lite files: `import_tflite` reads them, `writer` writes them."""

from codegen.importers.tflite.operators.translators import imported_ops
from codegen.importers.tflite.translate import import_tflite

__all__ = ["import_tflite", "imported_ops"]
