"""Cycle estimates: how often each instruction ran times what the core's published timings say it costs.

The core's family has the timings (`CycleFacts`); docs/cycles.md states the rules.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codegen import resources
from codegen.errors import CodegenError, Message
from codegen.ir import MemoryModel
from codegen.targets.core_family import CoreFamily
from codegen.targets.families import install_command
from codegen.targets.instructions import Executed, Instruction, Waits
from codegen.toolchain import gcc


@dataclass(frozen=True, kw_only=True, slots=True)
class CycleEstimate:
    """Cycles of each step with memory that answers at once, and what the flash of a `memory` model adds."""

    cycles: tuple[int, ...]
    memory: MemoryModel | None = None
    waits: tuple[Waits, ...] | None = None
    """Waits of each step; there if `memory` is."""

    @property
    def total(self) -> int:
        """Cycles of all steps, without waits."""
        return sum(self.cycles)

    @property
    def total_waits(self) -> Waits | None:
        """Waits of all steps; None without a memory model."""
        if self.waits is None:
            return None
        return total_waits(self.waits)


def total_waits(waits: Iterable[Waits]) -> Waits:
    """The sum of both kinds."""
    all_waits = tuple(waits)
    return Waits(code=sum(wait.code for wait in all_waits), data=sum(wait.data for wait in all_waits))


def executed(
    listing: Iterable[Instruction],
    counts: NDArray[np.uint64],
    base: int,
    spans: Sequence[tuple[int, int]],
) -> list[Executed]:
    """Instructions of the address ranges `spans` with their counts.

    `counts` is [halfwords, 4]: executions, branches taken, cycles waited for code and for data of the
    instruction at base + 2 * i.
    """
    executions: list[Executed] = []
    for instruction in listing:
        index = (instruction.address - base) // 2
        if 0 <= index < len(counts) and any(low <= instruction.address < high for low, high in spans):
            ran, taken, code, data = (int(count) for count in counts[index])
            waits = Waits(code=code, data=data)
            executions.append(Executed(instruction=instruction, executions=ran, taken=taken, waits=waits))
    return executions


def build_counts_plugin(folder: Path, api: int, family: CoreFamily) -> Path:
    """Compile the plugin into `folder`, for version `api` of QEMU's plugin interface (plugin_api.h), to count
    instructions of a core family.

    Raises CodegenError E501 without a compiler, E502."""
    folder_c = resources.folder("runtime_c") / "qemu_plugin"
    sources = [str(folder_c / name) for name in ("counts.c", "flash.c")]
    target = folder / "counts.so"
    command = [
        gcc.tool("gcc"),
        "-std=gnu11",
        "-O2",
        "-shared",
        "-fPIC",
        f"-DQEMU_PLUGIN_API={api}",
        f"-I{resources.folder('runtime_c') / 'targets' / family.name}",
        *sources,
        "-o",
        str(target),
    ]
    done = gcc.call(command, folder)
    if done.returncode:
        problem = f"the QEMU plugin does not compile: {done.stderr.strip().splitlines()[-1]}"
        raise CodegenError(Message(code="E502", where="counts.c", text=problem, help=install_command("gcc")))
    return target
