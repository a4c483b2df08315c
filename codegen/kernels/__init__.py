"""Kernels: ways to run one operator, as PrimFuncs. Importing the package registers all that ship with it."""

from codegen.kernels import dsp, fpu, mve, v6m, v7m
from codegen.kernels.base.registry import Kernel, kernels_for, register, supported_ops
from codegen.kernels.portable import (
    convolution,
    device_copy,
    elementwise,
    hybrid,
    layout,
    pairwise,
    pointwise,
    pooling,
    qlinear,
    recurrent,
    reducing,
    shift,
    signal,
    user,
)
from codegen.kernels.primfunc import PrimFunc

__all__ = [
    "Kernel",
    "PrimFunc",
    "convolution",
    "device_copy",
    "dsp",
    "elementwise",
    "fpu",
    "hybrid",
    "kernels_for",
    "layout",
    "mve",
    "pairwise",
    "pointwise",
    "pooling",
    "qlinear",
    "recurrent",
    "reducing",
    "register",
    "shift",
    "signal",
    "supported_ops",
    "user",
    "v6m",
    "v7m",
]
