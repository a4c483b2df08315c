"""What the user fixes of the search: `SearchOptions`, and as `Choices` with what one build adds.

Inputs that arrive row by row: whether a model can take its own so.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from codegen.ir import Function
from codegen.ir.rules import StateRule
from codegen.plan.clock import Clock
from codegen.plan.constants.linking import ConstantRule
from codegen.program.interface import Edge, IoMode
from codegen.program.problem import Limits
from codegen.progress import Tally
from codegen.search.flash.compressing import CompressMode, StageMode
from codegen.search.kernels.in_place import SharingMode
from codegen.search.steps.schedule import ScheduleMode
from codegen.settings import CODE, SEARCH, Optimize, flagged


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchOptions:
    """What a user can fix of the search of every model. `pool_limits`: pool -> hard limit in bytes."""

    optimize: Optimize = field(
        default="balanced",
        metadata=flagged(
            SEARCH,
            "speed: fewest instructions. balanced: the least RAM of fast kernels, without extra "
            "multiply-accumulates. size: the least RAM and flash, for more of them and of instructions. To "
            "keep a --pool limit each takes what fits.",
            decides=False,
        ),
    )
    planner: str = field(
        default="optimal",
        metadata=flagged(SEARCH, "See `codegen planners`.", metavar="NAME", blamed=("E210",), decides=False),
    )
    pool_limits: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
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
    states: tuple[StateRule, ...] = ()
    """Outputs that are inputs of the next inference, from codegen.toml."""
    constant_rules: tuple[ConstantRule, ...] = ()
    """Where constants lie, from codegen.toml."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Choices(SearchOptions):
    """What is fixed of one search. `beside_code`: constant pool -> what a link found the code to leave."""

    beside_code: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    limits: Limits = field(default_factory=Limits)
    clock: Clock = field(default_factory=Clock, compare=False)
    """That of one search, which starts it by the deadline of `limits`."""
    plans: Tally = field(default_factory=Tally, compare=False)
    """Of memory plans that the search has weighed."""
    among_others: bool = False
    """Other models are built too: a rule that applies to nothing here may be for one of them."""
    state_bytes: int = 0
    """What the state of all models takes that has no pool of its own by a rule, where there are several
    models: a pool is made for it."""
    state_inputs: frozenset[str] = frozenset()
    """Inputs that are state: `search` knows them when it has paired `states`."""
    state_memories: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Those of them that have to lie in a certain pool -> that pool."""
    shifted_inputs: frozenset[str] = frozenset()
    """Those of them that a step shifts where they are, so that nothing has to be copied."""
    alone: bool = False
    """No other model runs in the same pools, so that copies made at start-up last."""
    emulated: bool = True
    """Leave out regions that the board's emulator lacks."""
    placed: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Value -> who gave it its device, for messages."""
    reads: Mapping[str, tuple[str, str]] = field(default_factory=lambda: MappingProxyType({}))
    """Value -> memory scope in which the step that computes it finds its arguments, and who wants that."""

    @property
    def state_pools(self) -> frozenset[str]:
        """Pools of the board in which nothing but state may lie."""
        return frozenset(rule.memory for rule in self.states if rule.memory is not None)

    def edge(self, function: Function | None = None) -> Edge:
        """What of inputs and outputs is the application's; without a function no input is streamed."""
        params = function.params if function is not None and self.stream_input else ()
        kept = self.keep_inputs or self.state_inputs
        streamed = params[0].name if params else None
        return Edge(io=self.io, kept=kept, shifted=self.shifted_inputs, streamed=streamed)
