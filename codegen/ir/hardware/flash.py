"""What a part's flash costs: wait states and the caches in front of them. Plain values, no logic."""

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
    """Cycles an access waits beyond its own when it has to read the flash."""
    read_bytes: int
    """Bytes of one reading."""
    prefetch: bool = False
    """Whether the next line of code is read ahead."""
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
