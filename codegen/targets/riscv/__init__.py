"""RISC-V: what is true of RV32 cores, their tools, their images and their firmware.

In: nothing. Out: `FAMILY`, which `codegen.targets.families` hands on, and kernel sets for the kernels of each
instruction set. Start with `FAMILY`; `cores` has the cores, `extensions` what their features mean.
"""

from collections.abc import Mapping

from codegen.ir import Board
from codegen.targets.core_family import (
    CompilerFacts,
    CoreFamily,
    Cores,
    CycleCounter,
    CycleFacts,
    Ecosystems,
    EmulatorFacts,
    FirmwareFacts,
    ImageFacts,
    ProtectionUnit,
)
from codegen.targets.instructions import Disassembly
from codegen.targets.riscv.cores import ARCHITECTURES
from codegen.targets.riscv.extensions import FEATURES, compile_flags, cpu_words, link_flags, refusal
from codegen.targets.riscv.fault_words import decode_fault
from codegen.targets.riscv.kernel_rates import kernel_rates

__all__ = ["FAMILY"]

_PAGE_BYTES = 4096
"""The emulator looks up each access to a page of which only a part is open."""


def _template_values(board: Board) -> Mapping[str, object]:
    return {"has_fpu": "f" in board.target.features, "has_vectors": "zve32x" in board.target.features}


def _disassembly() -> Disassembly:
    from codegen.targets.riscv import disassembly

    return disassembly


def _counters() -> Mapping[str, CycleCounter]:
    from codegen.targets.riscv import timing

    return timing.counters()


def _per_instruction() -> Mapping[str, float]:
    from codegen.targets.riscv import timing

    return timing.CYCLES_PER_INSTRUCTION


FAMILY = CoreFamily(
    name="riscv",
    title="RISC-V",
    cores=Cores(architectures=ARCHITECTURES, features=FEATURES, refusal=refusal),
    is_on_request=True,
    compiler=CompilerFacts(
        prefix="riscv64-unknown-elf-",
        install="sudo apt-get install gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf",
        library="picolibc for riscv64-unknown-elf",
        library_install="sudo apt-get install picolibc-riscv64-unknown-elf",
        library_probe=("-march=rv32imac", "-mabi=ilp32"),
        compile_flags=compile_flags,
        link_flags=link_flags,
        # The specification says that instructions of control registers belong to I: the newer one has an
        # extension for them, of which no library is. No register holds the address of small data.
        options=(
            "-misa-spec=2.2",
            "-mcmodel=medany",
            "-msmall-data-limit=0",
            "--specs=picolibc.specs",
        ),
        # What is linked without a script of the board takes the library's, whose memories are small.
        link_options=(
            "-nostartfiles",
            "-Wl,--no-warn-rwx-segments",
            "-Wl,--defsym=__flash_size=0x10000000,--defsym=__ram_size=0x10000000",
        ),
    ),
    emulator=EmulatorFacts(
        program="qemu-system-riscv32",
        install="sudo apt-get install qemu-system-misc",
        cpu_words=cpu_words,
    ),
    image=ImageFacts(machine="RISC-V", disassembly=_disassembly),
    firmware=FirmwareFacts(
        protection_units={
            "pmp": ProtectionUnit(is_exact=True, granule_bytes=32),
            "pmp_hazard3": ProtectionUnit(is_exact=False, granule_bytes=32),
            "pmp_pages": ProtectionUnit(is_exact=True, granule_bytes=32, edge_bytes=_PAGE_BYTES),
        },
        # Of the interrupt controller that emulated boards have (SiFive's PLIC).
        interrupts=1024,
        template_values=_template_values,
        files=("memory.S",),
        link_stack_bytes=640,
    ),
    decode_fault=decode_fault,
    cycles=CycleFacts(counters=_counters, per_instruction=_per_instruction, kernel_rates=kernel_rates),
    ecosystems=Ecosystems(esp_idf=frozenset({"esp32-c3", "esp32-c6", "esp32-p4"})),
)
