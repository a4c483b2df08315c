"""Settings: fields of options as people set them, and the words that several stages share.

A field with a `flag` is a row of the table of options: the flag, its help, the variable, the key of
codegen.toml and the words in provenance follow from it (`codegen.command.option_table`).
"""

from collections.abc import Mapping
from dataclasses import Field, dataclass, fields
from typing import Any, Literal

Optimize = Literal["speed", "balanced", "size"]
"""The aim of a build."""
ScheduleMode = Literal["file", "optimal"]
"""Order of the steps."""
SharingMode = Literal["none", "in-place", "overlap"]
"""none: every result lies apart from what it is computed from (views, which compute nothing, do not).
in-place: a result may take exactly the bytes of an argument as large as it. overlap: it may start anywhere
in the argument's bytes that its kernel permits."""
StageMode = Literal["off", "use", "auto"]
"""No copies; copies in front of the step that reads them; also copies at start-up."""
CompressMode = Literal["off", "auto"]
"""Never; where constants do not fit otherwise."""
PlanFormat = Literal["minimalloc", "tflm"]
"""Formats in which a plan is written for other planners."""
Firmware = Literal["test", "mlperf-tiny"]
"""Firmware around the models on the board: the test link, or a responder for MLPerf Tiny's runner."""

ReferenceMode = Literal["auto", "engine", "numpy"]
"""Reference of outputs: an engine where one answers, only an engine, or our own evaluation."""

FLOAT_TOLERANCE = 1e-5
"""Tolerance of float32 outputs, where nobody states another."""

TARGET, SEARCH, CODE, OUTPUT = "Board and memory", "Plan and kernels", "Generated code", "Output"
"""Groups of options in the help."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReferenceChoice:
    """The reference that outputs are compared with, and the Python in which engines are looked for."""

    mode: ReferenceMode = "numpy"
    python: str | None = None
    """A Python; None: this one, and that of the checkout."""
    tolerance: float = FLOAT_TOLERANCE
    """Difference of a float32 output that is none, relative to the largest that it may be."""
    every_step: bool = False
    """Compare every step of the import with the engine's, not only where outputs differ."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Flag:
    """How people set a field of options."""

    group: str
    help: str
    metavar: str | None = None
    blamed: tuple[str, ...] = ()
    """Codes of the messages that say that its value is wrong."""
    flag: str | None = None
    """None: the field's name, `--no-...` beside it where it is on by default. One that begins with `--no-`
    turns the field off."""
    decides: bool = True
    """True if the generated code may depend on the setting. Emitted files then spell it out, unless it is at
    its default. False too for `optimize` and `planner`, which are always spelled out."""


def flag_name(option: "Field[object]", flag: Flag) -> str:
    """The flag of a field, `--keep-inputs`, `--reduce/--no-reduce`."""
    word = option.name.replace("_", "-")
    return flag.flag or (f"--{word}/--no-{word}" if option.default is True else f"--{word}")


def flags_of(cls: type) -> "Mapping[Field[object], Flag]":
    """The fields of a dataclass that are rows of the table, in order."""
    every = ((option, option.metadata.get("flag")) for option in fields(cls))
    return {option: flag for option, flag in every if isinstance(flag, Flag)}


def flagged(group: str, help: str, **words: Any) -> Mapping[str, Flag]:
    """Metadata of a field that is a row of the table of options; `words` as in `Flag`."""
    return {"flag": Flag(group=group, help=help, **words)}
