"""Kernels for cores with the DSP extension: two 16-bit products an instruction."""

from codegen.kernels.dsp import (
    convolution,
    convolution_s16,
    depthwise,
    elementwise,
    first_layers,
    fully_connected,
    pairs,
    pooling,
    recurrent,
    reducing,
    winograd,
)

__all__ = [
    "convolution",
    "convolution_s16",
    "depthwise",
    "elementwise",
    "first_layers",
    "fully_connected",
    "pairs",
    "pooling",
    "recurrent",
    "reducing",
    "winograd",
]
