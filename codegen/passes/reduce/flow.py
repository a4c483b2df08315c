"""How channels run through a step: which channels of its arguments a channel of its result needs.

A channel is an index of a value's last axis. An operator either moves channels along (`ChannelLink`), or
mixes them with weights (`reads`), or needs and yields all of them (`whole`).

Which channels must be there at run time: the least set that the results need.

Needs run backwards from the results; where an operator cannot select channels they also run forwards (a
channel kept for one reader stays in everything computed from it). A value whose kept channels are all
constant is not computed: its readers get a constant, so it needs nothing itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen.ir import ConstRef, Function, Let, Module, TensorType, Var
from codegen.ir.dataflow import ChannelLink, Range, channels
from codegen.ir.ops import ConvAttrs, FullyConnectedAttrs
from codegen.ir.ops.base.operands import effort
from codegen.ir.ops.base.products import ChannelWeights, sums_of_products
from codegen.ir.ops.base.weighted import WeightedOp
from codegen.passes.reduce.value_ranges import MAX_EFFORT, is_foldable

Mask = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Flow:
    """Channel flow of one step. `reads` [C, O]: result channel o cannot do without channel c of argument 0.

    What is not read contributes nothing, or `folds` [C, O] to the accumulator at every position alike.
    """

    links: tuple[ChannelLink, ...] = ()
    reads: Mask | None = None
    folds: NDArray[np.int64] | None = None
    whole: bool = False


WHOLE = Flow(whole=True)


def flow(module: Module, let: Let, known: Mapping[str, Range]) -> Flow:
    """How channels run through `let`, given the ranges of the values before it."""
    if any(_per_channel(type_) for type_ in _activations(let)):
        return WHOLE
    op = let.call.op
    if isinstance(op, WeightedOp) and not is_foldable(let):
        return WHOLE
    if op.mixes_channels:
        return _mixing(module, let, known)
    links = op.channel_links(let.call.attrs, let.call.types, let.var.type)
    return WHOLE if links is None else Flow(links=links)


def _activations(let: Let) -> list[TensorType]:
    return [let.var.type, *(arg.type for arg in let.call.args if isinstance(arg, Var))]


def _per_channel(type_: TensorType) -> bool:
    return type_.elements == 0 or (type_.quantization is not None and type_.quantization.axis is not None)


def _mixing(module: Module, let: Let, known: Mapping[str, Range]) -> Flow:
    """Sums of one group, over rows of whole channels."""
    image, weights = let.call.args[0], let.call.args[1]
    if not isinstance(image, Var) or not isinstance(weights, ConstRef):
        return WHOLE
    extent = channels(image.type.shape)
    grouped = isinstance(let.call.attrs, ConvAttrs) and weights.type.shape[3] != extent
    if grouped or not image.type.shape or weights.type.shape[-1] % extent:
        return WHOLE
    by_channel = ChannelWeights(module.array(weights), extent)
    reads = by_channel.reads()
    folds = np.zeros(reads.shape, np.int64)
    bounds = known[image.name]
    constant = np.flatnonzero(bounds.constant)
    work = effort(let.call.op, let.call.attrs, let.call.types, let.var.type)
    if len(constant) * work > MAX_EFFORT:
        constant = constant[:0]  # they count as read, which costs bytes, not minutes
    for channel in constant:
        level = np.zeros(image.type.shape)
        level[..., channel] = bounds.low[..., channel].astype(np.float64) - image.type.zero_point
        added = sums_of_products(let.call.attrs, level, by_channel.alone(int(channel)), let.var.type)
        added = added.reshape(-1, weights.type.shape[0])
        # Under padding a constant that is not the zero point adds less at the border than inside.
        alike = (added == added[0]).all(axis=0)
        reads[channel] = ~alike
        folds[channel] = np.where(alike, added[0], 0)
    return Flow(reads=reads, folds=folds)


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
            bounds = known.get(var.name)
            extent = channels(var.type.shape)
            self._varying[var.name] = np.ones(extent, np.bool_) if bounds is None else ~bounds.constant
            self.kept[var.name] = np.full(extent, var.name in self._params)
        results = [result.name for result in function.results if isinstance(result, Var)]
        for name in results:
            self.kept[name][:] = True
        self._pinned = self._upstream([name for name in results if not self._varying[name].any()])

    def _upstream(self, constant_results: list[str]) -> frozenset[str]:
        """Constant results, which the caller still gets from a step, and all that they are computed from."""
        needed = set(constant_results)
        for let in reversed(self._function.body):
            if let.var.name in needed:
                needed.update(arg.name for arg in let.call.args if isinstance(arg, Var))
        return frozenset(needed)

    def computed(self, name: str) -> bool:
        """True if a step or the caller provides `name` at run time, by the sets so far."""
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

    def _follow(self, let: Let, link: ChannelLink, result: Mask) -> None:
        arg = let.call.args[link.argument]
        if not isinstance(arg, Var):
            return
        source = self.kept[arg.name]
        source[link.source[result[link.result]]] = True
        if link.mutual and self.computed(arg.name):
            result[link.result[source[link.source]]] = True
