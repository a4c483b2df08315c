"""Sizes that are known as ranges: `--dim` taken apart, and which axes of a model's inputs they are."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from codegen import importers
from codegen.errors import Messages
from codegen.importers.graph_inputs import FixedInput
from codegen.importers.limits import STATED, ByteLimits
from codegen.ir.c_names import identifier, unique

if TYPE_CHECKING:
    from codegen.importers import InputSignature
    from codegen.ir.formulas import Symbol

_WORD = re.compile(
    r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?:\.(?P<axis>[0-9]{1,2}))?="
    r"(?:(?P<low>[0-9]{1,20})(?P<dots>\.\.(?P<high>[0-9]{1,20})?)?"
    r"|(?P<symbol>[A-Za-z][A-Za-z0-9_]*))"
)
LARGEST = 1 << 16
"""Up to here the end of an open range is looked for."""

_BEYOND = 1 << 31
"""No size reaches this: offsets are int32."""

_HELP = (
    "for example --dim T=10..200, --dim T=37 (one size), --dim input_1.1=10..200 (axis 1 of input_1), or "
    "--dim input_1.1=T"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class GivenDim:
    """A word of `--dim`: a range or a symbol for an axis of an input, or a range for a symbol."""

    text: str
    name: str
    """A symbol, or an input."""
    axis: int | None
    low: int = 0
    high: int = 0
    symbol: str = ""
    """The symbol that an axis is; empty where a range is given."""
    is_open: bool = False
    """No upper end is given: as large as fits."""

    @property
    def is_range(self) -> bool:
        """False for one size, and for an axis that is called after a symbol."""
        return self.is_open or (not self.symbol and self.low != self.high)

    def closed(self, high: int) -> "GivenDim":
        """A copy of this dimension with an upper end."""
        text = f"{self.text.partition('=')[0]}={self.low}..{high}"
        return replace(self, text=text, high=high, is_open=False)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, kw_only=True, slots=True)
class Dims:
    """The symbols of a model, and (input, axis) -> symbol."""

    symbols: "tuple[Symbol, ...]"
    axes: Mapping[tuple[int, int], str]
    open_symbol: str = ""
    """The one whose upper end is open; empty where there is none."""

    @property
    def are_ranges(self) -> bool:
        """False where each symbol is one number: the model has one size."""
        return any(symbol.low != symbol.high for symbol in self.symbols)

    @property
    def largest(self) -> Mapping[str, int]:
        """The upper ends."""
        return {symbol.name: symbol.high for symbol in self.symbols}

    def extents(self, values: Mapping[str, int]) -> "importers.Extents":
        """Extents that the importer is told for these values of the symbols."""
        return {place: values[symbol] for place, symbol in self.axes.items()}


def parsed(words: Sequence[str]) -> tuple[GivenDim, ...]:
    """Words of `--dim`. Raises CodegenError E281 naming every one that is none, says an empty range, or says
    again what another one does."""
    messages = Messages()
    dims: dict[tuple[str, int | None], GivenDim] = {}
    for word in words:
        match = _WORD.fullmatch(word)
        if match is None or (match["symbol"] and match["axis"] is None):
            messages.add("E281", "says no range of a size", where=f"--dim {word}", help=_HELP)
            continue
        symbol = match["symbol"] or (match["name"] if match["axis"] is None else "")
        if symbol and _is_literal(symbol):
            text = f"{symbol} is a word of the IR's text form"
            messages.add("E281", text, where=f"--dim {word}", help="give the size another name")
            continue
        axis = None if match["axis"] is None else int(match["axis"])
        is_open = match["dots"] is not None and match["high"] is None
        low = int(match["low"] or 1)
        high = max(low, LARGEST) if is_open else int(match["high"] or low)
        if not 1 <= low <= high:
            text = f"{low}..{high} is an empty range: sizes begin at 1 and the lower end comes first"
            messages.add("E281", text, where=f"--dim {word}", help=_HELP)
            continue
        if high >= _BEYOND:
            text = f"{high} does not fit the 32 bits in which firmware computes offsets"
            messages.add("E281", text, where=f"--dim {word}", help=_HELP)
            continue
        dim = GivenDim(
            text=word,
            name=match["name"],
            axis=axis,
            low=low,
            high=high,
            symbol=match["symbol"] or "",
            is_open=is_open,
        )
        if (dim.name, axis) in dims:
            first = dims[dim.name, axis]
            messages.add(
                "E281", f"--dim {first} says it already", where=f"--dim {word}", help="leave one out"
            )
        dims[dim.name, axis] = dim
    for extra in [dim_ for dim_ in dims.values() if dim_.is_open][1:]:
        text = "a second open range: the sizes that fit are not one largest size then"
        messages.add("E281", text, where=f"--dim {extra}", help="leave one range open, and close the others")
    messages.raise_if_any()
    return tuple(dims.values())


def _is_literal(symbol: str) -> bool:
    """True for a word that the IR's text form reads as a value."""
    from codegen.ir.text import LITERALS

    return symbol in LITERALS


def dims_of(
    path: Path,
    dims: Sequence[GivenDim],
    limits: ByteLimits = STATED,
    fixes: Sequence[FixedInput] = (),
) -> Dims | None:
    """The sizes that `dims` say of the model at `path`; None where nothing is given.

    Raises CodegenError as `importers.load` does, E282 for an input, axis or symbol that there is not.
    """
    if not dims:
        return None
    signatures = importers.signatures(path, limits, fixes)
    fields = unique([identifier(signature.name, f"input{i}") for i, signature in enumerate(signatures)])
    messages = Messages()
    axes: dict[tuple[int, int], str] = {}
    ranges: dict[str, tuple[int, int]] = {}
    open_symbol = ""
    for dim in dims:
        if dim.axis is None:
            ranges[dim.name] = dim.low, dim.high
            open_symbol = dim.name if dim.is_open else open_symbol
            continue
        place = _axis(dim, dim.axis, fields, signatures, messages)
        if place is not None:
            symbol = dim.symbol or f"{fields[place[0]]}_dim{place[1]}"
            axes[place] = symbol
            if not dim.symbol:
                ranges[symbol] = dim.low, dim.high
                open_symbol = symbol if dim.is_open else open_symbol
    _bind_rest(dims, axes, ranges, fields, signatures, messages)
    for place, symbol in axes.items():
        if symbol not in ranges:
            text = f"{symbol} has no range"
            messages.add("E282", text, where=f"axis {place[1]} of {fields[place[0]]}", help=_HELP)
    messages.raise_if_any()
    from codegen.ir.formulas import Symbol

    return Dims(
        symbols=tuple(Symbol(name=name, low=low, high=high) for name, (low, high) in ranges.items()),
        axes=axes,
        open_symbol=open_symbol,
    )


def _axis(
    dim: GivenDim,
    axis: int,
    fields: Sequence[str],
    signatures: "Sequence[InputSignature]",
    messages: Messages,
) -> tuple[int, int] | None:
    if dim.name not in fields:
        text = f"the model has no input {dim.name}"
        help_ = f"its inputs are {', '.join(fields)}"
        messages.add("E282", text, where=f"--dim {dim}", help=help_)
        return None
    which = fields.index(dim.name)
    if axis >= len(signatures[which].shape):
        text = f"{dim.name} has no axis {axis}"
        help_ = f"its shape is {list(signatures[which].shape)}: axes 0 to {len(signatures[which].shape) - 1}"
        messages.add("E282", text, where=f"--dim {dim}", help=help_)
        return None
    return which, axis


def _bind_rest(
    dims: Sequence[GivenDim],
    axes: dict[tuple[int, int], str],
    ranges: Mapping[str, tuple[int, int]],
    fields: Sequence[str],
    signatures: "Sequence[InputSignature]",
    messages: Messages,
) -> None:
    """A symbol without an axis is each extent that the file calls so or, if it calls none so, the one that it
    leaves open: beside the batch, if there are several, and in every input that has one."""
    for which, signature in enumerate(signatures):
        for axis, symbol in enumerate(signature.symbols):
            name = identifier(symbol, "") if symbol else ""
            if name in ranges:
                axes.setdefault((which, axis), name)
    loose = [name for name in ranges if name not in axes.values()]
    if not loose:
        return
    open_ = [
        (which, axis)
        for which, signature in enumerate(signatures)
        for axis, extent in enumerate(signature.shape)
        if extent == -1 and (which, axis) not in axes
    ]
    inner = [place for place in open_ if place[1] > 0] or open_
    alike = {axis for _, axis in inner}
    if len(loose) == 1 and len(alike) == 1:
        axes.update(dict.fromkeys(inner, loose[0]))
        return
    said = ", ".join(_named_axis(signatures[which], fields[which], axis) for which, axis in inner) or "none"
    any_ = [
        (which, min(len(signature.shape), 2) - 1)
        for which, signature in enumerate(signatures)
        if signature.shape
    ]
    meant = [f"{fields[which]}.{axis}" for which, axis in (*inner, *any_)]
    for signature in dims:
        if signature.axis is None and signature.name in loose:
            text = f"which size {signature.name} is does not follow from the file, which leaves open: {said}"
            help_ = "leave it out: no input has an axis"
            names = [name for which, axis in inner if (name := _name_of(signatures[which], axis))]
            if names:
                help_ = (
                    f"call it as the file does: --dim {str(signature).replace(signature.name, names[0], 1)}"
                )
            elif meant:
                help_ = f"say it: --dim {meant[0]}={signature.name} beside this one"
            messages.add("E282", text, where=f"--dim {signature}", help=help_)


def _name_of(signature: "InputSignature", axis: int) -> str:
    """The file's name of an extent; empty where it has none."""
    return signature.symbols[axis] if axis < len(signature.symbols) else ""


def _named_axis(signature: "InputSignature", field: str, axis: int) -> str:
    """An open axis in messages: `x.1`, and what the file calls it."""
    name = _name_of(signature, axis)
    return f"{field}.{axis} ({name})" if name else f"{field}.{axis}"


_AT = re.compile(r"[A-Za-z][A-Za-z0-9_]*=[0-9]{1,9}")


def values_at(words: str, symbols: "Sequence[Symbol]") -> dict[str, int]:
    """The values of `T=37` or `H=8,W=9`. Raises CodegenError E285 for anything but one value a symbol, in its
    range."""
    messages = Messages()
    values: dict[str, int] = {}
    of = {symbol.name: symbol for symbol in symbols}
    said = ", ".join(str(symbol) for symbol in symbols)
    for word in words.split(","):
        name, _, value = word.partition("=")
        if not _AT.fullmatch(word) or name not in of or name in values:
            help_ = f"the sizes are {said}: --at all, --at breakpoints, or one value each"
            messages.add("E285", "says no value of a size", where=f"--at {word}", help=help_)
        elif not of[name].low <= int(value) <= of[name].high:
            messages.add(
                "E285", f"outside {of[name]}", where=f"--at {word}", help="give a value in the range"
            )
        else:
            values[name] = int(value)
    if not messages.all and len(values) != len(symbols):
        missing = ", ".join(name for name in of if name not in values)
        messages.add("E285", f"no value of {missing}", where=f"--at {words}", help=f"the sizes are {said}")
    messages.raise_if_any()
    return values
