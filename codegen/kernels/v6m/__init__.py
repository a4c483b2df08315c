"""Kernels for cores that multiply 32 bits by 32 bits to 32 (ARMv6-M: Cortex-M0, M0+, M1; Cortex-M23)."""

from codegen.kernels.v6m import convolution, depthwise, fully_connected, matrices, pairs, reducing

__all__ = ["convolution", "depthwise", "fully_connected", "matrices", "pairs", "reducing"]
