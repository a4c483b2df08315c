"""Names of the engines, as registries and requests spell them."""

ONNXRUNTIME = "onnxruntime"
TFLITE_RUNTIME = "tflite-runtime"
AI_EDGE_LITERT = "ai-edge-litert"
TFLITE_MICRO = "tflite-micro"
