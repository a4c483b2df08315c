"""Kernels for cores with the DSP extension (Cortex-M4, M7, M33): two 16-bit products an instruction."""

from codegen.kernels.dsp import add, convolution, depthwise, depthwise_taps, fully_connected, int16

__all__ = ["add", "convolution", "depthwise", "depthwise_taps", "fully_connected", "int16"]
