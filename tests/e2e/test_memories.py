"""Real models over two and three memories: where every buffer is linked, what is measured, what comes out."""

from pathlib import Path

import numpy as np
import pytest

from codegen.board import load_board
from codegen.board.link.linked_board import target_session
from codegen.driver.build import Built, build
from codegen.driver.options import Options
from codegen.driver.run import complaints, execute
from codegen.errors import CodegenError
from codegen.program.problem import peak_bytes
from tests.board import probe
from tests.e2e.models import build_model, golden_cases
from tests.e2e.test_pools import addresses
from tests.testdata import model_path

pytestmark = pytest.mark.qemu

FORCED = (
    ("mps3-an547", "mlperf_tiny/pretrainedResnet_quant", {"dtcm": 6_000, "bram": 0}, {"dtcm", "sram"}),
    ("mps3-an547", "mlperf_tiny/kws_ref_model", {"dtcm": 1_500, "sram": 4_000, "bram": 0}, {"dtcm", "ddr"}),
    ("mps3-an547", "tflm/person_detect", {"dtcm": 9_000, "sram": 0, "bram": 9_000}, {"dtcm", "bram", "ddr"}),
    (
        "mps2-an505",
        "mlperf_tiny/kws_ref_model",
        {"sram": 1_000, "ssram3": 0, "psram": 0},
        {"sram", "internal"},
    ),
    ("mps2-an505", "tflm/person_detect", {"sram": 9_300, "internal": 0, "psram": 0}, {"sram", "ssram3"}),
    (
        "mps2-an505",
        "tflm/person_detect",
        {"sram": 3_000, "ssram3": 9_400, "internal": 9_000},
        {"sram", "ssram3", "internal"},
    ),
)


def check_buffers(built: Built, pools: set[str]) -> None:
    """The linked addresses of every buffer lie in the region of its pool, aligned as it needs."""
    program, found = built.models[0].program, addresses(built)
    assert set(found) == pools
    regions = {pool.name: built.board.region(pool.region) for pool in program.problem.pools}
    checked = 0
    for buffer in program.problem.buffers:
        if buffer.size_bytes:
            place = program.plan.placements[buffer.id]
            start = found[place.pool][0] + place.offset
            region = regions[place.pool]
            assert region.start <= start and start + buffer.size_bytes <= region.end, buffer.id
            assert start % buffer.alignment == 0, buffer.id
            checked += 1
    assert checked == len([buffer for buffer in program.problem.buffers if buffer.size_bytes]) > 0


@pytest.mark.parametrize(("board", "key", "limits", "pools"), FORCED)
def test_budgets_force_a_model_over_memories(
    board: str, key: str, limits: dict[str, int], pools: set[str], tmp_path: Path
) -> None:
    """Outputs as the goldens, every measured peak as planned, every buffer in its memory."""
    built = build_model(key, Options(board=board, pool_limits=limits), tmp_path / "build")
    check_buffers(built, pools)
    cases = golden_cases(key)[:1]
    measured = execute(built, cases)
    assert complaints(built.models[0], cases, measured, built.image.sizes.stack_bound_bytes) == []
    program = built.models[0].program
    planned = {name: peak_bytes(program.problem, program.plan, name) for name in pools}
    assert measured.result.cases[0].pool_peaks == planned
    assert all(planned[name] <= limits.get(name, planned[name]) for name in pools)


def _why_not_emulated(folder: Path) -> str | None:
    """Why QEMU cannot run what uses CCM; None if memory is there. A program with its pool in CCM tells."""
    board = load_board("netduinoplus2")
    image = probe.firmware(folder, board, address=0x1000_0000, pool="ccm")
    try:
        with target_session(image, board) as target:
            (case,) = target.run(probe.request("none", pool="ccm")).cases
    except CodegenError as error:
        return f"QEMU has no memory at 0x10000000: {error.messages[0].text}"
    return None if case.outputs == (probe.flipped(probe.case("none")),) else "QEMU reads no bytes back there"


def test_a_plan_in_ccm_is_built_and_linked(tmp_path: Path) -> None:
    """Of an STM32F405: `build` uses the memory that the emulator lacks. It is run where QEMU maps it."""
    key = "mlperf_tiny/pretrainedResnet_quant"
    options = Options(board="netduinoplus2", pool_limits={"sram": 6_000})
    built = build([model_path(key)], options, tmp_path / "build", emulated=False)
    check_buffers(built, {"sram", "ccm"})
    ccm = addresses(built)["ccm"]
    assert ccm[0] == 0x1000_0000 and ccm[1] >= 12_288
    reason = _why_not_emulated(tmp_path / "probe")
    if reason is not None:
        pytest.skip(reason)
    cases = golden_cases(key)[:1]
    measured = execute(built, cases)
    assert complaints(built.models[0], cases, measured, built.image.sizes.stack_bound_bytes) == []
    assert np.all([output.matches for output in measured.comparisons[0]])
