"""Kernels for RV32IM cores with vectors of integers (Zve32x): values of pixels times weights of channels."""

from codegen.kernels.zve32x import convolution, depthwise

__all__ = ["convolution", "depthwise"]
