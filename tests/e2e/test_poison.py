"""A debug build on the host poisons every pool byte that no buffer of the current step owns."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from codegen import board as boards
from codegen import emit, search, toolchain
from codegen.board import MemoryFault, run_poisoned
from codegen.driver.build import plan_model
from codegen.driver.options import Options
from codegen.driver.run import request
from codegen.plan.models.bundling import together
from codegen.program.image import RunResult
from codegen.program.problem import Placement
from codegen.program.program import Program
from tests.e2e.models import ALL_MODELS, golden_cases
from tests.testdata import model_path

KWS = "mlperf_tiny/kws_ref_model"


def _run(program: Program, key: str, folder: Path) -> RunResult | MemoryFault:
    sources = emit.render(together([program]))
    emit.write(sources, folder / "build")
    board = boards.load_board("host")
    image = toolchain.build(sources, folder / "build", board, optimize="balanced", sanitize=True)
    return run_poisoned(image, board, request(program, golden_cases(key)[:2]))


def _program(key: str) -> Program:
    return plan_model(model_path(key), boards.load_board("host"), Options(board="host")).program


@pytest.mark.parametrize("key", ALL_MODELS)
def test_no_report_on_any_model(key: str, tmp_path: Path) -> None:
    found = _run(_program(key), key, tmp_path)
    assert isinstance(found, RunResult), found
    assert all(case.paints_agree and case.guards_intact for case in found.cases)


def _compressed(key: str) -> Program:
    """With constants that exceed their pool by 1 %."""
    (pool,) = _program(key).constants
    options = Options(board="host", pool_limits={pool.name: pool.size_bytes * 99 // 100})
    program = plan_model(model_path(key), boards.load_board("host"), options).program
    assert program.unpacked
    return program


@pytest.mark.parametrize("key", [KWS, "mlperf_tiny/ad01_int8"])
def test_no_report_where_constants_are_decoded(key: str, tmp_path: Path) -> None:
    found = _run(_compressed(key), key, tmp_path)
    assert isinstance(found, RunResult), found
    assert all(case.paints_agree and case.guards_intact for case in found.cases)


def test_a_decoded_constant_beyond_its_buffer_is_reported(tmp_path: Path) -> None:
    """The plan takes the buffer for 64 bytes shorter than what is decoded to it."""
    program = _compressed(KWS)
    victim = program.unpacked[0].buffer
    shorter = tuple(
        replace(b, size_bytes=b.size_bytes - 64) if b.id == victim else b for b in program.problem.buffers
    )
    program = replace(program, problem=replace(program.problem, buffers=shorter))
    assert isinstance(_run(program, KWS, tmp_path), MemoryFault)


def _largest(program: Program) -> str:
    return max(program.problem.buffers, key=lambda buffer: (buffer.size_bytes, -buffer.start)).id


def _shorter(program: Program) -> Program:
    """The largest buffer dies one step too early: its reader is not covered any more."""
    victim = _largest(program)
    buffers = tuple(replace(b, stop=b.stop - 1) if b.id == victim else b for b in program.problem.buffers)
    return replace(program, problem=replace(program.problem, buffers=buffers))


def _shifted(program: Program) -> Program:
    """The largest buffer's place is recorded eight bytes too high: kernels use bytes nobody owns."""
    victim = _largest(program)
    place = program.plan.placements[victim]
    moved = {**program.plan.placements, victim: Placement(pool=place.pool, offset=place.offset + 8)}
    return replace(program, plan=replace(program.plan, placements=moved))


def _onto_its_neighbour(program: Program) -> Program:
    """The largest buffer lies where a buffer of the same moment lies."""
    conflict = next(c for c in program.problem.conflicts if _largest(program) in (c.first, c.second))
    moved = {**program.plan.placements, conflict.first: program.plan.placements[conflict.second]}
    far = replace(conflict, first_below=1, second_below=1)
    assert not far.holds(moved[conflict.first].offset, moved[conflict.second].offset)
    return replace(program, plan=replace(program.plan, placements=moved))


def _with_live_table_of(right: Program, wrong: Program, folder: Path) -> RunResult | MemoryFault:
    """C code of `right`, ownership table of `wrong`: what a wrong plan looks like to the poisoned run."""
    sources = emit.render(together([right]))
    bench = emit.render(together([wrong])).files[f"firmware/{right.name}_bench.c"]
    mixed = replace(sources, files={**sources.files, f"firmware/{right.name}_bench.c": bench})
    emit.write(mixed, folder / "build")
    board = boards.load_board("host")
    image = toolchain.build(mixed, folder / "build", board, optimize="balanced", sanitize=True)
    return run_poisoned(image, board, request(right, golden_cases(KWS)[:1]))


@pytest.mark.parametrize("mutate", [_shorter, _shifted])
def test_a_wrong_plan_is_caught_while_running(mutate: Callable[[Program], Program], tmp_path: Path) -> None:
    program = _program(KWS)
    found = _with_live_table_of(program, mutate(program), tmp_path)
    assert isinstance(found, MemoryFault)
    assert found.step is not None


def test_a_wrong_plan_never_leaves_the_search() -> None:
    program = _program(KWS)
    search.check(program, keep_inputs=False)
    with pytest.raises(ValueError, match="made a wrong plan"):
        search.check(_onto_its_neighbour(program), keep_inputs=False)
