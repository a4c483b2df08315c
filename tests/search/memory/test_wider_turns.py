"""Blocks get kernels of several rows a turn where `--optimize` and the limits have room for them."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from codegen import board as boards
from codegen.driver.build import plan_model
from codegen.driver.options import Options
from codegen.program.program import Program
from codegen.search import Choices, inference_instructions, search
from codegen.search.memory import wider_turns
from codegen.settings import Optimize
from tests.kernels.dsp.conv_layers import module_of, shaped_layer
from tests.networks import model_path

BOARD = boards.load_board("mps2-an386")
NETWORK = "residual_pair"
LEAST = 7_296
"""What `balanced` needs of it: a row of each layer a turn."""


def _plan(**options: Any) -> Program:
    made = replace(Options(board="mps2-an386"), **options)
    return plan_model(model_path(NETWORK), BOARD, made).program


def _limited(sram: int, optimize: Optimize = "speed", **more: int) -> Program:
    return _plan(optimize=optimize, pool_limits={"sram": sram, "psram": 0, **more})


def _turns(program: Program) -> Counter[str]:
    """Layers of blocks that compute several rows a turn, by kernel."""
    blocks = [prim.block for prim in program.steps.prim_funcs if prim.block is not None]
    return Counter(stage.binding for block in blocks for stage in block.stages if stage.turn_rows > 1)


def _peak(program: Program) -> int:
    return sum(program.memory.peaks.values())


def _instructions(program: Program) -> int:
    return inference_instructions(program.steps.prim_funcs)


def test_speed_takes_what_fits() -> None:
    """The more RAM, the fewer instructions: 1.80 million were predicted for the first of these, without."""
    limits = (LEAST, 8_736, 11_000)
    programs = [_limited(sram) for sram in limits]
    assert all(_peak(program) <= sram for program, sram in zip(programs, limits, strict=True))
    assert _turns(programs[0]) and any(_turns(program) for program in programs[1:])
    counts = [_instructions(program) for program in programs]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] < 0.95 * 1_802_026 and counts[1] < 0.8 * 1_802_026


def test_balanced_pays_with_no_byte_of_ram() -> None:
    for program in (_plan(optimize="balanced"), _limited(9_300, "balanced")):
        assert _peak(program) == LEAST


def test_size_has_a_row_a_turn() -> None:
    assert not _turns(_limited(9_300, "size"))


@pytest.mark.thorough
def test_a_limit_of_flash_counts_their_constants_too() -> None:
    flash = 56 * 1024
    program = _limited(9_300, flash=flash)
    assert _turns(program)
    size = sum(constant.data.nbytes for prim in program.steps.prim_funcs for constant in prim.constants)
    assert size <= flash
    assert _instructions(_limited(9_300)) < _instructions(program)


def test_values_in_memory_whole_are_left_alone(monkeypatch: Any) -> None:
    """Nothing is looked for where there are no blocks."""

    def never(*given: object) -> object:
        raise AssertionError(given)

    monkeypatch.setattr(wider_turns, "_layers", never)
    module = module_of(shaped_layer(image=(16, 16, 16), kernel=(3, 3), outputs=16, pad=1))
    program = search(module, BOARD, Choices(optimize="speed"), name="model")
    assert [prim.block for prim in program.steps.prim_funcs] == [None]
