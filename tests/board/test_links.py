"""Every board's linker script and start-up code build: the shipped example on each, many boards a test.

Boards of one core compile the same kernels: an object is compiled once and copied for the next board.
"""

import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

from codegen.board import boards
from codegen.driver.build import Built, build
from codegen.driver.example import example_model
from codegen.driver.options import Options
from codegen.ir import Board, Runner
from codegen.toolchain.gcc import Compiler, Place, Unit

_BUILT_ONLY = [board for board in boards() if board.runner is Runner.NONE]
_CORES = sorted({board.target.cpu for board in _BUILT_ONLY})


def _code(path: Path) -> str:
    """Text of a C file without the comment that names the board it was generated for."""
    return "\n".join(line for line in path.read_text().splitlines() if "--board" not in line)


@pytest.fixture(autouse=True)
def shared_objects(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Compile what was not compiled from the same text with the same headers and options before."""
    compile_all = Compiler.compile
    kept: dict[tuple[object, ...], Path] = {}

    def compile_new(self: Compiler, units: Iterable[Unit], place: Place) -> None:
        headers = tuple((path.name, _code(path)) for path in sorted(place.folder.rglob("*.h")))
        keys = {
            unit: (self.options, unit.options, unit.source, _code(place.folder / unit.source), headers)
            for unit in units
        }
        compile_all(self, [unit for unit, key in keys.items() if key not in kept], place)
        for unit, key in keys.items():
            known = kept.setdefault(key, tmp_path / f"kept{len(kept)}.o")
            for suffix in (".o", ".su"):
                ours, theirs = unit.object.with_suffix(suffix), known.with_suffix(suffix)
                if ours.exists():
                    shutil.copyfile(ours, theirs)
                elif theirs.exists():
                    shutil.copyfile(theirs, ours)

    monkeypatch.setattr(Compiler, "compile", compile_new)


def _build(board: str, folder: Path, **pool_limits: int) -> Built:
    return build([example_model()], Options(board=board, pool_limits=pool_limits), folder)


def _within(built: Built, board: Board) -> None:
    """Nothing that is loaded or reserved lies outside the board's memories, nor at address 0 of RAM."""
    regions = [(region.start, region.end) for region in board.regions]
    for name, (address, size_bytes) in built.image.sections.items():
        if size_bytes:
            assert any(start <= address and address + size_bytes <= end for start, end in regions), name


@pytest.mark.parametrize("core", _CORES)
def test_every_board_that_is_built_only_links(core: str, tmp_path: Path) -> None:
    for board in _BUILT_ONLY:
        if board.target.cpu == core:
            built = _build(board.name, tmp_path / board.name)
            _within(built, board)
            code = board.region(board.code_region)
            assert code.address <= built.image.symbols["vectors"][0] < code.address + 0x200
            assert built.image.sizes.model_code_bytes > 0


def test_a_pool_in_memory_at_address_0_does_not_begin_there(tmp_path: Path) -> None:
    """NULL would be a buffer's address: the accessors and `<model>_run` take NULL for none."""
    built = _build("nucleo-h743zi", tmp_path / "out", dtcm=0, axi=0, sram1=0, sram2=0, sram3=0, sram4=0)
    address, size_bytes = built.image.symbols["digits_itcm_pool"]
    assert address >= 32 and size_bytes > 0
    plan = built.models[0].program.problem
    (pool,) = [pool for pool in plan.pools if pool.name == "itcm"]
    assert pool.limit_bytes == (64 << 10) - 32


def test_what_the_boot_rom_looks_for_follows_the_vectors(tmp_path: Path) -> None:
    """RP2350 Datasheet, 5.9.5.1: within the first 4 KiB of the flash."""
    built = _build("rpi-pico2", tmp_path / "out")
    address, size_bytes = built.image.symbols["boot_words"]
    assert size_bytes == 20 and 0x1000_0000 < address < 0x1000_1000
