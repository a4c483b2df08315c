"""Kernels of operators of ONNX alone; `step_proof` decides how each channel is rounded."""

from codegen.kernels.portable.qlinear import elements, plain, resizing, weighted

__all__ = ["elements", "plain", "resizing", "weighted"]
