"""DEPTHWISE_CONV_2D of int8 and int16: through lines of int16, or tap by tap.

In: a depthwise convolution of multiplier 1. Out: its PrimFunc on cores with the DSP extension. Start with
`window3x3`.
"""

from codegen.kernels.dsp.depthwise import int4, plane, taps, taps_s16, wide, window3x3

__all__ = ["int4", "plane", "taps", "taps_s16", "wide", "window3x3"]
