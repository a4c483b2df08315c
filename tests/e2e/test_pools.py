"""A model over two memories: where the linker put the pools, and that results and peaks are as planned.
Real models over two and three memories: where every buffer is linked, what is measured, what comes out.
No kernel relies on an alignment that the plan does not state: unaligned words are trapped.

The product lets the C library and gcc use unaligned words where the core can; here both are told not to, so
that what is left to trap is ours: kernels in assembly and with intrinsics.
"""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from elftools.elf.elffile import ELFFile

from codegen import board as boards
from codegen import resources
from codegen.board import load_board
from codegen.board.link.exchange import Patience
from codegen.board.link.linked_board import target_session
from codegen.driver.build import Built, build
from codegen.driver.options import Options
from codegen.driver.report.single import report
from codegen.driver.run import complaints, execute
from codegen.errors import CodegenError
from codegen.plan.place.access import access_cost
from codegen.settings import Optimize
from tests import sampling
from tests.board import probe
from tests.e2e.models import build_model, golden_cases
from tests.kernels.dsp.depthwise_models import run_all
from tests.kernels.dsp.test_depthwise_on_target import random_models
from tests.networks import model_path

pytestmark = pytest.mark.qemu
BOARD = "mps3-an547"


def addresses(built: Built) -> dict[str, tuple[int, int]]:
    """Pool -> (address, bytes) of its array, as the ELF's own symbol table has them."""
    program = built.models[0].program
    names = {f"{program.name}_{pool.name}_pool": pool.name for pool in program.memory.problem.pools}
    with built.image.path.open("rb") as file:
        table: Any = ELFFile(file).get_section_by_name(".symtab")
        symbols: list[Any] = list(table.iter_symbols())
    return {names[each.name]: (each["st_value"], each["st_size"]) for each in symbols if each.name in names}


def check(built: Built, key: str) -> None:
    """Every pool in its region and aligned as its buffers need; outputs and measured peaks as planned."""
    program = built.models[0].program
    found = addresses(built)
    for pool in program.memory.problem.pools:
        here = [
            b
            for b in program.memory.problem.buffers
            if program.memory.plan.placements[b.id].pool == pool.name
        ]
        assert (pool.name in found) == any(b.size_bytes for b in here)
        if pool.name in found:
            address, size_bytes = found[pool.name]
            region = built.board.region(pool.region)
            assert region.address <= address and address + size_bytes <= region.end
            assert address % max(pool.alignment, *(b.alignment for b in here)) == 0
            assert program.memory.peak_bytes(pool.name) <= min(size_bytes, pool.limit_bytes)
    cases = golden_cases(key)[:1]
    measured = execute(built, cases)
    assert complaints(built.models[0], cases, measured, built.image.sizes.stack_bound_bytes) == []
    assert {case_pool for case in measured.result.cases for case_pool in case.pool_peaks} == set(found)


@pytest.mark.parametrize(("key", "dtcm"), [("ds_cnn", 6_000), ("residual_pair", 3_000)])
@pytest.mark.sampled(1)
def test_a_limit_sends_buffers_to_the_other_memory(key: str, dtcm: int, tmp_path: Path) -> None:
    options = Options(board=BOARD, planner="optimal", pool_limits={"dtcm": dtcm})
    built = build_model(key, options, tmp_path / "build")
    program = built.models[0].program
    assert set(addresses(built)) == {"dtcm", "sram"}
    check(built, key)
    document: Any = report(built.models[0], BOARD)
    plan = document["plan"]
    cost = access_cost(program.memory.problem, program.memory.plan)
    assert plan["access_cost"] == sum(pool["access_cost"] for pool in plan["pools"]) == cost
    assert plan["access_cost_bound"] == cost, "the choice of pools is proved"


def test_bases_are_as_aligned_as_the_largest_alignment_in_the_pool(tmp_path: Path) -> None:
    """A board file that aligns buffers to 256 bytes, its pools to no more than 16."""
    text = (resources.folder("boards") / f"{BOARD}.toml").read_text(encoding="utf-8")
    board = tmp_path / "aligned.toml"
    board.write_text(
        re.sub(
            r'^name = "[^"]*"', 'name = "aligned"\nbuffer_alignment_bytes = 256', text, count=1, flags=re.M
        ),
        encoding="utf-8",
    )
    key = "ds_cnn"
    options = Options(board=str(board), planner="optimal", pool_limits={"dtcm": 6_000})
    built = build_model(key, options, tmp_path / "build")
    assert boards.load_board(str(board)).pool_alignment_bytes == 16
    assert {address % 256 for address, _ in addresses(built).values()} == {0}
    assert len(addresses(built)) == 2
    check(built, key)
    assert (built.folder / "ds_cnn.c").read_text(encoding="utf-8").count("CG_ALIGNED(256)") == 2


@pytest.mark.thorough
def test_two_memories_that_are_too_small_together(tmp_path: Path) -> None:
    options = Options(
        board=BOARD, planner="optimal", pool_limits={"dtcm": 3_000, "sram": 3_000, "bram": 0, "ddr": 0}
    )
    with pytest.raises(CodegenError) as caught:
        build_model("ds_cnn", options, tmp_path / "build")
    assert caught.value.exit_code == 4
    assert {message.code for message in caught.value.messages} == {"E401"}


FORCED = (
    pytest.param(
        *("mps3-an547", "residual_pair", {"dtcm": 3_000, "bram": 0}, {"dtcm", "sram"}),
        marks=pytest.mark.thorough,
    ),
    ("mps3-an547", "ds_cnn", {"dtcm": 1_500, "sram": 4_000, "bram": 0}, {"dtcm", "ddr"}),
    pytest.param(
        *("mps3-an547", "residual_pair", {"dtcm": 1_500, "sram": 0, "bram": 1_500}, {"dtcm", "bram", "ddr"}),
        marks=pytest.mark.thorough,
    ),
    pytest.param(
        *("mps2-an505", "ds_cnn", {"sram": 1_000, "ssram3": 0, "psram": 0}, {"sram", "internal"}),
        marks=pytest.mark.thorough,
    ),
    pytest.param(
        *("mps2-an505", "person_detect", {"sram": 9_300, "internal": 0, "psram": 0}, {"sram", "ssram3"}),
        marks=pytest.mark.thorough,
    ),
    pytest.param(
        "mps2-an505",
        "residual_pair",
        {"sram": 1_500, "ssram3": 3_000, "internal": 2_800},
        {"sram", "ssram3", "internal"},
        marks=pytest.mark.thorough,
    ),
)


def check_buffers(built: Built, pools: set[str]) -> None:
    """The linked addresses of every buffer lie in the region of its pool, aligned as it needs."""
    program, found = built.models[0].program, addresses(built)
    assert set(found) == pools
    regions = {pool.name: built.board.region(pool.region) for pool in program.memory.problem.pools}
    checked = 0
    for buffer in program.memory.problem.buffers:
        if buffer.size_bytes:
            place = program.memory.plan.placements[buffer.id]
            start = found[place.pool][0] + place.offset
            region = regions[place.pool]
            assert region.start <= start and start + buffer.size_bytes <= region.end, buffer.id
            assert start % buffer.alignment == 0, buffer.id
            checked += 1
    assert checked == len([buffer for buffer in program.memory.problem.buffers if buffer.size_bytes]) > 0


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
    planned = {name: program.memory.peak_bytes(name) for name in pools}
    assert measured.result.cases[0].pool_peaks == planned
    assert all(planned[name] <= limits.get(name, planned[name]) for name in pools)


IMPATIENT = Patience(answer_seconds=0.5, tries=2, identify_tries=2, run_seconds=1.0)
"""With a program of one call; a core that locked up spins as long as somebody waits."""


def _why_not_emulated(folder: Path) -> str | None:
    """Why QEMU cannot run what uses CCM; None if memory is there. A program with its pool in CCM tells."""
    board = load_board("netduinoplus2")
    image = probe.firmware(folder, board, address=0x1000_0000, pool="ccm")
    try:
        with target_session(image, board, patience=IMPATIENT) as target:
            (case,) = target.run(probe.request("none", pool="ccm")).cases
    except CodegenError as error:
        return f"QEMU has no memory at 0x10000000: {error.messages[0].text}"
    return None if case.outputs == (probe.flipped(probe.case("none")),) else "QEMU reads no bytes back there"


def test_a_plan_in_ccm_is_built_and_linked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of an STM32F405: `build` uses the memory that the emulator lacks. It is run where QEMU maps it."""
    key = "resnet8"
    options = Options(board="netduinoplus2", pool_limits={"sram": 6_000})
    built = build([model_path(key)], options, tmp_path / "build", emulated=False)
    check_buffers(built, {"sram", "ccm"})
    ccm = addresses(built)["ccm"]
    assert ccm[0] == 0x1000_0000 and ccm[1] >= 12_288
    monkeypatch.setattr("codegen.board.machines.qemu._GREETING_SECONDS", 0.5)
    reason = _why_not_emulated(tmp_path / "probe")
    monkeypatch.undo()
    if reason is not None:
        pytest.skip(reason)
    cases = golden_cases(key)[:1]
    measured = execute(built, cases)
    assert complaints(built.models[0], cases, measured, built.image.sizes.stack_bound_bytes) == []
    assert np.all([output.matches for output in measured.comparisons[0]])


BOARDS = ("mps2-an385", "mps2-an386", "mps3-an547")
FEW_MODELS = ("ds_cnn", "residual_pair", "speech")
MODELS = (
    "ds_cnn",
    "mobilenet_v1",
    "resnet8",
    "separable_1d",
    "speech",
)


def trapping(board: str, folder: Path) -> str:
    """The board's file with unaligned words trapped, and nothing compiled to use them."""
    text = (resources.folder("boards") / f"{board}.toml").read_text(encoding="utf-8")
    flags = r'\g<0>"-mno-unaligned-access", "-DCG_TRAP_UNALIGNED", '
    changed, count = re.subn(r"compiler_flags = \[", flags, text)
    assert count == 1
    path = folder / f"{board}.toml"
    path.write_text(changed, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.sampled(1)
def test_the_trap_is_set(board: str, tmp_path: Path) -> None:
    """The same access passes where nothing is trapped."""
    for name, is_trapped in ((board, False), (trapping(board, tmp_path), True)):
        target = load_board(name)
        folder = tmp_path / str(is_trapped)
        folder.mkdir()
        image = probe.firmware(folder, target, address=0x6800_0000)
        pool = target.region(target.data_region).pool_name
        with target_session(image, target) as session:
            wanted = probe.request("unaligned", pool=pool)
            if is_trapped:
                with pytest.raises(CodegenError, match=r"E620.*unaligned access"):
                    session.run(wanted)
            else:
                session.run(wanted)


@pytest.mark.parametrize(
    ("board", "optimize"),
    [
        pytest.param(board, optimize, marks=() if row == column else pytest.mark.long)
        for row, board in enumerate(BOARDS)
        for column, optimize in enumerate(["balanced", "speed", "size"])
    ],
)
@pytest.mark.sampled(1)
def test_whole_models(board: str, optimize: Optimize, tmp_path: Path) -> None:
    options = Options(board=trapping(board, tmp_path), optimize=optimize)
    keys = MODELS if sampling.is_thorough else FEW_MODELS
    paths = [model_path(key) for key in keys]
    built = build(paths, options, tmp_path / "build", emulated=True)
    for index, key in enumerate(keys):
        cases = golden_cases(key)[:1]
        measured = execute(built, cases, model=index)
        assert complaints(built.models[index], cases, measured, None) == []


@pytest.mark.parametrize("count", [5, pytest.param(12, marks=pytest.mark.thorough)])
def test_random_depthwise_layers(count: int, tmp_path: Path) -> None:
    """Channels that are no multiple of four lie on any byte."""
    run_all(random_models(7, count), trapping("mps2-an386", tmp_path), tmp_path, "speed", images=1)
