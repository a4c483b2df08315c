"""Intermediate representation: typed values in A-normal form, with a virtual device on each."""

from typing import TYPE_CHECKING

from codegen.late_imports import late_imports

if TYPE_CHECKING:
    from codegen.ir.function import (
        Arg,
        Call,
        Constant,
        ConstRef,
        Function,
        Let,
        Module,
        Source,
        StateValue,
        Var,
    )
    from codegen.ir.hardware import (
        Board,
        Cache,
        CacheKind,
        Carrier,
        Counter,
        FlashCache,
        FlashNames,
        MemoryHole,
        MemoryModel,
        Region,
        RegisterWrite,
        Runner,
        SecondCore,
        Target,
        Uart,
    )
    from codegen.ir.types import ANYWHERE, DeviceConflict, DType, Quantization, TensorType, VirtualDevice

__all__ = [
    "ANYWHERE",
    "Arg",
    "Board",
    "Cache",
    "CacheKind",
    "Call",
    "Carrier",
    "ConstRef",
    "Constant",
    "Counter",
    "DType",
    "DeviceConflict",
    "FlashCache",
    "FlashNames",
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
    "StateValue",
    "Target",
    "TensorType",
    "Uart",
    "Var",
    "VirtualDevice",
]

__getattr__ = late_imports(__name__, __file__)
