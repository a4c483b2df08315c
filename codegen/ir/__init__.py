"""Intermediate representation: typed values in A-normal form, with a virtual device on each."""

from codegen.ir.function import Function, Module
from codegen.ir.hardware.flash import FlashCache, MemoryModel
from codegen.ir.hardware.target import (
    Board,
    Cache,
    CacheKind,
    Counter,
    MemoryHole,
    Region,
    RegisterWrite,
    Runner,
    SecondCore,
    Target,
    Uart,
)
from codegen.ir.types import ANYWHERE, DeviceConflict, DType, Quantization, TensorType, VirtualDevice
from codegen.ir.values import Arg, Call, Constant, ConstRef, Let, Source, Var

__all__ = [
    "ANYWHERE",
    "Arg",
    "Board",
    "Cache",
    "CacheKind",
    "Call",
    "ConstRef",
    "Constant",
    "Counter",
    "DType",
    "DeviceConflict",
    "FlashCache",
    "Function",
    "Let",
    "MemoryHole",
    "MemoryModel",
    "Module",
    "Quantization",
    "Region",
    "RegisterWrite",
    "Runner",
    "SecondCore",
    "Source",
    "Target",
    "TensorType",
    "Uart",
    "Var",
    "VirtualDevice",
]
