"""When a step may write its result over the very bytes of an argument."""

from bisect import bisect_left
from collections.abc import Sequence

from codegen.ir import Function, Var
from codegen.kernels.primfunc import PrimFunc
from codegen.plan.live.ties import Ties, ties
from codegen.program.interface import Edge


def may_replace(
    function: Function,
    prim_funcs: Sequence[PrimFunc],
    step: int,
    *,
    argument: int | None = None,
    edge: Edge,
) -> bool:
    """As `Replaceable.may`, of one step."""
    return Replaceable(function, prim_funcs, edge).may(step, argument=argument)


class Replaceable:
    """Which arguments the steps of a function may replace, looked up for many steps."""

    def __init__(self, function: Function, prim_funcs: Sequence[PrimFunc], edge: Edge) -> None:
        self._function, self._prim_funcs = function, prim_funcs
        self._kept = {result.name for result in function.results if isinstance(result, Var)}
        self._kept |= edge.unwritten(function)
        self._joins = [step for step, prim in enumerate(prim_funcs) if prim.joins]
        self._ties: dict[int, Ties] = {}
        self._alive: list[list[str]] | None = None

    def may(self, step: int, *, argument: int | None = None) -> bool:
        """Whether step `step` may replace its argument `argument` (default: the one its PrimFunc names).

        True if nobody reads a byte of that argument later: not under its own name, not through a view of the
        bytes it lies in, not as a result, not as an input that must stay as it is.
        """
        prim = self._prim_funcs[step]
        index = prim.in_place if argument is None else argument
        replaced = None if index is None else prim.let.call.args[index]
        if not isinstance(replaced, Var):
            return False
        found = self._tied(step)
        read = {arg.name for i, arg in enumerate(prim.let.call.args) if i != index and isinstance(arg, Var)}
        later = [*read, *self._alive_behind(step)]
        return not any(_meet(found, replaced.name, name) for name in later)

    def _tied(self, step: int) -> Ties:
        """Where variables lie before a step: only joins move them once they are there."""
        number = bisect_left(self._joins, step)
        if number not in self._ties:
            stop = self._joins[number] if number < len(self._joins) else len(self._prim_funcs)
            self._ties[number] = ties(self._function, self._prim_funcs[:stop])
        return self._ties[number]

    def _alive_behind(self, step: int) -> list[str]:
        """Variables that are there before a step and read behind it."""
        if self._alive is None:
            self._alive = self._lives()
        return self._alive[step]

    def _lives(self) -> list[list[str]]:
        count = len(self._prim_funcs)
        births = {param.name: -1 for param in self._function.params}
        lasts: dict[str, int] = {}
        for step, prim in enumerate(self._prim_funcs):
            births[prim.let.var.name] = step
            lasts.update((arg.name, step) for arg in prim.let.call.args if isinstance(arg, Var))
        lasts.update((name, count) for name in self._kept)
        alive: list[list[str]] = [[] for _ in range(count)]
        for name, last in lasts.items():
            for step in range(births[name] + 1, last):
                alive[step].append(name)
        return alive


def _meet(found: Ties, one: str, other: str) -> bool:
    """Whether two variables have bytes in common."""
    (root, first), (same, second) = found.anchors[one], found.anchors[other]
    sizes = [found.variables[name].type.size_bytes for name in (one, other)]
    return root == same and second < first + sizes[0] and first < second + sizes[1]
