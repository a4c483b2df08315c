"""Bundle: the models of one firmware with what they share: one set of pools, constants linked once."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from codegen.program.constants import ConstantPool
from codegen.program.problem import MemoryPlan, peak_bytes, pool_alignment
from codegen.program.program import Program


@dataclass(frozen=True, kw_only=True, slots=True)
class BundlePool:
    """A pool with bytes in it, as the firmware has it: `size_bytes` is the size of its array."""

    name: str
    region: str
    section: str
    alignment: int
    size_bytes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Bundle:
    """Programs of one firmware. Raises ValueError for none, two of one name, programs of several boards, or
    one that does not lie inside the pools."""

    prefix: str
    """C prefix of the pools and constants: the model's name if there is one model."""
    programs: tuple[Program, ...]
    pools: tuple[BundlePool, ...]
    """In the board's order."""
    bases: Mapping[tuple[str, str], int]
    """(model, pool) -> where in the pool the model's offset 0 lies, in bytes; where a model has bytes."""
    constants: tuple[ConstantPool, ...]
    users: Mapping[tuple[str, str], str]
    """(model, primfunc) -> what the users of `constants` call it."""
    concurrent: tuple[tuple[str, ...], ...] = ()
    """Models that may run at the same time, a tuple a set: their bytes are apart."""
    plan: MemoryPlan | None = None
    """How the bases were found; None where all of them are 0."""

    def __post_init__(self) -> None:
        if not self.programs:
            raise ValueError("nothing to render: a bundle without programs")
        if len({program.name for program in self.programs}) != len(self.programs):
            raise ValueError("two programs have the same C prefix")
        if any(program.board != self.programs[0].board for program in self.programs):
            raise ValueError("programs for several boards cannot share one folder")
        object.__setattr__(self, "bases", MappingProxyType(dict(self.bases)))
        object.__setattr__(self, "users", MappingProxyType(dict(self.users)))
        sizes = {pool.name: pool for pool in self.pools}
        for program in self.programs:
            for own in own_pools(program):
                pool, base = sizes[own.name], self.base(program.name, own.name)
                if base % own.alignment or pool.alignment % own.alignment:
                    raise ValueError(f"{program.name} is not aligned in pool {own.name}")
                if base < 0 or base + own.size_bytes > pool.size_bytes:
                    raise ValueError(f"{program.name} does not lie in pool {own.name}")

    @property
    def is_single(self) -> bool:
        """Whether there is one model, which then owns what is shared otherwise."""
        return len(self.programs) == 1

    def base(self, model: str, pool: str) -> int:
        """Where in `pool` the offset 0 of `model` lies, in bytes; the model has bytes there."""
        return self.bases[model, pool]

    def sharers(self, model: str) -> tuple[str, ...]:
        """The other models that never run while `model` does, so that they may use its bytes."""
        beside = {name for group in self.concurrent if model in group for name in group}
        return tuple(each.name for each in self.programs if each.name not in {*beside, model})


def own_pools(program: Program) -> tuple[BundlePool, ...]:
    """The pools that a program needs by itself, each as large as its peak: limits hold for arrays too."""
    found: list[BundlePool] = []
    for pool in program.problem.pools:
        peak = peak_bytes(program.problem, program.plan, pool.name)
        if peak:
            found.append(
                BundlePool(
                    name=pool.name,
                    region=pool.region,
                    section=pool.section or f".bss.cg.{pool.name}",
                    alignment=pool_alignment(program.problem, program.plan, pool.name),
                    size_bytes=peak,
                )
            )
    return tuple(found)


def bundle_peak(bundle: Bundle, pool: str) -> int:
    """One past the last byte of a pool that any model of a bundle uses; 0 if none does."""
    ends = (
        bundle.base(program.name, pool) + peak_bytes(program.problem, program.plan, pool)
        for program in bundle.programs
        if (program.name, pool) in bundle.bases
    )
    return max(ends, default=0)
