"""Which channels must be there at run time: the least set that the results need.

Needs run backwards from the results; where an operator cannot select channels they also run forwards (a
channel kept for one reader stays in everything computed from it). A value whose kept channels are all
constant is not computed: its readers get a constant, so it needs nothing itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from codegen.ir import Function, Let, Var
from codegen.ir.ops import FullyConnectedAttrs
from codegen.passes.reduce.flow import Flow, Link, Mask
from codegen.passes.reduce.ranges import Range, channels


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Needs:
    """`kept`: mask over the channels of every variable; `computed`: variables that are there at run time."""

    kept: Mapping[str, Mask]
    computed: frozenset[str]


def needs(function: Function, flows: Mapping[str, Flow], known: Mapping[str, Range]) -> Needs:
    """Kept channels of `function`; `flows` by step, `known` ranges by variable."""
    solver = _Solver(function, flows, known)
    while solver.sweep():
        pass
    computed = frozenset(var.name for var in function.variables() if solver.computed(var.name))
    return Needs(kept=solver.kept, computed=computed)


class _Solver:
    """Sets only grow, so sweeping until nothing changes ends in the least ones."""

    def __init__(self, function: Function, flows: Mapping[str, Flow], known: Mapping[str, Range]) -> None:
        self._function, self._flows = function, flows
        self._params = frozenset(param.name for param in function.params)
        self._varying: dict[str, Mask] = {}
        self.kept: dict[str, Mask] = {}
        for var in function.variables():
            given = known.get(var.name)
            extent = channels(var.type.shape)
            self._varying[var.name] = np.ones(extent, np.bool_) if given is None else ~given.constant
            self.kept[var.name] = np.full(extent, var.name in self._params)
        results = [result.name for result in function.results if isinstance(result, Var)]
        for name in results:
            self.kept[name][:] = True
        self._pinned = self._upstream([name for name in results if not self._varying[name].any()])

    def _upstream(self, constant_results: list[str]) -> frozenset[str]:
        """Constant results, which the caller still gets from a step, and all that they are computed from."""
        found = set(constant_results)
        for let in reversed(self._function.body):
            if let.var.name in found:
                found.update(arg.name for arg in let.call.args if isinstance(arg, Var))
        return frozenset(found)

    def computed(self, name: str) -> bool:
        """Whether a step (or the caller) provides `name` at run time, as far as is known."""
        if name in self._params or name in self._pinned:
            return True
        return bool((self.kept[name] & self._varying[name]).any())

    def sweep(self) -> bool:
        """One pass backwards; whether anything was added."""
        before = sum(int(mask.sum()) for mask in self.kept.values())
        for let in reversed(self._function.body):
            if self.computed(let.var.name):
                self._step(let)
        return sum(int(mask.sum()) for mask in self.kept.values()) != before

    def _step(self, let: Let) -> None:
        flow, result = self._flows[let.var.name], self.kept[let.var.name]
        if flow.whole:
            result[:] = True
        else:
            self._keep_one(let, result)
        for link in flow.links:
            self._follow(let, link, result)
        for index, arg in enumerate(let.call.args):
            if not isinstance(arg, Var):
                continue
            if flow.whole:
                self.kept[arg.name][:] = True
            elif flow.reads is not None and index == 0:
                self.kept[arg.name] |= flow.reads[:, result].any(axis=1)

    def _keep_one(self, let: Let, result: Mask) -> None:
        """At least one channel of what is computed; two where one scale would change the arithmetic.

        A FULLY_CONNECTED with one scale rounds the product of scales to float32, with several it does not.
        """
        least = 1
        weights = let.call.args[1] if isinstance(let.call.attrs, FullyConnectedAttrs) else None
        if weights is not None and weights.type.quantization is not None:
            least = min(2, len(weights.type.quantization.scales))
        for channel in np.flatnonzero(~result)[: max(0, least - int(result.sum()))]:
            result[channel] = True

    def _follow(self, let: Let, link: Link, result: Mask) -> None:
        arg = let.call.args[link.argument]
        if not isinstance(arg, Var):
            return
        source = self.kept[arg.name]
        source[link.source[result[link.result]]] = True
        if link.mutual and self.computed(arg.name):
            result[link.result[source[link.source]]] = True
