"""Verbs that tell: doctor in ten lines and a sentence, explain, lists of 80 columns, hints at options."""

import re
import shutil

import pytest

from codegen.board import load_board
from codegen.cli.boards.doctor_verb import summary, verdict
from codegen.cli.explaining import entries
from codegen.command.console import table_with_tail
from codegen.toolchain.finding import Finding, Topic
from tests.checkout import ROOT
from tests.cli.test_verbs import call


def finding(topic: Topic, name: str, *, ok: bool = True, optional: bool = False) -> Finding:
    return Finding(
        topic=topic,
        name=name,
        ok=ok,
        required_for="x",
        detail=f"{name} 1.2",
        install=f"apt-get install {name}",
        optional=optional,
        family="arm" if topic is Topic.CROSS else "",
    )


def machine(*missing: str) -> list[Finding]:
    """All that is looked for, with what is missing."""
    wanted = {
        "python": Topic.PYTHON,
        "numpy": Topic.PYTHON,
        "arm-none-eabi-gcc": Topic.CROSS,
        "newlib": Topic.CROSS,
        "qemu-system-arm": Topic.QEMU,
        "QEMU machine microbit": Topic.QEMU,
        "gcc": Topic.HOST,
        "cmake": Topic.EXTRAS,
    }
    return [
        finding(topic, name, ok=name not in missing, optional=topic is Topic.EXTRAS)
        for name, topic in wanted.items()
    ]


def without_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(name: str) -> None:
        del name

    monkeypatch.setattr(shutil, "which", nothing)


@pytest.mark.parametrize(
    ("missing", "sentence"),
    [
        ((), "You can build and run; you cannot flash, because no flash tool is installed "),
        (
            ("qemu-system-arm", "QEMU machine microbit"),
            "You can build; you cannot run, because qemu-system-arm is missing; you cannot flash, because ",
        ),
        (
            ("arm-none-eabi-gcc", "newlib"),
            "You can build and run for board host; you cannot build for Cortex-M boards or run for Cortex-M "
            "boards, because arm-none-eabi-gcc is missing; you cannot flash",
        ),
        (
            ("newlib", "gcc"),
            "You cannot build or run, because newlib is missing; you cannot flash, because no flash tool",
        ),
    ],
)
def test_the_doctor_ends_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, missing: tuple[str, ...], sentence: str
) -> None:
    """36 lines said which machines QEMU knows, and none whether one can begin."""
    without_tools(monkeypatch)
    assert verdict(machine(*missing)).startswith(sentence)


def test_a_board_that_was_asked_for_decides_about_flashing(monkeypatch: pytest.MonkeyPatch) -> None:
    without_tools(monkeypatch)
    tool = finding(Topic.FLASH, "flash tool pyocd")
    assert verdict([*machine(), tool]) == "You can build, run and flash."
    tool = finding(Topic.FLASH, "flash tool pyocd", ok=False)
    assert verdict([*machine(), tool]).endswith("you cannot flash, because flash tool pyocd is missing.")


def test_a_board_that_nothing_can_run_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """`doctor --board rpi-pico` said "You can build and run", of a board without emulator and port."""
    without_tools(monkeypatch)
    tool, pico = finding(Topic.FLASH, "flash tool uf2"), load_board("rpi-pico")
    everything = [*machine(), tool]
    assert verdict(everything, pico) == (
        "You can build and flash; you cannot run on rpi-pico, because QEMU does not emulate it and no port "
        "is given (--port)."
    )
    port = finding(Topic.PORT, "port /dev/ttyACM0")
    assert verdict([*everything, port], pico) == "You can build, run on rpi-pico and flash."
    port = finding(Topic.PORT, "port /dev/ttyACM0", ok=False)
    assert verdict([*everything, port], pico).endswith(
        "you cannot run on rpi-pico, because port /dev/ttyACM0: port /dev/ttyACM0 1.2."
    )
    assert verdict([*machine("gcc", "newlib"), tool], pico) == (
        "You can flash; you cannot build or run on rpi-pico, because newlib is missing."
    )
    assert verdict(everything, load_board("nrf5340-dk")).endswith("and there is no driver for its UART.")
    assert verdict(everything, load_board("microbit")) == "You can build, run and flash."


def test_a_topic_is_a_line_and_a_command_where_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    without_tools(monkeypatch)
    assert list(summary(machine("arm-none-eabi-gcc", "newlib", "cmake"), with_flash=True)) == [
        "ok        Python and its packages: python 1.2, and 1 more",
        "MISSING   compiler for Cortex-M boards: arm-none-eabi-gcc missing",
        "          apt-get install arm-none-eabi-gcc",
        "ok        QEMU, to run without hardware: qemu-system-arm 1.2, and 1 more",
        "ok        compiler for board host: gcc 1.2",
        "optional  optional packages and programs: cmake missing (-v: all)",
        "optional  flash tools for real boards: none is installed",
    ]


def test_the_doctor_of_this_machine(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("doctor") == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 10 and lines[-1].startswith("You can build")
    assert call("doctor", "-v") == 0
    assert "QEMU machine netduinoplus2: known" in capsys.readouterr().out


def test_every_code_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^- \*\*(E[^*]+)\*\*", page, re.MULTILINE))
    assert {", ".join(codes) for _, codes, _ in entries()} == listed
    assert call("explain", "e401") == 0
    told = capsys.readouterr().out
    assert told.startswith("E401  (Exit 4: it does not fit)\n\na pool lacks bytes: how many, the peak step,")
    assert max(map(len, told.splitlines())) <= 80
    assert call("explain", "error[E282]") == 0
    assert "](" not in capsys.readouterr().out


def test_an_unknown_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("explain", "E499") == 2
    assert "error[E201] no message has the code 'E499'\nhelp: did you mean" in capsys.readouterr().err


def test_words_of_a_narrow_table_stay_whole(capsys: pytest.CaptureFixture[str]) -> None:
    """`FULLY_CONNECT` / `ED` stood in two lines of `run --steps` on 80 columns."""
    columns = ["step", "operator", "MACs", "kernel"]
    kernel = "fully_connected_narrow_joined_s8_dsp"
    rows = [["0", "FULLY_CONNECTED", "1,024", kernel], ["", "all", "1,024", ""]]
    table_with_tail(columns, rows, width=40)
    assert capsys.readouterr().out.splitlines() == [
        "step  operator          MACs",
        "      kernel",
        "   0  FULLY_CONNECTED  1,024",
        f"      {kernel}",
        "      all              1,024",
    ]
    table_with_tail(columns, rows, width=80)
    assert capsys.readouterr().out.splitlines()[1] == f"   0  FULLY_CONNECTED  1,024  {kernel}"


@pytest.mark.parametrize(
    ("words", "guess"),
    [
        (("monitor", "-s", "3"), "did you mean --send or --seconds?"),
        (("run", "-Q"), "did you mean -q or --quiet?"),
        (("doctor", "-V"), "did you mean -v or --verbose?"),
    ],
)
def test_an_unknown_short_option_gets_the_long_ones(
    words: tuple[str, ...], guess: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(*words) == 2
    assert guess in capsys.readouterr().err
