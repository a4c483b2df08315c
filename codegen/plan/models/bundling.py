"""Makes the bundle of a firmware: pools as large as its models need, constants linked once."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count

from codegen.kernels.contract import LinkedConstant
from codegen.plan.constants import linking
from codegen.program.constants import ConstantPool
from codegen.program.problem import MemoryPlan, Pool
from codegen.program.program import Bundle, BundlePool, Program, own_pools

SET_NAME = "models"
"""C prefix of what several models share."""

_SET_FILES = ("", "_data", "_pools")
"""Endings of the files of a set of models: no model may be called like one."""


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
