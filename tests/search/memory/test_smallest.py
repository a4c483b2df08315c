"""The least that a model can do with: one answer for limits, for E401 and for the curve."""

from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from codegen import board as boards
from codegen.driver.build import plan_model
from codegen.driver.checks.fit import PoolsTooSmall, telling
from codegen.driver.options import Options
from codegen.ir.rules import Place
from codegen.ir.types import VirtualDevice
from codegen.kernels import fused
from codegen.program.problem import peak_bytes
from codegen.program.program import Program
from codegen.program.shortage import DoesNotFit
from codegen.search import Choices, curve, search
from codegen.search.kernels import in_place_kernels
from tests.plan.mobile import Block, mobile
from tests.search.chains import random_chain
from tests.testdata import model_path

HOST = boards.load_board("host")
RESNET = "mlperf_tiny/pretrainedResnet_quant"
KWS = "mlperf_tiny/kws_ref_model"


def _peak(program: Program) -> int:
    return sum(peak_bytes(program.problem, program.plan, pool.name) for pool in program.problem.pools)


def _quiet(stage: str, done: int = 0, total: int | None = None) -> None:
    assert stage and (total is None or 0 <= done <= total)


def _missed(key: str, board: Any, **options: Any) -> PoolsTooSmall:
    with pytest.raises(PoolsTooSmall) as caught, telling():
        plan_model(model_path(key), board, replace(Options(board=board.name), **options))
    return caught.value


@pytest.mark.parametrize("keep_inputs", [False, True])
def test_the_smallest_budget_is_the_end_of_the_curve_whatever_was_asked_for(keep_inputs: bool) -> None:
    """`--optimize size` named 13,824 bytes, balanced 13,371; with `--keep-inputs` E401 named 14,912 where the
    curve reached 12,608: each looked at other blocks, and counted what other kernels need."""
    board = boards.load_board("mps2-an386")
    made = Options(board=board.name, keep_inputs=keep_inputs, pool_limits={"psram": 0})
    module = plan_model(model_path(RESNET), board, made).module
    choices = Choices(planner="optimal", keep_inputs=keep_inputs, pool_limits={"psram": 0}, emulated=False)
    found = curve(module, board, choices, name="model", progress=_quiet)
    least = min(_peak(point) for point in (*found.fast, *found.lean))
    assert least <= 12_608
    # Each level with a limit far below or just below, the other one where `keep_inputs` is the other.
    for number, optimize in enumerate(("speed", "balanced", "size")):
        limit = 500 if number % 2 == keep_inputs else least - 1
        limits = {"psram": 0, "sram": limit}
        error = _missed(RESNET, board, optimize=optimize, keep_inputs=keep_inputs, pool_limits=limits)
        assert [item.budget_bytes for item in error.shortages] == [least], (optimize, limit)
        kept = replace(choices, optimize=optimize, pool_limits={"psram": 0, "sram": least})
        assert _peak(search(module, board, kept, name="model")) == least


@pytest.mark.parametrize("seed", range(16))
def test_the_curve_of_a_random_network_ends_where_e401_says(seed: int) -> None:
    module = random_chain(seed, 3 + seed % 6, joins=seed % 2 == 1)
    for board in (HOST, boards.load_board("mps2-an386")):
        beside = {} if board is HOST else {"psram": 0}
        made = Choices(planner="optimal", emulated=False, pool_limits=beside)
        found = curve(module, board, made, name="model", progress=_quiet)
        least = min(_peak(point) for point in (*found.fast, *found.lean))
        for optimize in ("speed", "size"):
            tight = replace(made, optimize=optimize, pool_limits={**beside, "sram": least - 1})
            with pytest.raises(DoesNotFit) as caught:
                search(module, board, tight, name="model")
            assert [item.budget_bytes for item in caught.value.shortages] == [least]


def test_budgets_of_several_pools_are_offered_together_and_hold_together() -> None:
    """The input is placed in one pool and the rest lies in the other: each message offered the limit of its
    pool alone, which was refused when tried."""
    board, limits = boards.load_board("mps2-an386"), {"sram": 1_000, "psram": 100}
    places = (Place(who="place 1", device=VirtualDevice(memory_scope="psram"), inputs=True),)
    error = _missed(KWS, board, pool_limits=limits, places=places)
    budgets = {item.pool: item.budget_bytes or 0 for item in error.shortages}
    assert set(budgets) == {"sram", "psram"}
    flags = " ".join(f"--pool {pool}={budget}" for pool, budget in budgets.items())
    for message, (pool, budget) in zip(error.messages, budgets.items(), strict=True):
        assert message.where == f"pool {pool}"
        assert message.help == f"try {flags}, a board with that many bytes, a smaller model"
        assert message.text.splitlines()[-1] == (
            f"  the smallest budget for which a plan was found is {budget} bytes, "
            "with those of the other pools"
        )
        _missed(KWS, board, pool_limits={**limits, pool: budget}, places=places)
    made = Options(board=board.name, pool_limits=budgets, places=places)
    program = plan_model(model_path(KWS), board, made).program
    for pool in program.problem.pools:
        assert peak_bytes(program.problem, program.plan, pool.name) <= budgets[pool.name]


def test_one_byte_is_one_byte() -> None:
    """`lacks 1 bytes` was said."""
    budget = _missed(KWS, HOST, pool_limits={"sram": 500}).shortages[0].budget_bytes or 0
    (message,) = _missed(KWS, HOST, pool_limits={"sram": budget - 1}).messages
    assert message.text.splitlines()[0].startswith(
        f"lacks 1 byte: the best plan found needs {budget} bytes, "
    )


def test_what_fits_nowhere_is_told_after_little_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A network of 73 steps was refused by a small board after 46 s: for each kernel choice limits were
    searched that its input alone exceeds, 2,173 blocks were simulated whose need the columns of their stripes
    tell, and each kernel in place was checked by itself. (Of this one 370 blocks and 188 checks.)"""
    counts = {"layout": 0, "broken": 0}

    def counted(module: ModuleType, name: str) -> None:
        work = getattr(module, name)

        def count(*args: Any, **options: Any) -> Any:
            counts[name] += 1
            return work(*args, **options)

        monkeypatch.setattr(module, name, count)

    counted(fused, "layout")
    counted(in_place_kernels, "broken")
    path = tmp_path / "model.tflite"
    made = [(16, 1, 0, 3), (24, 2, 3, 3), (24, 1, 3, 3), (32, 2, 3, 5), (32, 1, 3, 3), (32, 1, 3, 3)]
    stages = [Block(channels=c, stride=s, expand=e, window=w) for c, s, e, w in made]
    path.write_bytes(mobile("int8", (64, 64, 3), 16, stages, 10))
    board = boards.load_board("stm32vldiscovery")
    with pytest.raises(PoolsTooSmall) as caught, telling():
        plan_model(path, board, Options(board=board.name))
    assert [item.budget_bytes for item in caught.value.shortages] == [19_456]
    assert counts["layout"] <= 30
    assert counts["broken"] <= 40
