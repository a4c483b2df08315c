"""Where models lie in shared pools: proved smallest for any sets of concurrent models, checked twice."""

import random
from dataclasses import replace
from itertools import combinations, permutations

import pytest

from codegen.joint import (
    Groups,
    based,
    faults,
    heaviest_group,
    join,
    joint_problem,
    pairs,
    together,
)
from codegen.plan.place import planners
from codegen.plan.validate import violations
from codegen.problem.problem import Buffer, Limits, MemoryPlan, Placement, Pool, Problem
from codegen.problem.shortage import DoesNotFit
from codegen.program.program import Program, own_pools
from tests.emit import samples
from tests.emit.variants import changed

ROOM = Pool(name="sram", region="SRAM", limit_bytes=1 << 16, alignment=16, section=".bss.cg.sram")


def _program(name: str, size_bytes: int) -> Program:
    """A model that needs so many bytes of one pool."""
    buffer = Buffer(id="all", size_bytes=size_bytes, start=0, stop=1, pool_candidates=("sram",))
    problem = Problem(buffers=(buffer,), conflicts=(), pools=(ROOM,))
    plan = MemoryPlan(
        placements={"all": Placement(pool="sram", offset=0)},
        planner="by_hand",
        solver="a person",
        lower_bounds={"sram": size_bytes},
        proved_optimal=True,
    )
    return replace(changed(samples.bare(), "memory", problem=problem, plan=plan), name=name)


def _least(sizes: dict[str, int], concurrent: Groups) -> int:
    """The least end of all placements, each model as low as those before it let it lie, in every order: one
    of them is an optimal plan sorted by its bases."""
    beside = pairs(concurrent)
    best = 1 << 30
    for order in permutations(sizes):
        bases: dict[str, int] = {}
        for name in order:
            base = 0
            near = sorted(
                (bases[other], bases[other] + sizes[other])
                for other in bases
                if tuple(sorted((name, other))) in beside
            )
            for start, stop in near:
                if base + sizes[name] > start:
                    base = max(base, -(-stop // 16) * 16)
            bases[name] = base
        best = min(best, max(bases[name] + sizes[name] for name in sizes))
    return best


def test_random_sets_are_planned_as_small_as_can_be() -> None:
    rng, planner = random.Random(3), planners.find("optimal")
    kinds: set[bool] = set()
    for _ in range(60):
        names = [f"m{index}" for index in range(rng.randint(2, 5))]
        sizes = {name: rng.randint(1, 900) for name in names}
        concurrent = tuple(
            tuple(rng.sample(names, rng.randint(2, min(3, len(names))))) for _ in range(rng.randint(1, 4))
        )
        programs = [_program(name, sizes[name]) for name in names]
        bundle = join(programs, concurrent, planner=planner, pools=(ROOM,), limits=Limits())
        ends = [bundle.base(name, "sram") + sizes[name] for name in names]
        assert max(ends) == _least(sizes, concurrent), (sizes, concurrent)
        assert bundle.pools[0].size_bytes == max(
            bundle.base(program.name, "sram") + own_pools(program)[0].size_bytes for program in programs
        )
        assert bundle.plan is not None and bundle.plan.proved_optimal
        assert not faults(bundle)
        times = {buffer.start for buffer in joint_problem(
            programs, concurrent, pools=(ROOM,), limits=Limits()
        ).buffers}  # fmt: skip
        kinds.add(len(times) < len(names))
    assert kinds == {True, False}  # sets that intervals explain, and others


def test_what_never_runs_at_once_shares() -> None:
    programs = [_program("a", 100), _program("b", 40)]
    bundle = join(programs, (), planner=planners.find("optimal"), pools=(ROOM,), limits=Limits())
    assert dict(bundle.bases) == {("a", "sram"): 0, ("b", "sram"): 0}
    assert [pool.size_bytes for pool in bundle.pools] == [100]
    assert bundle.sharers("a") == ("b",)
    apart = join(programs, (("a", "b"),), planner=planners.find("optimal"), pools=(ROOM,), limits=Limits())
    assert apart.sharers("a") == ()


def test_concurrent_models_that_do_not_fit() -> None:
    small = replace(ROOM, limit_bytes=150)
    programs = [_program("a", 100), _program("b", 60)]
    with pytest.raises(DoesNotFit) as caught:
        join(programs, (("a", "b"),), planner=planners.find("optimal"), pools=(small,), limits=Limits())
    # b begins at the next multiple of 16 after a, or a after b: 64 + 100.
    assert caught.value.shortages[0].needed_bytes == 164


def test_a_planner_that_lays_concurrent_models_over_each_other_is_a_bug() -> None:
    def wrong(problem: Problem) -> MemoryPlan:
        return MemoryPlan(
            placements={buffer.id: Placement(pool="sram", offset=0) for buffer in problem.buffers},
            planner="wrong",
            solver="none",
            lower_bounds={"sram": 0},
            proved_optimal=False,
        )

    programs = [_program("a", 100), _program("b", 60)]
    with pytest.raises(ValueError, match="planner wrong made a wrong joint plan"):
        join(programs, (("a", "b"),), planner=wrong, pools=(ROOM,), limits=Limits())
    # The second checker knows nothing of the problem.
    bundle = based(programs, {("a", "sram"): 0, ("b", "sram"): 96}, concurrent=(("a", "b"),))
    assert faults(bundle) == ["a and b are concurrent and share bytes of pool sram from 96 on"]


def test_every_two_buffers_of_concurrent_models_are_in_conflict() -> None:
    """The problem of two models with bytes in two pools holds for the checker of plans."""
    programs = [replace(samples.counter(), name=name) for name in ("a", "b")]
    pools = programs[0].memory.problem.pools
    problem = joint_problem(programs, (("a", "b"),), pools=pools, limits=Limits())
    assert len(problem.conflicts) == len(list(combinations(problem.buffers, 2))) == 6
    plan = planners.find("optimal")(problem)
    assert not violations(problem, plan)


def test_heaviest_group_is_the_heaviest() -> None:
    rng = random.Random(11)
    for _ in range(50):
        names = [f"m{index}" for index in range(6)]
        needs = {name: rng.randint(0, 50) for name in names}
        concurrent = tuple(tuple(rng.sample(names, 2)) for _ in range(rng.randint(0, 8)))
        beside = pairs(concurrent)
        cliques = [
            sum(needs[name] for name in chosen)
            for count in range(1, 7)
            for chosen in combinations(names, count)
            if all(pair in beside for pair in combinations(sorted(chosen), 2))
        ]
        assert sum(needs[name] for name in heaviest_group(needs, concurrent)) == max(cliques)


def test_bases_keep_the_alignment_of_models() -> None:
    programs = [_program("a", 100), _program("b", 60)]
    with pytest.raises(ValueError, match="b is not aligned in pool sram"):
        based(programs, {("a", "sram"): 0, ("b", "sram"): 104})


def test_the_name_of_the_set_is_no_model_s() -> None:
    assert together([_program("a", 1), _program("b", 1)]).prefix == "models"
    assert together([_program("models", 1), _program("b", 1)]).prefix == "models_2"
    assert together([_program("a", 1), _program("Models_data", 1)]).prefix == "models_2"
    assert together([_program("models", 1)]).prefix == "models"


def test_users_of_constants_are_told_apart() -> None:
    """`a` with a step `b_x` and `a_b` with a step `x` would both be `a_b_x`."""
    counter = samples.counter()
    prims = tuple(replace(prim, name=f"b_{prim.name}") for prim in counter.steps.prim_funcs)
    first = replace(counter.running(prims), name="a")
    bundle = together([first, replace(counter, name="a_b")])
    names = [bundle.users[one.name, prim.name] for one in bundle.programs for prim in one.steps.prim_funcs]
    assert len(set(names)) == len(names)
    # All constants of the second model are equal to those of the first.
    assert sum(pool.size_bytes for pool in bundle.constants) == sum(
        p.size_bytes for p in counter.constants.pools
    )
