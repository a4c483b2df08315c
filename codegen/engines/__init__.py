"""Independent inference engines: what do others compute of the same file?

In: the bytes of a model file and arrays, a `Request`. Out: an `EngineAnswer` with outputs, or why there are
none. Engines run in a child process (`processes`): they crash on valid files, and may live in another
Python (`interpreters`). Which engine rules for an operator of TFLite is one table (`ruling`). Start with
`evaluate`.
"""

from codegen.engines.interpreters import Engine, checkout_python, find_engine, installed_engines
from codegen.engines.names import AI_EDGE_LITERT, NPU_MODEL, ONNXRUNTIME, TFLITE_MICRO, TFLITE_RUNTIME
from codegen.engines.network import ROUNDED_OTHERWISE, Ruling, ruling_of
from codegen.engines.onnx_outputs import with_all_values
from codegen.engines.processes import Arrays, EngineAnswer, EngineError, Request, evaluate

__all__ = [
    "AI_EDGE_LITERT",
    "NPU_MODEL",
    "ONNXRUNTIME",
    "ROUNDED_OTHERWISE",
    "TFLITE_MICRO",
    "TFLITE_RUNTIME",
    "Arrays",
    "Engine",
    "EngineAnswer",
    "EngineError",
    "Request",
    "Ruling",
    "checkout_python",
    "evaluate",
    "find_engine",
    "installed_engines",
    "ruling_of",
    "with_all_values",
]
