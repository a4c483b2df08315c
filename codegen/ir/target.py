"""What a board offers: core, memory regions, and how its image is run. Plain values, no logic."""

import enum
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """A processor core: name for gcc (`cortex-m4`), instruction-set features, compiler flags."""

    cpu: str
    features: frozenset[str] = frozenset()
    """Of: dsp (SMLAD), fpu (single precision), mve (integer Helium), mvef (float Helium), div."""
    compiler_flags: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Region:
    """One physical memory. `name` is upper case; its pool is called by the name in lower case."""

    name: str
    address: int
    size_bytes: int
    writable: bool
    executable: bool = False
    access_cost: float = 1.0
    """Relative cost of one access (1 = fastest memory of the board)."""
    dma: bool = True
    cacheable: bool = False
    emulated: bool = True
    """Whether the emulator maps it; a region it lacks is left out of plans that are to run there."""

    def __post_init__(self) -> None:
        if self.size_bytes <= 0 or self.address < 0 or self.address + self.size_bytes > 1 << 32:
            raise ValueError(f"region {self.name} does not fit a 32-bit address space")
        if self.name != self.name.upper():
            raise ValueError(f"region {self.name} is not in upper case")

    @property
    def end(self) -> int:
        """First address after the region."""
        return self.address + self.size_bytes

    @property
    def pool_name(self) -> str:
        """Name of the pool in this region."""
        return self.name.lower()


class Runner(enum.Enum):
    """How a board's image is executed when no `--port` is given."""

    QEMU = "qemu"
    HOST = "host"


@dataclass(frozen=True, kw_only=True, slots=True)
class Uart:
    """The UART that carries the test link: driver (file in runtime_c/port), registers, baud rate."""

    driver: str
    address: int
    baud: int = 115200
    qemu_serial: int = 0
    """Index of QEMU's `-serial` option that is this UART."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Counter:
    """A free-running counter. `instructions_per_tick` holds under QEMU's `-icount shift=0`."""

    driver: str
    address: int
    bits: int
    instructions_per_tick: float


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryHole:
    """Addresses that an emulator maps though the chip does not: closed by the MPU in test firmware."""

    address: int
    size_bytes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Board:
    """A board: one TOML file in `boards/`. Sizes in bytes; regions in order of preference."""

    name: str
    title: str
    target: Target
    runner: Runner
    regions: tuple[Region, ...]
    code_region: str
    """Region of vectors, code and linked constants."""
    data_region: str
    """Region of data, bss, stack and the test link."""
    stack_bytes: int
    reserved_bytes: int
    """Bytes of the data region kept for stack, data, bss and the test link: no pool may use them."""
    pool_alignment_bytes: int = 16
    buffer_alignment_bytes: int = 1
    """Least alignment of every buffer placed on this board."""
    aliases: tuple[str, ...] = ()
    clock_hz: int = 0
    qemu_machine: str | None = None
    qemu_flags: tuple[str, ...] = ()
    uart: Uart | None = None
    counter: Counter | None = None
    mpu: str | None = None
    """Driver of the memory protection unit: `v7m`, `v8m`, or None where the core has none."""
    startup: str | None = None
    """Further set-up the start-up code does (e.g. `stm32f4` enables clocks)."""
    holes: tuple[MemoryHole, ...] = ()

    def region(self, name: str) -> Region:
        """The region called `name` (upper case); raises KeyError if there is none."""
        for region in self.regions:
            if region.name == name:
                return region
        raise KeyError(name)
