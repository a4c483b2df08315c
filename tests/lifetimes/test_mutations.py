"""Mutation tests of the checkers: every harmful change is rejected, no good plan is.

Which changes are harmful is decided by executing the program on concrete memory
(tests/lifetimes/execution.py), not by the checkers themselves. Numbers of random cases are chosen so that
each kind of change gives more than a thousand harmful ones with `--long`, a third of that without.
The third checker: calls that no core of the board runs (memories: search/devices/test_device_plan.py).
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache

import pytest

from codegen.driver.build import plan_model
from codegen.driver.options import Options
from codegen.ir import SecondCore, VirtualDevice
from codegen.lifetimes.memories import misplaced_program
from codegen.plan.place.hill_climb import hill_climb
from codegen.plan.place.placing import greedy_by_conflicts, greedy_by_size
from codegen.plan.place.planners import Planner
from codegen.plan.validate import violations
from codegen.program.interface import IoMode
from codegen.search.kernels.binding import Binder
from codegen.search.kernels.selection import select
from tests import sampling
from tests.e2e.models import ALL_MODELS, EDGED_MODELS
from tests.emit import samples
from tests.emit.variants import on_core_1
from tests.lifetimes import mutants
from tests.lifetimes.execution import Case
from tests.networks import model_path
from tests.roomy import roomy_board

ENOUGH = 1000
SHARE = 3
"""The suite without `--long` takes one of so many random cases."""
BOARD = roomy_board("SRAM", "CCM")


@pytest.fixture(scope="module")
def share(request: pytest.FixtureRequest) -> int:
    return 1 if request.config.getoption("--long") else SHARE


@cache
def real_cases() -> tuple[Case, ...]:
    """Every second shared model (all where a run is thorough), in one pool and in two; inputs that die, that
    are kept, the caller's."""
    found: list[Case] = []
    for number, key in enumerate(ALL_MODELS if sampling.is_thorough else ALL_MODELS[::2]):
        io, keep = ((IoMode.POOL, False), (IoMode.POOL, True), (IoMode.CALLER, False))[number % 3]
        types = "int8" if key in EDGED_MODELS else "file"
        options = Options(planner="greedy_by_size", io=io, keep_inputs=keep, io_types=types)
        planned = plan_model(model_path(key), BOARD, options)
        constants = {id_: constant.data for id_, constant in planned.module.constants.items()}
        # As bound, before a plan chose their direction: mutants are planned anew.
        bound = {prim.name: prim for prim in select(planned.module.main, Binder(constants, BOARD.target))}
        prims = tuple(
            prim if prim.in_place is not None or prim.block is not None else bound[prim.name]
            for prim in planned.program.steps.prim_funcs
        )
        case = replace(Case.of(planned.program), prim_funcs=prims)
        problem = mutants.spread(case.problem, random.Random(number))
        found += [case, replace(case, problem=problem, plan=greedy_by_size(problem))]
    return tuple(found)


@cache
def random_cases(count: int) -> tuple[Case, ...]:
    return tuple(mutants.random_case(seed) for seed in range(count))


def _verdicts(found: Iterator[Case], *, exact: bool) -> int:
    """Number of harmful mutants; all of them rejected. `exact`: no harmless one is by the program checker."""
    harmful = 0
    for mutant in found:
        if harm := mutant.harm():
            harmful += 1
            # The program checker looks at bytes, so it has to see every harm by itself: with a problem that
            # was changed, the other checker can only see that the plan obeys it.
            assert mutant.replayed(), harm
            if exact:
                assert violations(mutant.problem, mutant.plan), harm
        elif exact:
            assert mutant.replayed() == []
    return harmful


Change = Callable[[Case], Iterator[Case]]
PLACEMENTS: tuple[Change, ...] = (mutants.shifted, mutants.stacked, mutants.moved)
PROBLEMS: tuple[Change, ...] = (mutants.shrunk, mutants.dropped, mutants.deeper)
COUNTS: dict[Change, int] = {
    mutants.shifted: 140,
    mutants.stacked: 290,
    mutants.moved: 350,
    mutants.shrunk: 620,
    mutants.dropped: 330,
    mutants.deeper: 500,
}


@pytest.mark.parametrize("change", [*PLACEMENTS, *PROBLEMS], ids=lambda change: change.__name__)
@pytest.mark.sampled(3)
def test_every_harmful_change_of_random_programs_is_rejected(change: Change, share: int) -> None:
    found = (mutant for case in random_cases(COUNTS[change] // share) for mutant in change(case))
    assert _verdicts(found, exact=change in PLACEMENTS) >= ENOUGH // share


@pytest.mark.parametrize("change", [*PLACEMENTS, *PROBLEMS], ids=lambda change: change.__name__)
@pytest.mark.sampled(1)
def test_every_harmful_change_of_real_models_is_rejected(change: Change) -> None:
    found = (mutant for case in real_cases() for mutant in change(case))
    assert _verdicts(found, exact=change in PLACEMENTS) >= 60


def test_steps_in_another_order_are_rejected(share: int) -> None:
    dependent = harmful = 0
    for case in (*random_cases(400 // share), *real_cases()):
        for mutant, needs in mutants.swapped(case):
            harm = bool(mutant.harm())
            assert harm or not needs
            assert bool(mutant.replayed()) >= harm
            if needs:
                dependent += 1
                with pytest.raises(ValueError, match="used before it is defined"):
                    mutants.rebuilt(mutant.function)
            harmful += harm
    assert dependent >= ENOUGH // share
    assert harmful > dependent


def test_no_good_plan_is_rejected(share: int) -> None:
    good = 0
    for case in (*random_cases(500 // share), *real_cases()):
        for planner in (greedy_by_size, greedy_by_conflicts, hill_climb):
            if planner is hill_climb and len(case.problem.buffers) > 20:
                continue  # slow, and every real model is planned by it elsewhere
            good += 1
            same = case if planner is greedy_by_size else _planned(case, planner)
            assert same.checked() == []
            assert same.harm() == []
    assert good >= ENOUGH // share


def _planned(case: Case, planner: Planner) -> Case:
    return replace(case, plan=planner(case.problem))


SECOND = SecondCore(driver="sse200", address=0, stack_bytes=256)


def test_a_call_on_a_core_that_the_board_lacks() -> None:
    program = on_core_1(samples.counter(), "lut1", "reshape3")
    fault = 'step 1 RELU "lut1": no core 1 of host runs it'
    assert misplaced_program(program) == [fault], "the view computes nothing"
    two = replace(program.board, second_core=SECOND)
    assert misplaced_program(replace(program, board=two)) == []
    assert misplaced_program(samples.counter()) == []


def test_a_call_on_a_device_that_its_kernel_does_not_drive() -> None:
    program = samples.counter()
    first = program.steps.prim_funcs[0]
    npu = VirtualDevice(target="npu", device_id=0)
    placed = replace(first, let=replace(first.let, var=replace(first.let.var, device=npu)))
    others = program.steps.prim_funcs[1:]
    faults = misplaced_program(program.running((placed, *others)))
    assert faults == ['step 0 RELU "lut0": no npu 0 of host runs it']
    assert misplaced_program(program.running((replace(placed, device=npu), *others))) == []
