"""Unified liveness: activations and the workspaces inside kernels become buffers on one time axis.

Step i takes up `sub_steps` units of the axis, one after the other, so that the planner sees inside
a kernel as well as between kernels. Values tied by views, or replaced in place, are one buffer, alive as
long as any of them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from codegen.errors import CodegenError, Message, Messages
from codegen.ir import ANYWHERE, Function, Var
from codegen.kernels.primfunc import PrimFunc
from codegen.plan.conflicts import intersecting, plain
from codegen.plan.in_place import may_replace
from codegen.plan.problem import Buffer, BufferKind, Conflict, Limits, Pool, Problem
from codegen.plan.program import BufferSlice, IoMode
from codegen.plan.touches import touches

PoolCandidates = Callable[[str, BufferKind], Sequence[str]] | Mapping[BufferKind, Sequence[str]]
"""Pools a buffer may lie in, best first: by (buffer id, kind), or by kind alone."""

_Spans = dict[str, tuple[int, int]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Liveness:
    """What must be placed, when it is alive, and what must not share bytes."""

    buffers: tuple[Buffer, ...]
    conflicts: tuple[Conflict, ...]
    slices: Mapping[str, BufferSlice]
    """Variable -> its bytes; variables owned by the caller are missing."""
    workspaces: Mapping[tuple[str, str], str]
    """(primfunc, workspace name) -> buffer id."""
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
    io: IoMode,
    keep_inputs: bool,
    pool_candidates: PoolCandidates,
    minimum_alignment: int,
    streamed: str | None = None,
) -> Liveness:
    """Buffers, live intervals and conflicts of `function` run by `prim_funcs` (one a step, in order).

    Inputs are born at 0 and die at their last use (`keep_inputs`: at the end), results live to the end.
    With `io` = caller, graph inputs, outputs and views of them are not planned, nor is the graph input
    `streamed`, of which blocks hold rows. Raises CodegenError
    E213 (the caller cannot own an output that shares bytes) or E403 (pinned to a pool it may not use),
    ValueError if the PrimFuncs do not fit the function or a view is misaligned.
    """
    if [prim.let.var.name for prim in prim_funcs] != [let.var.name for let in function.body]:
        raise ValueError(f"{function.name}: the PrimFuncs are not the steps of the function")
    # The caller's inputs are not ours to write to.
    fixed_inputs = keep_inputs or io is IoMode.CALLER
    for step, prim in enumerate(prim_funcs):
        if prim.in_place is not None and not may_replace(
            function, prim_funcs, step, keep_inputs=fixed_inputs
        ):
            raise ValueError(f"{prim.name}: the argument it replaces is needed later")
    values = _Values(prim_funcs, function)
    owned_by_caller: frozenset[str] = frozenset()
    if io is IoMode.CALLER:
        _check_caller(function, values)
        owned_by_caller = frozenset(values.io_roots)
    if streamed is not None:
        _check_streamed(prim_funcs, values, streamed)
        owned_by_caller |= {streamed}
    times = step_times(prim_funcs)
    kept = _kept(function, values, keep_inputs)
    spans = _spans(prim_funcs, function, values, times, kept)
    touched = touches(prim_funcs, function, values.anchors)
    buffers = [
        replace(
            _value_buffer(root, values, spans[root], pool_candidates, minimum_alignment),
            reads=touched[root][0],
            writes=touched[root][1],
        )
        for root in values.members
        if root not in owned_by_caller
    ]
    workspaces: dict[tuple[str, str], str] = {}
    for prim, (start, _) in zip(prim_funcs, times, strict=True):
        for buffer, name in _workspace_buffers(prim, start, pool_candidates, minimum_alignment):
            workspaces[prim.name, name] = buffer.id
            buffers.append(buffer)
    permitted = {
        (result, argument): distances
        for prim, interval in zip(prim_funcs, times, strict=True)
        for result, argument, distances in _permitted(prim, interval, values, spans, kept)
    }
    return Liveness(
        buffers=tuple(buffers),
        conflicts=tuple(_conflicts(buffers, permitted)),
        slices={
            name: BufferSlice(buffer=root, offset_bytes=offset, size_bytes=values.vars[name].type.size_bytes)
            for name, (root, offset) in values.anchors.items()
            if root not in owned_by_caller
        },
        workspaces=workspaces,
        times=times,
    )


class _Values:
    """Variables tied by views: each has an anchor (root variable, byte offset in it)."""

    def __init__(self, prim_funcs: Sequence[PrimFunc], function: Function) -> None:
        self.vars = {var.name: var for var in function.variables()}
        self.anchors = {param.name: (param.name, 0) for param in function.params}
        for prim in prim_funcs:
            self.anchors[prim.let.var.name] = self._anchor(prim)
        self.members: dict[str, list[str]] = {}
        for name, (root, _) in self.anchors.items():
            self.members.setdefault(root, []).append(name)
        io = [param.name for param in function.params]
        io += [result.name for result in function.results if isinstance(result, Var)]
        self.io_roots = {self.anchors[name][0] for name in io}
        self.demands = self._alignments(prim_funcs)

    def _anchor(self, prim: PrimFunc) -> tuple[str, int]:
        if prim.tied is None:
            return prim.let.var.name, 0
        argument, offset = prim.tied
        source = prim.let.call.args[argument]
        if not isinstance(source, Var):
            raise ValueError(f"{prim.name}: a view of a constant must be folded before planning")
        if offset < 0 or offset + prim.let.var.type.size_bytes > source.type.size_bytes:
            raise ValueError(f"{prim.name}: the view leaves the bytes of {source.name}")
        root, start = self.anchors[source.name]
        return root, start + offset

    def _alignments(self, prim_funcs: Sequence[PrimFunc]) -> dict[str, int]:
        """Alignment each root needs, so that all values in it have what their dtype and kernels demand."""
        demands = {name: var.type.dtype.size_bytes for name, var in self.vars.items()}
        for prim in prim_funcs:
            if prim.view is None:
                touched = [arg.name for arg in prim.let.call.args if isinstance(arg, Var)]
                for name in (*touched, prim.let.var.name):
                    demands[name] = max(demands[name], prim.argument_alignment)
        for name, (root, offset) in self.anchors.items():
            if offset % demands[name]:
                raise ValueError(f"{name}: a view at byte {offset} of {root} needs alignment {demands[name]}")
        return {root: max(demands[name] for name in names) for root, names in self.members.items()}


def _check_caller(function: Function, values: _Values) -> None:
    """The caller's output must be exactly one value's bytes, and not an input's."""
    inputs = {param.name for param in function.params}
    messages = Messages()
    seen: dict[str, str] = {}
    for result in function.results:
        if not isinstance(result, Var):
            continue
        root, offset = values.anchors[result.name]
        problem = None
        if root in inputs:
            problem = f"is the bytes of input {root}"
        elif root in seen:
            problem = f"is the bytes of output {seen[root]} too"
        elif offset or result.type.size_bytes != values.vars[root].type.size_bytes:
            problem = f"is a part of the bytes of {root}"
        if problem:
            messages.add(
                "E213",
                f"with --io caller the caller owns every output, but this one {problem}",
                where=f"output {result.name}",
                help="use --io pool",
            )
        seen[root] = result.name
    messages.raise_if_any()


def _check_streamed(prim_funcs: Sequence[PrimFunc], values: _Values, streamed: str) -> None:
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


def _kept(function: Function, values: _Values, keep_inputs: bool) -> frozenset[str]:
    """Roots that must be intact when the last step is done."""
    names = [result.name for result in function.results if isinstance(result, Var)]
    if keep_inputs:
        names += [param.name for param in function.params]
    return frozenset(values.anchors[name][0] for name in names)


def _spans(
    prim_funcs: Sequence[PrimFunc],
    function: Function,
    values: _Values,
    times: Sequence[tuple[int, int]],
    kept: frozenset[str],
) -> _Spans:
    """Live interval of each root: from its birth to the last read of any value in it."""
    # An input nobody reads still has to lie beside the other inputs while they are all written.
    spans: _Spans = {param.name: (0, 1) for param in function.params}

    def extend(name: str, stop: int) -> None:
        root = values.anchors[name][0]
        spans[root] = (spans[root][0], max(spans[root][1], stop))

    for prim, (start, stop) in zip(prim_funcs, times, strict=True):
        for arg, argument_stop in zip(prim.let.call.args, prim.argument_stops, strict=True):
            if isinstance(arg, Var) and prim.view is None:
                extend(arg.name, start + argument_stop)
        if prim.tied is None:
            spans[prim.let.var.name] = (start + prim.result_start, stop)
        extend(prim.let.var.name, stop)
    end = max(times[-1][1] if times else 0, 1)
    for root in kept:
        extend(root, end)
    return spans


def _pools(pool_candidates: PoolCandidates, id_: str, kind: BufferKind, scope: str | None) -> tuple[str, ...]:
    names = tuple(pool_candidates(id_, kind) if callable(pool_candidates) else pool_candidates[kind])
    if scope is None:
        return names
    if scope not in names:
        raise CodegenError(
            Message(
                code="E403",
                where=id_,
                text=f"pinned to memory scope {scope}, which is not one of its pools ({', '.join(names)})",
                help=f"declare a pool called {scope}, or pin the value to one of these",
            )
        )
    return (scope,)


def _value_buffer(
    root: str, values: _Values, span: tuple[int, int], pool_candidates: PoolCandidates, minimum_alignment: int
) -> Buffer:
    device = ANYWHERE
    for name in values.members[root]:
        device = device.unify(values.vars[name].device)
    kind = BufferKind.IO if root in values.io_roots else BufferKind.ACTIVATION
    return Buffer(
        id=root,
        size_bytes=values.vars[root].type.size_bytes,
        start=span[0],
        stop=span[1],
        alignment=max(values.demands[root], minimum_alignment),
        pool_candidates=_pools(pool_candidates, root, kind, device.memory_scope),
        kind=kind,
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
                pool_candidates=_pools(pool_candidates, id_, kind, None),
                kind=kind,
                reads=space.reads,
                writes=space.writes,
            ),
            space.name,
        )


def _permitted(
    prim: PrimFunc, interval: tuple[int, int], values: _Values, spans: _Spans, kept: frozenset[str]
) -> Iterator[tuple[str, str, tuple[int, int]]]:
    """(result root, argument root, (result below argument, argument below result)) where sharing is allowed.

    The argument's whole buffer must die in this step. Where several arguments lie in it, each keeps
    its own distance to the result and the larger one rules: the side is common to all of them.
    """
    sharing = {rule.argument: rule for rule in prim.sharing}
    if len(sharing) != len(prim.sharing):
        raise ValueError(f"{prim.name}: two sharing rules for one argument")
    if prim.in_place is not None:
        return
    result = prim.let.var
    by_root: dict[str, list[int]] = {}
    for index, arg in enumerate(prim.let.call.args):
        # What is read for the last time before the result is begun does not restrict it.
        if isinstance(arg, Var) and prim.argument_stops[index] > prim.result_start:
            by_root.setdefault(values.anchors[arg.name][0], []).append(index)
    for root, indices in by_root.items():
        if root in kept or spans[root][1] > interval[1] or not any(index in sharing for index in indices):
            continue
        belows: list[int] = []
        aboves: list[int] = []
        for index in indices:
            arg = prim.let.call.args[index]
            assert isinstance(arg, Var)
            # Sharing speaks of the argument's address, conflicts of its buffer's offset.
            offset = values.anchors[arg.name][1]
            rule = sharing.get(index)
            below = rule.below if rule and rule.below is not None else result.type.size_bytes
            above = rule.above if rule and rule.above is not None else arg.type.size_bytes
            belows.append(below - offset)
            aboves.append(above + offset)
        yield result.name, root, (max(belows), max(aboves))


def _conflicts(
    buffers: Sequence[Buffer], permitted: Mapping[tuple[str, str], tuple[int, int]]
) -> Iterator[Conflict]:
    for i, j in intersecting(buffers):
        first, second = buffers[i], buffers[j]
        if (second.id, first.id) in permitted:
            first, second = second, first
        distances = permitted.get((first.id, second.id))
        if distances is None:
            yield plain(first, second)
        else:
            below, above = distances
            yield Conflict(first=first.id, second=second.id, first_below=below, second_below=above)
