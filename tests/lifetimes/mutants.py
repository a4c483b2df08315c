"""Wrong plans and wrong problems, made from right ones by one small change each."""

import copy
import random
from collections.abc import Iterator
from dataclasses import replace

from codegen.ir import Function, Let, Var
from codegen.kernels.contract import Sharing, View, Workspace
from codegen.kernels.primfunc import PrimFunc
from codegen.lifetimes.ties import may_replace, ties
from codegen.plan.place.placing import greedy_by_size
from codegen.problem.problem import Conflict, Limits, Placement, Pool, Problem
from codegen.problem.shortage import DoesNotFit
from codegen.program.interface import Edge
from tests.lifetimes.execution import Case
from tests.plan.build import function, live, prim, var

POOLS = (
    Pool(name="sram", region="SRAM", limit_bytes=1 << 30),
    Pool(name="ccm", region="CCM", limit_bytes=1 << 30),
)


def random_case(seed: int) -> Case:
    """A random program (fan-out, views of views, joined arguments, sub-steps, workspaces, overlaps), planned
    greedily."""
    rng = random.Random(seed)
    values = [var(f"x{i}", rng.randint(1, 24)) for i in range(rng.randint(1, 2))]
    params, prims = list(values), list[PrimFunc]()
    for index in range(rng.randint(2, 7)):
        name = f"v{index}"
        if rng.random() < 0.2:
            source = rng.choice(values[-3:])
            size = rng.randint(source.type.size_bytes // 2, source.type.size_bytes)
            offset = rng.randint(0, source.type.size_bytes - size)
            prims.append(prim(var(name, size), source, view=View(argument=0, offset_bytes=offset)))
        elif rng.random() < 0.25:
            prims.append(_join(rng, name, params, prims, values))
        else:
            args = [rng.choice(values[-3:]) for _ in range(rng.randint(1, 2))]
            size = args[0].type.size_bytes if rng.random() < 0.3 else rng.randint(0, 24)
            prims.append(_kernel(rng, var(name, size), args))
        values.append(prims[-1].let.var)
    results = list({v.name: v for v in rng.choices(values[-3:], k=rng.randint(1, 2))}.values())
    keep = rng.random() < 0.3
    for step, one in enumerate(prims):
        # Where the argument is as large and not needed any more, the result may replace it.
        sizes = [arg.type.size_bytes for arg in one.let.call.args if isinstance(arg, Var)]
        if one.is_call and not one.joined and sizes == [one.let.var.type.size_bytes]:
            graph = function(params, prims, results)
            if may_replace(graph, prims, step, argument=0, edge=Edge(kept=keep)):
                prims[step] = replace(one, in_place=0, sharing=())
            if ties(graph, prims).faults:
                prims[step] = one  # a joined argument would be a part of something larger
    found = live(params, prims, results, keep_inputs=keep, pools=[pool.name for pool in POOLS])
    problem = spread(found.problem(POOLS, Limits(effort=60)), rng)
    return Case(
        function=function(params, prims, results),
        prim_funcs=tuple(prims),
        slices=found.slices,
        workspaces=found.workspaces,
        problem=problem,
        plan=greedy_by_size(problem),
        edge=Edge(kept=keep),
    )


def spread(problem: Problem, rng: random.Random) -> Problem:
    """The same problem, its buffers with one pool or several, in any order of preference."""
    names = [pool.name for pool in problem.pools]
    choices = [rng.sample(names, k=rng.randint(1, len(names))) for _ in problem.buffers]
    buffers = tuple(
        replace(b, pool_candidates=tuple(c)) for b, c in zip(problem.buffers, choices, strict=True)
    )
    return replace(problem, buffers=buffers)


def _join(
    rng: random.Random, name: str, params: list[Var], prims: list[PrimFunc], values: list[Var]
) -> PrimFunc:
    """Some of the latest values side by side, as many of them joined as can be and as luck will have it."""
    args = rng.sample(values[-4:], k=min(len(values), rng.randint(1, 3)))
    result = var(name, sum(arg.type.size_bytes for arg in args))
    step = prim(result, *args)
    for index in range(len(args)):
        joined = (*step.joined, index)
        more = replace(step, joined=joined, symbol="" if len(joined) == len(args) else "probe")
        steps = [*prims, more]
        if rng.random() < 0.8 and not ties(function(params, steps, []), steps).faults:
            step = more
    return step


def _kernel(rng: random.Random, result: Var, args: list[Var]) -> PrimFunc:
    steps = rng.randint(1, 3)
    spaces: list[Workspace] = []
    for index in range(rng.randint(0, 2)):
        start = rng.randint(0, steps - 1)
        stop = rng.randint(start + 1, steps)
        spaces.append(
            Workspace(name=f"w{index}", size_bytes=rng.randint(1, 8), alignment=2, start=start, stop=stop)
        )

    # A kernel has one direction: with two arguments the side is fixed, with one either may be taken.
    def above() -> int | None:
        return rng.choice([None, rng.randint(-4, 20)]) if len(args) == 1 else None

    rules = [
        Sharing(argument=i, below=rng.choice([None, rng.randint(-4, 20)]), above=above())
        for i in range(len(args))
        if rng.random() < 0.8
    ]
    return prim(
        result,
        *args,
        sub_steps=steps,
        argument_stops=tuple(rng.randint(1, steps) for _ in args),
        result_start=rng.randint(0, steps - 1),
        workspaces=tuple(spaces),
        sharing=tuple(rules),
    )


# ---- changed placements -----------------------------------------------------------------


def shifted(case: Case) -> Iterator[Case]:
    """One buffer, one alignment up or down."""
    for buffer in case.problem.buffers:
        place = case.plan.placements[buffer.id]
        for step in (-buffer.alignment, buffer.alignment):
            yield _placed(case, buffer.id, replace(place, offset=place.offset + step))


def stacked(case: Case) -> Iterator[Case]:
    """One buffer, to where another one begins."""
    places = case.plan.placements
    for number, buffer in enumerate(case.problem.buffers):
        other = case.problem.buffers[number - 1]
        if places[other.id] != places[buffer.id]:
            offset = places[other.id].offset // buffer.alignment * buffer.alignment
            yield _placed(case, buffer.id, Placement(pool=places[other.id].pool, offset=offset))


def moved(case: Case) -> Iterator[Case]:
    """One buffer, to each other pool, at the same offset."""
    for buffer in case.problem.buffers:
        place = case.plan.placements[buffer.id]
        for pool in case.problem.pools:
            if pool.name != place.pool:
                yield _placed(case, buffer.id, replace(place, pool=pool.name))


def _placed(case: Case, id_: str, place: Placement) -> Case:
    return replace(case, plan=replace(case.plan, placements={**case.plan.placements, id_: place}))


# ---- changed problems, planned anew -----------------------------------------------------


def shrunk(case: Case) -> Iterator[Case]:
    """One buffer, planned as if it were a byte smaller."""
    for index, buffer in enumerate(case.problem.buffers):
        if buffer.size_bytes:
            buffers = list(case.problem.buffers)
            buffers[index] = replace(buffer, size_bytes=buffer.size_bytes - 1)
            conflicts = tuple(_less(c, buffer.id) for c in case.problem.conflicts)
            yield from _planned(case, replace(case.problem, buffers=tuple(buffers), conflicts=conflicts))


def _less(conflict: Conflict, id_: str) -> Conflict:
    return replace(
        conflict,
        first_below=conflict.first_below - (conflict.first == id_),
        second_below=conflict.second_below - (conflict.second == id_),
    )


def dropped(case: Case) -> Iterator[Case]:
    """One conflict left out."""
    conflicts = case.problem.conflicts
    for index in range(len(conflicts)):
        kept = conflicts[:index] + conflicts[index + 1 :]
        yield from _planned(case, replace(case.problem, conflicts=kept))


def deeper(case: Case) -> Iterator[Case]:
    """One conflict, planned as if an overlap one byte deeper were fine."""
    conflicts = case.problem.conflicts
    for index, one in enumerate(conflicts):
        weak = replace(one, first_below=one.first_below - 1, second_below=one.second_below - 1)
        changed = (*conflicts[:index], weak, *conflicts[index + 1 :])
        yield from _planned(case, replace(case.problem, conflicts=changed))


def _planned(case: Case, problem: Problem) -> Iterator[Case]:
    try:
        yield replace(case, problem=problem, plan=greedy_by_size(problem))
    except DoesNotFit:
        return


# ---- changed order ----------------------------------------------------------------------


def swapped(case: Case) -> Iterator[tuple[Case, bool]]:
    """Two neighbouring steps the other way round, and whether the second needed the first.

    Built around the checks of `Function`, which refuse such a body, so that the checkers have to.
    """
    body, prims = case.function.body, case.prim_funcs
    for index in range(len(body) - 1):
        changed = copy.copy(case.function)
        object.__setattr__(changed, "body", _exchange(body, index))
        needs = any(arg == body[index].var for arg in body[index + 1].call.args)
        yield replace(case, function=changed, prim_funcs=_exchange_prims(prims, index)), needs


def _exchange(body: tuple[Let, ...], index: int) -> tuple[Let, ...]:
    return (*body[:index], body[index + 1], body[index], *body[index + 2 :])


def _exchange_prims(prims: tuple[PrimFunc, ...], index: int) -> tuple[PrimFunc, ...]:
    return (*prims[:index], prims[index + 1], prims[index], *prims[index + 2 :])


def rebuilt(swapped_function: Function) -> Function:
    """The same function, checked as every function is; raises ValueError for a use before a definition."""
    return replace(swapped_function)
