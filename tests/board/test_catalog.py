"""Boards that ship, and what a user is told of a board file with mistakes."""

import dataclasses
from pathlib import Path

import pytest

from codegen import resources
from codegen.board import boards, load_board
from codegen.errors import CodegenError, ExitCode
from codegen.ir import Runner

SHIPPED = resources.folder("boards")


def edited(folder: Path, *edits: tuple[str, str], base: str = "netduinoplus2") -> str:
    text = (SHIPPED / f"{base}.toml").read_text()
    for old, new in edits:
        assert old in text
        text = text.replace(old, new, 1)
    path = folder / "mine.toml"
    path.write_text(text)
    return str(path)


def complaints(path: str) -> dict[str | None, str]:
    with pytest.raises(CodegenError) as raised:
        load_board(path)
    assert raised.value.exit_code is ExitCode.USAGE
    return {message.where: message.text for message in raised.value.messages}


def test_every_board_of_the_interface_ships() -> None:
    names = {board.name for board in boards()}
    assert names == {
        "netduinoplus2", "stm32vldiscovery", "mps2-an385", "mps2-an386", "mps2-an500",
        "mps2-an505", "mps3-an547", "microbit", "lm3s6965evb", "host",
    }  # fmt: skip
    assert all(
        board.name == path.stem for board, path in zip(boards(), sorted(SHIPPED.glob("*.toml")), strict=True)
    )


def test_stm32_is_the_chip_with_its_real_memory() -> None:
    board = load_board("stm32")
    assert board.name == "netduinoplus2" and board.target.cpu == "cortex-m4"
    assert {region.pool_name: region.size_bytes for region in board.regions if region.writable} == {
        "sram": 128 << 10,
        "ccm": 64 << 10,
    }
    assert not board.region("CCM").emulated
    (hole,) = board.holes
    assert (hole.address, hole.address + hole.size_bytes) == (0x2002_0000, 0x2003_0000)


def test_the_smallest_board_has_room_for_pools_of_6_kib() -> None:
    board = load_board("stm32vldiscovery")
    assert board.region("SRAM").size_bytes - board.reserved_bytes >= 6 << 10


def test_a_board_file_of_ones_own(tmp_path: Path) -> None:
    board = load_board(edited(tmp_path, ('name = "netduinoplus2"', 'name = "mine"')))
    assert board == dataclasses.replace(load_board("netduinoplus2"), name="mine")
    assert board.runner is Runner.QEMU


def test_an_unknown_board_gets_the_nearest_and_all() -> None:
    with pytest.raises(CodegenError) as raised:
        load_board("netduino2")
    assert str(raised.value).startswith(
        "error[E250] there is no board 'netduino2'\nhelp: did you mean netduinoplus2? Known"
    )
    assert "lm3s6965evb" in str(raised.value) and "stm32" in str(raised.value)


def test_a_file_that_cannot_be_read_or_parsed(tmp_path: Path) -> None:
    assert complaints(str(tmp_path / "none.toml")) == {
        str(tmp_path / "none.toml"): "cannot be read: No such file or directory"
    }
    broken = tmp_path / "broken.toml"
    broken.write_text("name = \n")
    assert "is no TOML" in complaints(str(broken))[str(broken)]
    broken.write_bytes(b"\xff\xfe")
    assert "is no TOML" in complaints(str(broken))[str(broken)]


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    path = edited(
        tmp_path,
        ('title = "Netduino Plus 2 (STM32F405, Cortex-M4F, 168 MHz)"', "titel = 1"),
        ("stack_bytes = 2048", 'stack_bytes = "2048"'),
        ('runner = "qemu"', 'runner = "renode"'),
        ("bits = 32", "bits = 1.5"),
        ("size_bytes = 131_072", "size_bytes = 0"),
        ('cpu = "cortex-m4"\n', ""),
    )
    found = complaints(path)
    assert found == {
        "mine.toml: titel": "is no field of a board file",
        "mine.toml: title": "is missing",
        "mine.toml: stack_bytes": "Expected `int`, got `str`, got '2048'",
        "mine.toml: runner": "Invalid enum value 'renode', got 'renode'",
        "mine.toml: counter: bits": "Expected `int`, got `float`, got 1.5",
        "mine.toml: regions[0]": "region SRAM does not fit a 32-bit address space",
        "mine.toml: target: cpu": "is missing",
    }


@pytest.mark.parametrize(
    ("old", "new", "where", "text"),
    [
        ('code_region = "FLASH"', 'code_region = "ROM"', "code_region", "there is no region ROM"),
        ('code_region = "FLASH"', 'code_region = "SRAM"', "code_region", "SRAM is writable"),
        ('data_region = "SRAM"', 'data_region = "FLASH"', "data_region", "FLASH is not writable"),
        ('name = "CCM"', 'name = "SRAM"', "regions[1].name", "two regions are called SRAM"),
        ('name = "CCM"', 'name = "C-C"', "regions[1].name", "A-Z, 0-9 and _ only"),
        ("address = 0x1000_0000", "address = 0x2001_0000", "regions", "SRAM and CCM overlap"),
        ("reserved_bytes = 4096", "reserved_bytes = 2100", "reserved_bytes", "must be at least 3008"),
        ("stack_bytes = 2048", "stack_bytes = 100", "stack_bytes", "multiple of 32 and at least 256"),
        ("address = 0x2002_0000", "address = 0x2002_0020", "holes[0]", "a power of two of bytes"),
        ('driver = "stm32"', 'driver = "uart16550"', "uart.driver", "there is no driver 'uart16550'"),
        ('mpu = "v7m"', 'mpu = "v9m"', "mpu", "there is no driver 'v9m'"),
        ('startup = "stm32f4"', 'startup = "x"', "startup", "there is no driver 'x'"),
        (
            'qemu_machine = "netduinoplus2"\n',
            "",
            "qemu_machine",
            "is missing: a board that runs on QEMU needs it",
        ),
        ('features = ["dsp", "fpu", "div"]', 'features = ["dps"]', "target.features", "unknown dps"),
        ("clock_hz = 16_000_000\n", "", "clock_hz", "must be positive, got 0"),
        (
            "instructions_per_tick = 1.0",
            "instructions_per_tick = 0.0",
            "counter.instructions_per_tick",
            "be positive",
        ),
        (
            'mpu = "v7m"',
            'mpu = "v7m"\nbuffer_alignment_bytes = 3',
            "buffer_alignment_bytes",
            "3 is no power of two",
        ),
        (
            "[[holes]]\naddress = 0x2002_0000\nsize_bytes = 65_536",
            "[holes]\na = 1",
            "holes",
            "an array of tables",
        ),
        ("[target]", "target = 1\n[targets]", "target", "must be a table"),
    ],
)
def test_every_mistake_has_its_field_and_reason(
    tmp_path: Path, old: str, new: str, where: str, text: str
) -> None:
    if old == "[target]":
        old, new = 'name = "netduinoplus2"', 'name = "netduinoplus2"\ntarget = 1'
        path = edited(tmp_path, (old, new), ("[target]", "[other]"))
    else:
        path = edited(tmp_path, (old, new))
    found = complaints(path)
    assert text in found[f"mine.toml: {where}"]
