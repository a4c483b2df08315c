"""A board without a UART: the test link in its memory, or semihosting, carried by QEMU's GDB stub in a
debugger's place."""

import json
import re
import socket
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from codegen import resources
from codegen.board import load_board
from codegen.board.machines.debugger import Debugger
from codegen.board.machines.memory_port import MemoryPort
from codegen.cli.main import main
from codegen.errors import CodegenError, ExitCode
from codegen.targets.families import family_of
from tests.e2e.test_entry import network

pytestmark = pytest.mark.qemu
MACHINE, RISCV = "netduinoplus2", "qemu-virt-rv32"


def board_file(folder: Path, driver: str = "rtt", machine: str = MACHINE) -> str:
    """The board with another link; room for the rings in what is kept for the firmware."""
    text = (resources.folder("boards") / f"{machine}.toml").read_text()
    for old, new in (
        (r'driver = "(stm32|16550)"', f'driver = "{driver}"'),
        (r"reserved_bytes = 4096", "reserved_bytes = 8192"),
        (r"aliases = .*\n", ""),
        (rf'name = "{machine}"', 'name = "memory-link"'),
    ):
        text = re.sub(old, new, text, count=1)
    assert driver in text and "memory-link" in text and "aliases" not in text
    path = folder / "memory-link.toml"
    path.write_text(text)
    return str(path)


@contextmanager
def debugged(firmware: Path, *words: str, machine: str = MACHINE) -> Generator[str]:
    """QEMU running it, with a stub; the stub's address. `words`: more of QEMU's."""
    board = load_board(machine)
    emulator_facts = family_of(board.target.cpu).emulator
    assert emulator_facts is not None and board.qemu_machine is not None
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
    emulator = subprocess.Popen(
        [emulator_facts.program, "-M", board.qemu_machine, *emulator_facts.cpu_words(board.target),
         *board.qemu_flags, "-icount", "shift=0", "-nographic", "-nodefaults",
         "-gdb", f"tcp:{address}", "-kernel", str(firmware), *words],
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        host, _, port = address.rpartition(":")
        for _ in range(1200):
            with socket.socket() as trial:
                if trial.connect_ex((host, int(port))) == 0:
                    break
            time.sleep(0.05)
        yield address
    finally:
        emulator.kill()
        emulator.wait()


def call(*words: str) -> int:
    with pytest.raises(SystemExit) as left:
        main([*words])
    return int(str(left.value.code))


def rings(address: str, memory: tuple[int, int], *, spoilt: bool = False) -> str:
    """What is said of the rings in some memory, `spoilt` first: a pointer of theirs is out of bounds."""
    with pytest.raises(CodegenError) as raised:
        host, _, number = address.rpartition(":")
        name = f"gdb://{address}"
        port = MemoryPort(Debugger(host, int(number), name=name), memory, name=name, seconds=0.1)
        try:
            if spoilt:
                port._debugger.write(port._block + 24 + 12, b"\xff\xff\xff\x7f")  # type: ignore[reportPrivateUsage]
            port.read(1.0)
        finally:
            port.close()
    assert [message.code for message in raised.value.messages] == ["E639"]
    return raised.value.messages[0].text


def test_a_model_runs_through_a_debugger(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Twice, as a second host takes over what the first left; then another build, rings that are not there or
    overwritten, and a server that is gone."""
    model, board, out = str(network(tmp_path, 1)), board_file(tmp_path), tmp_path / "out"
    assert call("build", model, "--board", board, "-o", str(out)) == ExitCode.OK
    capsys.readouterr()
    with debugged(out / "firmware.elf") as address:
        for _ in range(2):
            assert call("run", model, "--board", board, "--gdb", address, "--json") == ExitCode.OK
            document = json.loads(capsys.readouterr().out)
            assert document["run"]["outputs"][0]["matches"] and document["run"]["cycles"] > 0
            [pool] = document["plan"]["pools"]
            assert document["run"]["pools"] == [{"name": "sram", "peak_bytes": pool["peak_bytes"]}]
        call("doctor", "--board", board, "--port", f"gdb://{address}")
        assert f"ok        port gdb://{address}: board memory-link, build " in capsys.readouterr().out
        assert call("run", model, "--board", board, "--gdb", address, "--optimize", "size") == ExitCode.TARGET
        assert "error[E615] memory-link: another build is on the board" in capsys.readouterr().err
        assert (
            rings(address, (0x2001_0000, 0x2001_1000))
            == "no rings of the test link in 0x20010000 to 0x20011000"
        )
        assert rings(address, (0x2000_0000, 0x2000_2000), spoilt=True).startswith(
            "the rings of the test link are"
        )
    assert call("run", model, "--board", board, "--gdb", address) == ExitCode.TARGET
    assert f"error[E601] gdb://{address}: its debugger stub failed" in capsys.readouterr().err


@pytest.mark.parametrize("machine", [MACHINE, RISCV])
def test_a_model_runs_through_semihosting(
    machine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The firmware's calls are GDB's File-I/O; a second host takes over what the first left in a call."""
    model, board = str(network(tmp_path, 1)), board_file(tmp_path, "semihosting", machine)
    out = tmp_path / "out"
    assert call("build", model, "--board", board, "-o", str(out)) == ExitCode.OK
    capsys.readouterr()
    semihosting = ("-S", "-semihosting-config", "enable=on,target=gdb")
    with debugged(out / "firmware.elf", *semihosting, machine=machine) as address:
        for _ in range(2):
            assert call("run", model, "--board", board, "--gdb", address, "--json") == ExitCode.OK
            document = json.loads(capsys.readouterr().out)
            assert document["run"]["outputs"][0]["matches"] and document["run"]["cycles"] > 0
            [pool] = document["plan"]["pools"]
            assert document["run"]["pools"] == [{"name": "sram", "peak_bytes": pool["peak_bytes"]}]
        assert call("run", model, "--board", board, "--gdb", address, "--optimize", "size") == ExitCode.TARGET
        assert "error[E615] memory-link: another build is on the board" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (("--board", MACHINE, "--gdb", "h:1"), ExitCode.TARGET, "E608] netduinoplus2: its test link is on a"),
        (("--port", "/dev/ttyACM0"), ExitCode.TARGET, "E608] memory-link: its test link is in memory: no"),
        ((), ExitCode.TARGET, "E608] memory-link: its test link is in memory: no UART"),
        (("--gdb", "3333"), ExitCode.TARGET, "E601] --gdb: '3333' is no HOST:PORT"),
        (("--gdb", "h:1", "--port", "x"), ExitCode.USAGE, "--port and --gdb are two ways to one board"),
    ],
)  # fmt: skip
def test_what_does_not_fit_together(
    words: tuple[str, ...], code: int, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = words if "--board" in words else ("--board", board_file(tmp_path), *words)
    assert call("run", str(network(tmp_path, 1)), *given) == code
    assert text in capsys.readouterr().err


def test_no_device_leads_to_semihosting(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    board = board_file(tmp_path, "semihosting")
    assert call("run", "--board", board, "--port", "/dev/ttyACM0") == ExitCode.TARGET
    said = "E608] memory-link: its test link is semihosting: no device such as /dev/ttyACM0 leads there"
    assert said in capsys.readouterr().err
