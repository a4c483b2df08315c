"""Words for boards: chips and aliases, and parts that no board file is for (`--board esp32` answered "did you
mean stm32?")."""

from fnmatch import fnmatchcase

import pytest

from codegen.board import boards, load_board
from codegen.board.catalog.board_names import PORTABLE, absent_parts, board_called, heads, plain
from codegen.errors import CodegenError, ExitCode
from codegen.ir import Board


def refusal(word: str) -> str:
    with pytest.raises(CodegenError) as raised:
        load_board(word)
    assert raised.value.exit_code is ExitCode.USAGE
    return str(raised.value)


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("stm32", "netduinoplus2"),
        ("stm32f4", "netduinoplus2"),
        ("stm32f405", "netduinoplus2"),
        ("STM32F405RGT6", "netduinoplus2"),
        ("stm32f407", "stm32f4-discovery"),
        ("rp2040", "rpi-pico"),
        ("pico", "rpi-pico"),
        ("RP-2350", "rpi-pico2"),
        ("nrf52840", "nrf52840-dk"),
        ("nucleo_f446re", "nucleo-f446re"),
        ("Nucleo H743ZI", "nucleo-h743zi"),
        ("raspberry pi pico", "rpi-pico"),
        ("Raspberry Pi Pico 2", "rpi-pico2"),
    ],
)
def test_a_board_is_found_by_what_people_type(word: str, name: str) -> None:
    assert load_board(word).name == name


@pytest.mark.parametrize("chip", sorted({board.chip for board in boards() if board.chip}))
def test_every_chip_finds_its_board(chip: str) -> None:
    assert load_board(chip).chip == chip


def test_the_head_of_a_file_has_the_names_of_its_board() -> None:
    """A misspelt board was told after 0.4 s: all board files were read and checked for their names."""
    told = [(head.name, head.title, head.aliases, head.chip, head.runner) for head in heads()]
    assert told == [(board.name, board.title, board.aliases, board.chip, board.runner) for board in boards()]


@pytest.mark.parametrize("board", boards(), ids=lambda board: board.name)
def test_every_title_finds_its_board(board: Board) -> None:
    """`--board "raspberry pi pico"` was told that no board file is for it, and to take rpi-pico."""
    assert load_board(board.title.split(" (")[0]) == board


def test_a_slip_in_a_title_gets_the_name() -> None:
    assert refusal("raspbery pi pico") == (
        "error[E250] there is no board 'raspbery pi pico'\n"
        "help: did you mean rpi-pico? `codegen boards` lists all; or give the path of a board file (.toml)"
    )


def test_another_board_of_a_chip_is_told_whose_file_there_is() -> None:
    assert refusal("raspberry pi pico w") == (
        "error[E250] there is no board 'raspberry pi pico w': it has an RP2040, and the board file of that "
        "chip is for a Raspberry Pi Pico\n"
        "help: `--board rpi-pico`, Raspberry Pi Pico (RP2040, Cortex-M0+, 133 MHz), gives code for such a "
        "core; a copy of its file with the memories of your part is a board of your own (docs/boards.md)"
    )


def test_names_of_boards_are_apart() -> None:
    names = [plain(name) for board in boards() for name in (board.name, *board.aliases)]
    assert len(names) == len(set(names))


def test_a_chip_of_several_boards_is_asked_for() -> None:
    assert refusal("stm32l4") == (
        "error[E250] 2 boards have a chip stm32l4\n"
        "help: name one of b-l475e-iot01a, B-L475E-IOT01A (STM32L475VG, Cortex-M4F, 80 MHz); "
        "nucleo-l4r5zi, NUCLEO-L4R5ZI (STM32L4R5ZI, Cortex-M4F, 120 MHz)"
    )


@pytest.mark.parametrize("word", ["ESP32-S3", "esp32-wroom", "xiao_esp32s3"])
def test_an_esp32_is_told_what_works_today(word: str) -> None:
    assert refusal(word) == (
        f"error[E250] there is no board '{word}': the core of an ESP32, S2 or S3 is an Xtensa, and of other "
        "names no board file ships; no kernels are for Xtensa\n"
        "help: portable C runs there: `codegen build MODEL --board host -o DIR`, then `codegen export DIR "
        "--as esp-idf -o PACKAGE`; `codegen run MODEL --board host` checks it on this machine"
    )


def test_a_part_with_a_core_that_is_there_gets_the_nearest_board() -> None:
    assert refusal("teensy4.1") == (
        "error[E250] there is no board 'teensy4.1': no board file is for the Teensy 4 or another i.MX RT "
        "(Cortex-M7)\n"
        "help: `--board mimxrt1060-evk`, MIMXRT1060-EVK (i.MX RT1062, Cortex-M7, 600 MHz), gives code for "
        "such a core; a copy of its file with the memories of your part is a board of your own "
        "(docs/boards.md)"
    )


@pytest.mark.parametrize(
    ("word", "piece"),
    [
        ("Arduino Uno", "an AVR (Arduino Uno, Nano, Mega) has 8 bits and a few KiB of RAM"),
        ("atmega328p", "`--board arduino-nano-33-ble` is Arduino Nano 33 BLE"),
        ("esp8266", "--as arduino"),
        ("ch32v003", "its core has no multiplier (RV32EC)"),
        ("raspberry-pi-4", "a computer with an operating system"),
        ("picow", "`--board rpi-pico`"),
        ("bluepill", "`--board stm32vldiscovery`"),
        ("stm32h750", "`--board nucleo-h743zi`"),
        ("cortex-m55", "`--board mps3-an547`"),
        ("qemu", "QEMU runs it: no hardware is needed"),
    ],
)
def test_parts_without_a_board(word: str, piece: str) -> None:
    assert piece in refusal(word)


def test_a_name_that_is_cut_short_gets_the_whole() -> None:
    assert refusal("nucleo-h743") == (
        "error[E250] there is no board 'nucleo-h743'\n"
        "help: did you mean nucleo-h743zi? `codegen boards` lists all"
    )


def test_a_slip_gets_the_nearest_name() -> None:
    assert refusal("netduino2") == (
        "error[E250] there is no board 'netduino2'\n"
        "help: did you mean netduinoplus2? `codegen boards` lists all; "
        "or give the path of a board file (.toml)"
    )


def test_what_is_like_nothing_gets_all_names() -> None:
    text = refusal("toaster")
    assert "did you mean" not in text
    assert "known boards: alif-e7-hp, alif-e8-hp, apollo4p-evb, " in text and "lm3s6965evb" in text


def test_rows_of_absent_parts_lead_to_boards_and_packages() -> None:
    for part in absent_parts():
        board = board_called(part.nearest, boards())
        assert board is not None, part
        assert bool(part.title) != bool(part.because), part
        assert bool(part.package) == (board.name == PORTABLE), part
        assert all(
            pattern.replace("[0-9]", "7") == plain(pattern.replace("[0-9]", "7")) for pattern in part.names
        ), part


def test_every_pattern_is_the_one_that_answers() -> None:
    """A pattern behind one that takes its words would never be read."""
    seen: list[str] = []
    for part in absent_parts():
        for pattern in part.names:
            word = pattern.replace("[0-9]", "7").replace("*", "")
            assert not any(fnmatchcase(word, earlier) for earlier in seen), pattern
        seen += part.names
