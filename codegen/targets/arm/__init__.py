"""Arm: what is true of Cortex-M cores, their tools and their firmware.

In: nothing. Out: facts that `codegen.targets.families` hands on. Start with `architectures.FAMILIES`.
"""

from codegen.targets.arm.architectures import (
    ARM_PREFIX,
    DSP,
    FAMILIES,
    FAULTS,
    FLOAT_MVE,
    FPU,
    INSTALL_ARM_GCC,
    MVE,
    ROUNDING_DSP,
    ROUNDING_MVE,
    V6M,
    V7M,
)

__all__ = [
    "ARM_PREFIX",
    "DSP",
    "FAMILIES",
    "FAULTS",
    "FLOAT_MVE",
    "FPU",
    "INSTALL_ARM_GCC",
    "MVE",
    "ROUNDING_DSP",
    "ROUNDING_MVE",
    "V6M",
    "V7M",
]
