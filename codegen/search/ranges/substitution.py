"""Formulas in place of the numbers in which members of a program differ."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from codegen.constants.linking import link
from codegen.errors import CodegenError, Message
from codegen.ir import Function
from codegen.ir.formulas import (
    Formula,
    constant_of,
    found_in,
    is_small,
    largest_term,
    names_of,
    text,
)
from codegen.kernels.primfunc import PrimFunc
from codegen.lifetimes.ties import ties
from codegen.plan.place.bounds import lower_bounds
from codegen.program.program import MemoryLayout, Program
from codegen.program.size_ranges import Peak, Ranges
from codegen.search.ranges.call_formulas import call_of_all
from codegen.search.ranges.members import Member
from codegen.search.ranges.offsets import Offsets
from codegen.search.ranges.sizes import Sizes


class Formulas:
    """Puts formulas where members differ."""

    def __init__(
        self,
        program: Program,
        sizes: Sizes,
        members: Sequence[Member],
        function: Function,
        offsets: Offsets,
    ) -> None:
        """`offsets`: of `members` as programs with their buffers in place; `function` is that of them all."""
        self._program, self._sizes = offsets.programs[-1], sizes
        self._original = program
        self._members, self._function, self._offsets = members, function, offsets
        self._programs, self._names = offsets.programs, offsets.names

    def program(self) -> Program:
        """The program at the largest sizes with its formulas."""
        function, offsets = self._function, self._offsets.of
        prims = tuple(self._prim(index, prim) for index, prim in enumerate(self._program.steps.prim_funcs))
        values, workspaces = dict(self._places(offsets)), dict(self._workspaces(offsets))
        pools = {pool.name: self._offsets.peak(pool.name) for pool in self._program.memory.problem.pools}
        buffers = {id_: (offsets[id_], size) for id_, size in self._offsets.sizes()}
        places = [*values.values(), *workspaces.values(), *pools.values(), *chain(*buffers.values())]
        places += [number.formula for number in found_in((function.params, function.body))]
        places += [number for prim in prims for number in prim.numbers]
        self._check_range(places)
        extents = self._names.sizes.used_by(name for place in places for name in names_of(place)).extents
        ranges = Ranges(
            symbols=self._sizes.symbols,
            extents=extents,
            values=values,
            workspaces=workspaces,
            buffers=buffers,
            pools=pools,
            peaks={pool.name: tuple(self._peaks(pool.name)) for pool in self._program.memory.problem.pools},
            proved=is_small(self._sizes.symbols),
            narrowed=self._sizes.narrowed,
        )
        layout = self._program.constants
        constants = replace(layout, pools=link(prims, layout.candidates))
        lets = zip(prims, function.body, strict=True)
        steps = replace(
            self._program.steps,
            function=function,
            prim_funcs=tuple(replace(prim, let=let) for prim, let in lets),
        )
        types = {var.name: var.type for var in function.variables()}
        return replace(
            self._program,
            steps=steps,
            signature=self._program.signature.with_types(types),
            constants=constants,
            ranges=ranges,
            memory=self._certified(),
        )

    def _certified(self) -> MemoryLayout:
        """The layout at the largest sizes: proved as the search's is where it needs no more."""
        layout, searched = self._program.memory, self._original.memory
        pools = [pool.name for pool in layout.problem.pools]
        same = all(layout.peak_bytes(pool) == searched.peak_bytes(pool) for pool in pools)
        plan = replace(layout.plan, proved_optimal=layout.plan.proved_optimal and same)
        return replace(layout, plan=plan)

    def _check_range(self, formulas: Sequence[Formula]) -> None:
        """Raise CodegenError E309 for a formula that int32_t does not hold at some sizes."""
        every = [*formulas, *(extent.formula for extent in self._names.extents.values())]
        for formula in every:
            if largest_term(formula, self._names.fitter.values) >= 1 << 31:
                said = ", ".join(str(symbol) for symbol in self._sizes.symbols)
                help_ = "give a smaller upper end"
                text_ = f"{text(formula)} does not fit in 32 bits"
                raise CodegenError(Message(code="E309", where=f"--dim {said}", text=text_, help=help_))

    # ---- steps --------------------------------------------------------------------------

    def _prim(self, index: int, prim: PrimFunc) -> PrimFunc:
        every = [member.prim_funcs[index] for member in self._members]
        return call_of_all(prim, self._original.steps.prim_funcs[index], every, self._names)

    # ---- places -------------------------------------------------------------------------

    def _places(self, offsets: Mapping[str, Formula]) -> Iterator[tuple[str, Formula]]:
        """Offsets of values that differ between members."""
        anchors = [
            ties(program.steps.function, program.steps.prim_funcs).anchors for program in self._programs
        ]
        for name in anchors[-1]:
            part = self._program.memory.slices.get(name)
            if part is None:
                values = np.array([anchors_there[name][1] for anchors_there in anchors], np.int64)
                size = self._size(name)
                formula = self._names.formula(values // size, f"the offset of {name}")
            else:
                values = np.array([self._offset(program, name) for program in self._programs], np.int64)
                same = all(program.memory.slices[name].offset_bytes == 0 for program in self._programs)
                formula = (
                    offsets[part.buffer] if same else self._names.formula(values, f"the offset of {name}")
                )
            if constant_of(formula) is None:
                yield name, formula

    def _size(self, name: str) -> int:
        return next(
            v.type.dtype.size_bytes for v in self._program.steps.function.variables() if v.name == name
        )

    @staticmethod
    def _offset(program: Program, name: str) -> int:
        part = program.memory.slices[name]
        return program.memory.plan.placements[part.buffer].offset + part.offset_bytes

    def _workspaces(self, offsets: Mapping[str, Formula]) -> Iterator[tuple[tuple[str, str], Formula]]:
        for key, part in self._program.memory.workspaces.items():
            if constant_of(offsets[part.buffer]) is None:
                yield key, offsets[part.buffer]

    def _peaks(self, pool: str) -> Iterator[Peak]:
        for member, program in zip(self._members, self._programs, strict=True):
            bounds = lower_bounds(program.memory.problem, self._offsets.order.pools)
            yield Peak(
                values=tuple(member.values[symbol.name] for symbol in self._sizes.symbols),
                planned_bytes=program.memory.peak_bytes(pool),
                lower_bound_bytes=bounds.get(pool, 0),
            )
