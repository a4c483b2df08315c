"""A measured stack is held against the bound of its own model (E803)."""

from pathlib import Path

import numpy as np
import pytest

from codegen.board import load_board
from codegen.driver.build import Built, plan_model
from codegen.driver.inputs.cases import Case
from codegen.driver.inputs.planned import Planned
from codegen.driver.options import Options
from codegen.driver.run import all_complaints, measure, used_pools
from codegen.plan.models.bundling import together
from codegen.program.image import CaseResult, ElfSizes, Image, RunResult
from codegen.program.problem import peak_bytes
from tests.testdata import model_path

BOUNDS = {"one": 100, "two": 200}
ZERO = np.zeros((1, 1), np.int8)
CASE = Case(name="zero", inputs=(ZERO,), expected=(ZERO,))


@pytest.fixture(scope="module")
def models() -> tuple[Planned, ...]:
    options = Options(board="mps2-an386", planner="greedy_by_size")
    board, path = load_board(options.board), model_path("tflm/hello_world_int8")
    return tuple(plan_model(path, board, options, name=name) for name in BOUNDS)


def _told(models: tuple[Planned, ...], stacks: tuple[int, int], core1: int | None = None) -> list[str]:
    """What is told of a run in which the models took so much stack."""
    sizes = ElfSizes(
        text_bytes=0,
        rodata_bytes=0,
        data_bytes=0,
        bss_bytes=0,
        model_code_bytes=0,
        stack_bound_bytes=max(BOUNDS.values()),
        core1_stack_bound_bytes=None if core1 is None else 50,
        stack_bounds={f"{name}_run": bound for name, bound in BOUNDS.items()},
    )
    image = Image(path=Path("x.elf"), sizes=sizes, symbols={}, sections={}, build_sha256="")
    bundle = together([each.program for each in models])
    board = load_board("mps2-an386")
    built = Built(models=models, bundle=bundle, board=board, image=image, folder=Path("x"))
    measured = [
        measure(planned, [CASE], RunResult(runner="qemu", cases=(_case(planned, stack, core1),)))
        for planned, stack in zip(models, stacks, strict=True)
    ]
    found = all_complaints(built, [[CASE]] * len(models), measured)
    return [f"{each.code} {each.where}: {each.text}" for each in found]


def _case(planned: Planned, stack: int, core1: int | None) -> CaseResult:
    program = planned.program
    peaks = {name: peak_bytes(program.problem, program.plan, name) for name in used_pools(program)}
    return CaseResult(
        outputs=(bytes(1),),
        paints_agree=True,
        pool_peaks=peaks,
        guards_intact=True,
        stack_peak_bytes=stack,
        instructions=None,
        counter_resolution=None,
        core1_stack_peak_bytes=core1,
    )


def test_each_model_has_its_own_bound(models: tuple[Planned, ...]) -> None:
    """Below the largest bound of the image, above its own: nothing had tested that this is told."""
    assert _told(models, (100, 200)) == []
    assert _told(models, (101, 200)) == ["E803 one, case zero: stack peak 101 bytes, static bound 100"]
    assert _told(models, (100, 201)) == ["E803 two, case zero: stack peak 201 bytes, static bound 200"]


def test_core_1_has_a_bound_of_its_own(models: tuple[Planned, ...]) -> None:
    assert _told(models, (1, 1), core1=51) == [
        f"E803 {name}, case zero: core 1: stack peak 51 bytes, static bound 50" for name in BOUNDS
    ]
