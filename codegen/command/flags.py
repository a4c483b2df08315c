"""Flags that several verbs share, gathered into `Options`.

Messages name where a value came from: who set it in a variable or in codegen.toml has typed no flag.
"""

import difflib
import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import wraps
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from codegen.command.option_table import COMMON, ROWS, OptionRow, option
from codegen.command.project_file import Settings, settings
from codegen.driver.inputs.declared_pools import DeclaredPool
from codegen.driver.inputs.dims import parsed
from codegen.driver.inputs.fixes import parsed_fixes
from codegen.driver.inputs.models import GivenNames
from codegen.driver.inputs.window_words import parsed_windows
from codegen.driver.options import Options
from codegen.errors import CodegenError, Message, Messages
from codegen.ir.byte_sizes import NUMBER, SIZE_WORDS, size_bytes, whole_number
from codegen.program.interface import Interface


@dataclass(frozen=True, kw_only=True, slots=True)
class Origin:
    """Place that set a value, if that is not the command line."""

    place: str
    """The environment variable, or file, line and key."""
    in_file: bool


def origin(context: click.Context, row: OptionRow) -> Origin | None:
    """Place that set the value of an option; None where the option was typed, or is at its default."""
    source = context.get_parameter_source(row.name)
    if source is ParameterSource.ENVIRONMENT:
        return Origin(place=f"environment variable {row.variable}", in_file=False)
    if source is ParameterSource.DEFAULT_MAP and isinstance(context.obj, Settings):
        return Origin(place=context.obj.origin(row.key), in_file=True)
    return None


def explained(error: CodegenError, context: click.Context) -> CodegenError:
    """`error`, with each message about the value of an option saying where that value was set."""
    origins = {
        code: (row, set_in.place)
        for row in ROWS.values()
        if (set_in := origin(context, row)) is not None
        for code in row.blamed
    }
    if not any(message.code in origins for message in error.messages):
        return error
    return CodegenError(
        _placed(message, *origins[message.code]) if message.code in origins else message
        for message in error.messages
    )


def _placed(message: Message, row: OptionRow, place: str) -> Message:
    flag = f"--{row.key} "
    where = message.where
    inner = None if where is None or where.startswith(flag.strip()) else where
    return replace(
        message,
        where=place if inner is None else f"{place}: {inner}",
        text=message.text.replace(flag, ""),
    )


def usage(error: click.UsageError) -> CodegenError:
    """Error of a command line that click refuses, or of a value that is set elsewhere."""
    context = error.ctx
    path = context.command_path if context else "codegen"
    help_ = f"{_help_of(error)}`{path} --help` explains the words"
    parameter = error.param if isinstance(error, click.BadParameter) else None
    row = None if parameter is None else ROWS.get(parameter.name or "")
    set_in = None if row is None or context is None else origin(context, row)
    if set_in is None:
        text = " ".join(error.format_message().split())
        if isinstance(error, click.NoSuchOption) and context is not None:
            help_ = _short_option_advice(error.option_name, context) + help_
        return CodegenError(Message(code="E201", text=text, help=help_))
    code = "E202" if set_in.in_file else "E201"
    return CodegenError(Message(code=code, where=set_in.place, text=error.message, help=help_))


def _help_of(error: click.UsageError) -> str:
    """Help text of the option that is wrong; empty where it is not known."""
    context = error.ctx
    parameter = error.param if isinstance(error, click.BadParameter) else None
    if isinstance(parameter, click.Option) and parameter.help:
        return f"{parameter.opts[-1]}: {parameter.help} "
    if isinstance(error, click.BadOptionUsage):
        row = ROWS.get(error.option_name.lstrip("-").replace("-", "_"))
        return "" if row is None else f"{error.option_name}: {row.settings['help']} "
    is_words = context is not None and ("argument" in error.message or isinstance(parameter, click.Argument))
    return f"{' '.join(context.get_usage().split())}; " if is_words and context is not None else ""


def _short_option_advice(name: str, context: click.Context) -> str:
    """The long options that `-b` may stand for; nothing for a long one, of which click tells itself."""
    if name.startswith("--"):
        return f"other verbs take {name}; " if name.removeprefix("--") in ROWS else ""
    words = [word for param in context.command.get_params(context) for word in param.opts]
    long = [word for word in words if word.startswith(f"--{name[1].lower()}")]
    short = [word for word in words if word.lower() == name.lower()]
    return f"did you mean {' or '.join((short + long)[:4])}? " if short or long else ""


Verb = TypeVar("Verb", bound=Callable[..., Any])


def model_flags(
    board_default: str | None = "stm32", *, without: Sequence[str] = ()
) -> Callable[[Verb], Verb]:
    """Decorator: adds the options of everything that plans a model, but those named in `without`; the verb
    gets `options: Options`."""

    def decorate(verb: Verb) -> Verb:
        @wraps(verb)
        def wrapped(**values: Any) -> Any:
            context = click.get_current_context()
            try:
                options = _options(values, board_default)
                _warn_of_limits(options)
                _warn_of_variables()
                return verb(options=options, **values)
            except CodegenError as error:
                raise explained(error, context) from error

        for row in reversed([row for row in COMMON if row.name not in without]):
            wrapped = option(row)(wrapped)
        return CONFIG(wrapped)  # pyright: ignore[reportReturnType]

    return decorate


def _warn_of_variables() -> None:
    """A note for each environment variable that is nearly the name of one that is read."""
    known = {row.variable for row in ROWS.values() if row.variable} | {"CODEGEN_CONFIG"}
    for name in sorted(name for name in os.environ if name.startswith("CODEGEN_") and name not in known):
        if near := difflib.get_close_matches(name, known, n=1, cutoff=0.85):
            click.echo(f"note: {name} is not read: did you mean {near[0]}?", err=True)


def _read_settings(context: click.Context, parameter: click.Parameter, file: Path | None) -> None:
    """Read codegen.toml before any other option is looked at."""
    is_variable = context.get_parameter_source(parameter.name or "") is ParameterSource.ENVIRONMENT
    try:
        context.obj = settings(file=file)
    except CodegenError as error:
        if not is_variable:
            raise
        set_in = f"environment variable {parameter.envvar}"
        raise CodegenError(
            replace(message, where=f"{set_in}: {message.where}" if message.where else set_in)
            for message in error.messages
        ) from None
    context.default_map = {**context.obj.defaults}


CONFIG = click.option(
    "--config",
    envvar="CODEGEN_CONFIG",
    type=click.Path(path_type=Path),
    metavar="FILE",
    is_eager=True,
    expose_value=False,
    callback=_read_settings,
    help="Read FILE, not the codegen.toml of this folder or of one above it in the repository.",
)
"""Option of every verb that takes others from codegen.toml."""


def _options(values: dict[str, Any], board_default: str | None) -> Options:
    board = values.pop("board", None) or board_default or ""
    # Of codegen.toml, which `main` hands to click.
    project = click.get_current_context().obj or Settings()
    pools = values.pop("pool", ())
    names = GivenNames(words=tuple(values.pop("name")), of_project=_is_of_project("name"))
    fitting = {
        row.field: row.value(values.pop(row.name))
        for row in COMMON
        if row.field is not None and row.name in values
    }
    interface = Interface(**{field.name: fitting.pop(field.name) for field in fields(Interface)})
    plain: dict[str, Any] = {str(name): value for name, value in fitting.items()}
    return Options(
        board=board,
        pool_limits=MappingProxyType(pool_limits(pools)),
        pools=declared_pools(pools),
        names=names,
        dims=parsed(values.pop("dim")),
        windows=parsed_windows(values.pop("window")),
        fixes=parsed_fixes(values.pop("fix")),
        interface=interface,
        kernels=project.kernels,
        places=project.places,
        states=project.states,
        constant_rules=project.constant_rules,
        app_elf=values.pop("app_elf", None),
        stack_bytes=values.pop("stack", None),
        dump_ir=values.pop("dump_ir", None),
        **plain,
    )


def _warn_of_limits(options: Options) -> None:
    """Warn (E203) of limits that limit nothing: more bytes than the memory has, mostly a wrong unit."""
    is_of_one_board = "board" in click.get_current_context().params  # `lab` has many
    if not _is_typed("pool") or not options.board or not is_of_one_board:
        return
    from codegen.board import load_board
    from codegen.command.console import show_warnings

    sizes = {region.pool_name: region.size_bytes for region in load_board(options.board).regions}
    show_warnings(
        Message(
            code="E203",
            where=f"--pool {name}={limit}",
            text=f"limits nothing: {name} of {options.board} has {sizes[name]:,} bytes",
            help="give a smaller number; K is 1024 bytes, M is 1024 K",
        )
        for name, limit in options.pool_limits.items()
        if limit > sizes.get(name, limit)
    )


def _is_typed(flag: str) -> bool:
    """True if the command line says it, for this build alone."""
    return click.get_current_context().get_parameter_source(flag) is ParameterSource.COMMANDLINE


def _is_of_project(flag: str) -> bool:
    """True if codegen.toml says it, for all builds of a project."""
    return click.get_current_context().get_parameter_source(flag) is ParameterSource.DEFAULT_MAP


_POOL = re.compile(rf"(?P<name>[A-Za-z][A-Za-z0-9_]*)=(?P<size>[0-9A-Za-z]+)(?:@(?P<address>{NUMBER}))?")


def pool_limits(words: Sequence[str]) -> dict[str, int]:
    """`NAME=BYTES` words as a mapping. Raises CodegenError E203 naming every word that is neither that nor
    `NAME=BYTES@ADDRESS`, and every pool that has two limits."""
    return {word.name: word.size_bytes for word in _pool_words(words) if word.address is None}


def declared_pools(words: Sequence[str]) -> tuple[DeclaredPool, ...]:
    """`NAME=BYTES@ADDRESS` words as pools. Raises CodegenError as `pool_limits` does."""
    return tuple(
        DeclaredPool(name=word.name, size_bytes=word.size_bytes, address=word.address)
        for word in _pool_words(words)
        if word.address is not None
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _PoolWord:
    """A word of `--pool`, taken apart."""

    text: str
    name: str
    size_bytes: int
    address: int | None


def _pool_words(words: Sequence[str]) -> list[_PoolWord]:
    messages = Messages()
    pools: list[_PoolWord] = []
    for word in words:
        match = _POOL.fullmatch(word)
        size = size_bytes(match["size"]) if match is not None else None
        if match is None or size is None:
            help_ = f"for example --pool sram=32K, or --pool spare=8K@0x20008000; {SIZE_WORDS}"
            text = f"--pool {word} is not NAME=BYTES"
            text += "" if match is None else f": {match['size']} is no number of bytes"
            messages.add("E203", text, help=help_)
        else:
            address = None if match["address"] is None else whole_number(match["address"])
            pools.append(_PoolWord(text=word, name=match["name"], size_bytes=size, address=address))
    _check_limits([word for word in pools if word.address is None], messages)
    messages.raise_if_any()
    return pools


def _check_limits(limits: Sequence[_PoolWord], messages: Messages) -> None:
    """Each pool has one limit: of two nobody knows which was meant."""
    for name, count in Counter(word.name for word in limits).items():
        if count > 1:
            repeated = " and ".join(f"--pool {word.text}" for word in limits if word.name == name)
            text = f"{repeated}: pool {name} has {count} limits"
            messages.add("E203", text, help="a pool has one limit: leave the one that is meant")


def groups(words: Sequence[str], models: int) -> tuple[tuple[str, ...], ...]:
    """`NAME,NAME` words as sets of model names; names and words once, in order.

    `models`: how many the build has. Raises CodegenError E255 naming every word in which a name is empty,
    E256 if the command line names sets of a build of one model.
    """
    messages = Messages()
    sets: list[tuple[str, ...]] = []
    for word in words:
        names = [name.strip() for name in word.split(",")]
        if not all(names):
            messages.add(
                "E255",
                "the name of a model is empty",
                where=f'--concurrent "{word}"',
                help="name two or more models, one comma between any two: --concurrent kws,vww",
            )
        if models == 1 and _is_typed("concurrent"):
            text = "the build has one model, to which nothing is concurrent"
            help_ = "give the other models too, or leave it out"
            messages.add("E256", text, where=f'--concurrent "{word}"', help=help_)
        sets.append(tuple(dict.fromkeys(names)))
    messages.raise_if_any()
    return tuple(dict.fromkeys(sets))
