"""RV32 networks make no access that is not aligned, and one that is made is seen."""

import subprocess
from pathlib import Path

import pytest

from codegen import board as boards
from codegen.board import load_board
from codegen.driver.options import Options
from codegen.driver.run import request
from codegen.targets.families import family_of
from codegen.toolchain import gcc
from tests.e2e.models import build_model, golden_cases
from tests.targets.unaligned import build_plugin, plugin_words, unaligned_accesses

BOARD = "qemu-virt-rv32"
_PROGRAM = """
    .globl _start
_start:
    la      t0, value
    lw      t1, 4(t0)
    lw      t1, 1(t0)
    sh      t1, 7(t0)
    li      t0, 0x100000
    li      t1, 0x5555
    sw      t1, 0(t0)
    j       .
    .balign 4
value: .space 16
"""
"""It ends by the machine's own device."""

pytestmark = pytest.mark.qemu


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_plugin(load_board(BOARD), tmp_path_factory.mktemp("plugin") / "unaligned.so")


@pytest.mark.parametrize("name", ["ds_cnn", "resnet8"])
@pytest.mark.sampled(1)
def test_networks_access_only_aligned_values(name: str, plugin: Path, tmp_path: Path) -> None:
    """For speed: most kernels of the core, resnet8 with Winograd. All of the firmware is watched."""
    built = build_model(name, Options(board=BOARD, optimize="speed"), tmp_path / "build")
    wanted = request(built.models[0].program, golden_cases(name)[:1])
    accesses = tmp_path / "accesses"
    with boards.session(built.image, built.board, plugin=plugin_words(plugin, accesses)) as target:
        target.run(wanted)
    assert unaligned_accesses(accesses) == []


def test_an_unaligned_access_is_seen(plugin: Path, tmp_path: Path) -> None:
    """A load and a store beside their alignment, of a program of eight instructions."""
    board = load_board(BOARD)
    facts, emulator = family_of(board.target.cpu).compiler, family_of(board.target.cpu).emulator
    assert emulator is not None
    source, image = tmp_path / "program.S", tmp_path / "program.elf"
    source.write_text(_PROGRAM)
    words = [gcc.tool(f"{facts.prefix}gcc"), *facts.link_flags(board.target), "-mcmodel=medany"]
    words += ["-nostdlib", "-Wl,-Ttext=0x80000000", str(source), "-o", str(image)]
    subprocess.run(words, check=True)
    accesses = tmp_path / "accesses"
    command = [emulator.program, "-M", str(board.qemu_machine), *emulator.cpu_words(board.target)]
    command += ["-display", "none", "-plugin", plugin_words(plugin, accesses), *board.qemu_flags]
    subprocess.run([*command, "-kernel", str(image)], check=True, timeout=60)
    lines = unaligned_accesses(accesses)
    assert [line.rpartition(": ")[2] for line in lines] == ["4 bytes", "2 bytes"], lines
