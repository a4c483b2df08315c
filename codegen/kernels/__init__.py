"""Kernels: ways to run one operator, as PrimFuncs. Importing the package registers all that ship with it."""

from codegen.kernels import dsp, fpu, mve, v6m, v7m
from codegen.kernels.base.registry import Kernel, kernels_for, register, supported_ops
from codegen.kernels.portable import (
    convolution,
    detection,
    elementwise,
    hybrid,
    inserted,
    layout,
    matrices,
    pairwise,
    pointwise,
    pooling,
    qlinear,
    recurrent,
    reducing,
    reductions,
    signal,
    tables,
    user,
)
from codegen.kernels.primfunc import PrimFunc

__all__ = [
    "Kernel",
    "PrimFunc",
    "convolution",
    "detection",
    "dsp",
    "elementwise",
    "fpu",
    "hybrid",
    "inserted",
    "kernels_for",
    "layout",
    "matrices",
    "mve",
    "pairwise",
    "pointwise",
    "pooling",
    "qlinear",
    "recurrent",
    "reducing",
    "reductions",
    "register",
    "signal",
    "supported_ops",
    "tables",
    "user",
    "v6m",
    "v7m",
]
