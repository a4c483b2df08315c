"""What a byte of flash is worth to a model, and which fast forms `--optimize size` takes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from codegen import importers, passes
from codegen.board import load_board
from codegen.driver.build import plan_model
from codegen.driver.options import Options
from codegen.driver.preparing import pipeline
from codegen.kernels.base.portable_work import estimated_work
from codegen.kernels.primfunc import PrimFunc
from codegen.problem.shortage import DoesNotFit
from codegen.program.program import Program
from codegen.program.search_options import SearchOptions
from codegen.search import board_pools
from codegen.search.kernels.binding import Binder, step_key
from codegen.search.kernels.costs import worth_of_flash
from codegen.search.kernels.selection import flash_bytes, select, sparing
from codegen.settings import Optimize
from tests.networks import model_path


def _on_helium(key: str, optimize: Optimize, **options: Any) -> Program:
    board = load_board("mps3-an547")
    made = Options(board=board.name, optimize=optimize, **options)
    return plan_model(model_path(key), board, made, emulated=True).program


def test_a_byte_of_flash_is_worth_no_more_than_two_shares() -> None:
    """str_ww on Helium ran 6 % longer at `balanced`, for 2 % of its flash: a byte was worth 20 instructions
    wherever, and a vector does the work of ten."""
    assert worth_of_flash("balanced", 10_000_000, 100_000) == 24
    assert worth_of_flash("balanced", 218_000, 60_000) == pytest.approx(7.27, abs=0.01)
    assert worth_of_flash("size", 218_000, 60_000) == 200
    assert worth_of_flash("speed", 218_000, 60_000) == 0
    balanced, speed = (_on_helium("separable_1d", level).steps.prim_funcs for level in ("balanced", "speed"))
    assert sum(map(estimated_work, balanced)) <= 1.03 * sum(map(estimated_work, speed))


def test_cheaper_flash_buys_no_workspace() -> None:
    """`tone` of the guide for two models took 192 bytes of RAM instead of 80 on stm32, for 7 % of 1,900
    instructions: a byte of flash is worth 1.2 there, and code alone had kept joined vectors away."""
    tone = Path("examples/two_models/tone.tflite")
    board = load_board("stm32")
    program = plan_model(tone, board, Options(board=board.name, optimize="balanced"), emulated=True).program
    assert not [space for prim in program.steps.prim_funcs for space in prim.workspaces]


def _constant_bytes(steps: Sequence[PrimFunc]) -> int:
    return sum(prim.constant_bytes for prim in steps)


@pytest.mark.parametrize(
    ("board", "key"),
    [
        ("mps3-an547", "resnet8"),
        ("mps3-an547", "ds_cnn"),
        ("mps2-an386", "resnet8"),
        ("mps2-an386", "person_detect"),
    ],
)
def test_size_takes_no_fast_form_that_adds_to_flash(board: str, key: str) -> None:
    """`size` took 2,074 bytes of code for faster 3x3 layers on Helium, as each saved its 200 instructions."""
    made = load_board(board)
    module = passes.run_passes(importers.load(model_path(key)), pipeline(Options(optimize="size")))
    data = {id_: constant.data for id_, constant in module.constants.items()}
    binder = Binder(data, made.target)
    spared = sparing(module.main, binder, "size")
    taken = select(module.main, spared, "size")
    names = {prim.kernel for prim in taken}
    forms = {
        kernel.fast_form
        for let in module.main.body
        for kernel in spared.able(let)
        if kernel.fast_form is not None
    }
    for form in forms:
        without = {
            (step_key(let), kernel.name)
            for let in module.main.body
            for kernel in binder.kernels(let)
            if kernel.fast_form == form
        }
        other = select(module.main, spared.without(frozenset(without)), "size")
        fewer = _constant_bytes(taken) < _constant_bytes(other)
        assert fewer or flash_bytes(taken) <= flash_bytes(other), form
    assert flash_bytes(taken) <= flash_bytes(select(module.main, binder, "size"))
    assert not {name for name in names if "winograd" in name or "columns" in name}


@pytest.mark.thorough
def test_a_form_that_size_spares_counts_where_a_limit_is_missed() -> None:
    """Columns need less room than copied windows: no budget that another level keeps is refused."""
    pools = board_pools(SearchOptions(), load_board("mps3-an547"), emulated=True)
    limits = {**dict.fromkeys((pool.name for pool in pools), 0), "dtcm": 500}
    budgets: list[int | None] = []
    for level in ("balanced", "size"):
        with pytest.raises(DoesNotFit) as caught:
            _on_helium("resnet8", level, pool_limits=limits)
        budgets.append(caught.value.shortages[0].budget_bytes)
    assert budgets[0] == budgets[1]


def test_the_best_first_move_is_not_always_the_first_of_the_best() -> None:
    """kws at `size` on Helium took the kernel of one channel that cores without vectors have, to save code
    which its 1x1 layers would have shared: 154,000 instructions more for 612 bytes."""
    kernels = {prim.kernel for prim in _on_helium("ds_cnn", "size").steps.prim_funcs}
    assert kernels & {"conv_2d_s8_mve_windows", "conv_2d_s8_mve_windows_reverse"}
    assert "conv2d_mono_s8_dsp" not in kernels
