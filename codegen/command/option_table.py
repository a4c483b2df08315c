"""The options that several verbs share: one table for flags, environment, codegen.toml and grouped help."""

import math
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, fields
from enum import Enum
from pathlib import Path
from typing import Any, Literal, cast, get_args, get_origin

import click

from codegen.driver.options import MOST_SECONDS, Options
from codegen.ir.byte_sizes import SIZE_WORDS, size_bytes
from codegen.program.interface import Interface
from codegen.settings import (
    CODE,
    FLOAT_TOLERANCE,
    OUTPUT,
    SEARCH,
    TARGET,
    Firmware,
    Flag,
    ReferenceMode,
    flag_name,
    flags_of,
)

GROUPS = (TARGET, CODE, SEARCH, OUTPUT)
"""Groups of the help, in this order, behind what a verb has for itself."""


@dataclass(frozen=True, kw_only=True, slots=True)
class KeyKind:
    """Kind of value that codegen.toml may have for a key."""

    words: str
    accepts: Callable[[object], bool]


class _Seconds(click.FloatRange):
    """A number of seconds; `nan` is none (no comparison would ever end on it)."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            value = float(value)
        except (TypeError, ValueError):
            self.fail(f"{value!r} is no number of seconds.", param, ctx)
        seconds = super().convert(value, param, ctx)
        if math.isnan(seconds):
            self.fail(f"{value} is not in the range {self._describe_range()}.", param, ctx)
        return seconds


def _of(words: str, *types: type) -> KeyKind:
    return KeyKind(words=words, accepts=lambda value: type(value) in types)  # true is no integer here


def _are_groups(value: object) -> bool:
    lists = cast("list[object]", value) if isinstance(value, list) else [value]
    return all(
        isinstance(group, list) and all(isinstance(name, str) for name in cast("list[object]", group))
        for group in lists
    )


TEXT, SWITCH = _of("a string", str), _of("true or false", bool)
NUMBER, INTEGER = _of("a number", int, float), _of("an integer", int)
SIZE = _of('a number of bytes, or a string such as "2K"', int, str)
LIMITS, NAMES = _of("a table", dict, list), _of("a table or a string", dict, str)
SETS = KeyKind(words="a list of lists of model names", accepts=_are_groups)


@dataclass(frozen=True, kw_only=True, slots=True)
class OptionRow:
    """One option: how it is said, what it may be, which errors are about its value."""

    field: str | None
    """The field of `Options`, or of its `Interface`, that takes the value as it is."""
    flag: str
    group: str
    toml: KeyKind | None
    """None: of the command line alone, in no file and no variable."""
    blamed: tuple[str, ...]
    """Codes of the messages that say that its value is wrong."""
    is_path: bool
    """A file: what codegen.toml says is beside it."""
    settings: Mapping[str, Any]
    """Settings of `click.option`."""

    @property
    def key(self) -> str:
        """Its key in codegen.toml."""
        return self.flag.split("/")[0].lstrip("-")

    @property
    def name(self) -> str:
        """Its name in Python."""
        return self.key.replace("-", "_")

    def value(self, word: Any) -> Any:
        """Value of its field for `word`: a member of an enumeration, or a switch turned round for --no-."""
        hint = _HINTS[self.field or self.name]
        if isinstance(hint, type) and issubclass(hint, Enum):
            return hint(word)
        return not word if self.flag.startswith("--no-") else word

    @property
    def variable(self) -> str | None:
        """Its environment variable."""
        return None if self.toml is None else f"CODEGEN_{self.name.upper()}"


def row(
    flag: str,
    group: str,
    toml: KeyKind | None,
    *,
    blamed: tuple[str, ...] = (),
    is_path: bool = False,
    **settings: Any,
) -> OptionRow:
    """A row of the table; `settings` go to click."""
    return OptionRow(
        flag=flag, group=group, toml=toml, field=None, blamed=blamed, is_path=is_path, settings=settings
    )


class Size(click.ParamType[int]):
    """A number of bytes, as people write them."""

    name = "bytes"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Bytes of `32768`, `"0x8000"`, `"32K"`; anything else is a usage error."""
        size = value if isinstance(value, int) else size_bytes(str(value))
        if size is None or size < 0:
            self.fail(f"{value} is no number of bytes: {SIZE_WORDS}", param, ctx)
        return size


_INTERFACE = {
    field: Flag(group=CODE, help=help_)
    for field, help_ in zip(
        fields(Interface),
        (
            "steps: also a function that runs one step (<model>_step), for schedulers and watchdogs.",
            "caller: the application owns the pools and hands them over; several instances may run.",
            "external: weights in an image of their own (<model>_constants.bin), given at run time.",
            "A call while another one runs, as from an interrupt, returns CG_ERR_BUSY.",
        ),
        strict=True,
    )
}
"""How firmware calls the model: rows as those of `Options`."""
_HINTS = {field.name: field.type for field in (*fields(Options), *fields(Interface))}
"""Types of the fields; a quoted one is no row of the table."""


def _row_of(field: "Field[object]", flag: Flag) -> OptionRow:
    """The row of a field: its type says what may be given."""
    name = flag_name(field, flag)
    kind, settings = _by_type(_HINTS[field.name])
    if name.startswith("--no-") or field.default is False:
        settings.clear()
        settings["is_flag"] = True
    elif field.default is not None:
        default = field.default.value if isinstance(field.default, Enum) else field.default
        settings |= {"default": default, "show_default": True}
    if flag.metavar is not None:
        settings["metavar"] = flag.metavar
    settings["help"] = flag.help
    return OptionRow(
        flag=name,
        group=flag.group,
        toml=kind,
        field=field.name,
        blamed=flag.blamed,
        is_path=False,
        settings=settings,
    )


def _by_type(hint: Any) -> tuple[KeyKind, dict[str, Any]]:
    """Values that codegen.toml may have for a field of this type, and click's settings."""
    if get_origin(hint) is Literal:
        return TEXT, {"type": click.Choice(get_args(hint))}
    if isinstance(hint, type) and issubclass(hint, Enum):
        return TEXT, {"type": click.Choice([mode.value for mode in hint])}
    plain: Mapping[Any, tuple[KeyKind, dict[str, Any]]] = {
        bool: (SWITCH, {}),
        str: (TEXT, {}),
        str | None: (TEXT, {}),
        int: (INTEGER, {"type": int}),
        int | None: (SIZE, {"type": Size()}),
        float | None: (NUMBER, {"type": _Seconds(min=0, min_open=True)}),
        float: (NUMBER, {"type": _Seconds(min=0, min_open=True, max=MOST_SECONDS)}),
    }
    return plain[hint]


COMMON = (
    *(_row_of(field, flag) for field, flag in flags_of(Options).items()),
    *(_row_of(field, flag) for field, flag in _INTERFACE.items()),
    row(
        "--board",
        TARGET,
        TEXT,
        blamed=("E250", "E251", "E252"),
        metavar="BOARD",
        help="Board name or path of a board's TOML file (`codegen boards`).",
    ),
    row(
        "--name",
        CODE,
        NAMES,
        blamed=("E227",),
        multiple=True,
        metavar="[NAME=]PREFIX",
        help="What C names and files of a model begin with; of several models once a model, in their "
        "order, or NAME=PREFIX for the one that is NAME by its file.",
    ),
    row(
        "--dim",
        CODE,
        NAMES,
        blamed=("E281", "E282", "E284"),
        multiple=True,
        metavar="NAME=LOW..HIGH",
        help="A size known as a range: T=10..200 (T=37: one size) for what the model leaves open, "
        "input_1.1=10..200 for axis 1 of input_1, input_1.1=T for a size that has a name. May be given "
        "several times.",
    ),
    row(
        "--fix",
        CODE,
        NAMES,
        blamed=("E276",),
        multiple=True,
        metavar="INPUT=VALUE",
        help="A graph input (.onnx) that is a constant: sr=16000, which may decide a branch. One number for "
        "all elements, or all of them with commas. May be given several times.",
    ),
    row(
        "--window",
        CODE,
        NAMES,
        blamed=("E224", "E279"),
        multiple=True,
        metavar="INPUT[.AXIS]=STEP",
        help="The input is a window that moves by STEP rows a call: calls take new rows, and what earlier "
        "calls computed is kept as state (docs/guides/windows.md).",
    ),
    row(
        "--pool",
        TARGET,
        LIMITS,
        blamed=("E203", "E215", "E258", "E259", "E275"),
        multiple=True,
        metavar="NAME=BYTES[@ADDRESS]",
        help="Hard limit of a pool (32768, 0x8000, 32K, 32KiB: K is 1024); with an address a pool of its "
        "own there. May be given several times, once a pool.",
    ),
    row(
        "--app-elf",
        TARGET,
        TEXT,
        blamed=("E270", "E271", "E272", "E273", "E274"),
        is_path=True,
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help="ELF of the application: pools are limited to the largest range it leaves in each region.",
    ),
    row(
        "--stack",
        TARGET,
        SIZE,
        blamed=("E277", "E406"),
        type=Size(),
        metavar="BYTES",
        help="What the application has for the model's stack: a build that may need more fails.",
    ),
    row(
        "--dump-ir",
        OUTPUT,
        None,
        type=click.Path(file_okay=False, path_type=Path),
        metavar="DIR",
        help="Write the module as text after every stage.",
    ),
)
"""Options of everything that plans a model."""

CONCURRENT = row(
    "--concurrent",
    TARGET,
    SETS,
    blamed=("E255", "E256"),
    multiple=True,
    metavar="NAME,NAME...",
    help="Models that may run at the same time and so share no bytes; may be given several times.",
)
PORT = row(
    "--port",
    TARGET,
    TEXT,
    metavar="PORT",
    help="Serial port of a real board (device or pyserial URL); else QEMU.",
)
LOCK = row(
    "--lock",
    CODE,
    TEXT,
    is_path=True,
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Figures (stack, pools, code, hashes) that the build must have, else exit 4; written if not there.",
)
FIRMWARE = row(
    "--firmware",
    CODE,
    TEXT,
    blamed=("E286",),
    type=click.Choice(get_args(Firmware)),
    default="test",
    help="What runs around the model: the test link, or what answers MLPerf Tiny's runner.",
)
REFERENCE = row(
    "--reference",
    OUTPUT,
    TEXT,
    blamed=("E239",),
    type=click.Choice(get_args(ReferenceMode)),
    default="auto",
    show_default=True,
    help="Compare with an independent engine where one is installed (auto), with nothing else (engine), or "
    "with our own evaluation of the imported network (numpy). --expect wins.",
)
ENGINE_PYTHON = row(
    "--engine-python",
    OUTPUT,
    TEXT,
    blamed=("E238",),
    is_path=True,
    metavar="PYTHON",
    help="Python in which onnxruntime, tflite-runtime, ai-edge-litert or tflite-micro is; else this "
    "one, and .venv-engines of the checkout.",
)
TOLERANCE = row(
    "--tolerance",
    OUTPUT,
    NUMBER,
    type=click.FloatRange(min=0, max=1),
    metavar="NUMBER",
    default=FLOAT_TOLERANCE,
    show_default=True,
    help="Difference of a float32 output that is none, relative to its largest value, or to its bound where "
    "it has one (probabilities: 1). Integers are equal.",
)
_RUNS = (CONCURRENT, PORT, LOCK, FIRMWARE, REFERENCE, ENGINE_PYTHON, TOLERANCE)
ROWS = {row.name: row for row in (*COMMON, *_RUNS)}
"""All options that codegen.toml and the environment may set, and --dump-ir, by name."""


class _Option(click.Option):
    """An option that its help shows below a heading."""

    def __init__(self, *names: Any, group: str, **settings: Any) -> None:
        super().__init__(*names, **settings)
        self.group = group


def option(row: OptionRow) -> Callable[..., Any]:
    """Decorator: adds the option of `row`."""
    return click.option(row.flag, cls=_Option, group=row.group, envvar=row.variable, **row.settings)


class GroupedVerb(click.Command):
    """A verb whose help has its own options first, then those that it shares, by group."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the groups that have options."""
        records: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = None if isinstance(parameter, click.Argument) else parameter.get_help_record(ctx)
            if record is not None:
                group = parameter.group if isinstance(parameter, _Option) else "Options"
                records.setdefault(group, []).append(record)
        for group in ("Options", *GROUPS):
            if group in records:
                with formatter.section(group):
                    formatter.write_dl(records[group])
