"""Kernel sets of RISC-V cores."""

from codegen.targets.core_family import KernelSet

RV32 = KernelSet(folder="rv32", condition="is for RV32IM cores")
"""32 bits times 32 bits to either half of 64."""
ZVE32X = KernelSet(
    folder="zve32x", condition="is for cores with vectors of integers (Zve32x)", needs=frozenset({"zve32x"})
)
"""Vectors of integers of up to 32 bits, of any length."""
