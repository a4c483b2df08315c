"""Kernels for RV32IM cores: three products by two multiplications, requantization in four instructions."""

from codegen.kernels.rv32 import conv3x3, convolution, depthwise, elementwise, fully_connected, winograd

__all__ = ["conv3x3", "convolution", "depthwise", "elementwise", "fully_connected", "winograd"]
