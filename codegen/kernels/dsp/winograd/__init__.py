"""Winograd's F(2x2, 3x3) in integers: filters and the proof that sums fit, the price, the kernel.

In: a CONV_2D of 3x3. Out: its PrimFunc on cores with the DSP extension. Start with `kernel`.
"""

from codegen.kernels.dsp.winograd import kernel

__all__ = ["kernel"]
