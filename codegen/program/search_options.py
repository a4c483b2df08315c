"""Options of the search, as people set them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from codegen.program.interface import IoMode
from codegen.settings import (
    CODE,
    SEARCH,
    TARGET,
    CompressMode,
    Optimize,
    ScheduleMode,
    SharingMode,
    StageMode,
    flagged,
)

if TYPE_CHECKING:
    from codegen.ir.rules import ConstantRule, StateRule


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchOptions:
    """Options that fix parts of the search of every model. `pool_limits`: pool -> hard limit in bytes."""

    optimize: Optimize = field(
        default="balanced",
        metadata=flagged(
            SEARCH,
            "speed: fewest instructions. balanced: the least RAM of fast kernels, without extra "
            "multiply-accumulates. size: the least RAM and flash, for more of them and of instructions. To "
            "keep a --pool limit each takes what fits, patches too.",
            decides=False,
        ),
    )
    planner: str = field(
        default="optimal",
        metadata=flagged(SEARCH, "See `codegen planners`.", metavar="NAME", blamed=("E210",), decides=False),
    )
    pool_limits: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    only: str | None = field(
        default=None,
        metadata=flagged(
            TARGET,
            "Values lie in these pools of the board alone: what does not fit there is an error (E401), and "
            "goes to no other memory.",
            metavar="POOL[,POOL...]",
            blamed=("E215",),
        ),
    )
    io: IoMode = field(
        default=IoMode.POOL,
        metadata=flagged(CODE, "Inputs and outputs live in the plan, or belong to the caller."),
    )
    keep_inputs: bool = field(
        default=False, metadata=flagged(CODE, "Inputs keep their bytes until the end of the run.")
    )
    schedule: ScheduleMode = field(
        default="optimal",
        metadata=flagged(
            SEARCH, "Order of the steps: as in the file, or the one that needs the fewest bytes."
        ),
    )
    stream_input: bool = field(
        default=False,
        metadata=flagged(CODE, "The application delivers the input row by row; it never lies in RAM whole."),
    )
    blocks: bool = field(
        default=True,
        metadata=flagged(
            SEARCH, "Never run layers together row by row: every value whole.", flag="--no-blocks"
        ),
    )
    sharing: SharingMode = field(
        default="overlap",
        metadata=flagged(
            SEARCH, "Bytes a result may share with its argument: none, all of an equally large one, any."
        ),
    )
    stage: StageMode = field(
        default="auto",
        metadata=flagged(
            SEARCH,
            "Copy constants that are read often to faster memory where the board's costs say it pays.",
            blamed=("E247",),
        ),
    )
    """`auto` copies nothing where the way that firmware calls the model excludes it."""
    compress: CompressMode = field(
        default="auto",
        metadata=flagged(
            SEARCH, "Store constants compressed, decoded before their step, where they do not fit otherwise."
        ),
    )
    """`auto` stores all as they are where the way that firmware calls the model excludes it."""
    states: "tuple[StateRule, ...]" = ()
    """Outputs that are inputs of the next inference, from codegen.toml."""
    constant_rules: "tuple[ConstantRule, ...]" = ()
    """Rules of codegen.toml that say where constants lie."""
