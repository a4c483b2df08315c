"""Kernels for Helium, the vector extension of Cortex-M55: int8, 16 products an instruction."""

from codegen.kernels.mve import binary, convolution, depthwise, pooling

__all__ = ["binary", "convolution", "depthwise", "pooling"]
