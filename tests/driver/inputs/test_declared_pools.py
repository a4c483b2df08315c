"""Pools that a user declares in a board's memories: `--pool NAME=BYTES@ADDRESS`, `[[pool]]`."""

from dataclasses import replace
from pathlib import Path

import pytest

from codegen.board import load_board
from codegen.cli.options.flags import declared_pools, pool_limits
from codegen.cli.options.project_file import settings
from codegen.driver.build import build
from codegen.driver.inputs.cases import pattern_case
from codegen.driver.inputs.declared_pools import DeclaredPool, with_pools
from codegen.driver.options import Options
from codegen.driver.planning import planning_board
from codegen.driver.run import complaints, execute
from codegen.errors import CodegenError
from tests.testdata import model_path

BOARD = load_board("netduinoplus2")
"""SRAM of 128 KiB at 0x20000000 with stack and data, CCM of 64 KiB at 0x10000000."""


def _pool(name: str, address: int, size_bytes: int = 4096) -> DeclaredPool:
    return DeclaredPool(name=name, address=address, size_bytes=size_bytes)


def _regions(*pools: DeclaredPool) -> list[tuple[str, int, int]]:
    return [(each.name, each.address, each.end) for each in with_pools(BOARD, pools).regions if each.writable]


def test_a_part_of_a_region_becomes_a_pool_behind_it() -> None:
    assert _regions(_pool("spare", 0x20010000)) == [
        ("SRAM", 0x20000000, 0x20010000),  # the first piece: stack and data are there
        ("SPARE", 0x20010000, 0x20011000),
        ("CCM", 0x10000000, 0x10010000),
    ]
    assert _regions(_pool("a", 0x10001000), _pool("b", 0x1000E000)) == [
        ("SRAM", 0x20000000, 0x20020000),
        ("CCM", 0x10002000, 0x1000E000),  # the largest piece
        ("A", 0x10001000, 0x10002000),
        ("B", 0x1000E000, 0x1000F000),
    ]
    assert _regions(_pool("all", 0x10000000, 0x10000))[1:] == [("ALL", 0x10000000, 0x10010000)]


@pytest.mark.parametrize(
    ("pools", "code", "text"),
    [
        (
            [_pool("spare", 0x30000000)],
            "E258",
            "is no part of a writable memory of netduinoplus2: none has 0x30000000 to 0x30001000",
        ),
        (
            [_pool("spare", 0x2001F800)],
            "E258",
            "is no part of a writable memory of netduinoplus2: 0x2001f800 to 0x20020800 goes beyond SRAM",
        ),
        (
            [_pool("spare", 0x08010000)],
            "E258",
            "is no part of a writable memory of netduinoplus2: none has 0x08010000 to 0x08011000",
        ),
        ([_pool("ccm", 0x20010000)], "E258", "a pool cannot be called ccm: it is taken, or not lower case"),
        ([_pool("A", 0x20010000)], "E258", "a pool cannot be called A: it is taken, or not lower case"),
        (
            [_pool("length", 0x20010000)],
            "E258",
            "a pool cannot be called length: linker scripts have another use for the word",
        ),
        ([_pool("a", 0x20010000, 0)], "E258", "has no bytes"),
        ([_pool("a", 0x20010008)], "E258", "does not begin and end at multiples of 16 bytes"),
        (
            [_pool("a", 0x20010000), _pool("b", 0x20010800)],
            "E258",
            "overlaps another declared pool, --pool a=4096@0x20010000",
        ),
        (
            [_pool("a", 0x20000400)],
            "E259",
            f"leaves 1024 bytes of SRAM, the test firmware needs {BOARD.reserved_bytes}",
        ),
    ],
)
def test_what_cannot_be_declared(pools: list[DeclaredPool], code: str, text: str) -> None:
    with pytest.raises(CodegenError) as caught:
        with_pools(BOARD, pools)
    assert [(message.code, message.text) for message in caught.value.messages] == [(code, text)]


def test_words_and_tables(tmp_path: Path) -> None:
    words = ["sram=100", "spare=4096@0x20010000", "more=16@536944640"]
    assert pool_limits(words) == {"sram": 100}
    assert declared_pools(words) == (_pool("spare", 0x20010000), _pool("more", 0x20012000, 16))
    with pytest.raises(CodegenError, match="--pool spare=1@x is not NAME=BYTES"):
        declared_pools(["spare=1@x"])
    (tmp_path / "codegen.toml").write_text(
        '[[pool]]\nname = "spare"\nsize = 4096\naddress = 0x20010000\n[[pool]]\nname = "sram"\nsize = 100\n'
    )
    assert settings(tmp_path).defaults == {"pool": ["spare=4096@536936448", "sram=100"]}
    (tmp_path / "codegen.toml").write_text('[[pool]]\nname = "spare"\nsize = "4k"\naddress = "0x20010000"\n')
    assert settings(tmp_path).defaults == {"pool": ["spare=4096@536936448"]}
    (tmp_path / "codegen.toml").write_text('[[pool]]\nname = "spare"\nsize = 4.5\n')
    with pytest.raises(CodegenError, match=r"codegen.toml, line 3, pool 1: size must be a size: .* got 4.5"):
        settings(tmp_path)


def test_a_pool_that_is_not_aligned_is_told_what_lies_inside() -> None:
    """Whoever is told to round wants to know to what: the words offered are accepted."""
    with pytest.raises(CodegenError) as caught:
        with_pools(BOARD, [_pool("a", 0x20010008)])
    help_ = caught.value.messages[0].help or ""
    assert help_ == "round address and size: --pool a=4080@0x20010010 lies inside it"
    [offered] = declared_pools([help_.split()[5]])
    assert _regions(offered)[1] == ("A", 0x20010010, 0x20011000)
    with pytest.raises(CodegenError, match="round address and size to multiples of 16"):
        with_pools(BOARD, [_pool("a", 0x20010008, 8)])


def test_provenance_says_what_was_declared() -> None:
    options = replace(Options(board="stm32"), pools=(_pool("spare", 0x20010000),))
    assert "--pool spare=4096@0x20010000" in options.spelled


@pytest.mark.qemu
@pytest.mark.parametrize("board", ["netduinoplus2", "mps2-an386"])
def test_a_model_runs_in_a_declared_pool(board: str, tmp_path: Path) -> None:
    """All of it: its linked address, its measured peak; nothing in the memory around it."""
    pool = _pool("spare", 0x20018000, 16_384)
    others = {"sram": 0, "ccm": 0} if board == "netduinoplus2" else {"sram": 0, "psram": 0}
    limits = {name: size for name, size in others.items() if name != "ccm"}
    options = Options(board=board, pools=(pool,), pool_limits=limits)
    built = build([model_path("mlperf_tiny/kws_ref_model")], options, tmp_path / "out", emulated=True)
    address, size_bytes = built.image.symbols["kws_ref_model_spare_pool"]
    assert pool.address <= address and address + size_bytes <= pool.end
    [used] = built.bundle.pools
    assert (used.name, used.region, used.section) == ("spare", "SPARE", ".bss.cg.spare")
    program = built.models[0].program
    cases = [pattern_case([tensor.type for tensor in program.inputs], 3)]
    measured = execute(built, cases)
    assert not complaints(built.models[0], cases, measured, built.image.sizes.stack_bound_bytes)


def test_a_pool_needs_a_board() -> None:
    with pytest.raises(
        CodegenError, match=r"E258\] --pool a=4096@0x20010000: there is no board in whose memory"
    ):
        planning_board(Options(board="", pools=(_pool("a", 0x20010000),)))
