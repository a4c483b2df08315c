"""firmware.uf2 and the RP2040's second stage, held against their formats and objcopy."""

import subprocess
from pathlib import Path

import pytest

from codegen.api import build
from codegen.driver.inputs.files import example_model
from codegen.driver.options import Options
from tests.checkout import ROOT

FAMILIES = {"rpi-pico": 0xE48BFF56, "rpi-pico2": 0xE48BFF59}
"""By the boot loaders' own lists (uf2families.json, uf2.h of the pico-sdk)."""
FLASH = 0x1000_0000


@pytest.fixture(scope="module", params=FAMILIES)
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    folder = tmp_path_factory.mktemp("pico") / "out"
    build(example_model(), folder, Options(board=request.param))
    return request.param, folder


def words(data: bytes) -> list[int]:
    return [int.from_bytes(data[place : place + 4], "little") for place in range(0, len(data), 4)]


def loaded_by_objcopy(folder: Path) -> dict[int, int]:
    """Address -> byte, by the Intel HEX file that objcopy makes of the firmware."""
    text = folder / "firmware.hex"
    subprocess.run(["arm-none-eabi-objcopy", "-O", "ihex", folder / "firmware.elf", text], check=True)
    memory, upper = dict[int, int](), 0
    for line in text.read_text().splitlines():
        count, high, low, kind, *data = bytes.fromhex(line.removeprefix(":"))
        if kind == 4:
            upper = int.from_bytes(data[:2], "big") << 16
        if kind == 0:
            memory |= {upper + (high << 8 | low) + place: data[place] for place in range(count)}
    return memory


def test_blocks_are_as_the_format_says_and_hold_the_firmware(built: tuple[str, Path]) -> None:
    board, folder = built
    data = (folder / "firmware.uf2").read_bytes()
    assert len(data) % 512 == 0
    blocks = [data[place : place + 512] for place in range(0, len(data), 512)]
    flash = bytearray()
    for number, block in enumerate(blocks):
        magic, second, flags, address, size, place, count, family = words(block[:32])
        assert (magic, second, words(block[508:])) == (0x0A324655, 0x9E5D5157, [0x0AB16F30])
        assert block[:4] == b"UF2\n"
        assert (flags, size, place, count, family) == (0x2000, 256, number, len(blocks), FAMILIES[board])
        assert address == FLASH + 256 * number, "whole sectors from the flash's first byte"
        assert block[32 + 256 : 508] == bytes(476 - 256)
        flash += block[32 : 32 + 256]
    assert len(flash) % 4096 == 0
    stated = loaded_by_objcopy(folder)
    assert max(stated) - min(stated) < len(flash) < max(stated) - min(stated) + 2 * 4096
    erased = 0xFF
    assert list(flash) == [stated.get(FLASH + place, erased) for place in range(len(flash))]


def test_a_board_without_a_uf2_boot_loader_gets_no_such_file(tmp_path: Path) -> None:
    build(example_model(), tmp_path / "out", Options(board="microbit"))
    assert (tmp_path / "out" / "firmware.elf").is_file()
    assert list(tmp_path.rglob("*.uf2")) == []


# ---- the second stage ---------------------------------------------------------------------


def crc32(data: bytes) -> int:
    """RP2040 Datasheet, Checksum: polynomial 0x04C11DB7, first 0xFFFFFFFF, nothing reflected or inverted."""
    register = 0xFFFF_FFFF
    for byte in data:
        for bit in range(7, -1, -1):
            feedback = (register >> 31) ^ (byte >> bit & 1)
            register = (register << 1 & 0xFFFF_FFFF) ^ (0x04C1_1DB7 if feedback else 0)
    return register


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("stage")
    source = ROOT / "runtime_c" / "targets" / "arm" / "boot_rp2040.S"
    flags = ("-mcpu=cortex-m0plus", "-mthumb", "-c")
    subprocess.run(["arm-none-eabi-gcc", *flags, source, "-o", folder / "stage.o"], check=True)
    copy = ("-O", "binary", "-j", ".boot_stage", folder / "stage.o", folder / "stage.bin")
    subprocess.run(["arm-none-eabi-objcopy", *copy], check=True)
    return (folder / "stage.bin").read_bytes()


def test_the_boot_rom_takes_the_second_stage(stage: bytes) -> None:
    """256 bytes, the last four the CRC of the others; a change of the code changes the word in the source."""
    assert crc32(b"123456789") == 0x0376_E6E7, "the check value of this CRC (CRC-32/MPEG-2)"
    assert len(stage) == 256
    assert f"{words(stage)[-1]:#010x}" == f"{crc32(stage[:252]):#010x}"


def test_the_second_stage_sets_up_the_flash_and_starts_what_is_behind_it(stage: bytes) -> None:
    """Its instructions are carried out one by one (ARMv6-M Reference Manual, A6.7): the writes are those that
    the datasheet's SSI wants for reads by command 03h, then stack and start are taken from the vectors."""
    base = 0x2004_1F00  # where the boot ROM copies it
    memory = {base + 4 * place: word for place, word in enumerate(words(stage))}
    memory |= {FLASH + 0x100: 0x2000_1000, FLASH + 0x104: 0x1000_0421}
    registers, writes, stack, place = [0] * 8, list[tuple[int, int]](), 0, 0
    while True:
        code = int.from_bytes(stage[place : place + 2], "little")
        first, second = code & 7, code >> 3 & 7
        if code >> 11 == 0b01001:  # LDR literal
            registers[code >> 8 & 7] = memory[(base + place + 4 & ~3) + 4 * (code & 0xFF)]
        elif code >> 11 == 0b00100:  # MOVS immediate
            registers[code >> 8 & 7] = code & 0xFF
        elif code >> 11 == 0b01100:  # STR immediate
            writes.append((registers[second] + 4 * (code >> 6 & 31), registers[first]))
        elif code >> 9 == 0b0101000:  # STR register
            writes.append((registers[second] + registers[code >> 6 & 7], registers[first]))
        elif code == 0b11001_000_00000110:  # LDMIA R0!, {R1, R2}
            registers[1], registers[2] = memory[registers[0]], memory[registers[0] + 4]
        elif code == 0xF381:  # MSR MSP, R1
            assert stage[place + 2 : place + 4] == bytes([0x08, 0x88])
            stack, place = registers[1], place + 2
        elif code == 0x4710:  # BX R2
            break
        else:
            raise AssertionError(f"{code:#06x} at {place}")
        place += 2
    ssi = 0x1800_0000
    assert writes == [
        (ssi + 0x08, 0),  # SSIENR: off
        (ssi + 0x14, 2),  # BAUDR: half the clock
        (ssi + 0x00, 31 << 16 | 3 << 8),  # CTRLR0: frames of 32 bits, EEPROM read, standard SPI
        (ssi + 0x04, 0),  # CTRLR1: one frame
        (ssi + 0xF4, 0x03 << 24 | 2 << 8 | 6 << 2),  # SPI_CTRLR0: command 03h of 8 bits, address of 24
        (ssi + 0x10, 1),  # SER: chip select 0
        (ssi + 0x08, 1),  # SSIENR: on
        (0xE000_ED08, FLASH + 0x100),  # VTOR
    ]
    assert (stack, registers[2]) == (0x2000_1000, 0x1000_0421)


def test_the_second_stage_lies_in_front_of_the_vectors(built: tuple[str, Path], stage: bytes) -> None:
    board, folder = built
    flash = (folder / "firmware.uf2").read_bytes()[32:288]
    assert (flash == stage) == (board == "rpi-pico")
    listed = subprocess.run(
        ["arm-none-eabi-nm", folder / "firmware.elf"], capture_output=True, text=True, check=True
    )
    addresses = {line.split()[2]: int(line.split()[0], 16) for line in listed.stdout.splitlines()}
    assert addresses["vectors"] == FLASH + (0x100 if board == "rpi-pico" else 0)
