"""QEMU as a board: started paused, its UART on a TCP socket, stopped for sure.

Its memory is written and read through the debugger stub, for a UART moves each byte by itself.
"""

import contextlib
import json
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from codegen.board.machines.debugger import Debugger
from codegen.board.machines.ports import SocketPort
from codegen.errors import CodegenError, Message
from codegen.ir import Board
from codegen.targets.core_family import EmulatorFacts
from codegen.targets.families import family_of

_ADDRESS = re.compile(r"tcp:(?P<host>[\d.]+):(?P<port>\d+)")
_SOCKET = "host=127.0.0.1,port=0,server=on,wait=off,nodelay=on"
_GREETING_SECONDS = 10.0
_STOP_SECONDS = 5.0
_SHOWN_BYTES = 2000


def command(board: Board, firmware: Path, plugin: str | None = None) -> list[str]:
    """The command line: instructions counted (`-icount shift=0`), control over standard input and output.

    `plugin`: a TCG plugin with its arguments, as QEMU's `-plugin` takes it.
    """
    if board.uart is None or board.qemu_machine is None:
        raise ValueError(f"board {board.name} does not run on QEMU")
    silent = [word for _ in range(board.uart.qemu_serial) for word in ("-serial", "null")]
    link, debug = (f"socket,id={name},{_SOCKET}" for name in ("link", "debug"))
    counted = ("-plugin", plugin) if plugin else ()
    emulator = _emulator(board)
    return [
        emulator.program, "-M", board.qemu_machine, *emulator.cpu_words(board.target),
        "-icount", "shift=0", "-nographic", "-nodefaults", "-S",
        "-chardev", link, *silent, "-serial", "chardev:link", "-chardev", debug, "-gdb", "chardev:debug",
        "-qmp", "stdio", "-kernel", str(firmware), *board.qemu_flags, *counted,
    ]  # fmt: skip


_VERSION = re.compile(r"version (?P<major>\d+)\.(?P<minor>\d+)")
_PLUGIN_APIS = (((9, 1), 3), ((9, 0), 2), ((0, 0), 1))
"""The first QEMU with each version of the plugin interface that runtime_c/qemu_plugin tells apart."""


def _emulator(board: Board) -> EmulatorFacts:
    facts = family_of(board.target.cpu).emulator
    if facts is None:
        raise ValueError(f"board {board.name} does not run on QEMU")
    return facts


def plugin_api(board: Board) -> int:
    """Version of the plugin interface to compile plugins for (runtime_c/qemu_plugin/plugin_api.h).

    Raises CodegenError E501 without QEMU.
    """
    program = _installed(board)
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    return api_of(said)


def api_of(version_text: str) -> int:
    """The plugin interface of the QEMU whose `--version` prints this; the oldest where it is unreadable."""
    match = _VERSION.search(version_text)
    version = (int(match["major"]), int(match["minor"])) if match else (0, 0)
    return next(api for first, api in _PLUGIN_APIS if version >= first)


def _installed(board: Board) -> str:
    """The QEMU that runs the board. Raises CodegenError E501."""
    emulator = _emulator(board)
    if shutil.which(emulator.program) is None:
        raise CodegenError(
            Message(
                code="E501",
                text=f"{emulator.program} is not installed",
                help=f"install it: {emulator.install}",
            )
        )
    return emulator.program


def _dying_with_parent() -> tuple[str, ...]:
    """Words in front of a command that end it when this process is killed: nothing else would."""
    setpriv = shutil.which("setpriv")
    return (setpriv, "--pdeathsig", "KILL") if setpriv else ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Emulator:
    """A running QEMU: the port of the test link, the machine's memory, and what its reset button does."""

    port: SocketPort
    memory: Debugger
    reset: Callable[[], None]


@contextmanager
def running(board: Board, firmware: Path, plugin: str | None = None) -> Generator[Emulator, None, None]:
    """QEMU executing `firmware`.

    An error on the way carries what QEMU said. Raises CodegenError E501 without QEMU, E605 if it does
    not start or dies.
    """
    _installed(board)
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(
            [*_dying_with_parent(), *command(board, firmware, plugin)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            start_new_session=True,
        )
        try:
            emulator = _connect(child, board)
            try:
                yield emulator
            finally:
                emulator.memory.close()
                emulator.port.close()
        except CodegenError as error:
            reason = _reason(child, said, board)
            if reason is None:
                raise
            raise reason from error
        finally:
            _stop(child)


def _connect(child: "subprocess.Popen[bytes]", board: Board) -> Emulator:
    """Learn the sockets' numbers over QMP, connect, then let the machine run: nothing it says is lost.

    Until the firmware enables them, the UARTs of CMSDK and nRF51 take no byte, and QEMU's main loop does
    not look at the socket again by itself: so wait for the greeting, then give the loop something to do.
    """
    try:
        _receive(child)
        _execute(child, "qmp_capabilities")
        devices: list[dict[str, Any]] = _execute(child, "query-chardev")
        host, number = _address(devices, "debug")
        memory = Debugger(host, number, name=f"QEMU ({board.name})")
        try:
            port = _greeted(child, _address(devices, "link"), board)
        except BaseException:
            memory.close()
            raise
        return Emulator(port=port, memory=memory, reset=lambda: _reset(child))
    except (OSError, ValueError, KeyError, StopIteration) as error:
        raise _failed("it did not start") from error


def _address(devices: list[dict[str, Any]], label: str) -> tuple[str, int]:
    """Host and port of the socket of a chardev."""
    name = next(str(device["filename"]) for device in devices if device.get("label") == label)
    match = _ADDRESS.search(name)
    if match is None:
        raise _failed(f"it has no socket named {label}: {name}")
    return match["host"], int(match["port"])


def _greeted(child: "subprocess.Popen[bytes]", address: tuple[str, int], board: Board) -> SocketPort:
    port = SocketPort(*address, name=f"QEMU ({board.name})")
    try:
        _execute(child, "cont")
        port.read(_GREETING_SECONDS)
        _execute(child, "query-status")
    except BaseException:
        port.close()
        raise
    return port


def _reset(child: "subprocess.Popen[bytes]") -> None:
    # It answers first and resets then: what firmware says in between is of before.
    _execute(child, "system_reset", event="RESET")


def _execute(child: "subprocess.Popen[bytes]", name: str, event: str | None = None) -> Any:
    """Send QEMU a command and return the answer, once QEMU has reported `event` too."""
    assert child.stdin is not None  # it was opened as a pipe
    child.stdin.write(json.dumps({"execute": name}).encode() + b"\n")
    child.stdin.flush()
    answers: list[Any] = []
    while not answers or event is not None:
        answer = _receive(child)
        if "return" in answer:
            answers.append(answer["return"])
        if "error" in answer:
            raise ValueError(f"QMP {name}: {answer['error']}")
        if answer.get("event") == event:
            event = None
    return answers[0]


def _receive(child: "subprocess.Popen[bytes]") -> dict[str, Any]:
    assert child.stdout is not None  # it was opened as a pipe
    line = child.stdout.readline()
    if not line:
        raise ValueError("QEMU ended")
    answer: dict[str, Any] = json.loads(line)
    return answer


def _failed(text: str) -> CodegenError:
    return CodegenError(Message(code="E605", text=f"QEMU failed: {text}", help="see `codegen doctor`"))


def _reason(child: "subprocess.Popen[bytes]", said: BinaryIO, board: Board) -> CodegenError | None:
    """QEMU's own words, if QEMU ended by itself."""
    try:
        child.wait(0.2)
    except subprocess.TimeoutExpired:
        return None
    said.seek(0)
    words = "; ".join(filter(None, [said.read(_SHOWN_BYTES).decode(errors="replace").strip(), _end(child)]))
    return CodegenError(
        Message(
            code="E605",
            where=board.name,
            text=f"QEMU failed: {words}",
            help="the firmware locked the core up, or this QEMU lacks the machine: see `codegen doctor`",
        )
    )


def _end(child: "subprocess.Popen[bytes]") -> str:
    """How it ended. A QEMU that a signal ended is not the firmware's doing."""
    status = child.returncode
    return f"it ended with status {status}" if status >= 0 else f"{signal.Signals(-status).name} ended it"


def _stop(child: "subprocess.Popen[bytes]") -> None:
    """End the child, at once: it holds nothing worth saving."""
    child.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(_STOP_SECONDS)
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
