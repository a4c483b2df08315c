"""Random ONNX graphs whose values are read in several arrangements, against onnxruntime.

Layers that only rearrange (Transpose, Reshape, Slice, ...) alternate with layers that compute along some
axes (Conv, MatMul, Resize, reductions). Most values have several readers; outputs are read as well.
`python -m tests.importers.onnx.arranged` compares thousands.
"""
