"""Offsets of buffers as formulas: longest paths of the orders of the parts of a range."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from codegen.ir.formulas import (
    Formula,
    RoundedUp,
    Stepwise,
    Sum,
    Whole,
    constant_of,
    has_table,
    inside,
    named,
    names_of,
    number,
)
from codegen.ir.formulas.fitting import Fitter, stepwise
from codegen.ir.ranged import NamedSizes, Unlike
from codegen.plan.place.orientation import Orientation
from codegen.program.problem import BufferKind
from codegen.program.program import Program
from codegen.search.ranges.buffer_order import Distances


class Offsets:
    """Of every buffer its offset and its bytes, of every pool what it takes."""

    def __init__(
        self,
        programs: Sequence[Program],
        given: Sequence[Orientation],
        part: str,
        least: Distances,
        names: NamedSizes,
    ) -> None:
        """`given`: the order of each part, of which `part` is the name; `programs` lie in them."""
        self._programs, self._given, self._least, self._names = programs, given, least, names
        self._part, self._fitter = part, names.fitter
        self._buffers = programs[-1].memory.problem.buffers
        self._own: list[dict[str, Formula]] = [{} for _ in given]
        self._added: set[str] = set()
        self.of: Mapping[str, Formula] = {}
        """Buffer -> its offset."""
        self.of = self._all()

    def _all(self) -> dict[str, Formula]:
        """Longest paths, of which only arms that ever decide are written."""
        short = {each.id: self._fitter.formula(self._starts(each.id)) for each in self._buffers}
        for part, order in enumerate(self._given):
            for id_ in order.order:
                known = short[id_]
                own = self._longest(id_, part) if known is None else inside(known, self._part, part)
                self._own[part][id_] = own
        return {id_: self._one(id_, known) for id_, known in short.items()}

    def _one(self, id_: str, known: Formula | None) -> Formula:
        """The offset of a buffer for the whole range; one that differs between parts gets a name."""
        found = known or self._together([own[id_] for own in self._own])
        if not isinstance(found, Stepwise):
            return found
        return self._name(f"at_{id_}", found, f"offset of {id_}")

    def _together(self, items: Sequence[Formula]) -> Formula:
        """One formula for each part."""
        return stepwise(self._part, range(len(items)), items)

    def _only(self, part: int, formula: Formula) -> Formula:
        """`formula`, of a part; where it may not be asked for in others, nothing there."""
        if not has_table(formula):
            return formula
        return self._together([formula if each == part else number(0) for each in range(len(self._given))])

    def _inside(self, part: int) -> tuple[NDArray[np.bool_], Fitter]:
        here = self._names.parts == part
        return here, self._fitter.of(here)

    def _longest(self, id_: str, part: int) -> Formula:
        """The longest of the paths that end in a buffer; offsets below it that have no short formula get a
        name."""
        here, fitter = self._inside(part)
        own = self._starts(id_)
        found = fitter.formula(own[here])
        if found is not None:
            return found
        arms: list[tuple[Formula, Whole]] = [(number(0), np.zeros_like(own[here]))]
        for low in self._given[part].below[id_]:
            distance, values = self._least[low, id_]
            ends = self._starts(low) + values
            if (ends[here] > 0).any():
                arms.append((self._above(distance, low, part), ends[here]))
        best = self._inside(part)[1].largest(arms)
        alignment = next(each.alignment for each in self._buffers if each.id == id_)
        formula = best if alignment == 1 else RoundedUp(value=best, multiple=alignment)
        if not np.array_equal(self._names.value(self._only(part, formula))[here], own[here]):
            raise Unlike(f"the offset of {id_} follows no formula")
        return formula

    def _starts(self, id_: str) -> Whole:
        """Offsets of a buffer at all members."""
        return np.array([each.memory.plan.placements[id_].offset for each in self._programs], np.int64)

    def _above(self, distance: Formula, id_: str, part: int) -> Formula:
        """`distance` above the start of a buffer; what is no sum gets a name."""
        distance = inside(distance, self._part, part)
        if not isinstance(distance, Sum):
            distance = self._named(f"above_{id_}", distance, part, f"room for {id_}")
        own = self.of.get(id_, self._own[part][id_])
        known = constant_of(own)
        if known is not None:
            return replace(distance, constant=distance.constant + known)
        start = self._named(f"at_{id_}", own, part, f"offset of {id_}")
        return Sum(constant=distance.constant, terms=(*start.terms, *distance.terms))

    def _named(self, name: str, formula: Formula, part: int, of: str) -> Sum:
        """`formula`, of a part, by a name."""
        return self._name(name, self._only(part, formula), of)

    def _name(self, name: str, formula: Formula, of: str) -> Sum:
        """`formula` by a name, which is new or has these values already."""
        values = self._names.value(formula)
        stem = name = name.replace(".", "_")
        known = self._fitter.values
        for number_ in range(2, len(known) + 3):
            if name not in known:
                self._names.add(name, formula, values, of)
                self._added.add(name)
            if np.array_equal(known[name], values):
                break
            name = f"{stem}_{number_}"
        return named(name)

    def sizes(self) -> Iterator[tuple[str, Formula]]:
        """Of every buffer its bytes, or a little more where these follow no formula."""
        for index, buffer in enumerate(self._buffers):
            values = self._sizes(index)
            if buffer.kind is BufferKind.CONSTANT and len(self._given) > 1:
                found = self._fitter.by_part_alone(values)  # Copies, which some parts go without.
            else:
                found = self._fitter.formula(values) or self._fitter.table(values)
            yield buffer.id, found or self._fitter.at_least(values, np.ones_like(values, bool))

    def _sizes(self, index: int) -> Whole:
        return np.array([each.memory.problem.buffers[index].size_bytes for each in self._programs], np.int64)

    def peak(self, pool: str) -> Formula:
        """What a pool takes."""
        values = np.array([each.memory.peak_bytes(pool) for each in self._programs], np.int64)
        found = self._fitter.formula(values)
        if found is not None and len(self._given) > 1 and not self._added.isdisjoint(names_of(found)):
            found = None  # A sum of offsets that happens to give it says nothing.
        return found or self._together([self._end(pool, values, part) for part in range(len(self._given))])

    def _end(self, pool: str, values: Whole, part: int) -> Formula:
        """Where the last byte of a pool ends in one part."""
        here, fitter = self._inside(part)
        found = fitter.formula(values[here])
        if found is not None:
            return found
        arms: list[tuple[Formula, Whole]] = []
        for index, buffer in enumerate(self._buffers):
            if self._given[part].pools[buffer.id] != pool:
                continue
            ends = self._sizes(index) + self._starts(buffer.id)
            formula = fitter.formula(ends[here])
            if formula is None:
                size = self._names.formula(self._sizes(index), f"the size of {buffer.id}")
                formula = self._above(size, buffer.id, part)
            arms.append((formula, ends[here]))
        return fitter.largest(arms)
