"""Command lines of the flash tools, which is taken, what is said when one is missing, fails or hangs.

No test has a probe: tools are small scripts, and where pyocd or OpenOCD is installed it parses its own words.
"""

import os
import shutil
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from codegen import resources
from codegen.board import boards, load_board
from codegen.board.flash.commands import Commands, load_commands, rendered, reset_commands, tools_for
from codegen.board.flash.tool_calls import call
from codegen.board.flash.tools import TOOLS
from codegen.cli.boards.board_doctor import board_findings
from codegen.errors import CodegenError, ExitCode
from codegen.ir import FlashNames, Runner

NUCLEO = load_board("nucleo-f446re")
EVERYWHERE = replace(
    load_board("stm32f4-discovery"),
    flash=FlashNames(
        pyocd="part", openocd="a.cfg b.cfg", probe_rs="Part", stm32=True, jlink="PART", dfu="0483:df11",
        picotool=True, west="build", uf2="DRIVE", uf2_family=1,
    ),
)  # fmt: skip
ELF = Path("out dir/firmware.elf")

LINES = {
    "uf2": ["cp 'out dir/firmware.uf2' /media/me/DRIVE", "sync"],
    "pyocd": ["pyocd load --no-wait -O keep_unwritten=true --target part --uid S1 'out dir/firmware.elf'"],
    "openocd": [
        "openocd -f a.cfg -f b.cfg -c 'adapter serial S1' "
        "-c 'program {out dir/firmware.elf} verify reset exit'"
    ],
    "probe-rs": [
        "probe-rs download --non-interactive --restore-unwritten --verify --chip Part "
        "--probe 0483:374b:S1 'out dir/firmware.elf'",
        "probe-rs reset --non-interactive --chip Part --probe 0483:374b:S1",
    ],
    "st-flash": [
        "arm-none-eabi-objcopy -O ihex 'out dir/firmware.elf' 'out dir/firmware.hex'",
        "st-flash --serial S1 --reset --format ihex write 'out dir/firmware.hex'",
    ],
    "STM32_Programmer_CLI": ["STM32_Programmer_CLI -c port=SWD sn=S1 -w 'out dir/firmware.elf' -v -rst"],
    "JLinkExe": [
        "printf '%s\\n' r 'loadfile \"out dir/firmware.elf\"' r g exit > 'out dir/firmware.jlink'",
        "JLinkExe -NoGui 1 -ExitOnError 1 -USB S1 -device PART -if SWD -speed 4000 -autoconnect 1 "
        "-CommandFile 'out dir/firmware.jlink'",
    ],
    "dfu-util": [
        "arm-none-eabi-objcopy -O binary 'out dir/firmware.elf' 'out dir/firmware.bin'",
        "dfu-util -d 0483:df11 -S S1 -a 0 -s 0x08000000:leave -D 'out dir/firmware.bin'",
    ],
    "picotool": ["picotool load -v -x 'out dir/firmware.elf' --ser S1"],
    "west": ["west flash --skip-rebuild --build-dir build --dev-id S1 --elf-file 'out dir/firmware.elf'"],
}


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all of PATH but the system's own programs, none of them a flash tool."""
    folder = tmp_path / "tools"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def script(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\nPATH=/usr/bin:/bin\n{text}\n")
    (folder / name).chmod(0o755)


def told(code: str, *arguments: object, **named: object) -> str:
    """The text of the error of a call, which is of exit 6."""
    function, *rest = arguments
    with pytest.raises(CodegenError) as raised:
        function(*rest, **named)  # type: ignore[operator]
    assert raised.value.exit_code is ExitCode.TARGET
    assert [message.code for message in raised.value.messages] == [code]
    return str(raised.value)


@pytest.mark.parametrize("name", TOOLS)
def test_exact_command_lines(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codegen.board.flash.drives.getpass.getuser", lambda: "me")
    probe = "0483:374b:S1" if TOOLS[name].usb_probe else "S1"
    assert load_commands(EVERYWHERE, ELF, tool=name, probe=probe, shown=True).lines == LINES[name]
    without = load_commands(EVERYWHERE, ELF, tool=name, shown=True).lines
    assert "S1" not in "".join(without) and len(without) == len(LINES[name])


def test_a_reset_has_its_own_commands() -> None:
    lines = {name: reset_commands(EVERYWHERE, tool=name).lines for name in TOOLS if TOOLS[name].reset}
    assert lines["openocd"] == ["openocd -f a.cfg -f b.cfg -c init -c 'reset run' -c shutdown"]
    assert lines["JLinkExe"][0] == "printf '%s\\n' r g exit > firmware.jlink"
    assert lines["st-flash"] == ["st-flash reset"]
    assert told("E630", reset_commands, EVERYWHERE, tool="dfu-util") == (
        "error[E630] stm32f4-discovery: dfu-util cannot reset a board\n"
        "help: press its reset button, or --tool with one of pyocd, openocd, probe-rs, st-flash, "
        "STM32_Programmer_CLI, JLinkExe, picotool"
    )


def test_every_real_board_with_a_port_can_be_flashed() -> None:
    real = [board for board in boards() if board.runner is Runner.NONE and board.uart is not None]
    assert len(real) > 10
    assert [board.name for board in real if not tools_for(board) and board.flash_tool is None] == []
    used = {tool.name for board in boards() for tool in tools_for(board)}
    assert set(TOOLS) - used == {"west"}, "a tool of the table that no board names"


@pytest.mark.skipif(shutil.which("pyocd") is None, reason="pyocd is not installed")
def test_pyocd_parses_its_command_lines() -> None:
    """With -h behind, its parser takes every word before and then tells its options, before any probe."""
    for board in boards():
        for tool in (each for each in tools_for(board) if each.name == "pyocd"):
            for commands in (tool.load, tool.reset):
                [words] = rendered(tool, board, commands, (), ELF, "S1").words
                ran = subprocess.run([*words, "-h"], capture_output=True, text=True, check=False)
                assert ran.returncode == 0 and ran.stdout.startswith(f"usage: pyocd {words[1]}"), ran.stderr


@pytest.mark.skipif(shutil.which("openocd") is None, reason="openocd is not installed")
def test_openocd_parses_its_command_lines() -> None:
    """Every configuration file is read and the probe's serial taken; it ends before it looks for one."""
    seen: set[tuple[str, ...]] = set()
    for board in boards():
        for tool in (each for each in tools_for(board) if each.name == "openocd"):
            [words] = rendered(tool, board, tool.load, (), ELF, "S1").words
            parsed = (*words[:-2], "-c", "shutdown")
            if parsed not in seen:
                ran = subprocess.run(parsed, capture_output=True, text=True, check=False)
                assert ran.returncode == 0, ran.stderr
            seen.add(parsed)
    assert len(seen) > 5


@pytest.mark.parametrize(
    ("name", "nobody", "misused"),
    [
        ("st-flash", (255, "Couldn't find any ST-Link devices"), (1, "invalid command line")),
        ("dfu-util", (74, "No DFU capable USB device available"), (64, "invalid option")),
    ],
)
def test_a_tool_parses_its_command_lines(
    name: str, nobody: tuple[int, str], misused: tuple[int, str], tmp_path: Path
) -> None:
    """It takes all of them and finds no device; an option that it does not know is another matter."""
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    board = next(board for board in boards() if any(tool.name == name for tool in tools_for(board)))
    tool = TOOLS[name]
    elf = tmp_path / "firmware.elf"
    for kind, data in ((".hex", b":00000001FF\n"), (".bin", bytes(64))):
        elf.with_suffix(kind).write_bytes(data)
    for commands in filter(None, (tool.load, tool.reset)):
        words = rendered(tool, board, commands, (), elf, "066DFF343039564157132235").words[-1]
        for given, (status, said) in ((words, nobody), ((*words[:1], "-Q", *words[1:]), misused)):
            ran = subprocess.run(given, capture_output=True, text=True, check=False)
            assert said in ran.stdout + ran.stderr, given
            assert (ran.returncode == status) or given is not words


def test_the_doctor_looks_for_tools_and_for_all_of_a_command(tools: Path) -> None:
    script(tools, "st-flash", "exit 0")
    found = {each.name: each for each in board_findings(NUCLEO, None, None)}
    assert list(found) == [f"flash tool {tool.name}" for tool in tools_for(NUCLEO)]
    assert (
        not found["flash tool st-flash"].ok
        and "needs arm-none-eabi-objcopy" in found["flash tool st-flash"].detail
    )
    assert told("E630", call, load_commands(NUCLEO, Path("firmware.elf"))) == (
        "error[E630] arm-none-eabi-objcopy is not installed\n"
        "help: sudo apt-get install gcc-arm-none-eabi libnewlib-arm-none-eabi"
    )
    script(tools, "arm-none-eabi-objcopy", "exit 0")
    found = {each.name: each for each in board_findings(NUCLEO, None, None)}
    assert found["flash tool st-flash"].ok and found["flash tool st-flash"].detail.endswith(
        "the one that is taken"
    )
    assert (
        found["flash tool openocd"].optional
        and "apt-get install openocd" in found["flash tool openocd"].install
    )
    [own] = board_findings(load_board("arduino-nano-33-ble"), None, None)
    assert not own.ok and own.detail.endswith("-R`: not in PATH: bossac")


def test_the_first_installed_tool_that_the_board_names_is_taken(tools: Path) -> None:
    for name in ("west", "JLinkExe", "picotool", "openocd"):
        script(tools, name, "exit 0")
    assert load_commands(NUCLEO, ELF).tool == "openocd"
    assert load_commands(replace(NUCLEO, flash_tool="JLinkExe"), ELF).tool == "JLinkExe"
    assert load_commands(replace(NUCLEO, flash_tool="JLinkExe"), ELF, tool="pyocd").tool == "pyocd"
    own = load_commands(replace(NUCLEO, flash_tool="mk 'a b' && put -f firmware.elf"), ELF)
    assert own.lines == ["cd 'out dir'", "mk 'a b'", "put -f firmware.elf"]


def test_no_tool_is_installed(tools: Path) -> None:
    board = replace(NUCLEO, flash=FlashNames(openocd="a.cfg", stm32=True))
    assert told("E630", load_commands, board, ELF) == (
        "error[E630] nucleo-f446re: none of its flash tools is installed (openocd, st-flash, "
        "STM32_Programmer_CLI)\n"
        "help: one is enough, and `--tool NAME --dry-run` shows its command. openocd: sudo apt-get install "
        "openocd; st-flash: sudo apt-get install stlink-tools; STM32_Programmer_CLI: STM32CubeProgrammer "
        "from www.st.com"
    )


def test_a_board_that_names_no_tool_or_not_this_one() -> None:
    assert told("E630", load_commands, load_board("mps2-an386"), ELF) == (
        "error[E630] mps2-an386: the board's file names no flash tool\n"
        "help: add [flash] or flash_tool to a board file of your own (docs/boards.md)"
    )
    assert told("E630", load_commands, load_board("nucleo-n657x0-q"), ELF, tool="pyocd") == (
        "error[E630] nucleo-n657x0-q: the board's file does not say what pyocd calls it\n"
        "help: it has names for: probe-rs; flash.pyocd in a board file of your own (docs/boards.md)"
    )
    assert told("E630", load_commands, NUCLEO, ELF, tool="pyocd", probe="a; b").startswith(
        "error[E630] --probe 'a; b' is no serial number"
    )


def test_a_probe_of_which_the_tool_wants_more_than_the_serial_number() -> None:
    """probe-rs reads `--probe 066DFF` as the vendor of a probe without a product, and ends."""
    assert told("E630", load_commands, NUCLEO, ELF, tool="probe-rs", probe="066DFF") == (
        "error[E630] --probe '066DFF': probe-rs knows a probe by VID:PID or VID:PID:SERIAL\n"
        "help: `probe-rs list` lists the probes"
    )
    for probe in ("0483:374b", "0403:6010-1", "303a:1001:DC:DA:0C:D3:FE:D8"):
        assert f"--probe {probe} " in load_commands(NUCLEO, ELF, tool="probe-rs", probe=probe).lines[0]


def test_a_tool_that_fails_half_way_is_quoted(tools: Path, tmp_path: Path) -> None:
    """Its colours are gone, its lines are there; the commands behind it are not run."""
    printed = "printf '\\033[31mErasing\\033[0m\\rWriting 12 %%\\nError: no debug probe found\\n'"
    script(tools, "probe-rs", f"if [ $1 = download ]; then {printed}; exit 1; fi; touch {tmp_path}/reset")
    text = told("E631", call, load_commands(NUCLEO, Path("firmware.elf")))
    assert text == (
        "error[E631] probe-rs failed (status 1); it printed\n"
        "  Erasing\n  Writing 12 %\n  Error: no debug probe found\n"
        "help: is the board plugged in at its debugger's USB socket, with a cable that carries data?; what "
        "is in the board's flash now may be half written: flash again before you run it; `probe-rs list` "
        "lists the probes; the command was: probe-rs download --non-interactive --restore-unwritten "
        "--verify --chip STM32F446RE "
        "firmware.elf"
    )
    assert not (tmp_path / "reset").exists()


def test_a_tool_that_kills_itself_or_says_nothing(tools: Path) -> None:
    script(tools, "probe-rs", "kill -SEGV $$")
    text = told("E631", call, reset_commands(NUCLEO), loading=False)
    assert text.startswith("error[E631] probe-rs failed (SIGSEGV) and printed nothing\nhelp: `probe-rs list`")


def test_a_tool_that_hangs_is_ended_with_what_it_started(tools: Path, tmp_path: Path) -> None:
    script(tools, "pyocd", f"echo waiting for probe; sleep 60 & echo $! > {tmp_path}/child; wait")
    begun = time.monotonic()
    text = told("E632", call, load_commands(NUCLEO, Path("firmware.elf")), seconds=2.0)
    assert time.monotonic() - begun < 40
    assert text.startswith(
        "error[E632] pyocd did not end within 2 s and was ended; it printed\n  waiting for probe\n"
        "help: what is in the board's flash now may be half written"
    )
    child = int((tmp_path / "child").read_text())
    for _ in range(400):
        state = Path(f"/proc/{child}/stat")
        if not state.exists() or state.read_text().split(")")[1].split()[0] == "Z":
            return
        time.sleep(0.1)
    os.kill(child, 9)
    pytest.fail("the tool's child outlived it")


def test_a_program_that_is_gone_or_no_program(tools: Path) -> None:
    gone = Commands(tool="x", words=(("no-such-tool",),), folder=Path(), install="apt-get install x")
    assert told("E630", call, gone) == "error[E630] no-such-tool is not installed\nhelp: apt-get install x"
    (tools / "half").write_text("nothing")
    odd = Commands(tool="x", words=((str(tools / "half"),),), folder=Path())
    assert "cannot be run: Permission denied" in told("E630", call, odd)


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        ("Error: LIBUSB_ERROR_ACCESS", "udev rules"),
        ("multiple probes found", "--probe SERIAL"),
        ("Target type foo not recognized", "[flash]"),
        ("Error: unable to open ftdi device", "plugged in"),
        ("Error: open failed", "plugged in"),
    ],
)
def test_advice_follows_what_the_tool_says(words: str, advice: str, tools: Path) -> None:
    script(tools, "pyocd", f"echo '{words}'; exit 3")
    assert advice in told("E631", call, load_commands(NUCLEO, Path("firmware.elf")))


@pytest.mark.parametrize(
    ("flash_tool", "flash", "found"),
    [
        (
            "west",
            'pyocd = ""\npicotool = 3\npycd = "x"',
            {"flash.picotool": "must be true or false, got 3", "flash.pycd": "is no known key"},
        ),
        (
            "west",
            'pyocd = ""\ndfu = "0483"',
            {
                "flash.pyocd": "is empty",
                "flash.dfu": "'0483' is no VID:PID",
                "flash_tool": "west needs flash.west: what it calls this part",
            },
        ),
        ("say 'x", 'pyocd = "x"', {"flash_tool": "is no command: No closing quotation"}),
        (" ", 'pyocd = "x"', {"flash_tool": "is empty"}),
    ],
)
def test_mistakes_in_a_board_file(flash_tool: str, flash: str, found: dict[str, str], tmp_path: Path) -> None:
    text = (resources.folder("boards") / "nucleo-f446re.toml").read_text()
    text = text.replace('pyocd = "stm32f446retx"', flash, 1)
    path = tmp_path / "mine.toml"
    path.write_text(text.replace("[flash]", f'flash_tool = "{flash_tool}"\n\n[flash]', 1))
    with pytest.raises(CodegenError) as raised:
        load_board(str(path))
    assert {(each.where or "").split(" ")[-1]: each.text for each in raised.value.messages} == found
