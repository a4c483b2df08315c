"""Names of the engines, as registries and requests spell them."""

ONNXRUNTIME = "onnxruntime"
TFLITE_RUNTIME = "tflite-runtime"
AI_EDGE_LITERT = "ai-edge-litert"
TFLITE_MICRO = "tflite-micro"
NPU_MODEL = "the functional model of the NPU"
"""No engine: our own model, for layers that no engine computes."""
