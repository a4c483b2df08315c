"""Joint planning: where in the shared pools each model's bytes begin.

Models that never run at once lie over each other; those declared concurrent lie apart. That is a planning
problem of the usual kind with one buffer for all that a model has in a pool, so the usual planners solve it.

Makes the bundle of a firmware: pools as large as its models need, constants linked once.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, count

from codegen.constants import linking
from codegen.kernels.contract import LinkedConstant
from codegen.plan.place.planners import Planner
from codegen.plan.validate import violations
from codegen.problem.problem import Buffer, Limits, MemoryPlan, Pool, Problem, plain
from codegen.program.constants import ConstantPool
from codegen.program.program import Bundle, BundlePool, Program, own_pools

SET_NAME = "models"
"""C prefix of what several models share."""

_SET_FILES = ("", "_data", "_pools")
"""Endings of the files of a set of models: no model may be called like one."""


def together(programs: Sequence[Program]) -> Bundle:
    """The bundle of models that never run at once: each pool is as large as the largest need of it.

    One model keeps its constants as they are; those of several are linked once, equal ones shared. Where a
    model keeps state in a pool, models follow each other. Raises CodegenError as `constants.link` does,
    ValueError as `Bundle` does.
    """
    lasting = {pool for program in programs for pool in state_pools(program)}
    bases: dict[tuple[str, str], int] = {}
    ends = dict.fromkeys(lasting, 0)
    for program in programs:
        for pool in own_pools(program):
            base = -(-ends.get(pool.name, 0) // pool.alignment) * pool.alignment
            bases[program.name, pool.name] = base
            if pool.name in lasting:
                ends[pool.name] = base + pool.size_bytes
    return based(programs, bases)


def state_pools(program: Program) -> frozenset[str]:
    """Pools in which a model keeps state: no other model may share their bytes."""
    slices, placements = program.memory.slices, program.memory.plan.placements
    return frozenset(placements[slices[old.value].buffer].pool for old, _ in program.signature.state_tensors)


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
        for pool_need in own_pools(program):
            other = shared.get(pool_need.name, pool_need)
            end = bases[program.name, pool_need.name] + pool_need.size_bytes
            shared[pool_need.name] = replace(
                pool_need,
                alignment=max(pool_need.alignment, other.alignment),
                size_bytes=max(end, other.size_bytes),
            )
    order = [pool.name for program in programs for pool in program.memory.problem.pools]
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
        return {
            (program.name, prim.name): prim.name for program in programs for prim in program.steps.prim_funcs
        }
    taken: set[str] = set()
    user_names: dict[tuple[str, str], str] = {}
    for program in programs:
        for prim in program.steps.prim_funcs:
            plain = f"{program.name}_{prim.name}"
            names = (plain if number == 1 else f"{plain}_{number}" for number in count(1))
            user_names[program.name, prim.name] = name = next(name for name in names if name not in taken)
            taken.add(name)
    return user_names


def _constants(programs: Sequence[Program], users: Mapping[tuple[str, str], str]) -> tuple[ConstantPool, ...]:
    if len(programs) == 1:
        return programs[0].constants.pools
    pools: dict[str, Pool] = {}
    for program in programs:
        pools |= {pool.name: pool for pool in program.constants.candidates}
    constants: list[tuple[str, LinkedConstant]] = [
        (users[program.name, prim.name], constant)
        for program in programs
        for prim in program.steps.prim_funcs
        for constant in prim.constants
    ]
    return linking.link((), tuple(pools.values()), constants)


Groups = tuple[tuple[str, ...], ...]
"""Names of models that may run at the same time, a tuple a set."""


def join(
    programs: Sequence[Program],
    concurrent: Groups,
    *,
    planner: Planner,
    pools: Sequence[Pool],
    limits: Limits,
) -> Bundle:
    """The bundle of `programs` with bases that `planner` finds within the limits of `pools`.

    Raises DoesNotFit where a pool is too small for models that are concurrent, ValueError if a checker finds
    fault with the plan.
    """
    if not concurrent:
        return _checked(together(programs))
    problem = joint_problem(programs, concurrent, pools=pools, limits=limits)
    plan = planner(problem)
    if mistakes := violations(problem, plan):
        raise ValueError(f"planner {plan.planner} made a wrong joint plan:\n" + "\n".join(mistakes))
    bases = {
        (program.name, pool.name): plan.placements[_buffer_id(program.name, pool.name)].offset
        for program in programs
        for pool in own_pools(program)
    }
    return _checked(based(programs, bases, concurrent=concurrent, plan=plan))


def joint_problem(
    programs: Sequence[Program], concurrent: Groups, *, pools: Sequence[Pool], limits: Limits
) -> Problem:
    """One buffer for all bytes of a model in a pool; concurrent models are in conflict, and in a pool with
    state all are; others are not."""
    times = _times([program.name for program in programs], concurrent)
    sizes = {
        (program.name, pool.name): (program.memory.peak_bytes(pool.name), pool.alignment)
        for program in programs
        for pool in own_pools(program)
    }
    buffers = {
        key: Buffer(
            id=_buffer_id(*key),
            size_bytes=size,
            start=times[key[0]][0],
            stop=times[key[0]][1],
            alignment=alignment,
            pool_candidates=(key[1],),
        )
        for key, (size, alignment) in sizes.items()
    }
    beside = pairs(concurrent)
    lasting = {pool for program in programs for pool in state_pools(program)}
    conflicts = [
        plain(buffers[one], buffers[other])
        for one, other in combinations(buffers, 2)
        if one[0] == other[0]
        or tuple(sorted((one[0], other[0]))) in beside
        or (one[1] == other[1] and one[1] in lasting)
    ]
    return Problem(
        buffers=tuple(buffers.values()),
        conflicts=tuple(conflicts),
        pools=tuple(pools),
        limits=limits,
    )


def pairs(concurrent: Groups) -> set[tuple[str, str]]:
    """Names of every two models that may run at the same time, in order."""
    return {pair for group in concurrent for pair in combinations(sorted(set(group)), 2)}


def heaviest_group(needs: Mapping[str, int], concurrent: Groups) -> tuple[str, ...]:
    """Models of which every two are concurrent and that need most bytes together, the largest first.

    `needs`: model -> bytes. All such sets are looked at: a firmware has few models.
    """
    beside = pairs(concurrent)

    def grown(chosen: tuple[str, ...], left: Sequence[str]) -> Iterator[tuple[str, ...]]:
        yield chosen
        for index, name in enumerate(left):
            fitting = [n for n in left[index + 1 :] if tuple(sorted((n, name))) in beside]
            yield from grown((*chosen, name), fitting)

    heaviest = max(grown((), sorted(needs)), key=lambda names: sum(needs[name] for name in names))
    return tuple(sorted(heaviest, key=lambda name: (-needs[name], name)))


def faults(bundle: Bundle) -> list[str]:
    """Faults of a bundle's bases, in sentences; empty if there are none.

    Starts from the placements of every buffer of every model: uses neither the joint problem nor its plan.
    """
    sizes = {pool.name: pool.size_bytes for pool in bundle.pools}
    taken = {program.name: list(_taken(bundle, program)) for program in bundle.programs}
    texts: list[str] = []
    for model, ranges in taken.items():
        for pool, start, stop in ranges:
            if start < 0 or stop > sizes[pool]:
                texts.append(f"{model} has bytes {start} to {stop} of pool {pool}, which has {sizes[pool]}")
    lasting = {pool for program in bundle.programs for pool in state_pools(program)}
    for first, second in combinations(sorted(taken), 2):
        beside = (first, second) in pairs(bundle.concurrent)
        for pool, start, stop in taken[first]:
            for other, begin, end in taken[second]:
                if pool == other and max(start, begin) < min(stop, end) and (beside or pool in lasting):
                    why = "are concurrent" if beside else "keep state"
                    text = f"{first} and {second} {why} and share bytes of pool {pool}"
                    texts.append(f"{text} from {max(start, begin)} on")
    return texts


def _checked(bundle: Bundle) -> Bundle:
    if mistakes := faults(bundle):
        raise ValueError("models lie wrong in the pools:\n" + "\n".join(mistakes))
    return bundle


def _taken(bundle: Bundle, program: Program) -> Iterator[tuple[str, int, int]]:
    """(pool, start, stop) of every buffer of a program, in the bundle's pools."""
    for buffer in program.memory.problem.buffers:
        if buffer.size_bytes:
            place = program.memory.plan.placements[buffer.id]
            start = bundle.base(program.name, place.pool) + place.offset
            yield place.pool, start, start + buffer.size_bytes


def _buffer_id(model: str, pool: str) -> str:
    return f"{model}.{pool}"


def _times(models: Sequence[str], concurrent: Groups) -> Mapping[str, tuple[int, int]]:
    """Interval of each model: a moment a set where sets follow each other so that concurrent models, and no
    others, meet; planners then have their bounds. Else, and for models in no set, a moment of their own:
    conflicts alone say what is apart."""
    sets = {name: [i for i, group in enumerate(concurrent) if name in group] for name in models}
    if any(places and places[-1] - places[0] >= len(places) for places in sets.values()):
        return {name: (index, index + 1) for index, name in enumerate(models)}
    alone = {name: len(concurrent) + index for index, name in enumerate(models)}
    return {
        name: (places[0], places[-1] + 1) if places else (alone[name], alone[name] + 1)
        for name, places in sets.items()
    }
