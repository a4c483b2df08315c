"""Float32 kernels for cores with a single precision FPU, and for float Helium."""

from codegen.kernels.fpu import convolution, depthwise, gated

__all__ = ["convolution", "depthwise", "gated"]
