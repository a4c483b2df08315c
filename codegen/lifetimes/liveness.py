"""Unified liveness: activations and the workspaces inside kernels become buffers on one time axis.

Step i takes up `sub_steps` units of the axis, one after the other, so that the planner sees inside
a kernel as well as between kernels. Values that share bytes (views, results in place of an argument,
arguments joined in a result) are one buffer, alive as long as any of them; `occupancies` says which of its
bytes are in use when.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from codegen.errors import CodegenError, Message, Messages
from codegen.ir import Function, Var
from codegen.kernels.primfunc import PrimFunc
from codegen.lifetimes.hollows import fill_hollows
from codegen.lifetimes.occupancy import Occupancy, access_counts, conflicts
from codegen.lifetimes.tie_faults import Colliding, collisions
from codegen.lifetimes.ties import (
    Replaceable,
    Ties,
    confined,
    demands,
    foreign_joins,
    misfits,
    part_outputs,
    ties,
)
from codegen.problem.problem import Buffer, BufferKind, Conflict, Limits, MemoryPlan, Pool, Problem
from codegen.program.interface import Edge
from codegen.program.program import BufferSlice, MemoryLayout

PoolCandidates = Callable[[str, BufferKind], Sequence[str]] | Mapping[BufferKind, Sequence[str]]
"""Pools a buffer may lie in, best first: by (buffer id, kind), or by kind alone."""

_Spans = dict[str, tuple[int, int]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Liveness:
    """Buffers to be placed, when each is alive, and which pairs must not share bytes."""

    buffers: tuple[Buffer, ...]
    conflicts: tuple[Conflict, ...]
    slices: Mapping[str, BufferSlice]
    """Variable -> its bytes; variables owned by the caller are missing."""
    workspaces: Mapping[tuple[str, str], BufferSlice]
    """(primfunc, workspace name) -> its bytes."""
    times: tuple[tuple[int, int], ...]
    """Interval `[start, stop)` of each step on the buffers' time axis."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "slices", MappingProxyType(dict(self.slices)))
        object.__setattr__(self, "workspaces", MappingProxyType(dict(self.workspaces)))

    def problem(self, pools: Sequence[Pool], limits: Limits | None = None) -> Problem:
        """The planning problem over `pools`."""
        return Problem(
            buffers=self.buffers, conflicts=self.conflicts, pools=tuple(pools), limits=limits or Limits()
        )

    def layout(self, problem: Problem, plan: MemoryPlan) -> MemoryLayout:
        """Return the memory layout that `plan` gives these buffers; `problem` is the one made of them."""
        return MemoryLayout(problem=problem, plan=plan, slices=self.slices, workspaces=self.workspaces)


def step_times(prim_funcs: Sequence[PrimFunc]) -> tuple[tuple[int, int], ...]:
    """Interval `[start, stop)` of each step: step i occupies `sub_steps` units."""
    times: list[tuple[int, int]] = []
    now = 0
    for prim in prim_funcs:
        times.append((now, now + prim.sub_steps))
        now += prim.sub_steps
    return tuple(times)


def liveness(
    prim_funcs: Sequence[PrimFunc],
    function: Function,
    *,
    edge: Edge,
    pool_candidates: PoolCandidates,
    minimum_alignment: int,
    fills_edges: bool = False,
) -> Liveness:
    """Buffers, live intervals and conflicts of `function` run by `prim_funcs` (one a step, in order).

    Inputs are born at 0 and die at their last use (those that `edge` keeps: at the end), results live to the
    end. Where they are the caller's, graph inputs, outputs and views of them are not planned, nor is a
    streamed input, of which blocks hold rows. `fills_edges`: see `fill_hollows`.

    Raises CodegenError E213 (the caller cannot own an output that shares bytes) or E403 (pinned to a pool it
    may not use), Colliding where values at fixed places meet, ValueError if the PrimFuncs do not fit the
    function or values that share bytes do not fit each other.
    """
    if [prim.let.var.name for prim in prim_funcs] != [let.var.name for let in function.body]:
        raise ValueError(f"{function.name}: the PrimFuncs are not the steps of the function")
    replaceable = Replaceable(function, prim_funcs, edge)
    for step, prim in enumerate(prim_funcs):
        if prim.in_place is not None and not replaceable.may(step):
            raise ValueError(f"{prim.name}: the argument it replaces is needed later")
    values = _AnchoredValues(prim_funcs, function, edge)
    owned_by_caller: frozenset[str] = frozenset()
    if edge.is_callers:
        _check_caller(function, values.ties)
        owned_by_caller = frozenset(values.io_roots)
    if edge.streamed is not None:
        _check_streamed(prim_funcs, values, edge.streamed)
        owned_by_caller |= {edge.streamed}
    times = step_times(prim_funcs)
    kept = _kept(function, edge)
    spans = _spans(prim_funcs, function, times, kept)
    planned = [root for root in values.members if root not in owned_by_caller]
    touched = access_counts(prim_funcs, function, values.ties)
    buffers = [
        _value_buffer(root, values, spans, pool_candidates, minimum_alignment, touched[root])
        for root in planned
    ]
    occupancies = {root: values.occupancies(root, spans) for root in planned}
    workspaces: dict[tuple[str, str], BufferSlice] = {}
    for prim, (start, _) in zip(prim_funcs, times, strict=True):
        for buffer, name in _workspace_buffers(prim, start, pool_candidates, minimum_alignment):
            workspaces[prim.name, name] = BufferSlice(
                buffer=buffer.id, offset_bytes=0, size_bytes=buffer.size_bytes
            )
            buffers.append(buffer)
            occupancies[buffer.id] = [_whole(buffer)]
    permitted = {
        pair: distances
        for prim, interval in zip(prim_funcs, times, strict=True)
        for pair, distances in _permitted(prim, interval, spans, kept)
    }
    scratches = [root for root in planned if root in values.scratches]
    filled = fill_hollows(buffers, occupancies, scratches, fills_edges=fills_edges)
    slices = {
        name: BufferSlice(buffer=root, offset_bytes=offset, size_bytes=values.vars[name].type.size_bytes)
        for name, (root, offset) in values.anchors.items()
        if root not in owned_by_caller
    }
    return Liveness(
        buffers=filled.buffers,
        conflicts=tuple(conflicts(filled.buffers, filled.occupancies, permitted)),
        slices={name: filled.part(part) for name, part in slices.items()},
        workspaces={key: filled.part(part) for key, part in workspaces.items()},
        times=times,
    )


def _whole(buffer: Buffer) -> Occupancy:
    return Occupancy(
        name=buffer.id,
        offset_bytes=0,
        first_byte=0,
        end_byte=buffer.size_bytes,
        start=buffer.start,
        stop=buffer.stop,
    )


class _AnchoredValues:
    """Variables that share bytes: each has an anchor (root variable, byte offset in it)."""

    def __init__(self, prim_funcs: Sequence[PrimFunc], function: Function, edge: Edge) -> None:
        self.ties = tied = ties(function, prim_funcs)
        faults = [*tied.faults, *misfits(tied, prim_funcs)]
        faults += foreign_joins(function, prim_funcs, tied, edge)
        if faults:
            raise ValueError("; ".join(faults))
        meeting = collisions(function, prim_funcs, tied, edge)
        if meeting:
            raise Colliding("; ".join(meeting))
        self.vars, self.anchors, self.members = tied.variables, tied.anchors, tied.members()
        edges = [var for var in (*function.params, *function.results) if isinstance(var, Var)]
        self.io_roots = {self.anchors[var.name][0] for var in edges}
        self._parts: dict[str, str] = {}
        """View -> the value it is a part of."""
        for prim in prim_funcs:
            source = prim.let.call.args[prim.view.argument] if prim.view and not prim.view.is_alone else None
            if isinstance(source, Var):
                self._parts[prim.let.var.name] = self._parts.get(source.name, source.name)
        self._worked_on = {prim.let.var.name: prim.worked_on for prim in prim_funcs if prim.inlets}
        self.scratches = frozenset(self.anchors[name][0] for name in self._worked_on)
        """Roots in which a step works at fixed places."""
        read = {arg.name for prim in prim_funcs for arg in prim.let.call.args if isinstance(arg, Var)}
        read |= _kept(function, edge) | edge.shifted
        params = function.params if self.scratches else ()
        self._params = {param.name: param.name in read for param in params}
        """Inputs beside a scratch, and whether anybody reads them."""
        self.pools = confined(tied, prim_funcs)
        needed = demands(tied, prim_funcs)
        self.demands = {root: max(needed[name] for name in names) for root, names in self.members.items()}

    def lifetime(self, root: str, spans: _Spans) -> tuple[int, int]:
        """From the birth of the first value in a root to the last read of any."""
        lives = [spans[name] for name in self._holding(root)]
        return min(start for start, _ in lives), max(stop for _, stop in lives)

    def occupancies(self, root: str, spans: _Spans) -> list[Occupancy]:
        """Occupancies of a root's bytes by the values that it holds."""
        return [held for name in self._holding(root) for held in self._occupancies(name, spans[name])]

    def _holding(self, root: str) -> list[str]:
        """The members that hold bytes; all of them where none does."""
        members = self.members[root]
        return [m for m in members if self.vars[self._parts.get(m, m)].type.size_bytes] or members

    def _occupancies(self, name: str, span: tuple[int, int]) -> Iterator[Occupancy]:
        """A value holds all bytes of what it is a part of; a scratch those that its step works on."""
        offset, held = self.anchors[name][1], self._parts.get(name, name)
        first, size = self.anchors[held][1], self.vars[held].type.size_bytes
        birth, death = span
        if name in self._params and birth == 0:  # the caller writes it before the first step
            birth = -1
            if death == 1 and not self._params[name]:
                death = 0
        for start, stop in self._worked_on.get(name, ((0, size),)):
            yield Occupancy(
                name=name,
                offset_bytes=offset,
                first_byte=first + start,
                end_byte=first + stop,
                start=birth,
                stop=death,
            )


def _check_caller(function: Function, tied: Ties) -> None:
    messages = Messages()
    for name, problem in part_outputs(function, tied):
        messages.take(
            Message(
                code="E213",
                text=f"with --io caller the caller owns every output, but this one {problem}",
                where=f"output {name}",
                help="use --io pool",
                of_one_model=True,
            )
        )
    messages.raise_if_any()


def _check_streamed(prim_funcs: Sequence[PrimFunc], values: _AnchoredValues, streamed: str) -> None:
    """Nobody may want the whole of it."""
    readers = [
        prim
        for prim in prim_funcs
        if any(isinstance(arg, Var) and arg.name == streamed for arg in prim.let.call.args)
    ]
    if values.members.get(streamed) != [streamed] or any(
        prim.block is None or prim.block.streamed != streamed for prim in readers
    ):
        raise ValueError(f"{streamed}: a streamed input is read by something else than a block")


def _kept(function: Function, edge: Edge) -> frozenset[str]:
    """Values that must be intact when the last step is done."""
    results = frozenset(result.name for result in function.results if isinstance(result, Var))
    return results | edge.kept_inputs(function)


def _spans(
    prim_funcs: Sequence[PrimFunc],
    function: Function,
    times: Sequence[tuple[int, int]],
    kept: frozenset[str],
) -> _Spans:
    """Live interval of each value: from its birth to its last read. A view is taken when its step runs, and
    until then the value it is a part of is read. A view that is alone is there when its value is."""
    # An input nobody reads still has to lie beside the other inputs while they are all written.
    spans: _Spans = {param.name: (0, 1) for param in function.params}

    def extend(name: str, stop: int) -> None:
        spans[name] = (spans[name][0], max(spans[name][1], stop))

    ends: dict[str, int] = {}
    for prim, (start, stop) in zip(prim_funcs, times, strict=True):
        ends[prim.let.var.name] = stop
        if prim.view is not None and prim.view.is_alone:
            source = prim.let.call.args[prim.view.argument]
            assert isinstance(source, Var)
            spans[prim.let.var.name] = (ends[source.name], stop)
            continue
        for arg, argument_stop in zip(prim.let.call.args, prim.argument_stops, strict=True):
            if isinstance(arg, Var):
                extend(arg.name, start + argument_stop)
        spans[prim.let.var.name] = (_birth(prim, start), stop)
    end = max(times[-1][1] if times else 0, 1)
    for name in kept:
        extend(name, end)
    return spans


def _birth(prim: PrimFunc, start: int) -> int:
    """Sub-step from which a result exists: one that replaces an argument, or needs no call, takes over at
    once.
    """
    return start if prim.in_place is not None or not prim.is_call else start + prim.result_start


def _pools(
    pool_candidates: PoolCandidates, id_: str, kind: BufferKind, allowed: frozenset[str] | None
) -> tuple[str, ...]:
    names = tuple(pool_candidates(id_, kind) if callable(pool_candidates) else pool_candidates[kind])
    if allowed is None:
        return names
    allowed_names = tuple(name for name in names if name in allowed)
    if not allowed_names:
        scopes = " or ".join(sorted(allowed))
        raise CodegenError(
            Message(
                code="E403",
                where=id_,
                text=f"pinned to memory scope {scopes}, which is not one of its pools ({', '.join(names)})",
                help=f"declare a pool called {scopes}, or pin the value to one of these",
            )
        )
    return allowed_names


def _value_buffer(
    root: str,
    values: _AnchoredValues,
    spans: _Spans,
    pool_candidates: PoolCandidates,
    minimum_alignment: int,
    touched: tuple[float, float],
) -> Buffer:
    """The buffer of a value and of what shares its bytes; `touched`: (reads, writes) of each byte."""
    start, stop = values.lifetime(root, spans)
    kind = BufferKind.IO if root in values.io_roots else BufferKind.ACTIVATION
    return Buffer(
        id=root,
        size_bytes=values.ties.sizes[root],
        start=start,
        stop=stop,
        alignment=max(values.demands[root], minimum_alignment),
        pool_candidates=_pools(pool_candidates, root, kind, values.pools.get(root)),
        kind=kind,
        reads=touched[0],
        writes=touched[1],
    )


def _workspace_buffers(
    prim: PrimFunc, start: int, pool_candidates: PoolCandidates, minimum_alignment: int
) -> Iterator[tuple[Buffer, str]]:
    for space in prim.workspaces:
        id_ = f"{prim.name}.{space.name}"
        kind = BufferKind.ACTIVATION if space.is_activation else BufferKind.WORKSPACE
        yield (
            Buffer(
                id=id_,
                size_bytes=space.size_bytes,
                start=start + space.start,
                stop=start + space.stop,
                alignment=max(space.alignment, minimum_alignment),
                pool_candidates=_pools(pool_candidates, id_, kind, prim.allowed(workspace=space.name)),
                kind=kind,
                reads=space.reads,
                writes=space.writes,
            ),
            space.name,
        )


def _permitted(
    prim: PrimFunc, interval: tuple[int, int], spans: _Spans, kept: frozenset[str]
) -> Iterator[tuple[tuple[str, str], tuple[int, int]]]:
    """(result, argument), (result below argument, argument below result) where sharing is allowed.

    The argument must die in this step; what else lies in its bytes and lives on is kept apart by its own
    stay. Where the argument is passed several times, each keeps its own distance to the result and the
    larger one rules: the side is common to all of them.
    """
    sharing = {rule.argument: rule for rule in prim.sharing}
    if len(sharing) != len(prim.sharing):
        raise ValueError(f"{prim.name}: two sharing rules for one argument")
    if prim.in_place is not None:
        return
    result = prim.let.var
    passed: dict[str, list[int]] = {}
    for index, arg in enumerate(prim.let.call.args):
        # What is read for the last time before the result is begun does not restrict it.
        if isinstance(arg, Var) and prim.argument_stops[index] > prim.result_start:
            passed.setdefault(arg.name, []).append(index)
    for name, indices in passed.items():
        if name in kept or spans[name][1] > interval[1] or not any(index in sharing for index in indices):
            continue
        belows: list[int] = []
        aboves: list[int] = []
        for index in indices:
            arg = prim.let.call.args[index]
            assert isinstance(arg, Var)
            rule = sharing.get(index)
            below = rule.below if rule and rule.below is not None else result.type.size_bytes
            above = rule.above if rule and rule.above is not None else arg.type.size_bytes
            belows.append(below)
            aboves.append(above)
        yield (result.name, name), (max(belows), max(aboves))
