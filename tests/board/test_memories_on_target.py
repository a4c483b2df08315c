"""The test firmware built anew for single tests: pools in every memory, registers and caches set up.

Apart from test_target.py, whose firmware waits in a loop for requests as long as tests follow there.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from codegen.board import load_board, run
from codegen.board.link.linked_board import target_session
from codegen.errors import CodegenError
from codegen.ir import Cache, CacheKind, RegisterWrite
from tests.board import probe

pytestmark = pytest.mark.qemu
NOT_THERE = 0x6800_0000


@pytest.mark.parametrize(
    ("name", "pool"),
    [
        ("mps2-an386", "psram"),
        ("mps2-an500", "psram"),
        *(("mps2-an505", pool) for pool in ("ssram3", "internal", "psram")),
        *(("mps2-an521", pool) for pool in ("ssram3", "internal", "psram")),
        *(("mps3-an547", pool) for pool in ("sram", "bram", "ddr")),
    ],
)
def test_pools_outside_the_data_region(name: str, pool: str, tmp_path: Path) -> None:
    board = load_board(name)
    image = probe.firmware(tmp_path, board, address=NOT_THERE, pool=pool)
    with target_session(image, board) as target:
        case, behind = target.run(probe.request("none", "behind", pool=pool)).cases
        assert case.pool_peaks == {pool: probe.PEAK_BYTES} and case.guards_intact and not behind.guards_intact
        with pytest.raises(CodegenError, match=r"E620\] step 1 flip: .*memory that is closed"):
            target.run(probe.request("near", pool=pool))


@pytest.mark.parametrize("name", ["mps2-an500", "mps3-an547"])
def test_registers_and_caches_are_set_up_before_anything_else(name: str, tmp_path: Path) -> None:
    """QEMU has no caches: this shows that turning them on runs to its end, and that the firmware still works.
    The last word of RAM is a register here: without the write, the wait that follows never ends."""
    board = load_board(name)
    word = board.region(board.data_region).end - 4
    board = replace(
        board,
        caches=(
            Cache(kind=CacheKind.INSTRUCTION, size_bytes=16384, line_bytes=32),
            Cache(kind=CacheKind.DATA, size_bytes=16384, line_bytes=32),
        ),
        setup=(
            RegisterWrite(address=word, clear=0xFFFF_FFFF, set=0x8000_0080, why="both bits"),
            RegisterWrite(address=word, clear=0x8000_0000, why="one left"),
            RegisterWrite(address=word, wait=0x80, why="it stayed"),
        ),
    )
    image = probe.firmware(tmp_path, board, address=NOT_THERE)
    pool = board.region(board.data_region).pool_name
    result = run(image, board, probe.request("none", pool=pool))
    assert result.cases[0].outputs == (probe.flipped(probe.case("none")),)
    assert result.cases[0].pool_peaks == {pool: probe.PEAK_BYTES}
