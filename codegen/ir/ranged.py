"""A function for all its sizes: made of what it is at each of them, and back to what it is at some.

Every operator takes part without a line of its own: shapes and attributes at each of the sizes are those that
its rule gives for numbers; what differs between them becomes a formula that gives each of these numbers.
"""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from codegen.ir.formulas import (
    FIXED,
    Extent,
    Formula,
    OpenSizes,
    Symbol,
    SymbolicInt,
    Whole,
    combinations,
    evaluate,
    is_small,
    names_of,
)
from codegen.ir.formulas.fitting import Fitter
from codegen.ir.function import Function, Let, Module, Var
from codegen.ir.operator import Padding2D
from codegen.ir.ops.inserted import FusedAttrs

Axes = Mapping[tuple[int, int], Formula]
"""(parameter, axis) -> the extent that it has."""


class Unlike(ValueError):
    """A model at some sizes is another one than at the largest, in a way that no formula says."""


class NamedSizes:
    """Symbols and extents, each with its values at all members: the functions at certain sizes."""

    def __init__(
        self,
        symbols: Sequence[Symbol],
        values: Sequence[Mapping[str, int]],
        functions: Sequence[Function],
        *,
        complete: bool,
    ) -> None:
        """Every extent that differs between `functions`, at `values` of the symbols, gets a name, and a
        formula of those before it. `complete`: these are all that there are."""
        rows = {s.name: np.array([sizes[s.name] for sizes in values], np.int64) for s in symbols}
        self.symbols = tuple(symbols)
        self.fitter = Fitter(rows, complete=complete)
        self._plain = Fitter(rows, complete=complete)
        self.extents: dict[str, Extent] = {}
        for position, param in enumerate(functions[-1].params):
            self._axes(param.name, [function.params[position].type.shape for function in functions])
        layers = [_layers(function) for function in functions]
        for step, let in enumerate(layers[-1]):
            self._axes(let.var.name, [layer[step].var.type.shape for layer in layers])
            for word, total in _paddings([layer[step] for layer in layers]):
                self._extent(f"{let.var.name}_{word}", total, f"padding of {let.var.name}")

    @property
    def sizes(self) -> OpenSizes:
        """All of them."""
        return OpenSizes(symbols=self.symbols, extents=tuple(self.extents.values()))

    def _axes(self, name: str, shapes: Sequence[tuple[int, ...]]) -> None:
        for axis in range(len(shapes[-1])):
            values = np.array([shape[axis] for shape in shapes], np.int64)
            self._extent(f"{name}_dim{axis}", values, f"axis {axis} of {name}")

    def _extent(self, name: str, values: Whole, of: str) -> None:
        known = self.fitter.values.values()
        if values.min() != values.max() and not any(np.array_equal(values, size) for size in known):
            self.add(name, self.formula(values, of), values, of)

    def add(self, name: str, formula: Formula, values: Whole, of: str) -> None:
        """Let formulas name a further size."""
        self.fitter.add(name, values)
        low, high = int(values.min()), int(values.max())
        self.extents[name] = Extent(name=name, formula=formula, low=low, high=high, of=of)

    def formula(self, values: Whole, what: str) -> Formula:
        """Find the formula or the table that gives `values`. Raises Unlike if there is neither."""
        formula = self.fitter.formula(values) or self.fitter.table(values)
        if formula is None:
            raise Unlike(f"{what} follows no formula: {sorted({int(value) for value in values})[:8]} ...")
        return formula

    def plain(self, values: Whole, what: str) -> Formula:
        """Find a formula of `values` in symbols alone; if there is none, one that may name extents."""
        return self._plain.formula(values) or self.formula(values, what)

    def value(self, formula: Formula) -> Whole:
        """The values of a formula at all members."""
        shape = next(iter(self.fitter.values.values())).shape
        return np.broadcast_to(evaluate(formula, self.fitter.values), shape)


def _layers(function: Function) -> list[Let]:
    """All steps, of blocks their layers."""
    layers: list[Let] = []
    for let in function.body:
        attrs = let.call.attrs
        layers += attrs.function.body if isinstance(attrs, FusedAttrs) else [let]
    return layers


def _paddings(lets: Sequence[Let]) -> Iterator[tuple[str, Whole]]:
    """Padding on both sides together: what SAME makes of a size before it halves it."""
    attributes = [getattr(let.call.attrs, "padding", None) for let in lets]
    pads = [padding for padding in attributes if isinstance(padding, Padding2D)]
    if len(pads) == len(lets):
        yield "pad_rows", np.array([padding.top + padding.bottom for padding in pads], np.int64)
        yield "pad_columns", np.array([padding.left + padding.right for padding in pads], np.int64)


# ---- to all sizes -----------------------------------------------------------------------


def merged(names: NamedSizes, functions: Sequence[Function], axes: Axes) -> Function:
    """The function that is each of `functions` at its sizes; `axes` are what is known of its parameters.

    Raises Unlike where they differ in more than whole numbers that follow formulas.
    """
    axes_of: dict[str, dict[int, Formula]] = {}
    for (position, axis), formula in axes.items():
        axes_of.setdefault(functions[-1].params[position].name, {})[axis] = formula
    merger = _Merger(names, axes_of)
    merger.merged(functions, functions[-1].name)
    merger.sizes = names.sizes.used_by(merger.named)
    return cast(Function, merger.merged(functions, functions[-1].name))


def merged_module(
    symbols: Sequence[Symbol], axes: Axes, values: Sequence[Mapping[str, int]], modules: Sequence[Module]
) -> Module:
    """The module whose function is that of each of `modules` at `values` of the symbols, the largest last.

    Raises Unlike as `merged` does, and where a constant's values depend on the sizes.
    """
    functions = [module.main for module in modules]
    if len({len(function.body) for function in functions}) > 1:
        raise Unlike("at some sizes there are other operators")
    names = NamedSizes(symbols, values, functions, complete=is_small(symbols))
    function = merged(names, functions, axes)
    last = modules[-1]
    for id_, constant in last.constants.items():
        if any(id_ not in module.constants or module.constants[id_] != constant for module in modules[:-1]):
            raise Unlike(f"constant {id_} is another one at some sizes")
    return replace(last, functions={function.name: function})


class _Merger:
    """Puts formulas where values of one kind, one a member, differ in whole numbers."""

    def __init__(self, names: NamedSizes, axes_of: Mapping[str, Mapping[int, Formula]]) -> None:
        """`axes_of`: parameter -> axis -> its formula."""
        self._names, self._given = names, axes_of
        self._known: dict[bytes, SymbolicInt] = {}
        self.sizes = names.sizes

    @property
    def named(self) -> Iterator[str]:
        """Names that the formulas made so far refer to."""
        for number in self._known.values():
            yield from names_of(number.formula)

    def merged(self, every: Sequence[object], where: str) -> object:
        """Merge one object from every size into one with formulas; `where` names the step in messages."""
        last = every[-1]
        if isinstance(last, OpenSizes):
            return self.sizes
        if isinstance(last, Var) and last.name in self._given:
            return self._param(last, self._given[last.name])
        if not isinstance(last, Function) and all(value is last or value == last for value in every):
            return last
        if any(type(value) is not type(last) for value in every):
            raise Unlike(f"{where}: {last!r} at the largest sizes, something else elsewhere")
        if type(last) is int:
            return self._number(np.array(every, np.int64), where)
        if isinstance(last, tuple):
            return self._tuple(cast("Sequence[tuple[object, ...]]", every), where)
        if dataclasses.is_dataclass(last) and not isinstance(last, type):
            where = last.where if isinstance(last, Let) else where
            names = [field.name for field in dataclasses.fields(last)]
            fields = {name: self.merged([getattr(value, name) for value in every], where) for name in names}
            return replace(last, **fields)
        raise Unlike(f"{where}: {last!r} at the largest sizes, another elsewhere")

    def _param(self, last: Var, formulas: Mapping[int, Formula]) -> Var:
        shape = tuple(
            SymbolicInt(extent, formulas[axis]) if axis in formulas else extent
            for axis, extent in enumerate(last.type.shape)
        )
        return replace(last, type=replace(last.type, shape=shape))

    def _tuple(self, every: Sequence[tuple[object, ...]], where: str) -> tuple[object, ...]:
        if len({len(values) for values in every}) > 1:
            raise Unlike(f"{where}: as many values as at the largest sizes there are not everywhere")
        return tuple(self.merged(values, where) for values in zip(*every, strict=True))

    def _number(self, values: Whole, where: str) -> SymbolicInt:
        key = values.tobytes()
        if key not in self._known:
            self._known[key] = SymbolicInt(int(values[-1]), self._names.plain(values, where))
        return self._known[key]


# ---- at certain sizes -------------------------------------------------------------------


def function_at(function: Function, symbols: Mapping[str, int]) -> Function:
    """The function at certain sizes, which follow from nothing there."""
    known = function.sizes.values({name: np.asarray(value, np.int64) for name, value in symbols.items()})
    return cast(Function, _at(function, known))


def _at(value: object, known: Mapping[str, Whole]) -> object:
    if isinstance(value, SymbolicInt):
        return int(evaluate(value.formula, known))
    if isinstance(value, OpenSizes):
        return FIXED
    if isinstance(value, tuple):
        members = tuple(_at(member, known) for member in cast("tuple[object, ...]", value))
        return members if any(new is not old for new, old in zip(members, value, strict=True)) else value  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        changed = {name: _at(value, known) for name, value in fields.items()}
        changed = {name: value for name, value in changed.items() if value is not fields[name]}
        return replace(value, **changed) if changed else value
    return value


def every_size(function: Function) -> Iterator[tuple[Mapping[str, int], Function]]:
    """The function at every combination of its sizes that is looked at, the largest last; by itself, if it
    has no open ones."""
    if not function.sizes.symbols:
        yield {}, function
        return
    for values in combinations(function.sizes.symbols):
        yield values, function_at(function, values)
