"""Models whose constants exceed the flash: compressed where needed, run on QEMU against goldens."""

from pathlib import Path
from typing import Any, cast

import pytest

from codegen.driver.build import Built
from codegen.driver.options import Options
from codegen.driver.report.single import compressed_report
from codegen.driver.run import Measured, complaints, execute
from codegen.program.image import Trace
from codegen.program.interface import EntryMode, Interface
from codegen.program.problem import BufferKind, peak_bytes
from codegen.program.program import Program
from codegen.search import StageMode
from codegen.toolchain import Optimize
from tests.e2e.models import build_model, golden_cases

AD01 = "mlperf_tiny/ad01_int8"
RESNET = "mlperf_tiny/pretrainedResnet_quant"
MICROBIT_BYTES = 262_144
V6M = "benchmarks/boards/mps2-an385-v6m.toml"


def total_bytes(program: Program) -> int:
    return sum(pool.size_bytes for pool in program.constants)


def peaks(program: Program) -> dict[str, int]:
    pools = program.problem.pools
    return {pool.name: peak_bytes(program.problem, program.plan, pool.name) for pool in pools}


def check_run(built: Built, key: str) -> Measured:
    """Outputs equal to the goldens, measured peaks equal to the plan's."""
    cases = golden_cases(key)[:2]
    measured = execute(built, cases, trace=Trace.COST)
    assert complaints(built.models[0], cases, measured, built.image.sizes.stack_bound_bytes) == []
    return measured


def same_kernels(program: Program, other: Program) -> set[int]:
    """Steps that run the kernels that they run in `other`."""
    pairs = zip(program.prim_funcs, other.prim_funcs, strict=True)
    return {step for step, (prim, another) in enumerate(pairs) if prim.kernel == another.kernel}


def check_predicted(program: Program, measured: Measured, plain: Measured, steps: set[int]) -> None:
    """What decoding adds to each of these steps, within 5 % of what is predicted."""
    before = {each.step: each.instructions for each in plain.result.trace}
    after = {each.step: each.instructions for each in measured.result.trace}
    predicted: dict[int, int] = {}
    for copy in program.unpacked:
        assert copy.unpacking is not None and copy.copied_at == copy.used_at
        predicted[copy.used_at] = predicted.get(copy.used_at, 0) + copy.unpacking.instructions
    predicted = {step: count for step, count in predicted.items() if step in steps}
    assert predicted
    for step, count in predicted.items():
        added = (after[step] or 0) - (before[step] or 0)
        assert abs(count - added) <= added // 20, f"step {step}: {count} predicted, {added} measured"


@pytest.mark.qemu
@pytest.mark.parametrize(
    ("key", "board", "optimize", "limits"),
    [
        # By groups of outputs, in bytes that are free below the peak.
        (AD01, "mps2-an386", "balanced", {"flash": 250_000}),
        (AD01, "mps2-an386", "size", {"flash": 210_000}),
        # Whole layers: as far as there is RAM, speed comes first.
        (AD01, "mps2-an386", "speed", {"flash": 250_000}),
        (AD01, V6M, "balanced", {"flash": 260_000}),
        # Beside kernels with fewer constants, which alone are enough for a little less.
        (AD01, V6M, "speed", {"flash": 260_000}),
        (AD01, V6M, "size", {"flash": 250_000}),
        # Two constant pools, neither of which holds what is left.
        (AD01, "mps3-an547", "balanced", {"itcm": 100_000, "qspi": 120_000}),
        # Constants of blocks, and beside each other in a step.
        (RESNET, "mps2-an386", "balanced", {"flash": 78_000}),
    ],
)
def test_what_exceeds_the_flash_runs_compressed(
    key: str, board: str, optimize: Optimize, limits: dict[str, int], tmp_path: Path
) -> None:
    plain = build_model(
        key, Options(board=board, optimize=optimize, stage="off", compress="off"), tmp_path / "plain"
    )
    options = Options(board=board, optimize=optimize, stage="off", pool_limits=limits)
    built = build_model(key, options, tmp_path / "packed")
    before, program = plain.models[0].program, built.models[0].program
    assert program.unpacked and program.compression is not None
    for pool in program.constants:
        assert pool.size_bytes <= limits[pool.name]
    assert total_bytes(before) > sum(limits.values())
    same = same_kernels(program, before)
    if len(same) == len(program.prim_funcs):
        assert program.compression.original_bytes == total_bytes(before)
    else:
        assert program.compression.original_bytes < total_bytes(before)
    if optimize != "speed" and len(same) == len(program.prim_funcs):
        raised = [after - peaks(before)[pool] for pool, after in peaks(program).items()]
        assert max(raised) <= program.compression.raised_bytes
    check_predicted(program, check_run(built, key), check_run(plain, key), same)


@pytest.mark.qemu
def test_a_limit_that_is_met_changes_nothing(tmp_path: Path) -> None:
    options = Options(board="mps2-an386", pool_limits={"flash": 280_912})
    program = build_model(AD01, options, tmp_path / "build").models[0].program
    assert program.compression is None and not program.unpacked and total_bytes(program) == 280_912


@pytest.mark.qemu
def test_steps_of_their_own_decode_what_they_read(tmp_path: Path) -> None:
    """With `--entry steps` every step is a function."""
    interface = Interface(entry=EntryMode.STEPS)
    options = Options(board="mps2-an386", interface=interface, pool_limits={"flash": 240_000})
    built = build_model(AD01, options, tmp_path / "build")
    assert built.models[0].program.unpacked
    check_run(built, AD01)


@pytest.mark.qemu
def test_constants_that_leave_the_code_no_room_are_compressed(tmp_path: Path) -> None:
    """297,632 bytes for a micro:bit with 262,144 bytes of flash, of which code takes some too."""
    built = build_model(AD01, Options(board="microbit"), tmp_path / "build")
    program = built.models[0].program
    sizes = built.image.sizes
    assert total_bytes(program) < MICROBIT_BYTES - sizes.text_bytes
    assert MICROBIT_BYTES - 4096 < sizes.text_bytes + sizes.rodata_bytes + sizes.data_bytes <= MICROBIT_BYTES
    check_run(built, AD01)


@pytest.mark.qemu
@pytest.mark.parametrize("stage", ["use", "auto"])
def test_copies_go_around_what_is_decoded(stage: StageMode, tmp_path: Path) -> None:
    """Constants that are stored as they are may be staged as well, in other bytes."""
    limits = {"itcm": 10_000, "qspi": 67_500}
    options = Options(board="mps3-an547", optimize="speed", stage=stage, pool_limits=limits)
    built = build_model(RESNET, options, tmp_path / "build")
    program = built.models[0].program
    assert program.unpacked and program.copied
    assert not {copy.user for copy in program.unpacked} & {copy.user for copy in program.copied}
    kinds = {buffer.id: buffer.kind for buffer in program.problem.buffers}
    assert all(kinds[copy.buffer] is BufferKind.CONSTANT for copy in program.staged)
    check_run(built, RESNET)


@pytest.mark.qemu
def test_the_report_has_what_is_stored_and_what_it_costs(tmp_path: Path) -> None:
    options = Options(board="mps2-an386", pool_limits={"flash": 250_000})
    program = build_model(AD01, options, tmp_path / "build").models[0].program
    found = compressed_report(program)
    rows = cast(list[dict[str, Any]], found["constants"])
    assert rows
    stored = {prim.name: each for prim in program.prim_funcs for each in prim.constants}
    for row in rows:
        assert row["stored_bytes"] == stored[row["name"]].data.nbytes < row["bytes"]
        assert row["buffer_bytes"] * row["pieces"] == row["bytes"]
    assert found["original_bytes"] == 280_912
    assert found["instructions"] == sum(row["instructions"] for row in rows) == found["instructions_bound"]
    saved = sum(row["bytes"] - row["stored_bytes"] for row in rows)
    assert total_bytes(program) == 280_912 - saved // 4 * 4
