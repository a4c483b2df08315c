"""Where the value of an option comes from, for messages: who set it elsewhere has typed no flag."""

from dataclasses import dataclass, replace

import click
from click.core import ParameterSource

from codegen.cli.config.project_file import Settings
from codegen.cli.options.option_table import ROWS, Row
from codegen.errors import CodegenError, Message


@dataclass(frozen=True, kw_only=True, slots=True)
class Origin:
    """Where a value was set, but on the command line."""

    place: str
    """The environment variable, or file, line and key."""
    in_file: bool


def origin(context: click.Context, row: Row) -> Origin | None:
    """Where the value of an option was set; None where the option was typed, or is at its default."""
    source = context.get_parameter_source(row.name)
    if source is ParameterSource.ENVIRONMENT:
        return Origin(place=f"environment variable {row.variable}", in_file=False)
    if source is ParameterSource.DEFAULT_MAP and isinstance(context.obj, Settings):
        return Origin(place=context.obj.origin(row.key), in_file=True)
    return None


def explained(error: CodegenError, context: click.Context) -> CodegenError:
    """`error`, with each message about the value of an option saying where that value was set."""
    origins = {
        code: (row, found.place)
        for row in ROWS.values()
        if (found := origin(context, row)) is not None
        for code in row.blamed
    }
    if not any(message.code in origins for message in error.messages):
        return error
    return CodegenError(
        _placed(message, *origins[message.code]) if message.code in origins else message
        for message in error.messages
    )


def _placed(message: Message, row: Row, place: str) -> Message:
    flag = f"--{row.key} "
    where = message.where
    inner = None if where is None or where.startswith(flag.strip()) else where
    return replace(
        message,
        where=place if inner is None else f"{place}: {inner}",
        text=message.text.replace(flag, ""),
    )


def usage(error: click.UsageError) -> CodegenError:
    """What click says of a command line, or of a value that is set elsewhere."""
    context = error.ctx
    path = context.command_path if context else "codegen"
    help_ = f"`{path} --help` explains the words"
    parameter = error.param if isinstance(error, click.BadParameter) else None
    row = None if parameter is None else ROWS.get(parameter.name or "")
    found = None if row is None or context is None else origin(context, row)
    if found is None:
        return CodegenError(Message(code="E201", text=error.format_message(), help=help_))
    code = "E202" if found.in_file else "E201"
    return CodegenError(Message(code=code, where=found.place, text=error.message, help=help_))
