"""The verb `init`: a codegen.toml with every key, what it does, and its default, all commented out."""

import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path

import click
import msgspec

from codegen.board import load_board
from codegen.cli.verb_table import VERBS
from codegen.command.option_table import GROUPS, ROWS, SWITCH, OptionRow
from codegen.command.project_file import FILE, current_folder
from codegen.driver.inputs.files import write_file
from codegen.errors import CodegenError, ExitCode, Message

_COLUMNS = 100
_EXAMPLES: Mapping[str, str] = {
    "app-elf": '"application.elf"',
    "board": '"stm32"',
    "concurrent": '[["first", "second"]]',
    "deadline": "60",
    "dim": '{ T = "10..200" }',
    "engine-python": '".venv-engines/bin/python"',
    "fix": '{ sr = "16000" }',
    "lock": '"codegen.lock"',
    "memory-model": '"stm32l4r5"',
    "model-limit": '"600M"',
    "name": '{ model = "prefix" }',
    "npu": '"ethos-u55-128"',
    "only": '"sram"',
    "pool": '{ sram = "32K" }',
    "port": '"/dev/ttyACM0"',
    "stack": '"4K"',
    "window": '{ x = "1" }',
}
"""Examples for keys without a default; the board's is that of most verbs."""
_HEAD = """\
# What codegen takes for this project where the command line and CODEGEN_* variables say nothing.
# Paths are beside this file. Take the # in front of a key away to set it. What stands behind it is
# the default, or an example where there is none. docs/configuration.md explains each, and the
# tables kernel, place, state and constant.
"""


@click.command(help=VERBS["init"].help)
@click.argument("file", default=FILE, type=click.Path(path_type=Path), metavar=f"[{FILE}]")
@click.option("--board", metavar="BOARD", help="Set this board (name or file).")
def init(file: Path, board: str | None) -> int:
    """`codegen init`."""
    current_folder()
    if file.exists() or file.is_symlink():
        text = "is there already: nothing was written"
        help_ = "change it, move it away, or name another file: codegen init other.toml, then --config"
        raise CodegenError(Message(code="E280", where=str(file), text=text, help=help_))
    if board is not None:
        load_board(board)
    write_file(file, project_file(board).encode())
    click.echo(f"written   {file}")
    return ExitCode.OK


def project_file(board: str | None) -> str:
    """The file's text; with `board` that key is set."""
    return _HEAD + "".join(_group(group, board) for group in GROUPS)


def _group(group: str, board: str | None) -> str:
    rows = [row for row in ROWS.values() if row.group == group and row.toml is not None]
    lines = [line for row in rows for line in _lines(row, board)]
    return f"\n# {group}\n" + "".join(f"{line}\n" for line in lines) if lines else ""


def _lines(row: OptionRow, board: str | None) -> Iterator[str]:
    yield "#"
    help_ = str(row.settings.get("help", ""))
    yield from textwrap.wrap(help_, _COLUMNS, initial_indent="# ", subsequent_indent="# ")
    if row.key == "board" and board is not None:
        yield f"board = {_toml(board)}"
    else:
        yield f"# {row.key} = {_value(row)}"


def _value(row: OptionRow) -> str:
    default = row.settings.get("default")
    if default is None and row.toml is SWITCH:
        default = False
    return _EXAMPLES[row.key] if default is None else _toml(default)


def _toml(value: object) -> str:
    """A plain value: what JSON writes of one, TOML reads."""
    return msgspec.json.encode(value).decode()
