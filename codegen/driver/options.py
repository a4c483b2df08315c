"""What a user can choose, from Python, or from command line, environment and codegen.toml.

A field with a `_flag` is a row of the table of options: the flag, its help, the variable, the key of
codegen.toml and the words in provenance follow from it (`codegen.cli.options.option_table`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import Field, dataclass, field, fields
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from codegen.driver.inputs.declared_pools import DeclaredPool
from codegen.driver.inputs.models import GivenNames
from codegen.ir.ops import UserKernel
from codegen.ir.rules import Place, StateRule
from codegen.plan.constants.constant_rules import ConstantRule
from codegen.program.interface import Interface, IoMode
from codegen.search import CompressMode, ScheduleMode, SharingMode, StageMode
from codegen.toolchain import Optimize

TARGET, SEARCH, CODE, OUTPUT = "Board and memory", "Plan and kernels", "Generated code", "Output"
"""Groups of options in the help."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Flag:
    """How people set a field of `Options`."""

    group: str
    help: str
    metavar: str | None = None
    blamed: tuple[str, ...] = ()
    """Codes of the messages that say that its value is wrong."""
    flag: str | None = None
    """None: the field's name, `--no-...` beside it where it is on by default. One that begins with `--no-`
    turns the field off."""
    decides: bool = True
    """Whether the generated code may depend on it: it is spelled out in what is emitted, but at its default.
    False too for `optimize` and `planner`, which are spelled out always."""


def flag_name(each: "Field[object]", flag: Flag) -> str:
    """The flag of a field, `--keep-inputs`, `--reduce/--no-reduce`."""
    word = each.name.replace("_", "-")
    return flag.flag or (f"--{word}/--no-{word}" if each.default is True else f"--{word}")


def flags_of(cls: type) -> "Mapping[Field[object], Flag]":
    """The fields of a dataclass that are rows of the table, in order."""
    every = ((each, each.metadata.get("flag")) for each in fields(cls))
    return {each: flag for each, flag in every if isinstance(flag, Flag)}


def _flag(group: str, help: str, **words: Any) -> Mapping[str, Flag]:
    """Metadata of a field that is a row of the table of options; `words` as in `Flag`."""
    return {"flag": Flag(group=group, help=help, **words)}


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """Options of one build. `pool_limits` maps pool name to hard limit in bytes."""

    board: str = "stm32"
    optimize: Optimize = field(
        default="balanced",
        metadata=_flag(
            SEARCH,
            "speed: fewest instructions. balanced: the least RAM of fast kernels, without extra "
            "multiply-accumulates. size: the least RAM and flash, for more of them and of instructions. To "
            "keep a --pool limit each takes what fits.",
            decides=False,
        ),
    )
    planner: str = field(
        default="optimal",
        metadata=_flag(SEARCH, "See `codegen planners`.", metavar="NAME", blamed=("E210",), decides=False),
    )
    deadline_seconds: float | None = field(
        default=None,
        metadata=_flag(
            SEARCH,
            "Safety stop for planning; a plan it cuts short is reported as not reproducible.",
            metavar="SECONDS",
            flag="--deadline",
            decides=False,
        ),
    )
    pool_limits: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    pools: tuple[DeclaredPool, ...] = ()
    """Parts of the board's memories that are pools of their own."""
    io: IoMode = field(
        default=IoMode.POOL,
        metadata=_flag(CODE, "Inputs and outputs live in the plan, or belong to the caller."),
    )
    interface: Interface = field(default_factory=Interface)
    keep_inputs: bool = field(
        default=False, metadata=_flag(CODE, "Inputs keep their bytes until the end of the run.")
    )
    schedule: ScheduleMode = field(
        default="optimal",
        metadata=_flag(SEARCH, "Order of the steps: as in the file, or the one that needs the fewest bytes."),
    )
    stream_input: bool = field(
        default=False,
        metadata=_flag(CODE, "The application delivers the input row by row; it never lies in RAM whole."),
    )
    io_types: Literal["file", "int8"] = field(
        default="file",
        metadata=_flag(
            CODE, "int8: expose float inputs and outputs at the model's edge as their int8 values."
        ),
    )
    blocks: bool = field(
        default=True,
        metadata=_flag(
            SEARCH, "Never run layers together row by row: every value whole.", flag="--no-blocks"
        ),
    )
    sharing: SharingMode = field(
        default="overlap",
        metadata=_flag(
            SEARCH, "Bytes a result may share with its argument: none, all of an equally large one, any."
        ),
    )
    reduce: bool = field(
        default=True,
        metadata=_flag(
            SEARCH, "Leave out channels that are constant for every input or that nothing reads; exact."
        ),
    )
    stage: StageMode = field(
        default="auto",
        metadata=_flag(
            SEARCH,
            "Copy constants that are read often to faster memory where the board's costs say it pays.",
            blamed=("E247",),
        ),
    )
    """`auto` copies nothing where the way that firmware calls the model excludes it."""
    compress: CompressMode = field(
        default="auto",
        metadata=_flag(
            SEARCH, "Store constants compressed, decoded before their step, where they do not fit otherwise."
        ),
    )
    """`auto` stores all as they are where the way that firmware calls the model excludes it."""
    sandbox: bool = False
    """Lay buffers out so that an MPU can open each of them alone (see codegen.driver.checks.image_checks)."""
    seed: int = field(default=0, metadata=_flag(SEARCH, "Seed of searches and of made-up inputs."))
    kernels: tuple[UserKernel, ...] = ()
    """For operators that codegen lacks, from codegen.toml."""
    places: tuple[Place, ...] = ()
    """Memories and devices of values, from codegen.toml."""
    states: tuple[StateRule, ...] = ()
    """Outputs that are inputs of the next inference, from codegen.toml."""
    app_elf: Path | None = None
    """The application that the model goes into: pools take what it leaves (`within_application`)."""
    constant_rules: tuple[ConstantRule, ...] = ()
    """Where constants lie, from codegen.toml."""
    stack_bytes: int | None = None
    """What the application has for the model's stack: a build that may need more fails (E406)."""
    dump_ir: Path | None = None
    concurrent: tuple[tuple[str, ...], ...] = ()
    """Names of models that may run at the same time, a tuple a set."""
    names: GivenNames = field(default_factory=GivenNames)
    """C prefixes of the models, in place of those after their files."""
    lock: Path | None = None
    """File of figures that the build must have (`codegen.driver.checks.lock`)."""

    @property
    def spelled(self) -> str:
        """The flags that decide the generated code, spelled out in a fixed order."""
        parts = [f"--board {self.board}", f"--optimize {self.optimize}", f"--planner {self.planner}"]
        parts += [f"--pool {name}={limit}" for name, limit in sorted(self.pool_limits.items())]
        parts += [f"--pool {pool}" for pool in self.pools]
        parts += [f"--name {word}" for word in self.names.words]
        parts += [f"--concurrent {','.join(group)}" for group in self.concurrent]
        parts += [f"constants: {rule} in {rule.memory}" for rule in self.constant_rules]
        for each in fields(self):
            parts += self._words(each)
        parts += [place.spelled for place in self.places]
        parts += [state.spelled for state in self.states]
        return " ".join(parts)

    def _words(self, each: "Field[object]") -> Iterator[str]:
        """The flags of one field, where they are not at their defaults."""
        if each.name == "interface":
            for part in fields(self.interface):
                yield from _word(f"--{part.name}", getattr(self.interface, part.name), part.default)
        elif each.name == "sandbox":
            yield from _word("--sandbox", self.sandbox, False)
        elif (flag := each.metadata.get("flag")) is not None and flag.decides:
            yield from _word(flag_name(each, flag), getattr(self, each.name), each.default)


def _word(flag: str, value: object, default: object) -> Iterator[str]:
    """`--io caller`, `--no-reduce`: what sets an option to `value`, nothing for its default."""
    if value != default:
        on_off = flag.rpartition("/")[2]
        yield (
            on_off
            if isinstance(value, bool)
            else f"{flag} {value.value if isinstance(value, Enum) else value}"
        )
