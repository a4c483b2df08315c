"""A sliding window computed once: rows that a later call would compute again are kept as state.

An input is a window that moves by some rows a call. `movement` proves which rows of each value equal rows of
an earlier call, moved; `demand` says which rows are computed, which kept; `rewrite` makes steps on new rows and
state of it. In: a module and windows. Out: a module whose input is the new rows, and a `Sliding` account.
Start at `SlideWindow`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from codegen.ir import Function, Module
from codegen.passes.sliding.demand import demand
from codegen.passes.sliding.movement import Movement, SlidingInput, Stop
from codegen.passes.sliding.rewrite import rewrite

__all__ = ["SlideWindow", "Sliding", "SlidingInput", "Stop", "slid"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Sliding:
    """A module whose input slides: what it saves, keeps and computes whole."""

    window: SlidingInput
    module: Module
    whole: Module
    """The module that computes every window whole."""
    calls: int
    """Calls after which the window is full."""
    macs_whole: int
    macs: int
    state_bytes: int
    stops: tuple[Stop, ...]
    """Steps that are computed whole."""

    @property
    def keeps_nothing(self) -> bool:
        """True if all rows of every value behind the input are computed again."""
        return self.macs == self.macs_whole


def slid(module: Module, windows: Sequence[SlidingInput]) -> Sliding:
    """Return the module with that window of `windows`, the axes that may be meant, that saves most.

    Axes of equal worth: the first. Raises ValueError where `windows` is empty.
    """
    return min((_slid(module, window) for window in windows), key=lambda each: (each.macs, each.state_bytes))


def _slid(module: Module, window: SlidingInput) -> Sliding:
    function = module.main
    movement = Movement(function, window)
    chosen = demand(function, movement, _worthwhile(function, movement))
    slid_module = rewrite(module, movement, chosen)
    states = slid_module.main.states
    return Sliding(
        window=window,
        module=slid_module,
        whole=module,
        calls=-(-window.rows // window.step),
        macs_whole=sum(let.macs for let in function.body),
        macs=sum(let.macs for let in slid_module.main.body),
        state_bytes=sum(len(state.initial) for state in states),
        stops=movement.stops,
    )


def _worthwhile(function: Function, movement: Movement) -> frozenset[str]:
    """Values whose rows are kept: all that can be."""
    return frozenset(var.name for var in function.variables() if movement.kept_run(var) is not None)


@dataclass(frozen=True, kw_only=True, slots=True)
class SlideWindow:
    """The rewriting as a pass. `tell` hears what became of the window."""

    windows: tuple[SlidingInput, ...]
    name: str = "slide_window"
    tell: Callable[[Sliding], None] | None = None

    def run(self, module: Module) -> Module:
        """The module that takes new rows alone."""
        sliding = slid(module, self.windows)
        if self.tell is not None:
            self.tell(sliding)
        return sliding.module
