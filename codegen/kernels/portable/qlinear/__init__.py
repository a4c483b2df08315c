"""Kernels of operators of ONNX alone; `step_proof` decides how each channel is rounded."""

from codegen.kernels.portable.qlinear import elements, plain, weighted

__all__ = ["elements", "plain", "weighted"]
