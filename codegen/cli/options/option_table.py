"""The options that several verbs share: one table for flags, environment, codegen.toml and help."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import click

from codegen.ir.sizes import SIZE_WORDS, size_bytes
from codegen.program.interface import ConstantsMode, EntryMode, IoMode, PoolOwner

TARGET, SEARCH, CODE, OUTPUT = "Board and memory", "Plan and kernels", "Generated code", "Output"
"""Groups of the help, in this order, behind what a verb has for itself."""
GROUPS = (TARGET, CODE, SEARCH, OUTPUT)


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """What codegen.toml may say for a key."""

    words: str
    accepts: Callable[[object], bool]


class _Seconds(click.FloatRange):
    """A number of seconds; `nan` is none (no comparison would ever end on it)."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        seconds = super().convert(value, param, ctx)
        if math.isnan(seconds):
            self.fail(f"{value} is not in the range x>0.", param, ctx)
        return seconds


def _of(words: str, *types: type) -> Kind:
    return Kind(words=words, accepts=lambda value: type(value) in types)  # true is no integer here


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
SETS = Kind(words="a list of lists of model names", accepts=_are_groups)


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One option: how it is said, what it may be, which errors are about its value."""

    flag: str
    group: str
    toml: Kind | None
    """None: of the command line alone, in no file and no variable."""
    blamed: tuple[str, ...]
    """Codes of the messages that say that its value is wrong."""
    is_path: bool
    """A file: what codegen.toml says is beside it."""
    settings: Mapping[str, Any]
    """Of `click.option`."""

    @property
    def key(self) -> str:
        """Its key in codegen.toml."""
        return self.flag.split("/")[0].lstrip("-")

    @property
    def name(self) -> str:
        """Its name in Python."""
        return self.key.replace("-", "_")

    @property
    def variable(self) -> str | None:
        """Its environment variable."""
        return None if self.toml is None else f"CODEGEN_{self.name.upper()}"


def row(
    flag: str,
    group: str,
    toml: Kind | None,
    *,
    blamed: tuple[str, ...] = (),
    is_path: bool = False,
    **settings: Any,
) -> Row:
    """A row of the table; `settings` go to click."""
    return Row(flag=flag, group=group, toml=toml, blamed=blamed, is_path=is_path, settings=settings)


class Size(click.ParamType[int]):
    """A number of bytes, as people write them."""

    name = "bytes"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Bytes of `32768`, `"0x8000"`, `"32K"`; anything else is a usage error."""
        size = value if isinstance(value, int) else size_bytes(str(value))
        if size is None or size < 0:
            self.fail(f"{value} is no number of bytes: {SIZE_WORDS}", param, ctx)
        return size


COMMON = (
    row(
        "--board",
        TARGET,
        TEXT,
        blamed=(
            "E250",
            "E251",
            "E252",
        ),
        metavar="BOARD",
        help="Board name or path of a board's TOML file (`codegen boards`).",
    ),
    row(
        "--optimize",
        SEARCH,
        TEXT,
        type=click.Choice(["speed", "balanced", "size"]),
        default="balanced",
        show_default=True,
        help="speed: fewest instructions. balanced: the least RAM of fast kernels, without extra "
        "multiply-accumulates. size: the least RAM and flash, for more of them and of instructions. To "
        "keep a --pool limit each takes what fits.",
    ),
    row(
        "--planner",
        SEARCH,
        TEXT,
        blamed=("E210",),
        metavar="NAME",
        default="optimal",
        show_default=True,
        help="See `codegen planners`.",
    ),
    row(
        "--deadline",
        SEARCH,
        NUMBER,
        type=_Seconds(min=0, min_open=True),
        metavar="SECONDS",
        help="Safety stop for planning; a plan it cuts short is reported as not reproducible.",
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
        "--pool",
        TARGET,
        LIMITS,
        blamed=(
            "E203",
            "E215",
            "E258",
            "E259",
            "E275",
        ),
        multiple=True,
        metavar="NAME=BYTES[@ADDRESS]",
        help="Hard limit of a pool (32768, 0x8000, 32K, 32KiB: K is 1024); with an address a pool of its "
        "own there. May be given several times, once a pool.",
    ),
    row(
        "--io",
        CODE,
        TEXT,
        type=click.Choice([mode.value for mode in IoMode]),
        default="pool",
        show_default=True,
        help="Inputs and outputs live in the plan, or belong to the caller.",
    ),
    row(
        "--entry",
        CODE,
        TEXT,
        type=click.Choice([mode.value for mode in EntryMode]),
        default="run",
        show_default=True,
        help="steps: also a function that runs one step (<model>_step), for schedulers and watchdogs.",
    ),
    row(
        "--pools",
        CODE,
        TEXT,
        type=click.Choice([owner.value for owner in PoolOwner]),
        default="static",
        show_default=True,
        help="caller: the application owns the pools and hands them over; several instances may run.",
    ),
    row(
        "--constants",
        CODE,
        TEXT,
        type=click.Choice([mode.value for mode in ConstantsMode]),
        default="linked",
        show_default=True,
        help="external: weights in an image of their own (<model>_constants.bin), given at run time.",
    ),
    row(
        "--keep-inputs", CODE, SWITCH, is_flag=True, help="Inputs keep their bytes until the end of the run."
    ),
    row(
        "--schedule",
        SEARCH,
        TEXT,
        type=click.Choice(["file", "optimal"]),
        default="optimal",
        show_default=True,
        help="Order of the steps: as in the file, or the one that needs the fewest bytes.",
    ),
    row(
        "--stream-input",
        CODE,
        SWITCH,
        is_flag=True,
        help="The application delivers the input row by row; it never lies in RAM whole.",
    ),
    row(
        "--io-types",
        CODE,
        TEXT,
        type=click.Choice(["file", "int8"]),
        default="file",
        show_default=True,
        help="int8: expose float inputs and outputs at the model's edge as their int8 values.",
    ),
    row(
        "--app-elf",
        TARGET,
        TEXT,
        blamed=(
            "E270",
            "E271",
            "E272",
            "E273",
            "E274",
        ),
        is_path=True,
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help="ELF of the application: pools are limited to the largest range it leaves in each region.",
    ),
    row(
        "--stack",
        TARGET,
        SIZE,
        blamed=(
            "E277",
            "E406",
        ),
        type=Size(),
        metavar="BYTES",
        help="What the application has for the model's stack: a build that may need more fails.",
    ),
    row(
        "--no-blocks",
        SEARCH,
        SWITCH,
        is_flag=True,
        help="Never run layers together row by row: every value whole.",
    ),
    row(
        "--sharing",
        SEARCH,
        TEXT,
        type=click.Choice(["none", "in-place", "overlap"]),
        default="overlap",
        show_default=True,
        help="Bytes a result may share with its argument: none, all of an equally large one, any.",
    ),
    row(
        "--reduce/--no-reduce",
        SEARCH,
        SWITCH,
        default=True,
        show_default=True,
        help="Leave out channels that are constant for every input or that nothing reads; exact.",
    ),
    row(
        "--stage",
        SEARCH,
        TEXT,
        blamed=("E247",),
        type=click.Choice(["off", "use", "auto"]),
        default="auto",
        show_default=True,
        help="Copy constants that are read often to faster memory where the board's costs say it pays.",
    ),
    row(
        "--compress",
        SEARCH,
        TEXT,
        type=click.Choice(["off", "auto"]),
        default="auto",
        show_default=True,
        help="Store constants compressed, decoded before their step, where they do not fit otherwise.",
    ),
    row(
        "--seed",
        SEARCH,
        INTEGER,
        type=int,
        default=0,
        show_default=True,
        help="Seed of searches and of made-up inputs.",
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
ROWS = {each.name: each for each in (*COMMON, CONCURRENT, PORT, LOCK)}
"""All options that codegen.toml and the environment may set, and --dump-ir, by name."""
