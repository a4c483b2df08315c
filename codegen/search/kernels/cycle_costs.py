"""Costs of kernels in cycles behind a part's flash: `--memory-model`.

Predicted instructions times what one of a kernel's instructions takes, waits for code that its loops do not
keep in the instruction cache, and waits for constants that lie in flash. What cannot be said of a kernel by
its prediction is recorded: `python benchmarks/kernel_cycles.py` writes the table of the core's family.
"""

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

from codegen.ir import MemoryModel
from codegen.kernels.base.code_bytes import constant_reads
from codegen.kernels.primfunc import PrimFunc
from codegen.program.program import Program
from codegen.targets.families import family_of

READING_BYTES = 8
"""Bytes of flash that one recorded reading takes."""
TILE_PIXELS = 4
"""Pixels that count as a tile; kernels with others have other figures a tile."""
CHANNELS = 4
"""Channels whose row counts as a band."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LayerCounts:
    """Counts that misses of code are proportional to: pieces of work that lead a kernel from one loop to
    another.
    """

    instructions: int
    call: int = 1
    rows: int
    bands: int
    tiles: int
    windows: int
    """Tiles whose pixels are gathered from several places of the image."""

    @property
    def vector(self) -> tuple[int, ...]:
        """In the order of the recorded figures."""
        return self.instructions, self.call, self.rows, self.bands, self.tiles, self.windows


def layer_counts(prim: PrimFunc) -> LayerCounts | None:
    """Counts of the result of `prim`; None where its instructions are not predicted."""
    if prim.instructions is None:
        return None
    shape = prim.let.var.type.shape
    channels = shape[-1] if shape else 1
    rows, columns = (shape[-3], shape[-2]) if len(shape) > 2 else (1, 1)
    tiles = math.ceil(rows * columns / TILE_PIXELS)
    image = prim.let.call.args[0]
    depth = image.type.shape[-1] if image is not None and image.type.shape else 1
    return LayerCounts(
        instructions=prim.instructions,
        rows=rows,
        bands=rows * math.ceil(channels / CHANNELS),
        tiles=tiles,
        windows=tiles if prim.macs > prim.let.var.type.elements * depth else 0,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class KernelCycles:
    """Recorded figures of one kernel on one core."""

    cycles: float
    """Cycles of an instruction, where memory answers at once."""
    data: float
    """Readings of flash for a reading of its constants, behind a data cache: the rest is in the cache."""
    misses: Mapping[int, tuple[float, ...]]
    """By bytes of the instruction cache (0: none): readings of `READING_BYTES` for each of `LayerCounts`."""

    def code_readings(self, counts: LayerCounts, cache_bytes: int) -> float:
        """Readings of flash for code: those of the largest recorded cache that is not larger."""
        known = max(size for size in self.misses if size <= cache_bytes)
        return sum(
            readings * count for readings, count in zip(self.misses[known], counts.vector, strict=True)
        )


@cache
def recorded(core: str) -> Mapping[str, KernelCycles]:
    """By kernel what is recorded for a core; nothing for most."""
    table = family_of(core).cycles.recorded
    if table is None:
        return {}
    with table.open(newline="", encoding="utf-8") as file:
        return {
            row["kernel"]: KernelCycles(
                cycles=float(row["cycles"]),
                data=float(row["data"]),
                misses={
                    int(name.removeprefix("misses_")): tuple(float(word) for word in figures.split())
                    for name, figures in row.items()
                    if name.startswith("misses_")
                },
            )
            for row in csv.DictReader(file)
            if row["core"] == core
        }


@cache
def _mean(core: str) -> KernelCycles:
    """For a kernel that is not recorded: the mean of the others' cycles, and no waits for code."""
    known = recorded(core).values()
    cycles = sum(kernel.cycles for kernel in known) / len(known) if known else 1.0
    return KernelCycles(cycles=cycles, data=1.0, misses={0: (0.0,) * 6})


@dataclass(frozen=True, kw_only=True, slots=True)
class CycleCosts:
    """Prices of kernels on a core behind a flash."""

    core: str
    memory: MemoryModel
    is_staged: bool
    """True if constants are taken to be read from RAM, not from flash."""

    def priced(self, prim: PrimFunc) -> PrimFunc:
        """`prim` with its predicted cycles."""
        counts = layer_counts(prim)
        if counts is None:
            return prim
        data = 0.0 if self.is_staged else sum(self.data_waits(prim).values())
        recorded_kernel = self._kernel(prim)
        core = counts.instructions * recorded_kernel.cycles
        return replace(prim, cycles=round(core + self._code_waits(recorded_kernel, counts) + data))

    def data_waits(self, prim: PrimFunc) -> Mapping[str, float]:
        """Cycles that a call waits for each of its constants, by role, if they lie in flash."""
        held = self.memory.data_cache
        share = self._kernel(prim).data if held else 1.0
        fits = held is not None and prim.constant_bytes <= held.rows * held.row_bytes
        return {
            constant.role: self._readings(constant.data.nbytes)
            * self.memory.wait_states
            * (1.0 if fits else max(constant_reads(prim, constant) * share, 1.0))
            for constant in prim.constants
        }

    def linked_waits(self, program: Program) -> float:
        """Cycles that an inference waits for constants that it reads where they are linked."""
        staged = {copy.user for copy in program.constants.staged}
        return sum(
            waits
            for prim in program.steps.prim_funcs
            for role, waits in self.data_waits(prim).items()
            if (prim.name, role) not in staged
        )

    def program_cycles(self, program: Program) -> float:
        """Predicted cycles of an inference of steps that are priced so, with constants where they are."""
        steps = program.steps.prim_funcs
        counted = 0.0 if self.is_staged else sum(sum(self.data_waits(prim).values()) for prim in steps)
        return sum(prim.cycles or 0 for prim in steps) - counted + self.linked_waits(program)

    def _readings(self, size_bytes: int) -> int:
        return math.ceil(size_bytes / self.memory.read_bytes)

    def _code_waits(self, recorded_kernel: KernelCycles, counts: LayerCounts) -> float:
        held = self.memory.instruction_cache
        readings = recorded_kernel.code_readings(counts, held.rows * held.row_bytes if held else 0)
        return readings * READING_BYTES / self.memory.read_bytes * self.memory.wait_states

    def _kernel(self, prim: PrimFunc) -> KernelCycles:
        known = recorded(self.core)
        return known.get(prim.kernel) or known.get(prim.kernel.removesuffix("_in_place")) or _mean(self.core)
