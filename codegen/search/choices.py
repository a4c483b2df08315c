"""What the user fixes of the search."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from codegen.ir.rules import StateRule
from codegen.plan.clock import Clock
from codegen.plan.constants.constant_rules import ConstantRule
from codegen.plan.live.kept_inputs import Keep
from codegen.program.interface import IoMode
from codegen.program.problem import Limits
from codegen.progress import Tally
from codegen.search.flash.compressing import CompressMode
from codegen.search.flash.staging import StageMode
from codegen.search.kernels.sharing import SharingMode
from codegen.search.steps.schedule import ScheduleMode


@dataclass(frozen=True, kw_only=True, slots=True)
class Choices:
    """What the user fixes of the search. `pool_limits`: pool -> hard limit in bytes; `beside_code`: constant
    pool -> what a link found the code to leave."""

    planner: str
    optimize: str = "balanced"
    """speed: no blocks unless a limit is missed; balanced: those that lower the peak without an extra
    multiply-accumulate; size: the least peak for `choose.EXTRA_PERCENT` more multiply-accumulates."""
    io: IoMode = IoMode.POOL
    keep_inputs: Keep = False
    pool_limits: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    beside_code: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    limits: Limits = field(default_factory=Limits)
    clock: Clock = field(default_factory=Clock, compare=False)
    """That of one search, which starts it by the deadline of `limits`."""
    plans: Tally = field(default_factory=Tally, compare=False)
    """Of memory plans that the search has weighed."""
    schedule: ScheduleMode = "optimal"
    stream_input: bool = False
    """The application delivers the only input row by row; it never lies in memory whole."""
    blocks: bool = True
    """Off: no blocks, every value lies in memory whole."""
    sharing: SharingMode = "overlap"
    constant_rules: tuple[ConstantRule, ...] = ()
    """Where the user wants constants to lie."""
    among_others: bool = False
    """Other models are built too: a rule that applies to nothing here may be for one of them."""
    stage: StageMode = "auto"
    """Whether constants that are read often are copied to faster memory where that pays."""
    compress: CompressMode = "auto"
    """Whether constants that do not fit otherwise are stored compressed."""
    states: tuple[StateRule, ...] = ()
    """Outputs that are inputs of the next inference."""
    state_inputs: frozenset[str] = frozenset()
    """Those inputs: `search` knows them when it has paired `states`."""
    alone: bool = False
    """No other model runs in the same pools, so that copies made at start-up last."""
    emulated: bool = True
    """Leave out regions that the board's emulator lacks."""
    placed: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Value -> who gave it its device, for messages."""
    reads: Mapping[str, tuple[str, str]] = field(default_factory=lambda: MappingProxyType({}))
    """Value -> memory scope in which the step that computes it finds its arguments, and who wants that."""
