"""A sliding window computed once: rows that a later call would compute again are kept as state.

An input is a window that moves by some rows a call. `movement` proves which rows of each value equal rows of
an earlier call, moved; `demand` says which rows are computed, which are kept; `smaller_steps` makes steps and
state of it. In: a module and a window. Out: a module whose input is the new rows, and a `Sliding` account.
Start at `slid`.
"""

from dataclasses import dataclass, replace

from codegen.ir import Function, Let, Module, Var
from codegen.passes.sliding.movement import Movement, SlidingInput, Stop
from codegen.passes.sliding.smaller_steps import rewrite
from codegen.passes.sliding.state_choice import choose, largest_value_bytes, trade

__all__ = ["CannotSlide", "Sliding", "SlidingInput", "Stop", "slid"]


READY_CALLS = "ready_calls"
"""Key of a module's metadata: calls after which a window that slides is full."""


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
    trades: tuple[tuple[int, float], ...]
    """Bytes of state, and the share of the work with least state, of every way to run it."""

    @property
    def keeps_nothing(self) -> bool:
        """True if all rows of every value behind the input are computed again."""
        return self.macs == self.macs_whole


class CannotSlide(Exception):
    """An input cannot be a window along an axis: the text says why."""


def slid(
    module: Module, window: SlidingInput, optimize: str = "speed", most_state_bytes: int | None = None
) -> Sliding:
    """Return the module with this window, with the state that `choose` says is worth its bytes.

    Raises CannotSlide where rows of earlier calls are read and cannot be kept.
    """
    function = module.main
    movement = Movement(function, window)
    points = trade(function, movement, _keepable(function, movement), window.name)
    chosen = choose(points, optimize, largest_value_bytes(function), most_state_bytes).rows
    input_rows = chosen[window.name]
    if input_rows.kept is None and any(start < window.rows - window.step for start, _ in input_rows.computed):
        readers = [let.where for let in function.body if _reads(let, window.name)]
        raise CannotSlide(
            f"axis {window.axis} of {window.name} is no time axis: its rows do not lie one behind the other "
            f"in memory, and {readers[0] if readers else 'a result'} reads earlier ones"
        )
    calls = -(-window.rows // window.step)
    slid_module = rewrite(module, movement, chosen)
    metadata = {**module.metadata, READY_CALLS: str(calls)}
    slid_module = replace(slid_module, metadata=metadata)
    states = slid_module.main.states
    return Sliding(
        window=window,
        module=slid_module,
        whole=module,
        calls=calls,
        macs_whole=sum(let.macs for let in function.body),
        macs=sum(let.macs for let in slid_module.main.body),
        state_bytes=sum(len(state.initial) for state in states),
        stops=movement.stops,
        trades=tuple((point.state_bytes, point.work / points[-1].work) for point in points),
    )


def _keepable(function: Function, movement: Movement) -> frozenset[str]:
    """Values of which rows can be kept."""
    return frozenset(var.name for var in function.variables() if movement.kept_run(var) is not None)


def _reads(let: Let, name: str) -> bool:
    return any(isinstance(arg, Var) and arg.name == name for arg in let.call.args)
