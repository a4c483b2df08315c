"""Core families that ship, by what board files and images say.

A family is a package beside this module that has a `FAMILY`: there is no list of them.
"""

import importlib
import pkgutil
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from codegen.ir import Board, Target
from codegen.targets.core_family import Architecture, CoreFamily, KernelSet, ProtectionUnit, Words


@cache
def core_families() -> tuple[CoreFamily, ...]:
    """Every family, by name."""
    rooms = [room.name for room in pkgutil.iter_modules([str(Path(__file__).parent)]) if room.ispkg]
    return tuple(importlib.import_module(f"codegen.targets.{name}").FAMILY for name in sorted(rooms))


def architectures() -> Iterable[Architecture]:
    """Architectures of all families."""
    return (architecture for family in core_families() for architecture in family.cores.architectures)


def features() -> frozenset[str]:
    """Extensions that board files may name."""
    return frozenset(feature for family in core_families() for feature in family.cores.features)


@cache
def family_of(cpu: str) -> CoreFamily:
    """The family of the core that board files call `cpu`.

    Raises ValueError if none lists it: board files are checked by `is_listed`.
    """
    for family in core_families():
        if cpu in family.cpus:
            return family
    raise ValueError(f"no core family lists {cpu!r}")


@cache
def architecture_of(cpu: str) -> Architecture:
    """The architecture of a core. Raises ValueError as `family_of`."""
    return next(
        architecture for architecture in family_of(cpu).cores.architectures if cpu in architecture.cpus
    )


def is_listed(cpu: str) -> bool:
    """True if a family lists the core: there are kernels, a compiler and start-up code for it."""
    return any(cpu in family.cpus for family in core_families())


def kernel_set(folder: str) -> KernelSet:
    """The first kernel set in `kernels/<folder>`, whichever family has it. Raises StopIteration for none."""
    return next(
        kernels
        for architecture in architectures()
        for kernels in architecture.kernel_sets
        if kernels.folder == folder
    )


def runs(target: Target, kernels: KernelSet) -> bool:
    """True if `target` runs the kernels of this set."""
    return architecture_of(target.cpu).runs(kernels, target)


def install_command(program: str) -> str:
    """The command that installs the compiler `program` belongs to."""
    by_prefix = {family.compiler.prefix: family.compiler.install for family in core_families()}
    return next(by_prefix[prefix] for prefix in sorted(by_prefix, reverse=True) if program.startswith(prefix))


def address_mask(machine: str) -> int:
    """Bits of a function's symbol that are its address, in files for a machine as pyelftools calls it."""
    images = (family.image for family in core_families())
    return next((image.address_mask for image in images if image and image.machine == machine), ~0)


def refusal(cpu: str) -> str | None:
    """Why a core that no family lists is not built for, where one knows it."""
    return next(filter(None, (family.cores.refusal(cpu) for family in core_families())), None)


def compile_flags(target: Target) -> Words:
    """Compiler flags that choose a core: every object of a firmware is compiled with the same ones."""
    return family_of(target.cpu).compiler.compile_flags(target)


def level_flags(target: Target, level: str) -> Words:
    """Compiler flags of the optimisation level `level`, e.g. `-Os`, for a core."""
    return family_of(target.cpu).compiler.level_flags(target, level)


def cycles_per_instruction(cpu: str) -> float | None:
    """Cycles of an instruction of a core, on average over networks; None where no timings are published."""
    return family_of(cpu).cycles.per_instruction().get(cpu)


def protection_of(board: Board) -> ProtectionUnit | None:
    """The memory protection unit of a board's core."""
    facts = family_of(board.target.cpu).firmware
    return None if facts is None or board.mpu is None else facts.protection_units[board.mpu]


def isolates_buffers(board: Board) -> bool:
    """True if the memory protection unit can open every buffer by itself."""
    unit = protection_of(board)
    return unit is not None and unit.is_exact and board.buffer_alignment_bytes % unit.granule_bytes == 0
