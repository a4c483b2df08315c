"""Kernels of dynamic-range layers: int8 weights, an image quantised in a workspace."""

from codegen.kernels.portable.hybrid import weighted

__all__ = ["weighted"]
