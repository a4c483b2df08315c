"""Bundle: the models of one firmware with what they share: one set of pools, constants linked once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from types import MappingProxyType

from codegen.kernels.contract import LinkedConstant
from codegen.plan.constants import linking
from codegen.program.problem import MemoryPlan, Pool, peak_bytes, pool_alignment
from codegen.program.program import ConstantPool, Program

SET_NAME = "models"
"""C prefix of what several models share."""

_SET_FILES = ("", "_data", "_pools")
"""Endings of the files of a set of models: no model may be called like one."""


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


def together(programs: Sequence[Program]) -> Bundle:
    """The bundle of models that never run at once: each pool is as large as the largest need of it.

    One model keeps its constants as they are; those of several are linked once, equal ones shared. Raises
    CodegenError as `constants.link` does, ValueError as `Bundle` does.
    """
    return based(programs, {(each.name, pool.name): 0 for each in programs for pool in own_pools(each)})


def based(
    programs: Sequence[Program],
    bases: Mapping[tuple[str, str], int],
    *,
    concurrent: tuple[tuple[str, ...], ...] = (),
    plan: MemoryPlan | None = None,
) -> Bundle:
    """The bundle of `programs` whose bytes begin at `bases`; pools end where the last model's do. Raises as
    `together` does."""
    shared: dict[str, BundlePool] = {}
    for program in programs:
        for own in own_pools(program):
            other = shared.get(own.name, own)
            end = bases[program.name, own.name] + own.size_bytes
            shared[own.name] = replace(
                own,
                alignment=max(own.alignment, other.alignment),
                size_bytes=max(end, other.size_bytes),
            )
    order = [pool.name for program in programs for pool in program.problem.pools]
    users = _user_names(programs)
    return Bundle(
        prefix=_prefix(programs),
        programs=tuple(programs),
        pools=tuple(shared[name] for name in dict.fromkeys(order) if name in shared),
        bases=bases,
        constants=_constants(programs, users),
        users=users,
        concurrent=concurrent,
        plan=plan,
    )


def _prefix(programs: Sequence[Program]) -> str:
    """The model's name, or that of the set: one that makes no file or name of a model."""
    if len(programs) == 1:
        return programs[0].name
    taken = {program.name.lower() for program in programs}
    candidates = (SET_NAME if number == 1 else f"{SET_NAME}_{number}" for number in count(1))
    return next(name for name in candidates if taken.isdisjoint(f"{name}{end}" for end in _SET_FILES))


def _user_names(programs: Sequence[Program]) -> Mapping[tuple[str, str], str]:
    """Names of all PrimFuncs, each once: `conv0` of one model, `kws_conv0` of several."""
    if len(programs) == 1:
        return {(program.name, prim.name): prim.name for program in programs for prim in program.prim_funcs}
    taken: set[str] = set()
    found: dict[tuple[str, str], str] = {}
    for program in programs:
        for prim in program.prim_funcs:
            plain = f"{program.name}_{prim.name}"
            names = (plain if number == 1 else f"{plain}_{number}" for number in count(1))
            found[program.name, prim.name] = name = next(name for name in names if name not in taken)
            taken.add(name)
    return found


def _constants(programs: Sequence[Program], users: Mapping[tuple[str, str], str]) -> tuple[ConstantPool, ...]:
    if len(programs) == 1:
        return programs[0].constants
    pools: dict[str, Pool] = {}
    for program in programs:
        pools |= {pool.name: pool for pool in program.constant_pools}
    constants: list[tuple[str, LinkedConstant]] = [
        (users[program.name, prim.name], constant)
        for program in programs
        for prim in program.prim_funcs
        for constant in prim.constants
    ]
    return linking.link((), tuple(pools.values()), constants)
