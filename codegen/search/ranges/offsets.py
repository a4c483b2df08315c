"""Offsets of buffers as formulas: longest paths of the order of buffers."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from codegen.ir.formulas import Formula, RoundedUp, Sum, Whole, constant_of, named, number
from codegen.ir.ranged import NamedSizes, Unlike
from codegen.plan.place.orientation import Orientation
from codegen.program.program import Program
from codegen.search.ranges.buffer_order import Distances


class Offsets:
    """Formulas for the offset and the bytes of every buffer, and for the bytes of every pool."""

    def __init__(
        self, programs: Sequence[Program], order: Orientation, distances: Distances, names: NamedSizes
    ) -> None:
        """`programs` lie in this order, at these distances."""
        self.programs, self.order, self._distances = programs, order, distances
        self.names, self._fitter = names, names.fitter
        self._buffers = programs[-1].memory.problem.buffers
        self.of: dict[str, Formula] = {}
        """Buffer -> its offset."""
        short = {buffer.id: self._fitter.formula(self._starts(buffer.id)) for buffer in self._buffers}
        for id_ in order.order:
            self.of[id_] = short[id_] or self._longest(id_)

    def _longest(self, id_: str) -> Formula:
        """The longest of the paths that end in a buffer, of which only arms that ever decide are written;
        offsets below it that have no short formula get a name."""
        starts = self._starts(id_)
        arms: list[tuple[Formula, Whole]] = [(number(0), np.zeros_like(starts))]
        for low in self.order.below[id_]:
            distance, values = self._distances[low, id_]
            ends = self._starts(low) + values
            if (ends > 0).any():
                arms.append((self._above(distance, low), ends))
        best = self._fitter.largest(arms)
        alignment = next(buffer.alignment for buffer in self._buffers if buffer.id == id_)
        formula = best if alignment == 1 else RoundedUp(value=best, multiple=alignment)
        if not np.array_equal(self.names.value(formula), starts):
            raise Unlike(f"the offset of {id_} follows no formula")
        return formula

    def _starts(self, id_: str) -> Whole:
        """Offsets of a buffer at all members."""
        return np.array([program.memory.plan.placements[id_].offset for program in self.programs], np.int64)

    def _above(self, distance: Formula, id_: str) -> Formula:
        """`distance` above the start of a buffer; what is no sum gets a name."""
        if not isinstance(distance, Sum):
            distance = self._name(f"above_{id_}", distance, f"room for {id_}")
        known = constant_of(self.of[id_])
        if known is not None:
            return replace(distance, constant=distance.constant + known)
        start = self._name(f"at_{id_}", self.of[id_], f"offset of {id_}")
        return Sum(constant=distance.constant, terms=(*start.terms, *distance.terms))

    def _name(self, name: str, formula: Formula, of: str) -> Sum:
        """`formula` by a name, which is new or has these values already."""
        values = self.names.value(formula)
        stem = name = name.replace(".", "_")
        known = self._fitter.values
        for number_ in range(2, len(known) + 3):
            if name not in known:
                self.names.add(name, formula, values, of)
            if np.array_equal(known[name], values):
                break
            name = f"{stem}_{number_}"
        return named(name)

    def sizes(self) -> Iterator[tuple[str, Formula]]:
        """Bytes of every buffer, or a little more where these follow no formula."""
        for index, buffer in enumerate(self._buffers):
            values = self._sizes(index)
            formula = self._fitter.formula(values) or self._fitter.table(values)
            yield buffer.id, formula or self._fitter.at_least(values, np.ones_like(values, bool))

    def _sizes(self, index: int) -> Whole:
        return np.array(
            [program.memory.problem.buffers[index].size_bytes for program in self.programs], np.int64
        )

    def peak(self, pool: str) -> Formula:
        """Bytes that a pool takes: where its last byte ends."""
        values = np.array([program.memory.peak_bytes(pool) for program in self.programs], np.int64)
        short = self._fitter.formula(values)
        if short is not None:
            return short
        arms: list[tuple[Formula, Whole]] = []
        for index, buffer in enumerate(self._buffers):
            if self.order.pools[buffer.id] != pool:
                continue
            ends = self._sizes(index) + self._starts(buffer.id)
            formula = self._fitter.formula(ends)
            if formula is None:
                size = self.names.formula(self._sizes(index), f"the size of {buffer.id}")
                formula = self._above(size, buffer.id)
            arms.append((formula, ends))
        return self._fitter.largest(arms)
