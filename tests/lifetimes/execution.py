"""A second opinion on plans: programs executed on concrete memory, cell by cell, by adversarial kernels.

Shares nothing with `codegen.lifetimes.replay`: no owners, no rules asked. Every value has cells that occur
nowhere else, kernels write their result one cell after the other and read each argument cell as late as their
sharing rules let them. A plan is harmful if a kernel, or the caller at the end, reads a cell that is not
what the graph says it should be, or if a value leaves its pool.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from codegen.ir import Function, Var
from codegen.kernels.contract import Workspace
from codegen.kernels.primfunc import PrimFunc
from codegen.lifetimes.replay import replay
from codegen.plan.validate import violations
from codegen.problem.problem import MemoryPlan, Problem
from codegen.program.interface import Edge
from codegen.program.program import BufferSlice, MemoryLayout, Program, Steps

Cells = np.ndarray
"""int64[bytes]: one cell stands for one byte."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """A planned program, as the checkers take it."""

    function: Function
    prim_funcs: tuple[PrimFunc, ...]
    slices: Mapping[str, BufferSlice]
    workspaces: Mapping[tuple[str, str], BufferSlice]
    problem: Problem
    plan: MemoryPlan
    edge: Edge

    @classmethod
    def of(cls, program: Program) -> "Case":
        return cls(
            function=program.steps.function,
            prim_funcs=program.steps.prim_funcs,
            slices=program.memory.slices,
            workspaces=program.memory.workspaces,
            problem=program.memory.problem,
            plan=program.memory.plan,
            edge=program.edge,
        )

    def replayed(self) -> list[str]:
        """What the program checker says."""
        layout = MemoryLayout(
            problem=self.problem, plan=self.plan, slices=self.slices, workspaces=self.workspaces
        )
        steps = Steps(function=self.function, prim_funcs=self.prim_funcs, times=())
        return replay(steps, layout, edge=self.edge)

    def checked(self) -> list[str]:
        """What both checkers say."""
        return [*violations(self.problem, self.plan), *self.replayed()]

    def harm(self) -> list[str]:
        """What goes wrong when the program is executed; empty if all reads see what they should."""
        return list(_Machine(self).run())


@dataclass(frozen=True, kw_only=True, slots=True)
class _Part:
    pool: str
    start: int
    size: int


class _OutsideError(Exception):
    """Bytes that the pool does not have."""


class _Machine:
    def __init__(self, case: Case) -> None:
        self.case = case
        self.limits = {pool.name: pool.limit_bytes for pool in case.problem.pools}
        self.memory: dict[str, Cells] = {}
        self.true: dict[str, Cells] = {}
        """What each value and workspace begun so far is."""
        self.next_cell = 1

    def run(self) -> Iterator[str]:
        case = self.case
        try:
            places = [self._value(var.name, var.type.size_bytes) for var in case.function.variables()]
            places += [
                self._space(prim, s.name, s.size_bytes) for prim in case.prim_funcs for s in prim.workspaces
            ]
        except _OutsideError as fault:
            yield str(fault)
            return
        for pool in self.limits:
            extent = max((p.start + p.size for p in places if p is not None and p.pool == pool), default=0)
            self.memory[pool] = np.zeros(extent, np.int64)
        for param in case.function.params:
            self._begin(param.name, self._place(param), param.type.size_bytes)
        for param in case.function.params:
            yield from self._look(param.name, self._place(param))
        for prim in case.prim_funcs:
            yield from self._step(prim)
        kept = [r for r in case.function.results if isinstance(r, Var)]
        kept += list(case.function.params) if case.edge.kept else []
        for var in kept:
            yield from self._look(var.name, self._place(var))

    # ---- places -------------------------------------------------------------------------

    def _place(self, var: Var) -> _Part | None:
        """Where a value is; None: with the caller, out of harm's way."""
        return self._value(var.name, var.type.size_bytes)

    def _value(self, name: str, size: int) -> _Part | None:
        part = self.case.slices.get(name)
        return None if part is None else self._part(name, part.buffer, part.offset_bytes, size)

    def _space(self, prim: PrimFunc, name: str, size: int) -> _Part:
        part = self.case.workspaces[prim.name, name]
        return self._part(f"{prim.name}.{name}", part.buffer, part.offset_bytes, size)

    def _part(self, name: str, buffer: str, offset: int, size: int) -> _Part:
        place = self.case.plan.placements[buffer]
        start = place.offset + offset
        if place.offset < 0 or start + size > self.limits[place.pool]:
            raise _OutsideError(f"{name} leaves pool {place.pool}")
        return _Part(pool=place.pool, start=start, size=size)

    # ---- cells --------------------------------------------------------------------------

    def _fresh(self, size: int) -> Cells:
        self.next_cell += size
        return np.arange(self.next_cell - size, self.next_cell, dtype=np.int64)

    def _begin(self, name: str, part: _Part | None, size: int) -> None:
        """`name` comes to be; all of it is written."""
        self.true[name] = self._fresh(size)
        if part is not None:
            self.memory[part.pool][part.start : part.start + size] = self.true[name]

    def _look(self, name: str, part: _Part | None, corrupt: np.ndarray | None = None) -> Iterator[str]:
        """Somebody reads `name`; cells marked `corrupt` were lost on the way."""
        if name not in self.true:
            yield f"{name} is read before it is written"
        elif part is not None:
            wrong = self._differs(name, part) if corrupt is None else corrupt
            if wrong.any():
                yield f"{int(wrong.sum())} bytes of {name} are wrong"

    def _differs(self, name: str, part: _Part) -> np.ndarray:
        return self.memory[part.pool][part.start : part.start + part.size] != self.true[name]

    # ---- steps --------------------------------------------------------------------------

    def _step(self, prim: PrimFunc) -> Iterator[str]:
        args = [(i, arg) for i, arg in enumerate(prim.let.call.args) if isinstance(arg, Var)]
        result = prim.let.var
        if prim.view is not None:
            source = dict(args)[prim.view.argument]
            # Strict: who takes a view of a value may count on all of the value, even where nobody reads it.
            yield from self._look(source.name, self._place(source))
            if source.name not in self.true:
                return
            first = prim.view.offset_bytes
            self.true[result.name] = self.true[source.name][first : first + result.type.size_bytes]
            return
        if prim.joined and not prim.is_call:
            yield from self._joined(prim)
            return
        for now in range(prim.sub_steps):
            for name, space, part in self._spaces(prim):
                if space.start == now:
                    self._begin(name, part, space.size_bytes)
            yield from self._read(prim, now, [(i, a) for i, a in args if now < prim.argument_stops[i]])
            for name, space, part in self._spaces(prim):
                if space.start <= now < space.stop:
                    yield from self._look(name, part)
            if now >= prim.result_start:
                yield from self._look(result.name, self._place(result))

    def _joined(self, prim: PrimFunc) -> Iterator[str]:
        """Nothing runs: who reads the result later finds there what the arguments left."""
        for arg, _ in prim.joins:
            yield from self._look(arg.name, self._place(arg))
        if all(arg.name in self.true for arg, _ in prim.joins):
            self.true[prim.let.var.name] = np.concatenate([self.true[arg.name] for arg, _ in prim.joins])

    def _spaces(self, prim: PrimFunc) -> Iterator[tuple[str, Workspace, _Part]]:
        for space in prim.workspaces:
            name = f"{prim.name}.{space.name}"
            yield name, space, self._space(prim, space.name, space.size_bytes)

    def _read(self, prim: PrimFunc, now: int, reading: list[tuple[int, Var]]) -> Iterator[str]:
        """Arguments are read in sub-step `now`; it may be the one in which the result is written."""
        if now == prim.result_start:
            yield from self._stream(prim, reading)
            return
        for _, arg in reading:
            if now < prim.result_start:
                yield from self._look(arg.name, self._place(arg))
            else:
                yield from self._look_beside(arg, self._place(prim.let.var))

    def _look_beside(self, arg: Var, result: _Part | None) -> Iterator[str]:
        """A later sub-step: whatever of the argument the result has not taken is still as it was."""
        part = self._place(arg)
        if part is None or arg.name not in self.true:
            yield from self._look(arg.name, part)
            return
        yield from self._look(arg.name, part, self._differs(arg.name, part) & ~_inside(part, result))

    def _stream(self, prim: PrimFunc, reading: list[tuple[int, Var]]) -> Iterator[str]:
        """The result is written cell by cell, while the arguments are read as late as possible."""
        result = prim.let.var
        to = self._place(result)
        for index, arg in reading:
            part = self._place(arg)
            if part is None or arg.name not in self.true:
                yield from self._look(arg.name, part)
                continue
            lost = _copied_over(prim, part, to) if prim.joined else _lost(prim, index, part, to)
            yield from self._look(arg.name, part, self._differs(arg.name, part) | lost)
        if prim.joined:
            yield from self._fill(prim, to)
        else:
            self._begin(result.name, to, result.type.size_bytes)

    def _fill(self, prim: PrimFunc, to: _Part | None) -> Iterator[str]:
        """The kernel writes what is not joined; the rest of the result is what lies there."""
        result = prim.let.var
        cells = self._fresh(result.type.size_bytes)
        free = _free(prim)
        for arg, start in prim.joins:
            if arg.name not in self.true:
                return
            cells[start : start + arg.type.size_bytes] = self.true[arg.name]
        self.true[result.name] = cells
        if to is not None:
            memory = self.memory[to.pool][to.start : to.start + to.size]
            memory[free] = cells[free]
            yield from self._look(result.name, to)


def _inside(part: _Part, other: _Part | None) -> np.ndarray:
    """Which cells of `part` are cells of `other` too."""
    if other is None or other.pool != part.pool:
        return np.zeros(part.size, np.bool_)
    address = part.start + np.arange(part.size)
    return (address >= other.start) & (address < other.start + other.size)


def _free(prim: PrimFunc) -> np.ndarray:
    """Which cells of the result the kernel writes: those that hold no joined argument."""
    free = np.ones(prim.let.var.type.size_bytes, np.bool_)
    for arg, start in prim.joins:
        free[start : start + arg.type.size_bytes] = False
    return free


def _copied_over(prim: PrimFunc, part: _Part, to: _Part | None) -> np.ndarray:
    """Which argument cells a kernel that joins arguments writes to: it keeps to no order at all."""
    found = _inside(part, to)
    if to is not None:
        inside = np.flatnonzero(found)
        found[inside] = _free(prim)[part.start + inside - to.start]
    return found


def _lost(prim: PrimFunc, index: int, part: _Part, to: _Part | None) -> np.ndarray:
    """Which argument cells are overwritten before the kernel reads them.

    Going up, the kernel reads argument cell j just before it writes result cell j + below: as late as a rule
    `below` permits. Going down it reads cell j just before it writes result cell j - above. Without a
    rule it reads everything again at the very end.
    """
    inside = _inside(part, to)
    if index == prim.in_place and (to is None or (to.pool, to.start) != (part.pool, part.start)):
        return np.ones(
            part.size, np.bool_
        )  # the kernel reads where it writes, and there it finds other cells
    if to is None or index == prim.in_place or not inside.any():
        return inside & (index != prim.in_place)
    rule = next((rule for rule in prim.sharing if rule.argument == index), None)
    j = np.arange(part.size)
    i = part.start + j - to.start
    down = rule is not None and rule.above is not None and part.start + rule.above <= to.start
    if down:
        assert rule is not None and rule.above is not None
        return inside & (i > j - rule.above)
    below = to.size if rule is None or rule.below is None else rule.below
    return inside & (i < j + below)
