"""Sizes that formulas name: the symbols, and the extents of values that follow from them."""

from collections.abc import Iterator, Sequence

import numpy as np

from codegen.ir import Function, Let
from codegen.ir.formulas import Formula, Symbol, Whole, evaluate
from codegen.ir.operator import Padding2D
from codegen.ir.ops.inserted import FusedAttrs
from codegen.program.size_ranges import Extent
from codegen.search.ranges.fitting import Fitter
from codegen.search.ranges.members import Member
from codegen.search.ranges.unlike import Unlike


class NamedSizes:
    """Symbols and extents, each with its values at all members."""

    def __init__(self, symbols: Sequence[Symbol], members: Sequence[Member], *, complete: bool) -> None:
        """Every extent that differs between members gets a name, and a formula of those before it."""
        rows = {s.name: np.array([each.values[s.name] for each in members], np.int64) for s in symbols}
        self.fitter = Fitter(rows, complete=complete)
        self.extents: dict[str, Extent] = {}
        functions = [each.function for each in members]
        for position, param in enumerate(functions[-1].params):
            self._axes(param.name, [each.params[position].type.shape for each in functions])
        layers = [_layers(each) for each in functions]
        for step, let in enumerate(layers[-1]):
            self._axes(let.var.name, [each[step].var.type.shape for each in layers])
            for word, total in _paddings([each[step] for each in layers]):
                self._extent(f"{let.var.name}_{word}", total, f"padding of {let.var.name}")

    def _axes(self, name: str, shapes: Sequence[tuple[int, ...]]) -> None:
        for axis in range(len(shapes[-1])):
            values = np.array([shape[axis] for shape in shapes], np.int64)
            self._extent(f"{name}_dim{axis}", values, f"axis {axis} of {name}")

    def _extent(self, name: str, values: Whole, of: str) -> None:
        known = self.fitter.values.values()
        if values.min() != values.max() and not any(np.array_equal(values, own) for own in known):
            self.add(name, self.formula(values, of), values, of)

    def add(self, name: str, formula: Formula, values: Whole, of: str) -> None:
        """Let formulas name a further size."""
        self.fitter.add(name, values)
        low, high = int(values.min()), int(values.max())
        self.extents[name] = Extent(name=name, formula=formula, low=low, high=high, of=of)

    def formula(self, values: Whole, what: str) -> Formula:
        """What gives `values`: a formula, or a table. Raises Unlike where neither does."""
        found = self.fitter.formula(values) or self.fitter.table(values)
        if found is None:
            raise Unlike(f"{what} follows no formula: {sorted({int(value) for value in values})[:8]} ...")
        return found

    def value(self, formula: Formula) -> Whole:
        """The values of a formula at all members."""
        shape = next(iter(self.fitter.values.values())).shape
        return np.broadcast_to(evaluate(formula, self.fitter.values), shape)


def _layers(function: Function) -> list[Let]:
    """All steps, of blocks their layers."""
    found: list[Let] = []
    for let in function.body:
        attrs = let.call.attrs
        found += attrs.function.body if isinstance(attrs, FusedAttrs) else [let]
    return found


def _paddings(lets: Sequence[Let]) -> Iterator[tuple[str, Whole]]:
    """Padding on both sides together: what SAME makes of a size before it halves it."""
    found = [getattr(each.call.attrs, "padding", None) for each in lets]
    pads = [each for each in found if isinstance(each, Padding2D)]
    if len(pads) == len(lets):
        yield "pad_rows", np.array([each.top + each.bottom for each in pads], np.int64)
        yield "pad_columns", np.array([each.left + each.right for each in pads], np.int64)
