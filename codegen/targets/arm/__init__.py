"""Arm: what is true of Cortex-M cores, their tools, their images and their firmware.

In: nothing. Out: `FAMILY`, which `codegen.targets.families` hands on, and kernel sets for the kernels of each
instruction set. Start with `FAMILY`; `architectures` has the cores.
"""

from collections.abc import Mapping
from pathlib import Path

from codegen.ir import Board, Target
from codegen.targets.arm.architectures import (
    ARCHITECTURES,
    DSP,
    FEATURES,
    FLOAT_MVE,
    FPU,
    MVE,
    ROUNDING_DSP,
    ROUNDING_MVE,
    V6M,
    V7M,
)
from codegen.targets.arm.ecosystems import ECOSYSTEMS
from codegen.targets.arm.fault_words import decode_fault
from codegen.targets.core_family import (
    CompilerFacts,
    CoreFamily,
    Cores,
    CycleCounter,
    CycleFacts,
    EmulatorFacts,
    FirmwareFacts,
    ImageFacts,
    ProtectionUnit,
    Words,
)
from codegen.targets.instructions import Disassembly

__all__ = [
    "ARM_PREFIX",
    "DSP",
    "FAMILY",
    "FLOAT_MVE",
    "FPU",
    "MVE",
    "ROUNDING_DSP",
    "ROUNDING_MVE",
    "V6M",
    "V7M",
]


ARM_PREFIX = "arm-none-eabi-"


def _level_flags(target: Target, level: str) -> Words:
    """The level, and a flag against a fault of gcc 12.

    At -Os it drops the test behind `for (; n >= 2; n -= 2)` in `if (n > 0)` where it may count loops by LE
    (Armv8.1-M, which Helium implies). Without -fbranch-count-reg it does not.
    """
    return (level, "-fno-branch-count-reg") if level == "-Os" and "mve" in target.features else (level,)


def _template_values(board: Board) -> Mapping[str, object]:
    bare = next(architecture for architecture in ARCHITECTURES if architecture.name == "Armv6-M")
    return {
        "systick": board.counter is not None and board.counter.driver == "systick",
        # Vector table offset, fault status registers and faults that can be configured.
        "has_system_control": board.target.cpu not in bare.cpus,
        "has_fpu": "fpu" in board.target.features,
    }


def _disassembly() -> Disassembly:
    from codegen.targets.arm import disassembly

    return disassembly


def _counters() -> Mapping[str, CycleCounter]:
    from codegen.targets.arm import timing

    return timing.counters()


def _per_instruction() -> Mapping[str, float]:
    from codegen.targets.arm import timing

    return timing.CYCLES_PER_INSTRUCTION


FAMILY = CoreFamily(
    name="arm",
    title="Cortex-M",
    cores=Cores(architectures=ARCHITECTURES, features=FEATURES, prefix="cortex-"),
    compiler=CompilerFacts(
        prefix=ARM_PREFIX,
        install="sudo apt-get install gcc-arm-none-eabi libnewlib-arm-none-eabi",
        library="newlib for arm-none-eabi",
        library_install="sudo apt-get install libnewlib-arm-none-eabi",
        library_probe=("-mcpu=cortex-m4", "-mthumb"),
        level_flags=_level_flags,
    ),
    emulator=EmulatorFacts(program="qemu-system-arm", install="sudo apt-get install qemu-system-arm"),
    image=ImageFacts(machine="ARM", address_mask=~1, disassembly=_disassembly),
    firmware=FirmwareFacts(
        protection_units={
            "v7m": ProtectionUnit(is_exact=False, granule_bytes=32),
            "v8m": ProtectionUnit(is_exact=True, granule_bytes=32),
        },
        # Beside a core's exceptions (ARMv8-M Architecture Reference Manual, NVIC).
        interrupts=480,
        template_values=_template_values,
    ),
    decode_fault=decode_fault,
    cycles=CycleFacts(
        counters=_counters,
        per_instruction=_per_instruction,
        recorded=Path(__file__).with_name("kernel_cycles.csv"),
    ),
    ecosystems=ECOSYSTEMS,
)
