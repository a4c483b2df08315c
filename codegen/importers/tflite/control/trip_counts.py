"""How many iterations a loop makes at most: its counter is compared with a constant before each."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from codegen.ir import Arg, ConstRef, Function, Let, Var

UNKNOWN_COUNT = "the number of its iterations is decided while the model runs"
FIXED = (
    "give the loop a fixed number of iterations (Keras: a fixed number of time steps, or unroll=True), or a "
    "largest one (tf.while_loop: maximum_iterations)"
)
SMALLER = "make fewer iterations, or keep state between inferences and call the model once for each"


@dataclass(frozen=True, kw_only=True, slots=True)
class TripCount:
    """A number of iterations: just so many (`is_exact`), or at most."""

    trips: int
    is_exact: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Counters:
    """One iteration as far as counters are concerned."""

    function: Function
    nexts: Mapping[str, Arg]
    """Parameter -> the value that it carries to the next iteration."""
    firsts: Mapping[str, int]
    """First values of the counters for which the file says them."""
    constants: Mapping[str, np.ndarray]
    """By id."""

    def bound(self, decision: Arg) -> TripCount | None:
        """The number of iterations while `decision` holds; None where nothing of the file says it."""
        let = self._maker(decision)
        if let is None:
            return None
        if let.call.op.name == "MINIMUM":  # of truth: both hold
            counts = [
                count for count in (self._argument(let, 0), self._argument(let, 1)) if count is not None
            ]
            return TripCount(trips=min(count.trips for count in counts), is_exact=False) if counts else None
        if let.call.op.name not in ("LESS", "LESS_EQUAL"):
            return None
        low, high = let.call.args[:2]
        more = int(let.call.op.name == "LESS_EQUAL")
        if isinstance(low, Var):
            return self._counted(low, high, more, 1)
        return self._counted(high, low, more, -1) if isinstance(high, Var) else None

    def _argument(self, let: Let, index: int) -> TripCount | None:
        arg = let.call.args[index]
        return None if arg is None else self.bound(arg)

    def _counted(self, counter: Var, limit: Arg | None, more: int, sign: int) -> TripCount | None:
        """`sign` 1: up to `limit`; -1: down to it. `more` 1: the limit itself counts too."""
        step, end, first = self._step(counter), self._number(limit), self.firsts.get(counter.name)
        if step is None or end is None or first is None or step * sign <= 0:
            return None
        distance = (end - first) * sign - 1 + more
        return TripCount(trips=max(0, distance // (step * sign) + 1), is_exact=True)

    def _step(self, counter: Var) -> int | None:
        """Number that is added to a counter in each iteration, None where it is not known."""
        let = self._maker(self.nexts.get(counter.name))
        if let is None or let.call.op.name not in ("ADD", "SUB"):
            return None
        one, other = let.call.args[:2]
        if one == counter:
            added = self._number(other)
            return None if added is None else -added if let.call.op.name == "SUB" else added
        return self._number(one) if other == counter and let.call.op.name == "ADD" else None

    def _maker(self, value: Arg | None) -> Let | None:
        if not isinstance(value, Var):
            return None
        return next((let for let in self.function.body if let.var == value), None)

    def _number(self, value: Arg | None) -> int | None:
        """A constant integer of one element that has no scale."""
        if not isinstance(value, ConstRef) or value.type.elements != 1 or value.type.quantization is not None:
            return None
        return int(self.constants[value.id].reshape(-1)[0]) if value.type.dtype.is_integer else None
