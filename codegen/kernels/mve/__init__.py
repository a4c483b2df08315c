"""Kernels for Helium, the vector extension of Armv8.1-M: int8, 16 products an instruction."""

from codegen.kernels.mve import (
    convolution,
    depthwise,
    elementwise,
    matrices,
    pairs,
    pointwise,
    reducing,
    tables,
)

__all__ = ["convolution", "depthwise", "elementwise", "matrices", "pairs", "pointwise", "reducing", "tables"]
