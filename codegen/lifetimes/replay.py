"""Second checker: replays the program over byte arrays in which every byte has an owner.

It starts from the PrimFuncs and the placements alone, without conflicts or intervals: a mistake in liveness
shows here as bytes overwritten before their last read. Values that the caller owns have no bytes here. In
each sub-step everything written then is written first, and everything in use must be intact after.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from codegen.ir import Function, Var
from codegen.kernels.primfunc import PrimFunc
from codegen.lifetimes.pieces import Writers, WrittenBytes, made_of, whole
from codegen.problem.problem import Pool
from codegen.program.constants import Staged
from codegen.program.interface import Edge
from codegen.program.program import BufferSlice, MemoryLayout, Program, Steps


@dataclass(frozen=True, kw_only=True, slots=True)
class _ByteRange:
    """A range of bytes of a pool."""

    pool: str
    start: int
    stop: int

    def part(self, start: int, stop: int) -> "_ByteRange":
        """Bytes [start, stop) of these."""
        return _ByteRange(pool=self.pool, start=self.start + start, stop=self.start + stop)


def replay_program(program: Program) -> list[str]:
    """`replay` of a whole program."""
    return replay(
        program.steps,
        program.memory,
        edge=program.edge,
        staged=program.constants.staged,
        states=[(first.value, second.value) for first, second in program.signature.state_tensors],
    )


def replay(
    steps: Steps,
    layout: MemoryLayout,
    *,
    edge: Edge,
    staged: Sequence[Staged] = (),
    states: Sequence[tuple[str, str]] = (),
) -> list[str]:
    """Faults of running the steps with these placements, in sentences; empty if there are none.

    Of the problem only pools and buffer sizes are used. The first step in which a value is found damaged is
    named, with the value that owns its bytes by then.

    `states`: (input, result): the result is the input of the next inference, by a copy in the last step where
    it does not lie in the input's bytes. With such the steps run twice in a row, and of the second inference
    the caller writes the other inputs only.
    """
    function, prim_funcs = steps.function, steps.prim_funcs
    if [prim.let.var.name for prim in prim_funcs] != [let.var.name for let in function.body]:
        return ["the PrimFuncs are not the steps of the function, in its order"]
    callers = _callers(function, prim_funcs) if edge.is_callers else frozenset[str]()
    callers |= {param.name for param in function.params if param.name == edge.streamed}
    places = _Places(steps, layout, callers)
    if places.faults:
        return places.faults
    extents = places.extents(layout.problem.pools, staged)
    memory = _Memory(extents, _most_owners(function, prim_funcs, len(staged)))
    _copy(staged, None, memory)
    for first, _ in states:  # the application's call that sets them to zero
        memory.write(first, places.values.get(first))
    there = {new for old, new in states if places.values.get(old) == places.values.get(new)}
    results = {result.name: None for result in function.results if isinstance(result, Var)}
    results = {name: None for name in results if name not in there}
    kept = [*results, *sorted(edge.kept_inputs(function) - results.keys())]
    faults = _inference(steps, places, memory, staged, states, kept)
    if states and not faults:
        again = _inference(steps, places, memory, staged, states, kept)
        faults = [f"in the second inference: {text}" for text in again]
    return faults


def _inference(
    steps: Steps,
    places: "_Places",
    memory: "_Memory",
    staged: Sequence[Staged],
    states: Sequence[tuple[str, str]],
    kept: Sequence[str],
) -> list[str]:
    """Faults of one inference, in sentences. States are there already; `kept` must be there at its end."""
    damages: list[str] = []
    lasting = {first for first, _ in states}
    params = steps.function.params
    pieces = {param.name: whole(param) for param in params}
    # The caller writes every other input before the first step; all must be whole when it begins.
    for param in params:
        if param.name not in lasting:
            memory.write(param.name, places.values.get(param.name))
    for param in params:
        damages.extend(memory.damage(f"input {param.name}", whole(param), places.values.get(param.name)))
    for step, prim in enumerate(steps.prim_funcs):
        _copy(staged, step, memory)
        faults = [*_step(prim, places, memory, pieces), *_lost_copies(step, prim, staged, memory)]
        damages.extend(f"step {step} {prim.let.where}: {text}" for text in faults)
    for first, second in states:
        place = places.values.get(second)
        damages.extend(memory.damage(f"state {second}", pieces.get(second), place))
        memory.write(first, places.values.get(first))
    for name in kept:
        damages.extend(
            f"after the last step: {text}"
            for text in memory.damage(f"value {name}", pieces.get(name), places.values.get(name))
        )
    return damages


def _copied(copy: Staged) -> _ByteRange:
    return _ByteRange(pool=copy.pool, start=copy.offset, stop=copy.offset + copy.size_bytes)


def _copy(staged: Sequence[Staged], step: int | None, memory: "_Memory") -> None:
    """Make the copies that belong in front of a step, or to start-up."""
    for copy in staged:
        if copy.copied_at == step:
            memory.write(copy.buffer, _copied(copy))


def _lost_copies(step: int, prim: PrimFunc, staged: Sequence[Staged], memory: "_Memory") -> Iterator[str]:
    """Damage after a step to the copies of constants that it read, and to those that have to last."""
    for copy in staged:
        if copy.user[0] == prim.name and copy.used_at != step:
            yield f"copy {copy.buffer} is made for step {copy.used_at}"
        if copy.used_at == step or copy.copied_at is None:
            copy_pieces = (WrittenBytes(owner=copy.buffer, start=0, stop=copy.size_bytes),)
            yield from memory.damage(f"copy {copy.buffer}", copy_pieces, _copied(copy))


class _Places:
    """Bytes of every value and workspace, and what is wrong with them before anything runs."""

    def __init__(self, steps: Steps, layout: MemoryLayout, callers: frozenset[str]) -> None:
        """`callers`: values whose bytes the caller owns."""
        self.faults: list[str] = []
        self._sizes = {buffer.id: buffer.size_bytes for buffer in layout.problem.buffers}
        self._limits = {pool.name: pool.limit_bytes for pool in layout.problem.pools}
        self._plan = layout.plan
        self.values: dict[str, _ByteRange] = {}
        self.workspaces: dict[tuple[str, str], _ByteRange] = {}
        for var in steps.function.variables():
            part = layout.slices.get(var.name)
            if (part is None) != (var.name in callers):
                fault = "has no bytes" if part is None else "belongs to the caller"
                self.faults.append(f"{var.name}: {fault}")
            elif part is not None:
                byte_range = self._bytes(var.name, part, var.type.size_bytes)
                if byte_range is not None:
                    self.values[var.name] = byte_range
        for prim in steps.prim_funcs:
            for space in prim.workspaces:
                key = (prim.name, space.name)
                name = f"workspace {'.'.join(key)}"
                if key not in layout.workspaces:
                    self.faults.append(f"{name}: has no bytes")
                    continue
                byte_range = self._bytes(name, layout.workspaces[key], space.size_bytes)
                if byte_range is not None:
                    self.workspaces[key] = byte_range

    def _bytes(self, name: str, part: BufferSlice, expected: int) -> _ByteRange | None:
        buffer, offset, size = part.buffer, part.offset_bytes, part.size_bytes
        place = self._plan.placements.get(buffer)
        if place is None or buffer not in self._sizes:
            self.faults.append(f"{name}: its buffer {buffer} is not placed")
            return None
        start = place.offset + offset
        if size != expected:
            self.faults.append(f"{name}: has {size} bytes, needs {expected}")
        elif offset < 0 or offset + size > self._sizes[buffer]:
            self.faults.append(f"{name}: leaves its buffer {buffer} of {self._sizes[buffer]} bytes")
        elif place.offset < 0 or start + size > self._limits.get(place.pool, -1):
            self.faults.append(f"{name}: leaves pool {place.pool}")
        else:
            return _ByteRange(pool=place.pool, start=start, stop=start + size)
        return None

    def extents(self, pools: Sequence[Pool], staged: Sequence[Staged]) -> dict[str, int]:
        """Bytes of each pool that anything uses."""
        copies = (_copied(copy) for copy in staged)
        everything = (*self.values.values(), *self.workspaces.values(), *copies)
        return {
            pool.name: max((part.stop for part in everything if part.pool == pool.name), default=0)
            for pool in pools
        }


def _callers(function: Function, prim_funcs: Sequence[PrimFunc]) -> frozenset[str]:
    """Values tied to a graph input or output: by views, or in place."""
    tie = {param.name: param.name for param in function.params}
    for prim in prim_funcs:
        source = prim.let.call.args[prim.tied[0]] if prim.tied else None
        name = source.name if isinstance(source, Var) else prim.let.var.name
        tie[prim.let.var.name] = tie.get(name, name)
    owned = {param.name for param in function.params}
    owned |= {tie[result.name] for result in function.results if isinstance(result, Var)}
    return frozenset(name for name, root in tie.items() if root in owned)


def _most_owners(function: Function, prim_funcs: Sequence[PrimFunc], staged: int) -> int:
    """How many owners bytes can have: nobody, inputs, results, workspaces, copies of constants."""
    return 1 + len(function.params) + sum(1 + len(prim.workspaces) for prim in prim_funcs) + staged


class _Memory:
    """Owner tags of every byte; 0 is nobody. Two bytes each but where owners are very many: a file may
    declare as many bytes of values as are imported, all alive at once."""

    def __init__(self, extents: Mapping[str, int], owners: int) -> None:
        kind = np.int16 if owners <= np.iinfo(np.int16).max else np.int32
        self._tags = {pool: np.zeros(extent, kind) for pool, extent in extents.items()}
        self._owners: list[str] = [""]
        self._tag_of: dict[str, int] = {}

    def write(self, owner: str, part: _ByteRange | None) -> None:
        """`owner` fills `part`."""
        if owner not in self._tag_of:
            self._tag_of[owner] = len(self._owners)
            self._owners.append(owner)
        if part is not None:
            self._tags[part.pool][part.start : part.stop] = self._tag_of[owner]

    def damage(
        self, what: str, pieces: Writers | None, part: _ByteRange | None, sharers: Iterable[str] = ()
    ) -> Iterator[str]:
        """A sentence if bytes of `part` belong neither to who wrote the pieces nor to a sharer. Without
        pieces the value does not exist yet."""
        if pieces is None:
            yield f"{what} is read before it is written"
            return
        if part is None:
            return
        tags = self._tags[part.pool][part.start : part.stop]
        wrong = np.zeros(len(tags), np.bool_)
        for piece in pieces:
            # -1, nobody's tag: after a step that went wrong its result may not have been written at all.
            tag = self._tag_of.get(piece.owner, -1)
            here = slice(piece.start, piece.stop)
            np.not_equal(tags[here], tag, out=wrong[here])
        for tag in (self._tag_of[sharer] for sharer in sharers if sharer in self._tag_of):
            wrong &= tags != tag
        if wrong.any():
            first = part.start + int(wrong.argmax())
            other = self._owners[int(self._tags[part.pool][first])] or "nobody"
            yield (
                f"{int(wrong.sum())} bytes of {what} (pool {part.pool}, from byte {first}) "
                f"belong to {other} by then"
            )


def _step(prim: PrimFunc, places: _Places, memory: _Memory, pieces: dict[str, Writers]) -> Iterator[str]:
    args = {i: arg for i, arg in enumerate(prim.let.call.args) if isinstance(arg, Var)}
    result = prim.let.var
    yield from _read(prim, args, places, memory, pieces)
    yield from _tied(prim, places)
    pieces[result.name] = made_of(prim, pieces)
    if not prim.is_call:
        return
    written = [piece for piece in pieces[result.name] if piece.owner == result.name]
    for now in range(prim.sub_steps):
        for space in prim.workspaces:
            if space.start == now:
                memory.write(f"{prim.name}.{space.name}", places.workspaces[prim.name, space.name])
        if now == prim.result_start:
            place = places.values.get(result.name)
            for piece in written:
                memory.write(result.name, place.part(piece.start, piece.stop) if place else None)
        damages = list(_in_use(prim, now, args, places, memory, pieces))
        yield from damages
        if damages:
            return


def _read(
    prim: PrimFunc,
    args: Mapping[int, Var],
    places: _Places,
    memory: _Memory,
    pieces: Mapping[str, Writers],
) -> Iterator[str]:
    """Damage to arguments when a step begins; of what a view is alone a part of, to that part."""
    if prim.view is not None and prim.view.is_alone:
        name = prim.let.var.name
        yield from memory.damage(f"part {name}", made_of(prim, pieces), places.values.get(name))
        return
    for index, arg in args.items():
        if prim.argument_stops[index] or prim.view:
            place = places.values.get(arg.name)
            yield from memory.damage(f"argument {arg.name}", pieces.get(arg.name), place)


def _in_use(
    prim: PrimFunc,
    now: int,
    args: Mapping[int, Var],
    places: _Places,
    memory: _Memory,
    pieces: Mapping[str, Writers],
) -> Iterator[str]:
    """Damage in sub-step `now` to what the kernel still reads or has begun to write."""
    result = prim.let.var.name
    for index, arg in args.items():
        if now < prim.argument_stops[index]:
            argument = places.values.get(arg.name)
            # Only what the result itself took is excused.
            sharers = [result] if _may_share(prim, index, places.values.get(result), argument) else []
            yield from memory.damage(f"argument {arg.name}", pieces.get(arg.name), argument, sharers)
    for space in prim.workspaces:
        if space.start <= now < space.stop:
            owner, place = f"{prim.name}.{space.name}", places.workspaces[prim.name, space.name]
            held = (WrittenBytes(owner=owner, start=0, stop=space.size_bytes),)
            yield from memory.damage(f"workspace {owner}", held, place)
    if now >= prim.result_start:
        yield from memory.damage(f"result {result}", pieces[result], places.values.get(result))


def _may_share(prim: PrimFunc, index: int, result: _ByteRange | None, argument: _ByteRange | None) -> bool:
    """True if the kernel may write its result here while it still reads argument `index` there."""
    if prim.inlets and index in prim.joined and prim.consumes(index):
        return True  # `_tied` checked that it lies where the step consumes it
    if index == prim.in_place and result is not None and argument is not None:
        return (result.pool, result.start) == (argument.pool, argument.start)
    if result is None or argument is None or result.pool != argument.pool:
        return False
    return any(
        (rule.below is not None and result.start + rule.below <= argument.start)
        or (rule.above is not None and argument.start + rule.above <= result.start)
        for rule in prim.sharing
        if rule.argument == index
    )


def _tied(prim: PrimFunc, places: _Places) -> Iterator[str]:
    """Values that share bytes must lie exactly where they do so."""
    result = prim.let.var
    if prim.tied is not None:
        source = prim.let.call.args[prim.tied[0]]
        what = "view" if prim.view else "in-place result"
        if not isinstance(source, Var):
            yield f"is a {what} of a constant, which has no bytes in a pool"
            return
        yield from _apart(f"{what} {result.name}", result, source, prim.tied[1], places)
    for arg, offset in prim.joins:
        yield from _apart(f"joined argument {arg.name}", arg, result, offset, places)


def _apart(what: str, inner: Var, outer: Var, offset: int, places: _Places) -> Iterator[str]:
    """`inner` must begin `offset` bytes into `outer`."""
    inner_at, outer_at = places.values.get(inner.name), places.values.get(outer.name)
    if inner_at is not None and outer_at is not None:
        start = outer_at.start + offset
        if (inner_at.pool, inner_at.start) != (outer_at.pool, start):
            actual = f"byte {inner_at.start} of pool {inner_at.pool}"
            yield f"{what} lies at {actual}, its bytes at {start} of {outer_at.pool}"
