"""Every board's linker script and start-up code build: a small network on each, many boards a test.

Boards of one core compile the same kernels: an object is compiled once and copied for the next board.
"""

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from codegen.board import boards
from codegen.driver.build import Built, build
from codegen.driver.inputs.files import example_model
from codegen.driver.options import Options
from codegen.ir import Board, Runner
from codegen.toolchain.gcc import CompilePlace, Compiler, CompileUnit
from tests.networks import model_path
from tests.sampling import covering

_BUILT_ONLY = [board for board in boards() if board.runner is Runner.NONE]


def _facts(board: Board) -> set[tuple[str, str]]:
    """What of a board decides about the files of its firmware."""
    drivers = {"uart": board.uart, "counter": board.counter, "stage": board.boot_stage}
    facts: dict[str, object] = {name: getattr(part, "driver", part) for name, part in drivers.items()}
    facts |= {"cpu": board.target.cpu, "flags": board.target.compiler_flags, "mpu": board.mpu}
    facts |= {"startup": board.startup, "caches": board.caches, "words": bool(board.boot_words)}
    facts |= {"setup": bool(board.setup), "holes": bool(board.holes), "second": board.second_core is None}
    return {(name, repr(value)) for name, value in facts.items()}


_IN_SUITE = covering([_facts(board) for board in _BUILT_ONLY])
"""Boards among those that are built only: all facts of their firmware occur."""
_LINKED = {
    cpu: [(number in _IN_SUITE, board) for number, board in enumerate(_BUILT_ONLY) if board.target.cpu == cpu]
    for cpu in sorted({board.target.cpu for board in _BUILT_ONLY})
}


def _code(path: Path) -> str:
    """Text of a C file without the comment that names the board it was generated for."""
    return "\n".join(line for line in path.read_text().splitlines() if "--board" not in line)


@pytest.fixture
def shared_objects(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Compile what was not compiled from the same text with the same headers and options before."""
    compile_all = Compiler.compile
    kept: dict[tuple[object, ...], Path] = {}

    def compile_new(self: Compiler, units: Iterable[CompileUnit], place: CompilePlace) -> None:
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


def _build(board: str, folder: Path, model: Path | None = None, **pool_limits: int) -> Built:
    return build([model or example_model()], Options(board=board, pool_limits=pool_limits), folder)


def _within(built: Built, board: Board) -> None:
    """Nothing that is loaded or reserved lies outside the board's memories, nor at address 0 of RAM."""
    regions = [(region.start, region.end) for region in board.regions]
    for name, (address, size_bytes) in built.image.sections.items():
        if size_bytes:
            assert any(start <= address and address + size_bytes <= end for start, end in regions), name


@pytest.mark.usefixtures("shared_objects")
@pytest.mark.parametrize(
    "linked",
    [
        pytest.param(
            [board for in_suite, board in listed if in_suite == is_chosen],
            id=cpu if is_chosen else f"more of {cpu}",
            marks=() if is_chosen else pytest.mark.thorough,
        )
        for cpu, listed in _LINKED.items()
        for is_chosen in sorted({in_suite for in_suite, _ in listed})
    ],
)
def test_every_board_that_is_built_only_links(linked: Sequence[Board], tmp_path: Path) -> None:
    for board in linked:
        built = _build(board.name, tmp_path / board.name, model_path("dense_chain"))
        _within(built, board)
        code = board.region(board.code_region)
        symbols = built.image.symbols
        start, _ = symbols["vectors"] if "vectors" in symbols else symbols["cg_reset"]
        assert code.address <= start < code.address + 0x200
        assert built.image.sizes.model_code_bytes > 0


def test_a_pool_in_memory_at_address_0_does_not_begin_there(tmp_path: Path) -> None:
    """NULL would be a buffer's address: the accessors and `<model>_run` take NULL for none."""
    built = _build("nucleo-h743zi", tmp_path / "out", dtcm=0, axi=0, sram1=0, sram2=0, sram3=0, sram4=0)
    address, size_bytes = built.image.symbols["digits_itcm_pool"]
    assert address >= 32 and size_bytes > 0
    plan = built.models[0].program.memory.problem
    (pool,) = [pool for pool in plan.pools if pool.name == "itcm"]
    assert pool.limit_bytes == (64 << 10) - 32


def test_what_the_boot_rom_looks_for_follows_the_vectors(tmp_path: Path) -> None:
    """RP2350 Datasheet, 5.9.5.1: within the first 4 KiB of the flash."""
    built = _build("rpi-pico2", tmp_path / "out")
    address, size_bytes = built.image.symbols["boot_words"]
    assert size_bytes == 20 and 0x1000_0000 < address < 0x1000_1000
