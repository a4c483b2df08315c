"""Faults of Cortex-M cores in words.

Source: Armv7-M and Armv8-M architecture reference manuals, B3.2.15 and D1.2.39.
"""

from collections.abc import Sequence

from codegen.targets.core_family import FaultReport

_EXCEPTIONS = {
    2: "NMI",
    3: "HardFault",
    4: "MemManage fault",
    5: "BusFault",
    6: "UsageFault",
    7: "SecureFault",
}
_REASONS = {
    0: "code fetched from memory that is closed",
    1: "access to memory that is closed (outside the model's pools and stack, or the step's buffers)",
    3: "closed memory on return from an exception",
    4: "stack overflow (no room for an exception frame)",
    5: "closed memory while floating point state was saved",
    8: "code fetched from memory that does not exist",
    9: "access to memory that does not exist",
    10: "access to memory that does not exist (late)",
    12: "stack overflow (no memory for an exception frame)",
    16: "undefined instruction",
    17: "jump to an address without the Thumb bit",
    18: "bad exception return",
    19: "coprocessor or floating point unit that is off",
    20: "stack overflow (below the stack's limit)",
    24: "unaligned access",
    25: "division by zero",
}
"""By bit of the configurable fault status register."""
_MMFAR_VALID = 1 << 7
_BFAR_VALID = 1 << 15


def decode_fault(record: Sequence[int]) -> FaultReport:
    """The record that `runtime_c/targets/arm/core.c` makes, in words."""
    exception, pc, lr, _psr, _sp, cfsr, _hfsr, mmfar, bfar = record
    name = _EXCEPTIONS.get(exception, f"exception {exception}")
    reasons = [text for bit, text in _REASONS.items() if cfsr >> bit & 1]
    address = mmfar if cfsr & _MMFAR_VALID else bfar if cfsr & _BFAR_VALID else None
    return FaultReport(
        text=f"{name}: {', '.join(reasons)}" if reasons else name,
        address=address,
        registers={"pc": pc, "lr": lr},
        status={"cfsr": cfsr},
    )
