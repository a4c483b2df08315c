"""The frontier: what a limit costs in instructions, and that the curve shows the same plans."""

from dataclasses import replace

import pytest

from codegen import board as boards
from codegen.driver.options import Options
from codegen.driver.preparing import prepared
from codegen.problem.shortage import DoesNotFit
from codegen.program.program import Program
from codegen.search import Choices, curve, inference_instructions, search
from codegen.settings import Optimize
from tests.networks import model_path
from tests.search.chains import random_chain
from tests.search.memory.test_goal import KWS, SMALL, peak_bytes, quiet


def _instructions(program: Program) -> int:
    return inference_instructions(program.steps.prim_funcs)


def test_a_point_of_the_curve_is_what_a_limit_of_its_bytes_gives() -> None:
    """The curve counted multiply-accumulates: a plan nine times slower was shown as +0 %. `speed` alone needs
    more than any point here: the others' own plans keep the larger limits."""
    board = boards.load_board("lm3s6965evb")
    module = prepared(model_path(SMALL), Options(board="host")).module
    choices = Choices(planner="optimal", optimize="speed")
    points = curve(module, board, choices, name="model", progress=quiet)
    for point in points[:: len(points) // 3]:
        limited = replace(choices, pool_limits={"sram": peak_bytes(point)})
        program = search(module, board, limited, name="model")
        assert peak_bytes(program) <= peak_bytes(point)
        assert _instructions(program) <= _instructions(point)


def test_a_curve_within_a_limit_names_a_budget_where_nothing_fits() -> None:
    board = boards.load_board("lm3s6965evb")
    module = prepared(model_path(KWS), Options(board="host")).module
    for optimize in ("balanced", "size"):
        made = Choices(planner="optimal", optimize=optimize, pool_limits={"sram": 8_100})
        points = curve(module, board, made, name="model", progress=quiet)
        assert [peak_bytes(point) for point in points] == [8_064]
    with pytest.raises(DoesNotFit) as caught:
        made = Choices(planner="optimal", pool_limits={"sram": 8_000})
        curve(module, board, made, name="model", progress=quiet)
    assert caught.value.shortages[0].budget_bytes == 8_064


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("optimize", ["balanced", "size"])
@pytest.mark.sampled(2)
def test_instructions_never_rise_with_a_limit(seed: int, optimize: Optimize) -> None:
    """One byte below the plan of kws cost nine times the instructions."""
    module = random_chain(seed, 3 + seed % 5)
    board = boards.load_board("mps2-an386")
    choices = Choices(planner="optimal", optimize=optimize, pool_limits={"psram": 0})
    unlimited = search(module, board, choices, name="model")
    points = curve(module, board, choices, name="model", progress=quiet)
    limits = sorted(
        {peak_bytes(point) for point in points} | {peak_bytes(unlimited) - 1, peak_bytes(unlimited)}
    )
    counts: list[int] = []
    for limit in limits:
        tight = replace(choices, pool_limits={"psram": 0, "sram": limit})
        try:
            counts.append(_instructions(search(module, board, tight, name="model")))
        except DoesNotFit:
            assert limit < min(peak_bytes(point) for point in points)
    below = [count for limit, count in zip(limits, counts, strict=False) if limit < peak_bytes(unlimited)]
    assert below == sorted(below, reverse=True)
    # A limit that the plan keeps changes nothing.
    kept = replace(choices, pool_limits={"psram": 0, "sram": peak_bytes(unlimited)})
    again = search(module, board, kept, name="model")
    kernels = [[(prim.name, prim.kernel) for prim in each.steps.prim_funcs] for each in (again, unlimited)]
    assert kernels[0] == kernels[1] and again.memory.plan.placements == unlimited.memory.plan.placements
