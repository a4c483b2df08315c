"""Kernels for Helium, the vector extension of Cortex-M55: int8, 16 products an instruction."""

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
