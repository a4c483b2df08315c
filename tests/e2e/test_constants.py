"""Constants of real models: padding, where the linker put them, and copies in faster memory, run on QEMU.
Models whose constants exceed the flash: compressed where needed, run on QEMU against goldens.
Models with kernels of fewer constant bytes, taken for a limit of flash, on QEMU against goldens.
"""

from pathlib import Path
from typing import Any, cast

import pytest
from elftools.elf.elffile import ELFFile

from codegen.board import load_board
from codegen.driver.build import Built, Share, plan_model
from codegen.driver.checks.fit import telling
from codegen.driver.options import Options
from codegen.driver.report.single import compressed_report, report
from codegen.driver.run import Measured, RunConditions, complaints, execute
from codegen.emit.c.spelling import constant_pool, pool_array
from codegen.errors import CodegenError
from codegen.ir.rules import ConstantRule
from codegen.joint import together
from codegen.problem.problem import BufferKind
from codegen.program.image import Trace
from codegen.program.interface import EntryMode, Interface
from codegen.program.program import Program
from codegen.settings import StageMode
from codegen.toolchain import Optimize
from tests.e2e.limited_flash import check_limited
from tests.e2e.models import ALL_MODELS, build_model, golden_cases
from tests.networks import model_path

BOARD = "mps3-an547"
KWS = "ds_cnn"
RESNET = "resnet8"


@pytest.mark.parametrize("key", ALL_MODELS)
@pytest.mark.sampled(8)
def test_padding_is_at_most_one_percent(key: str) -> None:
    program = plan_model(model_path(key), load_board("mps2-an386"), Options(board="mps2-an386")).program
    total = program.constants.size_bytes
    unique = sum(pool.unique_bytes for pool in program.constants.pools)
    contents = [member.data.tobytes() for pool in program.constants.pools for member in pool.members]
    assert len(set(contents)) == len(contents)
    assert unique == sum(len(content) for content in contents)
    # A C struct ends at a multiple of its widest element: at most 3 bytes.
    assert total <= max(1.01 * unique, unique + 3)


def check_linked(built: Built) -> None:
    """Every constant lies in its region, at its alignment, with its bytes: read from the ELF alone."""
    bundle = together([model.program for model in built.models])
    with built.image.path.open("rb") as file:
        elf = ELFFile(file)
        table: Any = elf.get_section_by_name(".symtab")
        symbols: dict[str, Any] = {each.name: each for each in table.iter_symbols()}
        assert bundle.constants
        for pool in bundle.constants:
            symbol = symbols[pool_array(bundle, constant_pool(bundle, pool))]
            address, region = symbol["st_value"], built.board.region(pool.region)
            assert region.address <= address and address + pool.size_bytes <= region.end
            assert symbol["st_size"] == pool.size_bytes
            section: Any = elf.get_section(symbol["st_shndx"])
            assert address % pool.alignment == 0 and section["sh_addr"] % 4 == 0
            data = section.data()[address - section["sh_addr"] :]
            for member in pool.members:
                assert (address + member.offset) % member.alignment == 0
                content = member.data.tobytes()
                assert data[member.offset : member.offset + len(content)] == content


def check_run(built: Built, key: str) -> None:
    """Outputs equal to the goldens, measured peaks equal to the plan's."""
    cases = golden_cases(key)[:2]
    measured = execute(built, cases)
    assert complaints(built.models[0], cases, measured, built.image.sizes.stack_bound_bytes) == []


@pytest.mark.qemu
def test_a_limit_sends_the_least_read_constants_to_the_slow_flash(tmp_path: Path) -> None:
    options = Options(board=BOARD, stage="off", pool_limits={"itcm": 8_000})
    built = build_model(KWS, options, tmp_path / "build")
    itcm, qspi = built.models[0].program.constants.pools
    assert (itcm.name, qspi.name) == ("itcm", "qspi")
    assert itcm.size_bytes <= 8_000
    lowest = min(member.reads for member in itcm.members)
    fitting = [member for member in qspi.members if member.data.nbytes <= 8_000 - itcm.size_bytes]
    assert all(member.reads <= lowest for member in fitting)
    check_linked(built)
    check_run(built, KWS)


@pytest.mark.qemu
def test_rules_of_the_user_choose_the_memory(tmp_path: Path) -> None:
    rules = (
        ConstantRule(memory="qspi", op="FULLY_CONNECTED"),
        ConstantRule(memory="qspi", larger_than=4_000),
    )
    options = Options(board=BOARD, optimize="speed", stage="off", constant_rules=rules)
    built = build_model(KWS, options, tmp_path / "build")
    itcm, qspi = built.models[0].program.constants.pools
    assert all(member.data.nbytes <= 4_000 for member in itcm.members)
    users = {user for member in qspi.members for user, _ in member.users}
    assert {"fc11", "conv2", "conv4"} <= users
    check_linked(built)
    check_run(built, KWS)


def test_what_does_not_fit_the_constant_pools_is_told() -> None:
    options = Options(board=BOARD, pool_limits={"itcm": 1_000, "qspi": 9_000})
    with pytest.raises(CodegenError) as caught, telling():
        plan_model(model_path(KWS), load_board(BOARD), options, emulated=True)
    (message,) = caught.value.messages
    assert (message.code, message.where) == ("E402", "constant pool itcm, qspi")
    assert "the limit is 1000 + 9000; the biggest are" in message.text


@pytest.mark.covering
@pytest.mark.qemu
@pytest.mark.parametrize("key", [KWS, RESNET])
@pytest.mark.parametrize("optimize", ["speed", "balanced"])
@pytest.mark.parametrize("stage", ["auto", "use"])
@pytest.mark.sampled(1)
def test_hot_weights_of_the_slow_flash_are_staged(
    key: str, optimize: Any, stage: Any, tmp_path: Path
) -> None:
    """The weights lie in QSPI flash; copies lie in DTCM, in the plan, and nothing else changes."""
    options = Options(board=BOARD, optimize=optimize, stage=stage, pool_limits={"itcm": 0})
    built = build_model(key, options, tmp_path / "build")
    program = built.models[0].program
    check_linked(built)
    check_run(built, key)
    document: Any = report(built.models[0], BOARD)
    staged, costs = document["constants"]["staged"], program.constants.costs
    assert [pool["name"] for pool in document["constants"]["pools"]] == ["qspi"]
    assert staged["bytes"] == sum(each["bytes"] for each in staged["constants"])
    assert costs.bound <= costs.chosen <= costs.linked
    plain = plan_model(
        model_path(key), load_board(BOARD), Options(board=BOARD, optimize=optimize, stage="off")
    ).program
    peaks = [each.memory.peak_bytes("dtcm") for each in (plain, program)]
    copies = [buffer for buffer in program.memory.problem.buffers if buffer.kind is BufferKind.CONSTANT]
    assert len(copies) == len(staged["constants"])
    if optimize == "balanced":
        assert peaks[0] == peaks[1]
    else:
        assert staged["bytes"] > 20_000
        assert costs.chosen < costs.linked // 4
        assert (staged["start_bytes"] == staged["bytes"]) == (stage == "auto")
        assert staged["copies_per_inference"] == (0 if stage == "auto" else len(copies))


@pytest.mark.parametrize("board", ["mps2-an386", BOARD])
def test_nothing_is_staged_where_it_does_not_pay(board: str) -> None:
    """One access cost, or room for all constants in the fast memory."""
    options = Options(board=board, optimize="speed")
    program = plan_model(
        model_path(KWS), load_board(board), options, emulated=True, share=Share(alone=True)
    ).program
    assert program.constants.staged == ()
    assert program.constants.costs.chosen == program.constants.costs.linked


AD01 = "autoencoder"
MICROBIT_BYTES = 262_144
V6M = "benchmarks/boards/mps2-an385-v6m.toml"


def peaks(program: Program) -> dict[str, int]:
    pools = program.memory.problem.pools
    return {pool.name: program.memory.peak_bytes(pool.name) for pool in pools}


def measured_run(built: Built, key: str) -> Measured:
    """Outputs equal to the goldens, measured peaks equal to the plan's."""
    cases = golden_cases(key)[:2]
    measured = execute(built, cases, RunConditions(trace=Trace.COST))
    assert complaints(built.models[0], cases, measured, built.image.sizes.stack_bound_bytes) == []
    return measured


def same_kernels(program: Program, other: Program) -> set[int]:
    """Steps that run the kernels that they run in `other`."""
    pairs = zip(program.steps.prim_funcs, other.steps.prim_funcs, strict=True)
    return {step for step, (prim, another) in enumerate(pairs) if prim.kernel == another.kernel}


def check_predicted(program: Program, measured: Measured, plain: Measured, steps: set[int]) -> None:
    """What decoding adds to each of these steps, within 5 % of what is predicted."""
    before = {each.step: each.instructions for each in plain.result.trace}
    after = {each.step: each.instructions for each in measured.result.trace}
    predicted: dict[int, int] = {}
    for copy in program.constants.unpacked:
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
        pytest.param(AD01, "mps2-an386", "size", {"flash": 210_000}, marks=pytest.mark.long),
        # Whole layers: as far as there is RAM, speed comes first.
        pytest.param(AD01, "mps2-an386", "speed", {"flash": 250_000}, marks=pytest.mark.thorough),
        pytest.param(AD01, V6M, "balanced", {"flash": 260_000}, marks=pytest.mark.long),
        # Beside kernels with fewer constants, which alone are enough for a little less.
        pytest.param(AD01, V6M, "speed", {"flash": 260_000}, marks=pytest.mark.thorough),
        pytest.param(AD01, V6M, "size", {"flash": 250_000}, marks=pytest.mark.thorough),
        # Two constant pools, neither of which holds what is left.
        (AD01, "mps3-an547", "balanced", {"itcm": 100_000, "qspi": 120_000}),
        # Constants of blocks, and beside each other in a step.
        (RESNET, "mps2-an386", "balanced", {"flash": 78_000}),
    ],
)
@pytest.mark.sampled(1)
def test_what_exceeds_the_flash_runs_compressed(
    key: str, board: str, optimize: Optimize, limits: dict[str, int], tmp_path: Path
) -> None:
    plain = build_model(
        key, Options(board=board, optimize=optimize, stage="off", compress="off"), tmp_path / "plain"
    )
    options = Options(board=board, optimize=optimize, stage="off", pool_limits=limits)
    built = build_model(key, options, tmp_path / "packed")
    before, program = plain.models[0].program, built.models[0].program
    assert program.constants.unpacked and program.constants.compression is not None
    for pool in program.constants.pools:
        assert pool.size_bytes <= limits[pool.name]
    assert before.constants.size_bytes > sum(limits.values())
    same = same_kernels(program, before)
    if len(same) == len(program.steps.prim_funcs):
        assert program.constants.compression.original_bytes == before.constants.size_bytes
    else:
        assert program.constants.compression.original_bytes < before.constants.size_bytes
    if optimize != "speed" and len(same) == len(program.steps.prim_funcs):
        raised = [after - peaks(before)[pool] for pool, after in peaks(program).items()]
        assert max(raised) <= program.constants.compression.raised_bytes
    check_predicted(program, measured_run(built, key), measured_run(plain, key), same)


@pytest.mark.qemu
def test_a_limit_that_is_met_changes_nothing(tmp_path: Path) -> None:
    options = Options(board="mps2-an386", pool_limits={"flash": 280_912})
    program = build_model(AD01, options, tmp_path / "build").models[0].program
    assert (
        program.constants.compression is None
        and not program.constants.unpacked
        and program.constants.size_bytes == 280_912
    )


@pytest.mark.qemu
def test_steps_of_their_own_decode_what_they_read(tmp_path: Path) -> None:
    """With `--entry steps` every step is a function."""
    interface = Interface(entry=EntryMode.STEPS)
    options = Options(board="mps2-an386", interface=interface, pool_limits={"flash": 240_000})
    built = build_model(AD01, options, tmp_path / "build")
    assert built.models[0].program.constants.unpacked
    measured_run(built, AD01)


@pytest.mark.qemu
def test_constants_that_leave_the_code_no_room_are_compressed(tmp_path: Path) -> None:
    """297,632 bytes for a micro:bit with 262,144 bytes of flash, of which code takes some too."""
    built = build_model(AD01, Options(board="microbit"), tmp_path / "build")
    program = built.models[0].program
    sizes = built.image.sizes
    assert program.constants.size_bytes < MICROBIT_BYTES - sizes.text_bytes
    assert MICROBIT_BYTES - 4096 < sizes.text_bytes + sizes.rodata_bytes + sizes.data_bytes <= MICROBIT_BYTES
    measured_run(built, AD01)


@pytest.mark.qemu
@pytest.mark.parametrize("stage", ["use", "auto"])
@pytest.mark.sampled(1)
def test_copies_go_around_what_is_decoded(stage: StageMode, tmp_path: Path) -> None:
    """Constants that are stored as they are may be staged as well, in other bytes."""
    limits = {"itcm": 10_000, "qspi": 67_500}
    options = Options(board="mps3-an547", optimize="speed", stage=stage, pool_limits=limits)
    built = build_model(RESNET, options, tmp_path / "build")
    program = built.models[0].program
    assert program.constants.unpacked and program.constants.copied
    assert not {copy.user for copy in program.constants.unpacked} & {
        copy.user for copy in program.constants.copied
    }
    kinds = {buffer.id: buffer.kind for buffer in program.memory.problem.buffers}
    assert all(kinds[copy.buffer] is BufferKind.CONSTANT for copy in program.constants.staged)
    measured_run(built, RESNET)


@pytest.mark.qemu
def test_the_report_has_what_is_stored_and_what_it_costs(tmp_path: Path) -> None:
    options = Options(board="mps2-an386", pool_limits={"flash": 250_000})
    program = build_model(AD01, options, tmp_path / "build").models[0].program
    found = compressed_report(program)
    rows = cast(list[dict[str, Any]], found["constants"])
    assert rows
    stored = {prim.name: each for prim in program.steps.prim_funcs for each in prim.constants}
    for row in rows:
        assert row["stored_bytes"] == stored[row["name"]].data.nbytes < row["bytes"]
        assert row["buffer_bytes"] * row["pieces"] == row["bytes"]
    assert found["original_bytes"] == 280_912
    assert found["instructions"] == sum(row["instructions"] for row in rows) == found["instructions_bound"]
    saved = sum(row["bytes"] - row["stored_bytes"] for row in rows)
    assert program.constants.size_bytes == 280_912 - saved // 4 * 4


VWW = "mobilenet_v1"


@pytest.mark.qemu
@pytest.mark.parametrize(
    ("key", "optimize", "flash", "most"),
    [
        # There is no room for the depthwise kernels by lines, 1,088 bytes a layer more than the slowest ones,
        # which take 1.42 times the instructions.
        (KWS, "speed", 28_672, 3_255_000),
        (KWS, "balanced", 28_672, 3_305_000),
        (KWS, "size", 28_672, 3_430_000),
    ],
)
@pytest.mark.sampled(1)
@pytest.mark.thorough
def test_smaller_kernels_compute_the_same(
    key: str, optimize: Optimize, flash: int, most: int, tmp_path: Path
) -> None:
    """The plan is what is measured, with as few instructions as today, and not fewer than without a limit."""
    check_limited(model_path(key), golden_cases(key)[:2], optimize, flash, most, tmp_path)
