"""Second checker: replays the program over byte arrays in which every byte has an owner.

It starts from the PrimFuncs and the placements alone: it uses neither conflicts nor intervals, so a
mistake in liveness shows here as bytes overwritten before their last read. Values that the caller owns
have no bytes here. In each sub-step everything written then is written first, and everything in use
must be intact after.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from codegen.ir import Function, Var
from codegen.kernels.primfunc import PrimFunc
from codegen.plan.problem import MemoryPlan, Pool, Problem
from codegen.plan.program import BufferSlice, IoMode, Program


@dataclass(frozen=True, kw_only=True, slots=True)
class _Bytes:
    """A range of bytes of a pool."""

    pool: str
    start: int
    stop: int


def replay_program(program: Program, *, keep_inputs: bool) -> list[str]:
    """`replay` of a whole program."""
    return replay(
        program.function,
        program.prim_funcs,
        slices=program.slices,
        workspaces=program.workspaces,
        problem=program.problem,
        plan=program.plan,
        io=program.io,
        keep_inputs=keep_inputs,
        streamed=program.streamed,
    )


def replay(
    function: Function,
    prim_funcs: Sequence[PrimFunc],
    *,
    slices: Mapping[str, BufferSlice],
    workspaces: Mapping[tuple[str, str], str],
    problem: Problem,
    plan: MemoryPlan,
    io: IoMode,
    keep_inputs: bool,
    streamed: str | None = None,
) -> list[str]:
    """What goes wrong when the steps run with these placements, in sentences; empty if nothing does.

    Of `problem` only pools and buffer sizes are used. The first step in which a value is found damaged is
    named, with the value that owns its bytes by then.
    """
    if [prim.let.var.name for prim in prim_funcs] != [let.var.name for let in function.body]:
        return ["the PrimFuncs are not the steps of the function, in its order"]
    callers = _callers(function, prim_funcs) if io is IoMode.CALLER else frozenset[str]()
    callers |= {param.name for param in function.params if param.name == streamed}
    places = _Places(function, prim_funcs, slices, workspaces, problem, plan, callers)
    if places.faults:
        return places.faults
    memory = _Memory(places.extents(problem.pools))
    found: list[str] = []
    origin = {param.name: param.name for param in function.params}
    # The caller writes every input before the first step; all must be whole when it begins.
    for param in function.params:
        memory.write(param.name, places.values.get(param.name))
    for param in function.params:
        found.extend(memory.damage(f"input {param.name}", param.name, places.values.get(param.name)))
    for step, prim in enumerate(prim_funcs):
        found.extend(f"step {step} {prim.let.where}: {text}" for text in _step(prim, places, memory, origin))
    kept = [result.name for result in function.results if isinstance(result, Var)]
    kept += [param.name for param in function.params] if keep_inputs else []
    for name in dict.fromkeys(kept):
        found.extend(
            f"after the last step: {text}"
            for text in memory.damage(f"value {name}", origin.get(name, name), places.values.get(name))
        )
    return found


class _Places:
    """Bytes of every value and workspace, and what is wrong with them before anything runs."""

    def __init__(
        self,
        function: Function,
        prim_funcs: Sequence[PrimFunc],
        slices: Mapping[str, BufferSlice],
        workspaces: Mapping[tuple[str, str], str],
        problem: Problem,
        plan: MemoryPlan,
        callers: frozenset[str],
    ) -> None:
        """`callers`: values whose bytes the caller owns."""
        self.faults: list[str] = []
        self._sizes = {buffer.id: buffer.size_bytes for buffer in problem.buffers}
        self._limits = {pool.name: pool.limit_bytes for pool in problem.pools}
        self._plan = plan
        self.values: dict[str, _Bytes] = {}
        self.workspaces: dict[tuple[str, str], _Bytes] = {}
        for var in function.variables():
            part = slices.get(var.name)
            if (part is None) != (var.name in callers):
                fault = "has no bytes" if part is None else "belongs to the caller"
                self.faults.append(f"{var.name}: {fault}")
            elif part is not None:
                found = self._bytes(var.name, part, var.type.size_bytes)
                if found is not None:
                    self.values[var.name] = found
        for prim in prim_funcs:
            for space in prim.workspaces:
                key = (prim.name, space.name)
                name = f"workspace {'.'.join(key)}"
                if key not in workspaces:
                    self.faults.append(f"{name}: has no bytes")
                    continue
                part = BufferSlice(buffer=workspaces[key], offset_bytes=0, size_bytes=space.size_bytes)
                found = self._bytes(name, part, space.size_bytes)
                if found is not None:
                    self.workspaces[key] = found

    def _bytes(self, name: str, part: BufferSlice, expected: int) -> _Bytes | None:
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
            return _Bytes(pool=place.pool, start=start, stop=start + size)
        return None

    def extents(self, pools: Sequence[Pool]) -> dict[str, int]:
        """Bytes of each pool that anything uses."""
        everything = (*self.values.values(), *self.workspaces.values())
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


class _Memory:
    """Owner tags of every byte; 0 is nobody."""

    def __init__(self, extents: Mapping[str, int]) -> None:
        self._tags = {pool: np.zeros(extent, np.int32) for pool, extent in extents.items()}
        self._owners: list[str] = [""]
        self._tag_of: dict[str, int] = {}

    def write(self, owner: str, part: _Bytes | None) -> None:
        """`owner` fills `part`."""
        if owner not in self._tag_of:
            self._tag_of[owner] = len(self._owners)
            self._owners.append(owner)
        if part is not None:
            self._tags[part.pool][part.start : part.stop] = self._tag_of[owner]

    def damage(self, what: str, owner: str, part: _Bytes | None, sharer: str = "") -> Iterator[str]:
        """A sentence if bytes of `part` are neither `owner`'s nor `sharer`'s any more."""
        if owner not in self._tag_of:
            yield f"{what} is read before it is written"
            return
        if part is None:
            return
        tags = self._tags[part.pool][part.start : part.stop]
        wrong = tags != self._tag_of[owner]
        if sharer in self._tag_of:
            wrong &= tags != self._tag_of[sharer]
        if wrong.any():
            first = part.start + int(wrong.argmax())
            other = self._owners[int(self._tags[part.pool][first])] or "nobody"
            yield (
                f"{int(wrong.sum())} bytes of {what} (pool {part.pool}, from byte {first}) "
                f"belong to {other} by then"
            )


def _step(prim: PrimFunc, places: _Places, memory: _Memory, origin: dict[str, str]) -> Iterator[str]:
    args = {i: arg.name for i, arg in enumerate(prim.let.call.args) if isinstance(arg, Var)}
    result = prim.let.var.name
    for index, name in args.items():
        if prim.argument_stops[index] or prim.view:
            yield from memory.damage(f"argument {name}", origin.get(name, name), places.values.get(name))
    if prim.tied is not None:
        yield from _tied(prim, prim.tied, places)
    if prim.view is not None:
        source = prim.let.call.args[prim.view.argument]
        origin[result] = origin.get(source.name, source.name) if isinstance(source, Var) else result
        return
    origin[result] = result
    for now in range(prim.sub_steps):
        for space in prim.workspaces:
            if space.start == now:
                memory.write(f"{prim.name}.{space.name}", places.workspaces[prim.name, space.name])
        if now == prim.result_start:
            memory.write(result, places.values.get(result))
        damages = list(_in_use(prim, now, args, places, memory, origin))
        yield from damages
        if damages:
            return


def _in_use(
    prim: PrimFunc,
    now: int,
    args: Mapping[int, str],
    places: _Places,
    memory: _Memory,
    origin: Mapping[str, str],
) -> Iterator[str]:
    """Damage in sub-step `now` to what the kernel still reads or has begun to write."""
    result = prim.let.var.name
    for index, name in args.items():
        if now < prim.argument_stops[index]:
            argument = places.values.get(name)
            # Only what the result itself took is excused: a workspace may not lie there too.
            sharer = result if _may_share(prim, index, places.values.get(result), argument) else ""
            yield from memory.damage(f"argument {name}", origin.get(name, name), argument, sharer)
    for space in prim.workspaces:
        if space.start <= now < space.stop:
            owner = f"{prim.name}.{space.name}"
            yield from memory.damage(f"workspace {owner}", owner, places.workspaces[prim.name, space.name])
    if now >= prim.result_start:
        yield from memory.damage(f"result {result}", result, places.values.get(result))


def _may_share(prim: PrimFunc, index: int, result: _Bytes | None, argument: _Bytes | None) -> bool:
    """Whether the kernel may write its result here while it still reads argument `index` there."""
    if result is None or argument is None or result.pool != argument.pool:
        return False
    if index == prim.in_place:
        return result.start == argument.start
    for rule in prim.sharing:
        if rule.argument == index:
            below = rule.below is not None and result.start + rule.below <= argument.start
            above = rule.above is not None and argument.start + rule.above <= result.start
            return below or above
    return False


def _tied(prim: PrimFunc, tie: tuple[int, int], places: _Places) -> Iterator[str]:
    """The result of a view, or in place, must lie exactly where the argument's bytes are."""
    source = prim.let.call.args[tie[0]]
    result, what = prim.let.var.name, "view" if prim.view else "in-place result"
    if not isinstance(source, Var):
        yield f"is a {what} of a constant, which has no bytes in a pool"
        return
    mine, theirs = places.values.get(result), places.values.get(source.name)
    if mine is not None and theirs is not None:
        start = theirs.start + tie[1]
        if (mine.pool, mine.start) != (theirs.pool, start):
            yield (
                f"{what} {result} lies at byte {mine.start} of pool {mine.pool}, "
                f"its bytes at {start} of {theirs.pool}"
            )
