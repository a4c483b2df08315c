"""Kernel sets of RISC-V cores."""

from codegen.targets.core_family import KernelSet

RV32 = KernelSet(folder="rv32", wanted="is for RV32IM cores")
"""32 bits times 32 bits to either half of 64."""
