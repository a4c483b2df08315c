"""RISC-V cores by the names that board files use, and what decoding costs them."""

from codegen.targets.core_family import Architecture, DecodeCost
from codegen.targets.riscv.kernel_sets import RV32, ZVE32X

EMULATED = "rv32"
"""No core of a vendor: an emulator's, with what the board's features say."""
CPUS = frozenset(
    {
        EMULATED,
        "bumblebee",
        "e31",
        "e907",
        "esp32-c3",
        "esp32-c6",
        "esp32-p4",
        "hazard3",
        "qingke-v4b",
        "qingke-v4f",
    }
)
_DECODE = DecodeCost(call=40, group=12, byte=16, taking=6)

ARCHITECTURES = (
    Architecture(
        name="RV32IM",
        cpus=CPUS,
        kernel_sets=(RV32, ZVE32X),
        decode_costs={
            "speed": _DECODE,
            "balanced": _DECODE,
            "size": DecodeCost(call=45, group=12, byte=17, taking=6),
        },
        emulated_as=dict.fromkeys(sorted(CPUS - {EMULATED}), EMULATED),
    ),
)
