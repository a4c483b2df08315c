"""Kernels: ways to run one operator, as PrimFuncs. Importing the package registers all that ship with it."""

from codegen.kernels import (
    armv6m,
    armv7m,
    binary,
    convolution,
    device_copy,
    dsp,
    fpu,
    layout,
    mve,
    pointwise,
    pooling,
    user,
)
from codegen.kernels.primfunc import PrimFunc
from codegen.kernels.registry import Kernel, kernels_for, register, supported_ops

__all__ = [
    "Kernel",
    "PrimFunc",
    "armv6m",
    "armv7m",
    "binary",
    "convolution",
    "device_copy",
    "dsp",
    "fpu",
    "kernels_for",
    "layout",
    "mve",
    "pointwise",
    "pooling",
    "register",
    "supported_ops",
    "user",
]
