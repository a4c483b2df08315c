"""Kernels for cores that multiply 32 bits by 32 bits to 32 (ARMv6-M, Armv8-M Baseline)."""

from codegen.kernels.v6m import convolution, depthwise, fully_connected, matrices, pairs, reducing

__all__ = ["convolution", "depthwise", "fully_connected", "matrices", "pairs", "reducing"]
