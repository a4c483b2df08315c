"""A board as plain values: core, memory regions, flash with its wait states and caches, how an image is run.

No logic is here.
"""

import enum
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class FlashCache:
    """A fully associative cache of `rows` rows of `row_bytes` bytes; the row used least recently goes."""

    rows: int
    row_bytes: int

    def __post_init__(self) -> None:
        if not 1 <= self.rows <= 65_536:
            raise ValueError(f"rows must be 1 to 65536, got {self.rows}")
        if self.row_bytes < 1 or self.row_bytes & (self.row_bytes - 1):
            raise ValueError(f"row_bytes must be a power of two, got {self.row_bytes}")


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryModel:
    """Flash of a part at one clock: one TOML file in `boards/memory/`. SRAM answers at once."""

    name: str
    title: str
    clock_hz: int
    wait_states: int
    """Extra cycles of an access that has to read the flash."""
    read_bytes: int
    """Bytes of one reading."""
    prefetch: bool = False
    """True if the next line of code is read ahead."""
    instruction_cache: FlashCache | None = None
    data_cache: FlashCache | None = None

    def __post_init__(self) -> None:
        if self.clock_hz < 1:
            raise ValueError(f"clock_hz must be positive, got {self.clock_hz}")
        if not 0 <= self.wait_states <= 255:
            raise ValueError(f"wait_states must be 0 to 255, got {self.wait_states}")
        if not 1 <= self.read_bytes <= 4096 or self.read_bytes & (self.read_bytes - 1):
            raise ValueError(f"read_bytes must be a power of two up to 4096, got {self.read_bytes}")
        for field, cache in (("instruction_cache", self.instruction_cache), ("data_cache", self.data_cache)):
            if cache and not 1 <= cache.row_bytes // self.read_bytes <= 64:
                raise ValueError(f"{field}.row_bytes must be 1 to 64 readings of {self.read_bytes} bytes")


NULL_BYTES = 32
"""Bytes at address 0 that no pool uses."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """A processor core: the name that its family lists, instruction-set features, compiler flags."""

    cpu: str
    features: frozenset[str] = frozenset()
    """Extensions that the core has, of those that its family knows."""
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
    wait_states: int | None = None
    """Wait states of one access at the board's rated clock, as the manual gives them; None: not published."""
    fetch_bytes: int = 4
    """Bytes that one such access brings: the line of the cache or prefetch buffer in front, else one word."""
    dma: bool = True
    cacheable: bool = False
    """True if a data cache of the core sits in front: DMA into it needs cleaning and invalidation."""
    retained: bool = False
    """True if the region can keep its bytes through the deepest sleep that more than a reset pin ends."""
    emulated: bool = True
    """True if the emulator maps the region. Plans that are to run there leave out regions that it lacks."""

    def __post_init__(self) -> None:
        if self.size_bytes <= 0 or self.address < 0 or self.address + self.size_bytes > 1 << 32:
            raise ValueError(f"region {self.name} does not fit a 32-bit address space")
        if self.name != self.name.upper():
            raise ValueError(f"region {self.name} is not in upper case")

    @property
    def start(self) -> int:
        """First address that may hold an object: where a pool could begin at 0, C would take it for NULL."""
        return self.address + (NULL_BYTES if self.writable and self.address == 0 else 0)

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
    NONE = "none"
    """Not at all: QEMU does not emulate the board."""


class CacheKind(enum.Enum):
    """Accesses that a cache serves; they tell who turns it on."""

    INSTRUCTION = "instruction"
    """Beside the core: off after reset, the test firmware turns it on."""
    DATA = "data"
    """Likewise, of loads and stores."""
    FLASH = "flash"
    """The vendor's, in front of a memory: as reset leaves it, or as the board's `setup` says."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Cache:
    """One cache of a board."""

    kind: CacheKind
    size_bytes: int
    line_bytes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class RegisterWrite:
    """One step of set-up: `register = register & ~clear | set`, then wait for all bits of `wait`."""

    address: int
    why: str
    clear: int = 0
    set: int = 0
    wait: int = 0


class Carrier(enum.Enum):
    """Medium of the test link between board and host."""

    WIRE = "wire"
    """A UART."""
    MEMORY = "memory"
    """Rings in the target's memory, which a debugger reads and writes."""
    SEMIHOSTING = "semihosting"
    """Calls to a debugger, which has a console for them."""


_CARRIERS = {"rtt": Carrier.MEMORY, "semihosting": Carrier.SEMIHOSTING}
"""By driver; every other one drives a UART."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Uart:
    """The UART that carries the test link: driver (file in runtime_c/port), registers, baud rate."""

    driver: str
    address: int
    baud: int = 115200
    qemu_serial: int = 0
    """Index of QEMU's `-serial` option that is this UART."""
    interrupt: int | None = None
    """Its number at the interrupt controller: the firmware sleeps until it is raised. None: it polls."""
    untested: bool = False
    """True if nobody has seen this driver talk on this board: it was written from the manual and only
    compiled."""

    @property
    def carrier(self) -> Carrier:
        """Medium that the driver's bytes pass through."""
        return _CARRIERS.get(self.driver, Carrier.WIRE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Counter:
    """A free-running counter. `instructions_per_tick` holds under QEMU's `-icount shift=0`, 0 elsewhere."""

    driver: str
    address: int
    bits: int
    instructions_per_tick: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class FlashNames:
    """Names of the part or the board in flash tools. None or False: the tool does not know it."""

    pyocd: str | None = None
    """`--target`."""
    openocd: str | None = None
    """Configuration files for `-f`, apart by spaces."""
    probe_rs: str | None = None
    """`--chip`."""
    stm32: bool = False
    """True if an ST-LINK leads to an STM32: st-flash and STM32_Programmer_CLI find out which one."""
    jlink: str | None = None
    """`-device`."""
    dfu: str | None = None
    """VID:PID of the boot loader that speaks DFU."""
    picotool: bool = False
    """True for an RP2040 or RP2350 with USB."""
    uf2: str | None = None
    """Board-ID in INFO_UF2.TXT of the drive that its boot loader shows; the drive has this name too."""
    uf2_family: int | None = None
    """Family of the chip in the blocks of a UF2 file."""
    west: str | None = None
    """A build folder of Zephyr for this board, which knows how it is flashed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryHole:
    """Addresses where the chip has nothing, though an emulator or the core's default map would let code
    go there: closed by the MPU in test firmware, so that no core speculates into them either."""

    address: int
    size_bytes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class SecondCore:
    """A core beside the first one: device 1. It runs the same code, so `Board.target` is what both have; it
    is held after reset until the first core starts it."""

    driver: str
    """How it is started: file of the core family or of runtime_c/port."""
    address: int
    """Address of the registers that start the core."""
    stack_bytes: int
    """Its stack in the test firmware, of `Board.reserved_bytes`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Power:
    """Published current of the running core, peripherals off: energy of a cycle follows from it."""

    microamps_per_megahertz: float
    volts: float
    """Supply at which the current was measured."""
    source: str
    """Document that says so, and the conditions."""

    def __post_init__(self) -> None:
        for field, value in (
            ("microamps_per_megahertz", self.microamps_per_megahertz),
            ("volts", self.volts),
        ):
            if not 0 < value < 1e6:
                raise ValueError(f"{field} must be positive, got {value:g}")
        if not self.source:
            raise ValueError("source is empty: say which document has the figures")

    @property
    def picojoules_per_cycle(self) -> float:
        """Energy of a cycle: microamps per megahertz are picocoulombs a cycle."""
        return self.microamps_per_megahertz * self.volts


@dataclass(frozen=True, kw_only=True, slots=True)
class NpuPart:
    """An NPU beside the core, for layers that Vela compiled."""

    devices: tuple[str, ...]
    """Configurations as Vela names them, `ethos-u55-128`; several where the part can be any of them."""
    reach: tuple[str, ...]
    """Regions that it reads and writes; read-only ones, where it finds streams and weights."""

    def __post_init__(self) -> None:
        if not self.devices or not self.reach:
            raise ValueError("devices and reach must not be empty")


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
    chip: str = ""
    """Part number of the chip: the board is found by it, and by what it begins with."""
    vendor: str = ""
    """Maker of the chip: boards are listed by it."""
    sources: tuple[str, ...] = ()
    """Sources of the figures: manuals with their numbers, headers and device trees with their names."""
    clock_hz: int = 0
    """Clock of the core in the test firmware: as reset leaves it, unless `setup` changes it."""
    rated_clock_hz: int = 0
    """Highest clock of the core by the data sheet, the one that `wait_states` are for; 0: unknown."""
    power: Power | None = None
    """None: nobody published the core's current, so no energy is told."""
    caches: tuple[Cache, ...] = ()
    flash_tool: str | None = None
    """The flash tool to take, by name, or a command of its own, run where `firmware.elf` is."""
    flash: FlashNames | None = None
    """Names for the flash tools."""
    qemu_machine: str | None = None
    qemu_flags: tuple[str, ...] = ()
    uart: Uart | None = None
    counter: Counter | None = None
    mpu: str | None = None
    """Driver of the memory protection unit, a kind that the core's family has. None: there is none."""
    startup: str | None = None
    """Further set-up the start-up code does (e.g. `stm32f4` enables clocks)."""
    setup: tuple[RegisterWrite, ...] = ()
    """Registers written right after reset, in this order: clocks of memories and of the UART, its pins."""
    boot_words: tuple[int, ...] = ()
    """Words behind the vector table that the chip's boot ROM looks for."""
    boot_stage: str | None = None
    """Code in front of the vector table that the chip's boot ROM calls: file of the core's family."""
    holes: tuple[MemoryHole, ...] = ()
    second_core: SecondCore | None = None
    npu: NpuPart | None = None

    def region(self, name: str) -> Region:
        """The region called `name` (upper case); raises KeyError if there is none."""
        for region in self.regions:
            if region.name == name:
                return region
        raise KeyError(name)
