"""TensorFlow Lite files: `import_tflite` reads them, `writer` writes them."""

from codegen.importers.tflite.opening import InputSignature, input_signatures
from codegen.importers.tflite.operators.translators import STATE_OPS, imported_ops
from codegen.importers.tflite.translate import NO_EXTENTS, Extents, import_tflite

__all__ = [
    "NO_EXTENTS",
    "STATE_OPS",
    "Extents",
    "InputSignature",
    "import_tflite",
    "imported_ops",
    "input_signatures",
]
