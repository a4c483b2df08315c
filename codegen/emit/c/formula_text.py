"""Numbers that depend on sizes, in C: expressions of int32_t, and declarations of the sizes that they name.

No sum is out of range: `check_range` has looked at the largest sizes.
"""

import re
from collections.abc import Iterable, Sequence

from codegen.emit.c.c_text import statement
from codegen.emit.c.spelling import c_name, integer
from codegen.ir.numbers import Number, in_c, number_of, said, varies
from codegen.ir.types import TensorType
from codegen.program.size_ranges import Ranges


class SizeText:
    """The numbers of one program in C."""

    def __init__(self, prefix: str, ranges: Ranges) -> None:
        """`prefix`: of the model, for its tables."""
        self._prefix, self._ranges = prefix, ranges
        self._tables: dict[tuple[int, ...], str] = {}
        self._all = {symbol.name: c_name(symbol.name) for symbol in ranges.symbols}
        self._all |= {extent.name: extent.name for extent in ranges.extents}
        self._named: dict[Number, str] = {extent.formula: extent.name for extent in ranges.extents}

    @property
    def names(self) -> tuple[str, ...]:
        """C names of all sizes."""
        return tuple(self._all.values())

    @property
    def tables(self) -> tuple[str, ...]:
        """Definitions of the tables that formulas spelled so far read."""
        return tuple(self._definition(name, values) for values, name in self._tables.items())

    def tables_in(self, texts: Sequence[str]) -> tuple[str, ...]:
        """Definitions of those that C text names."""
        words = set(re.findall(r"\w+", "\n".join(texts)))
        named = ((name, values) for values, name in self._tables.items() if name in words)
        return tuple(self._definition(name, values) for name, values in named)

    @staticmethod
    def _definition(name: str, values: Sequence[int]) -> str:
        low, high = min(values), max(values)
        bits = next(bits for bits in (8, 16, 32) if -(1 << bits - 1) <= low and high < 1 << bits - 1)
        numbers = [integer(value) for value in values]
        return statement("c/steps/sizes.c.j2", "table", name, f"int{bits}_t", numbers)

    def spelled(self, number: Number) -> str:
        """A number as an expression that can stand in a sum, a call or an index."""
        return self._named.get(number) or in_c(number, self)

    def name(self, size: str) -> str:
        """Name of a size in C."""
        return self._all[size]

    def table(self, values: Sequence[int]) -> str:
        """Name in C of a table of these values."""
        return self._tables.setdefault(tuple(values), f"{self._prefix}_sizes_table{len(self._tables)}")

    def declarations(self, texts: Iterable[str]) -> list[str]:
        """Declarations of the sizes that C text names, and of those that they follow from, in order."""
        words = set(re.findall(r"[A-Za-z_][A-Za-z0-9_]*", "\n".join(texts)))
        lines: list[str] = []
        for extent in reversed(self._ranges.extents):
            if extent.name in words:
                formula = in_c(extent.formula, self)
                words.update(re.findall(r"[A-Za-z_][A-Za-z0-9_]*", formula))
                note = f"{extent.of}: {extent.low} to {extent.high}"
                lines = [f"    /* {note} */", f"    const int32_t {extent.name} = {formula};", *lines]
        symbols: list[str] = []
        for symbol in self._ranges.symbols:
            name = c_name(symbol.name)
            if name in words:
                symbols.append(f"    const int32_t {name} = (int32_t)dims->{name};")
        return symbols + lines

    def size_bytes(self, type_: TensorType) -> str:
        """The bytes of a value as an expression."""
        factor = type_.dtype.size_bytes
        parts: list[str] = []
        for extent in type_.shape:
            number = number_of(extent)
            if varies(number):
                parts.append(_factor(self.spelled(number)))
            else:
                factor *= extent
        return " * ".join([*([str(factor)] if factor != 1 or not parts else []), *parts])

    def shape(self, type_: TensorType) -> str:
        """Extents of a value for comments: `1xTx8`."""
        numbers = (number_of(extent) for extent in type_.shape)
        return "x".join(_factor(self._named.get(extent) or said(extent)) for extent in numbers) or "scalar"


def _factor(text: str) -> str:
    """Text that can stand in a product."""
    return text if re.fullmatch(r"\w+", text) else f"({text})"
