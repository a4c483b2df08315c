"""Flags that several verbs share, gathered into `Options`."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from codegen.cli.config import Settings
from codegen.driver.declared import DeclaredPool
from codegen.driver.model_names import GivenNames
from codegen.driver.options import Options
from codegen.errors import Messages
from codegen.ir.sizes import NUMBER, SIZE_WORDS, size_bytes, whole_number
from codegen.plan.program import ConstantsMode, EntryMode, Interface, IoMode, PoolOwner

Verb = TypeVar("Verb", bound=Callable[..., Any])


def model_flags(board_default: str | None = "stm32") -> Callable[[Verb], Verb]:
    """Decorator: adds the flags of everything that plans a model; the verb gets `options: Options`."""

    def decorate(verb: Verb) -> Verb:
        @wraps(verb)
        def wrapped(**values: Any) -> Any:
            return verb(options=_options(values, board_default), **values)

        for flag in reversed(_flags()):
            wrapped = flag(wrapped)
        return wrapped  # pyright: ignore[reportReturnType]

    return decorate


def _flags() -> list[Callable[..., Any]]:
    def flag(*names: str, **settings: Any) -> Callable[..., Any]:
        variable = "CODEGEN_" + names[-1].lstrip("-").split("/")[0].replace("-", "_").upper()
        return click.option(*names, envvar=variable, **settings)

    return [
        flag(
            "--board", metavar="BOARD", help="Board name or path of a board's TOML file (`codegen boards`)."
        ),
        flag(
            "--optimize",
            type=click.Choice(["speed", "balanced", "size"]),
            default="balanced",
            show_default=True,
            help="speed: fewest instructions. balanced: the least RAM of fast kernels, without extra "
            "multiply-accumulates. size: the least RAM and flash, for more of them and of instructions. To "
            "keep a --pool limit each takes what fits.",
        ),
        flag(
            "--planner",
            metavar="NAME",
            default="optimal",
            show_default=True,
            help="See `codegen planners`.",
        ),
        flag(
            "--deadline",
            type=click.FloatRange(min=0, min_open=True),
            metavar="SECONDS",
            help="Safety stop for planning; a plan it cuts short is reported as not reproducible.",
        ),
        flag(
            "--name",
            multiple=True,
            metavar="[NAME=]PREFIX",
            help="What C names and files of a model begin with; of several models once a model, in their "
            "order, or NAME=PREFIX for the one that is NAME by its file.",
        ),
        flag(
            "--pool",
            multiple=True,
            metavar="NAME=BYTES[@ADDRESS]",
            help="Hard limit of a pool (32768, 0x8000, 32K, 32KiB: K is 1024); with an address a pool of its "
            "own there. May be given several times, once a pool.",
        ),
        flag(
            "--io",
            type=click.Choice([mode.value for mode in IoMode]),
            default="pool",
            show_default=True,
            help="Inputs and outputs live in the plan, or belong to the caller.",
        ),
        flag(
            "--entry",
            type=click.Choice([mode.value for mode in EntryMode]),
            default="run",
            show_default=True,
            help="steps: also a function that runs one step (<model>_step), for schedulers and watchdogs.",
        ),
        flag(
            "--pools",
            type=click.Choice([owner.value for owner in PoolOwner]),
            default="static",
            show_default=True,
            help="caller: the application owns the pools and hands them over; several instances may run.",
        ),
        flag(
            "--constants",
            type=click.Choice([mode.value for mode in ConstantsMode]),
            default="linked",
            show_default=True,
            help="external: weights in an image of their own (<model>_constants.bin), given at run time.",
        ),
        flag("--keep-inputs", is_flag=True, help="Inputs keep their bytes until the end of the run."),
        flag(
            "--schedule",
            type=click.Choice(["file", "optimal"]),
            default="optimal",
            show_default=True,
            help="Order of the steps: as in the file, or the one that needs the fewest bytes.",
        ),
        flag(
            "--stream-input",
            is_flag=True,
            help="The application delivers the input row by row; it never lies in RAM whole.",
        ),
        flag(
            "--io-types",
            type=click.Choice(["file", "int8"]),
            default="file",
            show_default=True,
            help="int8: expose float inputs and outputs at the model's edge as their int8 values.",
        ),
        flag(
            "--app-elf",
            type=click.Path(dir_okay=False, path_type=Path),
            metavar="FILE",
            help="ELF of the application: pools are limited to the largest range it leaves in each region.",
        ),
        flag(
            "--stack",
            type=Size(),
            metavar="BYTES",
            help="What the application has for the model's stack: a build that may need more fails.",
        ),
        flag("--no-blocks", is_flag=True, help="Never run layers together row by row: every value whole."),
        flag(
            "--sharing",
            type=click.Choice(["none", "in-place", "overlap"]),
            default="overlap",
            show_default=True,
            help="Bytes a result may share with its argument: none, all of an equally large one, any.",
        ),
        flag(
            "--reduce/--no-reduce",
            default=True,
            show_default=True,
            help="Leave out channels that are constant for every input or that nothing reads; exact.",
        ),
        flag(
            "--stage",
            type=click.Choice(["off", "use", "auto"]),
            default="auto",
            show_default=True,
            help="Copy constants that are read often to faster memory where the board's costs say it pays.",
        ),
        flag(
            "--compress",
            type=click.Choice(["off", "auto"]),
            default="auto",
            show_default=True,
            help="Store constants compressed, decoded before their step, where they do not fit otherwise.",
        ),
        flag(
            "--seed", type=int, default=0, show_default=True, help="Seed of searches and of made-up inputs."
        ),
        click.option(
            "--dump-ir",
            type=click.Path(file_okay=False, path_type=Path),
            metavar="DIR",
            help="Write the module as text after every stage.",
        ),
    ]


class Size(click.ParamType[int]):
    """A number of bytes, as people write them."""

    name = "bytes"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Bytes of `32768`, `"0x8000"`, `"32K"`; anything else is a usage error."""
        size = value if isinstance(value, int) else size_bytes(str(value))
        if size is None or size < 0:
            self.fail(f"{value} is no number of bytes: {SIZE_WORDS}", param, ctx)
        return size


def _options(values: dict[str, Any], board_default: str | None) -> Options:
    board = values.pop("board") or board_default or ""
    # Of codegen.toml, which `main` hands to click.
    found = click.get_current_context().obj or Settings()
    pools = values.pop("pool")
    names = GivenNames(words=tuple(values.pop("name")), of_project=_is_of_project("name"))
    return Options(
        board=board,
        optimize=values.pop("optimize"),
        planner=values.pop("planner"),
        deadline_seconds=values.pop("deadline"),
        seed=values.pop("seed"),
        pool_limits=MappingProxyType(pool_limits(pools)),
        pools=declared_pools(pools),
        names=names,
        io=IoMode(values.pop("io")),
        interface=Interface(
            entry=EntryMode(values.pop("entry")),
            pools=PoolOwner(values.pop("pools")),
            constants=ConstantsMode(values.pop("constants")),
        ),
        keep_inputs=values.pop("keep_inputs"),
        schedule=values.pop("schedule"),
        stream_input=values.pop("stream_input"),
        io_types=values.pop("io_types"),
        blocks=not values.pop("no_blocks"),
        sharing=values.pop("sharing"),
        reduce=values.pop("reduce"),
        kernels=found.kernels,
        places=found.places,
        states=found.states,
        constant_rules=found.constant_rules,
        app_elf=values.pop("app_elf"),
        stage=values.pop("stage"),
        compress=values.pop("compress"),
        stack_bytes=values.pop("stack"),
        dump_ir=values.pop("dump_ir"),
    )


def _is_of_project(flag: str) -> bool:
    """Whether codegen.toml says it, for all builds of a project."""
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
    found: list[_PoolWord] = []
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
            found.append(_PoolWord(text=word, name=match["name"], size_bytes=size, address=address))
    _check_limits([word for word in found if word.address is None], messages)
    messages.raise_if_any()
    return found


def _check_limits(limits: Sequence[_PoolWord], messages: Messages) -> None:
    """Each pool has one limit: of two nobody knows which was meant."""
    for name, count in Counter(word.name for word in limits).items():
        if count > 1:
            given = " and ".join(f"--pool {word.text}" for word in limits if word.name == name)
            text = f"{given}: pool {name} has {count} limits"
            messages.add("E203", text, help="a pool has one limit: leave the one that is meant")


def groups(words: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """`NAME,NAME` words as sets of model names; names and words once, in order.

    Raises CodegenError E255 naming every word in which a name is empty.
    """
    messages = Messages()
    found: list[tuple[str, ...]] = []
    for word in words:
        names = [name.strip() for name in word.split(",")]
        if not all(names):
            messages.add(
                "E255",
                "the name of a model is empty",
                where=f'--concurrent "{word}"',
                help="name two or more models, one comma between any two: --concurrent kws,vww",
            )
        found.append(tuple(dict.fromkeys(names)))
    messages.raise_if_any()
    return tuple(dict.fromkeys(found))
