"""A model over two memories: where the linker put the pools, and that results and peaks are as planned."""

import re
from pathlib import Path
from typing import Any

import pytest
from elftools.elf.elffile import ELFFile

from codegen import board as boards
from codegen import resources
from codegen.driver.build import Built
from codegen.driver.options import Options
from codegen.driver.report.single import report
from codegen.driver.run import complaints, execute
from codegen.errors import CodegenError
from codegen.plan.place.access import access_cost
from codegen.program.problem import peak_bytes
from tests.e2e.models import build_model, golden_cases

pytestmark = pytest.mark.qemu

BOARD = "mps3-an547"


def addresses(built: Built) -> dict[str, tuple[int, int]]:
    """Pool -> (address, bytes) of its array, as the ELF's own symbol table has them."""
    program = built.models[0].program
    names = {f"{program.name}_{pool.name}_pool": pool.name for pool in program.problem.pools}
    with built.image.path.open("rb") as file:
        table: Any = ELFFile(file).get_section_by_name(".symtab")
        symbols: list[Any] = list(table.iter_symbols())
    return {names[each.name]: (each["st_value"], each["st_size"]) for each in symbols if each.name in names}


def check(built: Built, key: str) -> None:
    """Every pool in its region and aligned as its buffers need; outputs and measured peaks as planned."""
    program = built.models[0].program
    found = addresses(built)
    for pool in program.problem.pools:
        here = [b for b in program.problem.buffers if program.plan.placements[b.id].pool == pool.name]
        assert (pool.name in found) == any(b.size_bytes for b in here)
        if pool.name in found:
            address, size_bytes = found[pool.name]
            region = built.board.region(pool.region)
            assert region.address <= address and address + size_bytes <= region.end
            assert address % max(pool.alignment, *(b.alignment for b in here)) == 0
            assert peak_bytes(program.problem, program.plan, pool.name) <= min(size_bytes, pool.limit_bytes)
    cases = golden_cases(key)[:1]
    measured = execute(built, cases)
    assert complaints(built.models[0], cases, measured, built.image.sizes.stack_bound_bytes) == []
    assert {case_pool for case in measured.result.cases for case_pool in case.pool_peaks} == set(found)


@pytest.mark.parametrize(
    ("key", "dtcm"), [("mlperf_tiny/kws_ref_model", 6_000), ("mlperf_tiny/pretrainedResnet_quant", 9_000)]
)
def test_a_limit_sends_buffers_to_the_other_memory(key: str, dtcm: int, tmp_path: Path) -> None:
    options = Options(board=BOARD, planner="optimal", pool_limits={"dtcm": dtcm})
    built = build_model(key, options, tmp_path / "build")
    program = built.models[0].program
    assert set(addresses(built)) == {"dtcm", "sram"}
    check(built, key)
    document: Any = report(program, BOARD, 0)
    plan = document["plan"]
    cost = access_cost(program.problem, program.plan)
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
    key = "mlperf_tiny/kws_ref_model"
    options = Options(board=str(board), planner="optimal", pool_limits={"dtcm": 6_000})
    built = build_model(key, options, tmp_path / "build")
    assert boards.load_board(str(board)).pool_alignment_bytes == 16
    assert {address % 256 for address, _ in addresses(built).values()} == {0}
    assert len(addresses(built)) == 2
    check(built, key)
    assert (built.folder / "kws_ref_model.c").read_text(encoding="utf-8").count("CG_ALIGNED(256)") == 2


def test_two_memories_that_are_too_small_together(tmp_path: Path) -> None:
    options = Options(
        board=BOARD, planner="optimal", pool_limits={"dtcm": 3_000, "sram": 3_000, "bram": 0, "ddr": 0}
    )
    with pytest.raises(CodegenError) as caught:
        build_model("mlperf_tiny/kws_ref_model", options, tmp_path / "build")
    assert caught.value.exit_code == 4
    assert {message.code for message in caught.value.messages} == {"E401"}
