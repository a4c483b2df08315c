"""Schedule: the order of a function's steps. The file's, or the one with the least peak over all orders.

`order_graph` tells `codegen.plan.order.best_order` what liveness would see: values tied by views are one
value, a view is a step that neither reads nor writes bytes but keeps them, and what the caller owns has no
bytes here. All pools count as one, which is what a single pool with everything in it needs.

When values are there, step by step: what a step or a block finds in memory beside its own.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from codegen.ir import Function, Var
from codegen.kernels.primfunc import PrimFunc
from codegen.plan.clock import Clock
from codegen.plan.order.best_order import best_order
from codegen.plan.order.order_graph import (
    OrderGraph,
    OrderLimits,
    OrderNode,
    OrderResult,
    OrderValue,
    Phase,
    SharedBytes,
)
from codegen.plan.place.bounds import largest_overlap
from codegen.program.interface import Edge
from codegen.settings import ScheduleMode


@dataclass(frozen=True, kw_only=True, slots=True)
class Scheduled:
    """The function and its PrimFuncs in the chosen order."""

    function: Function
    prim_funcs: tuple[PrimFunc, ...]
    result: OrderResult
    """Peaks are bounds of the live bytes. With mode `file` the lower one is weak, not searched for."""

    @property
    def reordered(self) -> bool:
        """True if the order is another than the file's."""
        return self.result.reordered


def schedule(
    function: Function,
    prim_funcs: Sequence[PrimFunc],
    *,
    mode: ScheduleMode,
    edge: Edge,
    limits: OrderLimits | None = None,
    clock: Clock | None = None,
) -> Scheduled:
    """`function` and its `prim_funcs` (one a step, in its order), reordered if that lowers the peak.

    With mode `file` nothing moves. The reordered function computes the same values: it is a permutation
    of the same steps in which every use still follows its definition.
    """
    graph = order_graph(function, prim_funcs, edge)
    limits = OrderLimits(states=0, beam_width=0) if mode == "file" else limits
    result = best_order(graph, limits, clock)
    if mode == "file" or not result.reordered:
        return Scheduled(function=function, prim_funcs=tuple(prim_funcs), result=result)
    ordered = tuple(prim_funcs[step] for step in result.order)
    body = tuple(function.body[step] for step in result.order)
    return Scheduled(function=replace(function, body=body), prim_funcs=ordered, result=result)


def order_graph(function: Function, prim_funcs: Sequence[PrimFunc], edge: Edge) -> OrderGraph:
    """The steps of `function` as an order graph; raises ValueError if the PrimFuncs do not fit it."""
    if [prim.let.var.name for prim in prim_funcs] != [let.var.name for let in function.body]:
        raise ValueError(f"{function.name}: the PrimFuncs are not the steps of the function")
    return _OffsetGraph(function, prim_funcs, edge).graph()


class _OffsetGraph:
    """Variables as (value, byte offset in it), and the steps over them."""

    def __init__(self, function: Function, prim_funcs: Sequence[PrimFunc], edge: Edge) -> None:
        self._prim_funcs = prim_funcs
        self._step = {prim.let.var.name: step for step, prim in enumerate(prim_funcs)}
        roots = [*function.params, *(prim.let.var for prim in prim_funcs if prim.tied is None)]
        self._value = {var.name: index for index, var in enumerate(roots)}
        self._anchors: dict[str, tuple[int, int]] = {var.name: (i, 0) for i, var in enumerate(roots)}
        self._held = {var.name: (0, var.type.size_bytes) for var in roots}
        """Variable -> first byte and size of what it keeps in its value; a view keeps its whole source."""
        for prim in prim_funcs:
            if prim.tied is not None:
                source, result = _variable(prim, prim.tied[0]).name, prim.let.var
                value, offset = self._anchors[source]
                self._anchors[result.name] = (value, offset + prim.tied[1])
                is_part = prim.view is not None and not prim.view.is_alone
                place = (offset + prim.tied[1], result.type.size_bytes)
                self._held[result.name] = self._held[source] if is_part else place
        inputs = {self._value[param.name] for param in function.params}
        outputs = {self._anchors[r.name][0] for r in function.results if isinstance(r, Var)}
        owned = inputs | outputs if edge.is_callers else set[int]()
        kept = outputs | {self._value[name] for name in edge.kept_inputs(function)}
        self._sizes = [0 if i in owned else var.type.size_bytes for i, var in enumerate(roots)]
        self._values = tuple(
            OrderValue(size_bytes=size, given=index in inputs, kept=index in kept)
            for index, size in enumerate(self._sizes)
        )

    def graph(self) -> OrderGraph:
        return OrderGraph(values=self._values, nodes=tuple(self._node(prim) for prim in self._prim_funcs))

    def _node(self, prim: PrimFunc) -> OrderNode:
        args = [(index, arg) for index, arg in enumerate(prim.let.call.args) if isinstance(arg, Var)]
        after = tuple(sorted({self._step[arg.name] for _, arg in args if arg.name in self._step}))
        if prim.view is not None:
            source = _variable(prim, prim.view.argument)
            phase = Phase(writing=False)
            return OrderNode(reads=(self._anchors[source.name][0],), after=after, phases=(phase,))
        arguments: dict[int, list[int]] = {}
        for index, arg in args:
            arguments.setdefault(self._anchors[arg.name][0], []).append(index)
        stops = {
            value: max(prim.argument_stops[index] for index in indices)
            for value, indices in arguments.items()
        }
        if prim.tied is not None:  # in place: it writes what is there already
            phases = (Phase(writing=False, workspace_bytes=sum(w.size_bytes for w in prim.workspaces)),)
            return OrderNode(reads=tuple(arguments), after=after, phases=phases)
        return OrderNode(
            reads=tuple(arguments),
            writes=(self._value[prim.let.var.name],),
            after=after,
            phases=_phases(prim, stops),
            shares=tuple(self._shares(prim, arguments)),
        )

    def _shares(self, prim: PrimFunc, arguments: Mapping[int, Sequence[int]]) -> list[SharedBytes]:
        """Most bytes the result may have in common with each value it reads, by liveness' distances."""
        rules = {rule.argument: rule for rule in prim.sharing}
        result = self._sizes[self._value[prim.let.var.name]]
        shares: list[SharedBytes] = []
        for value, indices in arguments.items():
            read = [index for index in indices if prim.argument_stops[index] > prim.result_start]
            if not any(index in rules for index in read) or not self._may_meet(prim, read):
                continue
            ruled = {_variable(prim, index).name for index in read if index in rules}
            belows: list[int] = []
            aboves: list[int] = []
            for index in read:
                arg, rule = _variable(prim, index), rules.get(index)
                # The rule speaks of the argument's address, the distance of its whole value's.
                place = self._anchors[arg.name][1], arg.type.size_bytes
                offset, plain = place if arg.name in ruled else self._held[arg.name]
                belows.append((result if rule is None or rule.below is None else rule.below) - offset)
                aboves.append((plain if rule is None or rule.above is None else rule.above) + offset)
            common = largest_overlap(result, self._sizes[value], max(belows), max(aboves))
            if common:
                shares.append(SharedBytes(value=value, common_bytes=common))
        return shares

    def _may_meet(self, prim: PrimFunc, read: Sequence[int]) -> bool:
        """True if the result may lie in the memory of what it reads."""
        scopes = {_variable(prim, index).device.memory_scope for index in read}
        return len((scopes | {prim.let.var.device.memory_scope}) - {None}) < 2


def _variable(prim: PrimFunc, index: int) -> Var:
    arg = prim.let.call.args[index]
    if not isinstance(arg, Var):
        raise ValueError(f"{prim.name}: a view of a constant must be folded before planning")
    return arg


def _phases(prim: PrimFunc, stops: Mapping[int, int]) -> tuple[Phase, ...]:
    """The sub-steps of `prim`, equal neighbours as one; `stops`: value -> end of its last read."""
    phases: list[Phase] = []
    for now in range(prim.sub_steps):
        phase = Phase(
            workspace_bytes=sum(w.size_bytes for w in prim.workspaces if w.start <= now < w.stop),
            released=tuple(value for value, stop in stops.items() if stop <= now),
            writing=now >= prim.result_start,
        )
        if not phases or phases[-1] != phase:
            phases.append(phase)
    return tuple(phases)


class Lifetimes:
    """When each buffer of values is born and read last, in steps; views share their argument's buffer."""

    def __init__(
        self,
        function: Function,
        prim_funcs: Sequence[PrimFunc],
        edge: Edge,
    ) -> None:
        """Bytes that the caller owns by `edge` need nothing here."""
        self.streamed = edge.streamed
        self.roots = {param.name: param.name for param in function.params}
        self.sizes = {param.name: param.type.size_bytes for param in function.params}
        self.births = {param.name: -1 for param in function.params}
        self.deaths = {param.name: 0 for param in function.params}
        for step, prim in enumerate(prim_funcs):
            for arg in prim.let.call.args:
                if isinstance(arg, Var):
                    self.deaths[self.roots[arg.name]] = step
            self._bind(prim, step)
        kept = [result.name for result in function.results if isinstance(result, Var)]
        kept += edge.kept_inputs(function)
        for name in kept:
            self.deaths[self.roots[name]] = len(prim_funcs)
        for name in edge.unplanned(function):
            self.sizes[self.roots[name]] = 0
        self._count_crossing(len(prim_funcs))

    def _bind(self, prim: PrimFunc, step: int) -> None:
        name = prim.let.var.name
        source = prim.let.call.args[prim.tied[0]] if prim.tied else None
        if isinstance(source, Var):
            self.roots[name] = self.roots[source.name]
            self.deaths[self.roots[name]] = step
            return
        self.roots[name] = name
        self.sizes[name] = prim.let.var.type.size_bytes
        self.births[name] = self.deaths[name] = step

    def _count_crossing(self, steps: int) -> None:
        self._born: list[list[str]] = [[] for _ in range(steps)]
        """Per step the roots that it writes."""
        # First what is born and dies at each boundary between steps, then their running sum.
        self._crossing = [0] * (steps + 2)
        for root, size in self.sizes.items():
            birth = self.births[root]
            if birth >= 0:
                self._born[birth].append(root)
            self._crossing[birth + 1] += size
            self._crossing[self.deaths[root] + 1] -= size
        for boundary in range(1, len(self._crossing)):
            self._crossing[boundary] += self._crossing[boundary - 1]

    def size_bytes(self, var: Var) -> int:
        """Bytes of the buffer that `var` lies in."""
        return self.sizes[self.roots[var.name]]

    def crossing(self, boundary: int) -> int:
        """Bytes of what is born before step `boundary` and needed by it or behind it."""
        return self._crossing[boundary]

    def least_bytes(self, whole: Iterable[PrimFunc]) -> int:
        """Fewest bytes alive at some time, however steps are grouped and run again.
        Alive are all inputs before the first step, kept values behind the last, and arguments or result of
        the steps `whole`, which no block runs.
        """
        needs = [self._crossing[0], self._crossing[-2]]
        for prim in whole:
            if prim.view is None:
                roots = {self.roots[arg.name] for arg in prim.let.call.args if isinstance(arg, Var)}
                needs += [sum(self.sizes[root] for root in roots), self.size_bytes(prim.let.var)]
        return max(needs)

    def born_bytes(self, step: int, stop: int) -> int:
        """Bytes of what step `step` writes and steps from `stop` on need."""
        return sum(self.sizes[root] for root in self._born[step] if self.deaths[root] >= stop)

    def through(self, start: int, stop: int) -> int:
        """Bytes of what is born before steps [start, stop) and still needed behind them."""
        return self.crossing(stop) - sum(self.born_bytes(step, stop) for step in range(start, stop))

    def dying(self, args: Sequence[Var], start: int, stop: int) -> dict[str, int]:
        """Root -> bytes of arguments that are not needed behind steps [start, stop)."""
        roots = {self.roots[arg.name] for arg in args}
        return {
            root: self.sizes[root]
            for root in roots
            if self.births[root] < start and self.deaths[root] < stop and self.sizes[root]
        }
