"""Findings of `doctor --board`: the flash tools of one board, its port, and who answers there."""

import shutil
from collections.abc import Iterable
from pathlib import Path

from codegen.board.attached import answering, check_free
from codegen.board.flash.commands import is_here, load_commands, objcopy, tools_for
from codegen.board.flash.tools import OBJCOPY, TOOLS, Tool
from codegen.board.flashing import baud_of
from codegen.errors import CodegenError, Message, listed
from codegen.ir import Board, Runner
from codegen.targets.families import install_command
from codegen.toolchain.finding import Finding, Topic

_WAIT_SECONDS = 5.0


def board_findings(board: Board, port: str | None, baud: int | None) -> list[Finding]:
    """One finding a tool, and with `port` what is behind it."""
    return [*_tools(board), *([] if port is None else _port(board, port, baud))]


def _tools(board: Board) -> Iterable[Finding]:
    purpose = f"flashing {board.name}"
    if board.runner is Runner.HOST:
        return
    command = board.flash_tool if board.flash_tool not in TOOLS else None
    if command is not None:
        words = load_commands(board, Path("firmware.elf")).words
        missing = [program for program, *_ in words if shutil.which(program) is None]
        lacks = "" if not missing else f": not in PATH: {listed(missing)}"
        yield Finding(
            topic=Topic.FLASH,
            name="flash_tool",
            ok=not missing,
            required_for=purpose,
            detail=f"`{command}`{lacks}",
            install=" ".join(missing),
        )
        return
    able = tools_for(board)
    chosen = (
        TOOLS[board.flash_tool]
        if board.flash_tool
        else next((tool for tool in able if is_here(tool, board)), None)
    )
    optional = board.runner is Runner.QEMU or (chosen is not None and is_here(chosen, board))
    if not able:
        yield Finding(
            topic=Topic.FLASH,
            name="flash tool",
            ok=False,
            required_for=purpose,
            detail="the board's file names none",
            install="[flash] in a board file of your own (docs/boards.md)",
            optional=True,
        )
    for tool in able:
        yield _tool(tool, board, purpose, optional or tool is not (chosen or able[0]), tool is chosen)


def _tool(tool: Tool, board: Board, purpose: str, optional: bool, chosen: bool) -> Finding:
    path = shutil.which(tool.program)
    detail = "not in PATH" if path is None else f"{path}{', the one that is taken' if chosen else ''}"
    install = tool.install
    uses_objcopy = any(words[0] == OBJCOPY for words in tool.load)
    ok = path is not None
    if tool.needs_drive:
        ok = is_here(tool, board)
        detail = f"its drive is mounted{', the one that is taken' if chosen else ''}"
        detail = detail if ok else "no drive of the boot loader is mounted"
    if ok and uses_objcopy and shutil.which(objcopy(board)) is None:
        detail = f"{path}, but it needs {objcopy(board)}"
        ok, install = False, install_command(objcopy(board))
    return Finding(
        topic=Topic.FLASH,
        name=f"flash tool {tool.name}",
        ok=ok,
        required_for=purpose,
        detail=detail,
        install=install,
        optional=optional,
    )


def _port(board: Board, port: str, baud: int | None) -> Iterable[Finding]:
    """Findings about the port: it can be opened, and the firmware behind it is one of this board."""
    rate = baud_of(board, baud)
    try:
        check_free(port, rate)
        firmware = answering(board, port, rate, seconds=_WAIT_SECONDS)
    except CodegenError as error:
        yield _failed(board, port, error.messages[0])
        return
    ok = firmware.board == board.name
    detail = f"board {firmware.board}, build {firmware.build_sha256[:12]} answers"
    yield Finding(
        topic=Topic.PORT,
        name=f"port {port}",
        ok=ok,
        required_for=f"running on {board.name}",
        detail=detail if ok else f"{detail}: another board",
        install=f"--board {firmware.board}, or the port of the other board",
    )


def _failed(board: Board, port: str, message: Message) -> Finding:
    return Finding(
        topic=Topic.PORT,
        name=f"port {port}",
        ok=False,
        required_for=f"running on {board.name}",
        detail=message.text,
        install=message.help or "",
    )
