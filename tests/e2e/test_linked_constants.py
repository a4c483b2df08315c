"""Constants of real models: padding, where the linker put them, and copies in faster memory, run on QEMU."""

from pathlib import Path
from typing import Any

import pytest
from elftools.elf.elffile import ELFFile

from codegen.board import load_board
from codegen.driver.build import Built, plan_model
from codegen.driver.checks.fit import telling
from codegen.driver.options import Options
from codegen.driver.report.single import report
from codegen.driver.run import complaints, execute
from codegen.emit.c.spelling import constant_pool, pool_array
from codegen.errors import CodegenError
from codegen.plan.constants.constant_rules import ConstantRule
from codegen.plan.models.bundling import together
from codegen.program.problem import BufferKind, peak_bytes
from tests.e2e.models import ALL_MODELS, build_model, golden_cases
from tests.testdata import model_path

BOARD = "mps3-an547"
KWS = "mlperf_tiny/kws_ref_model"
RESNET = "mlperf_tiny/pretrainedResnet_quant"


@pytest.mark.parametrize("key", ALL_MODELS)
def test_padding_is_at_most_one_percent(key: str) -> None:
    program = plan_model(model_path(key), load_board("mps2-an386"), Options(board="mps2-an386")).program
    total = sum(pool.size_bytes for pool in program.constants)
    unique = sum(pool.unique_bytes for pool in program.constants)
    contents = [member.data.tobytes() for pool in program.constants for member in pool.members]
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
    itcm, qspi = built.models[0].program.constants
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
    itcm, qspi = built.models[0].program.constants
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


@pytest.mark.qemu
@pytest.mark.parametrize("key", [KWS, RESNET])
@pytest.mark.parametrize("optimize", ["speed", "balanced"])
@pytest.mark.parametrize("stage", ["auto", "use"])
def test_hot_weights_of_the_slow_flash_are_staged(
    key: str, optimize: Any, stage: Any, tmp_path: Path
) -> None:
    """The weights lie in QSPI flash; copies lie in DTCM, in the plan, and nothing else changes."""
    options = Options(board=BOARD, optimize=optimize, stage=stage, pool_limits={"itcm": 0})
    built = build_model(key, options, tmp_path / "build")
    program = built.models[0].program
    check_linked(built)
    check_run(built, key)
    document: Any = report(program, BOARD, 0)
    staged, costs = document["constants"]["staged"], program.constant_costs
    assert [pool["name"] for pool in document["constants"]["pools"]] == ["qspi"]
    assert staged["bytes"] == sum(each["bytes"] for each in staged["constants"])
    assert costs.bound <= costs.chosen <= costs.linked
    plain = plan_model(
        model_path(key), load_board(BOARD), Options(board=BOARD, optimize=optimize, stage="off")
    ).program
    peaks = [peak_bytes(each.problem, each.plan, "dtcm") for each in (plain, program)]
    copies = [buffer for buffer in program.problem.buffers if buffer.kind is BufferKind.CONSTANT]
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
    program = plan_model(model_path(KWS), load_board(board), options, emulated=True, alone=True).program
    assert program.staged == ()
    assert program.constant_costs.chosen == program.constant_costs.linked
