"""Calls of flash tools: each within a time that is stated, its words kept for the message if it fails."""

import os
import re
import shlex
import signal
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from codegen.board.flash.commands import Commands, load_commands, reset_commands
from codegen.errors import CodegenError, Message
from codegen.ir import Board
from codegen.progress import Progress, silent
from codegen.targets.families import install_command

WAIT_SECONDS = 10.0
"""For the port to be there again, unless --wait says otherwise."""
LOAD_SECONDS = 120.0
"""A command may take so long, unless --timeout says otherwise."""
_SHOWN_LINES = 15
_SHOWN_BYTES = 64 << 10
_STOP_SECONDS = 5.0
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_HINTS = (
    (
        re.compile(r"permission denied|access denied|LIBUSB_ERROR_ACCESS|insufficient permissions", re.I),
        "you may not use the probe: install the tool's udev rules, then plug the board in again",
    ),
    (
        re.compile(r"more than one|multiple|ambiguous", re.I),
        "several probes are connected: choose one with --probe SERIAL",
    ),
    (
        re.compile(r"unknown target|target type .* not recognized|chip .* (was )?not found", re.I),
        "the tool does not know the part by the name in the board's [flash]",
    ),
    (
        re.compile(
            r"no .{0,40}(probe|device|st-?link|j-?link)|unable to (open|find)|couldn't find|open failed", re.I
        ),
        "is the board plugged in at its debugger's USB socket, with a cable that carries data?",
    ),
)
"""Phrases of tools' messages that several share, and what to do about each."""


def call(
    commands: Commands, *, seconds: float = LOAD_SECONDS, loading: bool = True, progress: Progress = silent
) -> None:
    """Run them one after the other, each at most so long. `loading`: whether flash is written.

    Raises CodegenError: E630 a program is not installed, E631 one failed, E632 one did not end in time.
    """
    if commands.script is not None:
        path, text = commands.script
        path.write_text(text, encoding="utf-8")
    for words in commands.words:
        progress(f"{'flash' if loading else 'reset'} with {words[0]}")
        _call_one(commands, words, seconds, loading)


def _call_one(commands: Commands, words: tuple[str, ...], seconds: float, loading: bool) -> None:
    with tempfile.TemporaryFile() as said:
        try:
            child = subprocess.Popen(
                words,
                cwd=commands.folder,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise CodegenError(_not_here(commands, words[0], error)) from error
        try:
            status = child.wait(seconds)
        except subprocess.TimeoutExpired:
            _end(child)
            text = f"{words[0]} did not end within {seconds:g} s and was ended"
            raise CodegenError(_message("E632", commands, words, text, said, loading)) from None
        finally:
            if child.returncode is None:
                _end(child)
        if status:
            how = f"status {status}" if status > 0 else signal.Signals(-status).name
            text = f"{words[0]} failed ({how})"
            raise CodegenError(_message("E631", commands, words, text, said, loading))


def _end(child: "subprocess.Popen[bytes]") -> None:
    """The tool and what it started."""
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        child.wait(_STOP_SECONDS)


def _message(
    code: str, commands: Commands, words: tuple[str, ...], text: str, said: BinaryIO, loading: bool
) -> Message:
    printed = _tail(said)
    shown = f"{text}; it printed\n{printed}" if printed else f"{text} and printed nothing"
    hints = [next((advice for pattern, advice in _HINTS if pattern.search(printed)), None)]
    if loading:
        hints.append("what is in the board's flash now may be half written: flash again before you run it")
    if commands.probes is not None:
        hints.append(f"`{commands.probes}` lists the probes")
    hints.append(f"the command was: {shlex.join(words)}")
    return Message(code=code, text=shown, help="; ".join(hint for hint in hints if hint))


def _tail(said: BinaryIO) -> str:
    """Its last lines, printable."""
    size = said.seek(0, os.SEEK_END)
    said.seek(max(0, size - _SHOWN_BYTES))
    text = _COLOURS.sub("", said.read().decode(errors="replace")).replace("\r", "\n")
    lines = [
        "".join(character if character.isprintable() else "." for character in line)
        for line in text.split("\n")
    ]
    shown = [line.rstrip() for line in lines if line.strip()][-_SHOWN_LINES:]
    return "\n".join(f"  {line}" for line in shown)


def _not_here(commands: Commands, program: str, error: OSError) -> Message:
    missing = isinstance(error, FileNotFoundError) and not Path(program).exists()
    reason = "is not installed" if missing else f"cannot be run: {error.strerror}"
    help_ = install_command(program) if program.endswith("objcopy") else commands.install
    help_ = help_ or "the command is flash_tool of the board's file"
    return Message(code="E630", text=f"{program} {reason}", help=help_)


@dataclass(frozen=True, kw_only=True, slots=True)
class FlashTool:
    """Which tool, which probe, and how long is waited."""

    name: str | None = None
    probe: str | None = None
    timeout_seconds: float = LOAD_SECONDS
    wait_seconds: float = WAIT_SECONDS

    def loading(self, board: Board, elf: Path, *, shown: bool = False) -> Commands:
        """Commands that put `elf` on the board; `shown`: for printing alone. Raises CodegenError E630."""
        return load_commands(board, elf, tool=self.name, probe=self.probe, shown=shown)

    def resetting(self, board: Board, *, shown: bool = False) -> Commands:
        """Commands that reset the board; `shown`: for printing alone. Raises CodegenError E630."""
        return reset_commands(board, tool=self.name, probe=self.probe, shown=shown)

    def work(self, commands: Commands, *, loading: bool, progress: Progress = silent) -> None:
        """Run them. Raises CodegenError E630, E631, E632."""
        call(commands, seconds=self.timeout_seconds, loading=loading, progress=progress)
