"""Which tool a board is flashed with, and the exact commands."""

import re
import shlex
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from codegen.board.flash.drives import mounted_drive, usual_place
from codegen.board.flash.tools import DRIVE, NAME, PROBE, TOOLS, Tool, Words
from codegen.errors import CodegenError, Message, Messages, listed
from codegen.ir import Board, FlashNames
from codegen.targets.families import family_of

_NOTHING = FlashNames()
_USB = re.compile(r"[0-9A-Fa-f]{4}:[0-9A-Fa-f]{4}\Z")
_WORDS = re.compile(r"[\w.:-]+\Z")
_USB_PROBE = re.compile(r"[0-9A-Fa-f]{1,4}:[0-9A-Fa-f]{1,4}(?:-\d*)?(?::.+)?\Z")


@dataclass(frozen=True, kw_only=True, slots=True)
class Commands:
    """Commands of one tool, in order."""

    tool: str
    words: tuple[Words, ...]
    folder: Path
    """Folder in which the commands run."""
    script: tuple[Path, str] | None = None
    """A file that they read, written first."""
    probes: str | None = None
    """The command that lists the probes the tool sees."""
    install: str | None = None
    note: str | None = None
    """A comment of the shell in front of the commands, where they have a guess in them."""

    @property
    def lines(self) -> list[str]:
        """The commands as one types them in a shell."""
        first = [] if self.folder == Path() else [shlex.join(("cd", str(self.folder)))]
        if self.script is not None:
            path, text = self.script
            first.append(f"printf '%s\\n' {shlex.join(text.splitlines())} > {shlex.quote(str(path))}")
        return [*first, *(shlex.join(words) for words in self.words)]


def name_of(board: Board, tool: Tool) -> str | None:
    """The part's name in `tool`: "" if the tool finds it out, None if the tool is not for this board."""
    value: str | bool | None = getattr(board.flash or _NOTHING, tool.key)
    return value if isinstance(value, str) else "" if value else None


def tools_for(board: Board) -> tuple[Tool, ...]:
    """The tools that the board's file has names for, in the order of the table."""
    return tuple(tool for tool in TOOLS.values() if name_of(board, tool) is not None)


def check_names(board: Board, where: str, code: str, messages: Messages) -> None:
    """Add messages for names in the board's file that no tool could mean."""
    names = board.flash or _NOTHING
    for key in sorted({tool.key for tool in TOOLS.values()}):
        value = getattr(names, key)
        if isinstance(value, str) and not value.strip():
            messages.add(code, "is empty", where=f"{where}: flash.{key}", help="leave it out")
    if names.dfu is not None and not _USB.match(names.dfu):
        help_ = "four hexadecimal digits each, as lsusb prints them: 0483:df11"
        messages.add(code, f"{names.dfu!r} is no VID:PID", where=f"{where}: flash.dfu", help=help_)
    if (names.uf2 is None) != (names.uf2_family is None):
        lacking, present = ("uf2", "uf2_family") if names.uf2 is None else ("uf2_family", "uf2")
        messages.add(code, f"is missing beside flash.{present}", where=f"{where}: flash.{lacking}")
    if names.uf2_family is not None and not 0 <= names.uf2_family < 1 << 32:
        messages.add(code, "does not fit 32 bits", where=f"{where}: flash.uf2_family")
    tool = TOOLS.get(board.flash_tool or "")
    if tool is not None and name_of(board, tool) is None:
        text = f"{tool.name} needs flash.{tool.key}: what it calls this part"
        messages.add(code, text, where=f"{where}: flash_tool")
    if tool is None and board.flash_tool is not None:
        _check_own(board.flash_tool, f"{where}: flash_tool", code, messages)


def _check_own(command: str, where: str, code: str, messages: Messages) -> None:
    known = f"a tool ({', '.join(TOOLS)}), or a command of your own"
    try:
        words = shlex.split(command)
    except ValueError as error:
        messages.add(code, f"is no command: {error}", where=where, help=known)
        return
    if not words or words[0] == "&&":
        messages.add(code, "is empty", where=where, help=known)


def is_here(tool: Tool, board: Board) -> bool:
    """True if its program is in PATH, and the drive that it copies to is mounted."""
    if tool.needs_drive and mounted_drive(name_of(board, tool) or "") is None:
        return False
    return shutil.which(tool.program) is not None


def load_commands(
    board: Board, elf: Path, *, tool: str | None = None, probe: str | None = None, shown: bool = False
) -> Commands:
    """Commands that put `elf` on the board and start it.

    The tool is `tool`, else the board's flash_tool, else the first tool that the board names and that is
    installed. If the commands are only `shown`, the first tool of the board will do. Raises CodegenError
    E630: no tool is named or installed, or `tool` is none for this board.
    """
    if tool is None and board.flash_tool is not None and board.flash_tool not in TOOLS:
        return _own_command(board.flash_tool, elf)
    chosen = choose(board, tool, shown=shown)
    if chosen.needs_drive and not shown and not is_here(chosen, board):
        raise CodegenError(_no_drive(board, chosen))
    return rendered(chosen, board, chosen.load, chosen.scripts.load, elf, probe)


def reset_commands(
    board: Board, *, tool: str | None = None, probe: str | None = None, shown: bool = False
) -> Commands:
    """Commands that reset the board. Raises CodegenError E630 as `load_commands` does, and if the tool cannot
    reset."""
    chosen = choose(board, tool, resetting=True, shown=shown)
    if not chosen.reset:
        able = [tool_.name for tool_ in tools_for(board) if tool_.reset]
        raise CodegenError(
            Message(
                code="E630",
                where=board.name,
                text=f"{chosen.name} cannot reset a board",
                help=f"press its reset button, or --tool with one of {', '.join(able)}"
                if able
                else "press its reset button",
            )
        )
    return rendered(chosen, board, chosen.reset, chosen.scripts.reset, Path("firmware.elf"), probe)


def choose(board: Board, name: str | None, *, resetting: bool = False, shown: bool = False) -> Tool:
    """The tool to take; where its commands are only `shown`, one that is not installed too. Raises
    CodegenError E630."""
    tool_name = name or (board.flash_tool if board.flash_tool in TOOLS else None)
    if tool_name is not None:
        if name_of(board, TOOLS[tool_name]) is None:
            raise CodegenError(_not_named(board, TOOLS[tool_name]))
        return TOOLS[tool_name]
    able = [tool for tool in tools_for(board) if tool.reset or not resetting]
    here = next((tool for tool in able if is_here(tool, board)), None)
    if here is None and shown and able:
        return able[0]
    if here is None:
        raise CodegenError(_none_here(board, able))
    return here


def rendered(
    tool: Tool, board: Board, commands: Iterable[Words], script: Sequence[str], elf: Path, probe: str | None
) -> Commands:
    """The table's words with this board's names and files. Raises CodegenError E630 for a probe that no tool
    could mean, or not this one."""
    if probe is not None:
        _check_probe(tool, probe)
    code = board.region(board.code_region)
    scripted = elf.with_suffix(".jlink")
    values = {
        "elf": str(elf),
        "uf2": str(elf.with_suffix(".uf2")),
        "hex": str(elf.with_suffix(".hex")),
        "bin": str(elf.with_suffix(".bin")),
        "script": str(scripted),
        "objcopy": objcopy(board),
        "address": f"0x{code.address:08x}",
        "probe": probe or "",
    }

    def filled(word: str) -> list[str]:
        if word == NAME:
            names = (name_of(board, tool) or "").split()
            return [part.format(name=name) for name in names for part in tool.name_words]
        if word == DRIVE:
            board_id = name_of(board, tool) or ""
            return [str(mounted_drive(board_id) or usual_place(board_id))]
        if word == PROBE:
            return [part.format(**values) for part in tool.probe_words] if probe is not None else []
        return [word.format(**values)]

    return Commands(
        tool=tool.name,
        words=tuple(tuple(part for word in words for part in filled(word)) for words in commands),
        folder=Path(),
        script=(scripted, "".join(f"{line.format(**values)}\n" for line in script)) if script else None,
        probes=tool.probes,
        install=tool.install,
        note=_place_note(board, tool),
    )


def objcopy(board: Board) -> str:
    """The program that writes other formats from the firmware's ELF."""
    return f"{family_of(board.target.cpu).compiler.prefix}objcopy"


def _place_note(board: Board, tool: Tool) -> str | None:
    """The name of the drive that a tool copies to, where it is not mounted and its place a guess."""
    board_id = name_of(board, tool) or ""
    if not tool.needs_drive or mounted_drive(board_id) is not None:
        return None
    return f"# copy to where the drive {board_id} is mounted (for instance {usual_place(board_id)})"


def _check_probe(tool: Tool, probe: str) -> None:
    if not _WORDS.match(probe):
        text = f"--probe {probe!r} is no serial number: letters, digits and . : - _ only"
    elif tool.usb_probe and not _USB_PROBE.match(probe):
        text = f"--probe {probe!r}: {tool.name} knows a probe by VID:PID or VID:PID:SERIAL"
    else:
        return
    raise CodegenError(Message(code="E630", text=text, help=f"`{tool.probes}` lists the probes"))


def _own_command(command: str, elf: Path) -> Commands:
    """The board file's own command: words as of a shell, several commands with && between them."""
    if elf.name != "firmware.elf":
        raise ValueError("a command of the board file's own speaks of firmware.elf")
    words: list[list[str]] = [[]]
    for word in shlex.split(command):
        if word == "&&":
            words.append([])
        else:
            words[-1].append(word)
    return Commands(
        tool=words[-1][0] if words[-1] else "flash_tool",
        words=tuple(tuple(command_words) for command_words in words if command_words),
        folder=elf.parent,
    )


def _not_named(board: Board, tool: Tool) -> Message:
    known = listed([named_tool.name for named_tool in tools_for(board)]) or "none"
    return Message(
        code="E630",
        where=board.name,
        text=f"the board's file does not say what {tool.name} calls it",
        help=f"it has names for: {known}; flash.{tool.key} in a board file of your own (docs/boards.md)",
    )


def _no_drive(board: Board, tool: Tool) -> Message:
    return Message(
        code="E630",
        where=board.name,
        text=f"no drive of its boot loader is mounted (INFO_UF2.TXT with Board-ID {name_of(board, tool)})",
        help=f"{tool.install}; or copy firmware.uf2 there yourself",
    )


def _none_here(board: Board, able: Sequence[Tool]) -> Message:
    if not able:
        return Message(
            code="E630",
            where=board.name,
            text="the board's file names no flash tool",
            help="add [flash] or flash_tool to a board file of your own (docs/boards.md)",
        )
    installs = "; ".join(f"{tool.name}: {tool.install}" for tool in able)
    return Message(
        code="E630",
        where=board.name,
        text=f"none of its flash tools is installed ({', '.join(tool.name for tool in able)})",
        help=f"one is enough, and `--tool NAME --dry-run` shows its command. {installs}",
    )
