"""Kernels for ARMv7-M cores without the DSP extension: two products a MLA, plain int8 weights."""

from codegen.kernels.v7m import convolution, depthwise, fully_connected, matrices, pairs, reducing

__all__ = ["convolution", "depthwise", "fully_connected", "matrices", "pairs", "reducing"]
