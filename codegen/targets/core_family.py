"""The types of a core family's facts."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from codegen.ir import Target


@dataclass(frozen=True, kw_only=True, slots=True)
class KernelSet:
    """Kernels of one instruction set, in `kernels/<folder>` and `runtime_c/kernels/<folder>`."""

    folder: str
    wanted: str
    """The core that messages say a kernel is for."""
    needs: frozenset[str] = frozenset()
    """Features that the core must have."""
    lacks: frozenset[str] = frozenset()
    """Features with which another set is taken."""

    def suits(self, features: frozenset[str]) -> bool:
        """Whether a core with these features runs the set."""
        return self.needs <= features and self.lacks.isdisjoint(features)


@dataclass(frozen=True, kw_only=True, slots=True)
class FaultWords:
    """A core's faults in words."""

    exceptions: Mapping[int, str]
    """By exception number."""
    reasons: Mapping[int, str]
    """By bit of the fault status register."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CoreFamily:
    """Cores of one architecture."""

    name: str
    folder: str
    """Below `targets` of the package, of `runtime_c` and of `templates`."""
    cpus: frozenset[str] = frozenset()
    """As gcc calls them."""
    features: frozenset[str] = frozenset()
    """That a board file may name for one of them."""
    kernel_sets: tuple[KernelSet, ...] = ()
    compiler_prefix: str = ""
    has_long_multiply: bool = True
    """Products of 64 bits, and the rest of Thumb-2."""
    has_system_control: bool = True
    """Vector table offset, fault status registers and faults that can be configured."""
    cached_cpus: frozenset[str] = frozenset()
    """Those that may have caches of their own."""
    emulated_as: Mapping[str, str] = field(default_factory=dict[str, str])
    """A core that the emulator has no board of -> one that runs the same instructions."""
    faults: FaultWords = field(default_factory=lambda: FaultWords(exceptions={}, reasons={}))

    @property
    def port_folders(self) -> tuple[str, str]:
        """Folders below runtime_c that have drivers for cores of this family."""
        return f"targets/{self.folder}", "port"

    def runs(self, kernels: KernelSet, target: Target) -> bool:
        """Whether `target`, a core of this family, runs these kernels."""
        return kernels in self.kernel_sets and kernels.suits(target.features)
