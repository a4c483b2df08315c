"""The types of a core family's facts. A field with a default is one that a family may do without."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from codegen.ir import Board, Target
from codegen.targets.instructions import Disassembly, Executed

Words = tuple[str, ...]
"""Words of a command line."""
CycleCounter = Callable[[Sequence[Executed]], float]
"""Cycles of instructions that ran, in address order, by one core's published timings."""
FAULT_WORDS = 9
"""Words of the record that the test link carries of a fault; the first one is 0 where there was none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class KernelSet:
    """Kernels of one instruction set, in `kernels/<folder>` and `runtime_c/kernels/<folder>`."""

    folder: str
    condition: str
    """End of the sentence about a kernel for other cores: "is for RV32IM cores"."""
    needs: frozenset[str] = frozenset()
    """Features that the core must have."""
    lacks: frozenset[str] = frozenset()
    """Features with which another set is taken."""

    def suits(self, features: frozenset[str]) -> bool:
        """True if a core with these features runs the set."""
        return self.needs <= features and self.lacks.isdisjoint(features)


@dataclass(frozen=True, kw_only=True, slots=True)
class DecodeCost:
    """Instructions of decoding compressed constants."""

    call: int
    group: int
    """A class of a call's table."""
    byte: int
    taking: int
    """Each time bits are taken from the stream."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Architecture:
    """Cores of a family that run the same instructions, features aside."""

    name: str
    cpus: frozenset[str]
    """By the names that board files use."""
    kernel_sets: tuple[KernelSet, ...] = ()
    cached_cpus: frozenset[str] = frozenset()
    """Cores that may have caches of their own."""
    emulated_as: Mapping[str, str] = field(default_factory=dict[str, str])
    """A core that the emulator has no board of -> one that runs the same instructions."""
    decode_costs: Mapping[str, DecodeCost]
    """By the optimisation that code is compiled for: `speed`, `balanced`, `size`."""

    def runs(self, kernels: KernelSet, target: Target) -> bool:
        """True if `target`, a core of this architecture, runs these kernels."""
        return kernels in self.kernel_sets and kernels.suits(target.features)


def board_flags(target: Target) -> Words:
    """The flags that the board's file names."""
    return target.compiler_flags


def plain_level(target: Target, level: str) -> Words:
    """The flag of an optimisation level alone."""
    del target
    return (level,)


@dataclass(frozen=True, kw_only=True, slots=True)
class CompilerFacts:
    """GCC for a family's cores, and how it is asked."""

    prefix: str
    """Prefix of the toolchain's programs: `<prefix>gcc`, `<prefix>objcopy`."""
    install: str
    """The command that installs compiler and C library."""
    library: str = ""
    """Name of the C library where that is a package of its own."""
    library_install: str = ""
    library_probe: Words = ()
    """Flags that compile a program for one of the cores, to see whether the C library is there."""
    compile_flags: Callable[[Target], Words] = board_flags
    link_flags: Callable[[Target], Words] = board_flags
    """They choose the libraries, which may be those of a simpler core than the code is compiled for."""
    level_flags: Callable[[Target, str], Words] = plain_level
    """Flags of an optimisation level, e.g. `-Os`."""
    options: Words = ()
    """Further options of this compiler, whatever the core: C library, addresses."""
    link_options: Words = ()
    """Options for linking alone."""


def no_words(target: Target) -> Words:
    """Nothing: the machine's own core is the board's."""
    del target
    return ()


@dataclass(frozen=True, kw_only=True, slots=True)
class EmulatorFacts:
    """The QEMU program that runs a family's boards."""

    program: str
    install: str
    cpu_words: Callable[[Target], Words] = no_words
    """Words that choose the core on a machine that has several."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ImageFacts:
    """Linked files of a family."""

    machine: str
    """Name of the ELF machine in pyelftools."""
    bits: int = 32
    address_mask: int = ~0
    """Bits of a function's symbol that are its address."""
    disassembly: Callable[[], Disassembly]


@dataclass(frozen=True, kw_only=True, slots=True)
class ProtectionUnit:
    """A kind of memory protection unit: the driver `mpu_<kind>.c`."""

    is_exact: bool
    """It opens any range of whole granules by itself."""
    granule_bytes: int
    edge_bytes: int = 4
    """Data of the test firmware end at multiples of it: what is open to the model rounds up to them."""


def no_values(board: Board) -> Mapping[str, object]:
    """Nothing."""
    del board
    return {}


@dataclass(frozen=True, kw_only=True, slots=True)
class FirmwareFacts:
    """The test firmware of a family's cores."""

    protection_units: Mapping[str, ProtectionUnit]
    """By the name that a board's `mpu` has."""
    interrupts: int
    """Interrupts that a core can have: a UART's number is below."""
    template_values: Callable[[Board], Mapping[str, object]] = no_values
    """Values that only the templates of this family ask for."""
    files: tuple[str, ...] = ()
    """Further files of the family in every firmware."""
    link_stack_bytes: int = 416
    """Stack of the test link; `identify` tells how much of it was never used."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FaultReport:
    """A fault in words, and the numbers that people look up."""

    text: str
    address: int | None
    """The address that was accessed, if the core knows it."""
    registers: Mapping[str, int]
    """Code addresses by the names of the registers that held them; 0: not known."""
    status: Mapping[str, int]
    """Further registers, shown where they are not 0."""


def undecoded(record: Sequence[int]) -> FaultReport:
    """The cause as a number: nothing else is known of the words."""
    return FaultReport(text=f"fault {record[0]}", address=None, registers={}, status={})


def refuses_none(cpu: str) -> str | None:
    """Nothing: no core is known that the family cannot serve."""
    del cpu
    return None


def no_counters() -> Mapping[str, CycleCounter]:
    """No core whose timings are published."""
    return {}


def no_rates() -> Mapping[str, float]:
    """No core whose instructions were timed."""
    return {}


@dataclass(frozen=True, kw_only=True, slots=True)
class KernelRate:
    """A kernel's instructions on one target."""

    instructions: float = 1.0
    """Instructions that run for each predicted one: features of the target may save some."""
    cycles: float | None = None
    """Cycles of one; None: kernels differ little, and are compared by instructions."""


KernelRates = Mapping[str, KernelRate]
"""By kernel; "": of all others. Empty: instructions are as predicted."""


def no_kernel_rates(target: Target) -> KernelRates:
    """Instructions run as kernels predict them."""
    del target
    return {}


@dataclass(frozen=True, kw_only=True, slots=True)
class CycleFacts:
    """Cycles of a family's cores."""

    counters: Callable[[], Mapping[str, CycleCounter]] = no_counters
    """By core whose timings are published."""
    per_instruction: Callable[[], Mapping[str, float]] = no_rates
    """By such core: cycles of an instruction, on average over networks (`benchmarks/core_cycles.py`)."""
    kernel_rates: Callable[[Target], KernelRates] = no_kernel_rates
    """Measured rates of a target's kernels."""
    recorded: Path | None = None
    """Table of what kernels were measured to take behind a flash (`search/kernels/cycle_costs.py`)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ecosystems:
    """Names of a family's cores and instruction sets (folders of kernels) in formats of packages."""

    platforms: Mapping[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    """Instruction set -> platforms of Arduino and of PlatformIO with such boards; the narrowest set leads."""
    platformio: Mapping[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    """Core -> PlatformIO's platform and a board with that core, for an example to begin with."""
    kconfig: Mapping[str, str] = field(default_factory=dict[str, str])
    """Instruction set -> what Zephyr calls cores that have it."""
    cmsis_cores: Mapping[str, str] = field(default_factory=dict[str, str])
    """Core -> the core as CMSIS-Packs call it."""
    esp_idf: frozenset[str] = frozenset()
    """Cores of parts that ESP-IDF is for."""
    optional_dsp: frozenset[str] = frozenset()
    """Cores that a CMSIS-Pack has to ask for their DSP extension."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Cores:
    """Cores of a family, by name."""

    architectures: tuple[Architecture, ...]
    features: frozenset[str] = frozenset()
    """Extensions that a board file may name for a core."""
    prefix: str = ""
    """Prefix of cpu names that lists of cores leave out."""
    refusal: Callable[[str], str | None] = refuses_none
    """Why no core of that name is built for; None: nothing is known of it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CoreFamily:
    """All that is true of cores that share compiler, start-up code and link format.

    It is the `FAMILY` of a package of `codegen/targets`. Its C and its templates lie in folders of its name,
    below `runtime_c/targets` and `templates/targets`.
    """

    name: str
    title: str
    """Common name of boards with such a core."""
    cores: Cores
    is_on_request: bool = False
    """True if its tools are missed only where a board of it is asked for."""
    compiler: CompilerFacts
    emulator: EmulatorFacts | None = None
    image: ImageFacts | None = None
    """None: code is called in process, on this machine."""
    firmware: FirmwareFacts | None = None
    decode_fault: Callable[[Sequence[int]], FaultReport] = undecoded
    cycles: CycleFacts = field(default_factory=CycleFacts)
    ecosystems: Ecosystems = field(default_factory=Ecosystems)

    @property
    def port_folders(self) -> tuple[str, str]:
        """Folders below runtime_c that have drivers for cores of this family."""
        return f"targets/{self.name}", "port"

    @property
    def cpus(self) -> frozenset[str]:
        """Cores of all architectures."""
        return frozenset(cpu for architecture in self.cores.architectures for cpu in architecture.cpus)
