"""Sizes that operators permit: which of the ranges that were asked for are possible at all.

Operators are asked at each of the sizes that are looked at. Ends that one forbids are left out; a size that
follows from others, because two values have to be alike, is a formula of these.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from codegen.errors import CodegenError, Message
from codegen.ir import Let, Module, Var
from codegen.ir.formulas import (
    EVERY,
    Formula,
    OpenSizes,
    Symbol,
    combinations,
    is_small,
    named,
    text,
)
from codegen.ir.formulas.fitting import Fitter
from codegen.ir.refusal import ModelRefused
from codegen.progress import Progress
from codegen.search.ranges.sizes import LookedAt, Sizes

_SHAPES = 24
"""Members at which formulas of a chain's shapes are looked for."""

_LINKS = 6
"""Operators of a chain that a message names."""

_ROUNDS = 8
"""Most times that a range is narrowed, one after the other."""

Values = Mapping[str, int]
Shapes = Mapping[str, tuple[int, ...]]
"""Name of a value -> its shape."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Answers:
    """Answers of operators to some combinations of sizes."""

    possible: Sequence[tuple[Values, Module]]
    refused: Sequence[tuple[Values, CodegenError]]

    def values(self, name: str) -> list[int]:
        """The values of a symbol that are possible with some of the others."""
        return [values[name] for values, _ in self.possible]


def looked_at(name: str, sizes: Sizes, progress: Progress) -> tuple[Sizes, LookedAt]:
    """The sizes of a model that are possible, and what is looked at of them first.

    Raises CodegenError E307 where no size is, or operators forbid some that are no ends of the ranges.
    """
    answers = _asked(name, sizes.module, combinations(sizes.symbols), progress)
    if answers.refused:
        sizes = _narrowed(name, sizes, progress)
        answers = _asked(name, sizes.module, combinations(sizes.symbols), progress)
    if answers.refused:
        raise _forbidden(sizes, answers)
    looked = LookedAt(
        combinations=[values for values, _ in answers.possible],
        modules=[module for _, module in answers.possible],
    )
    return sizes, looked


def _narrowed(name: str, sizes: Sizes, progress: Progress) -> Sizes:
    """The sizes without what operators forbid, one reason after the other."""
    for _ in range(_ROUNDS):
        answers = _asked(name, sizes.reference, combinations(sizes.symbols), progress)
        if not answers.refused:
            break
        narrower = _without_ends(sizes, answers) or _solved(name, sizes, answers, progress)
        if narrower is None:
            raise _forbidden(sizes, answers)
        sizes = narrower
    return sizes


def modules_at(
    name: str, sizes: Sizes, values: Sequence[Values], progress: Progress
) -> list[tuple[Values, Module]]:
    """The module at each of `values`.

    Raises CodegenError E307 with what an operator says of the first one that it forbids, and what is left.
    """
    answers = _asked(name, sizes.module, values, progress)
    if answers.refused:
        raise _forbidden(sizes, answers)
    return list(answers.possible)


def _asked(
    name: str,
    module: Callable[[Values], Module],
    values: Sequence[Values],
    progress: Progress,
) -> _Answers:
    possible: list[tuple[Values, Module]] = []
    refused: list[tuple[Values, CodegenError]] = []
    for index, sizes in enumerate(values):
        progress(f"sizes of {name}", index, len(values))
        try:
            possible.append((sizes, module(sizes)))
        except CodegenError as error:
            refused.append((sizes, error))
    return _Answers(possible=possible, refused=refused)


# ---- ends -------------------------------------------------------------------------------


def _without_ends(sizes: Sizes, answers: _Answers) -> Sizes | None:
    """The sizes without ends of ranges that are never possible; None where there are no such."""
    if not answers.possible:
        return None
    symbols: list[Symbol] = []
    narrowed: list[str] = []
    for symbol in sizes.symbols:
        possible = answers.values(symbol.name)
        low = _end(sizes, symbol, answers, min(possible), symbol.low - 1)
        high = _end(sizes, symbol, answers, max(possible), symbol.high + 1)
        symbols.append(replace(symbol, low=low, high=high))
        for first, last, end in ((symbol.low, low - 1, symbol.low), (high + 1, symbol.high, symbol.high)):
            if first <= last:
                reason = next(error for values, error in answers.refused if values[symbol.name] == end)
                left = f"{symbol.name}={first}" + (f"..{last}" if last > first else "")
                narrowed.append(f"{left} left out: {_reason(reason)}")
    if not narrowed or (not is_small(sizes.symbols) and _inside(symbols, answers)):
        return None
    return replace(sizes, symbols=tuple(symbols), narrowed=(*sizes.narrowed, *narrowed))


def _inside(symbols: Sequence[Symbol], answers: _Answers) -> bool:
    """True if some sizes are refused that lie in all of these ranges."""
    return any(
        all(symbol.low <= values[symbol.name] <= symbol.high for symbol in symbols)
        for values, _ in answers.refused
    )


def _end(sizes: Sizes, symbol: Symbol, answers: _Answers, known: int, beyond: int) -> int:
    """The last possible value of a symbol between `known`, the last one that was looked at, and `beyond`,
    which is none: at values of the other symbols at which `known` is possible."""
    if is_small(sizes.symbols):
        return known
    values = next(values for values, _ in answers.possible if values[symbol.name] == known)
    while abs(beyond - known) > 1:
        middle = (beyond + known) // 2
        try:
            sizes.reference({**values, symbol.name: middle})
            known = middle
        except CodegenError:
            beyond = middle
    return known


# ---- equalities -------------------------------------------------------------------------


def _solved(name: str, sizes: Sizes, answers: _Answers, progress: Progress) -> Sizes | None:
    """The sizes without one that follows from the others; None where none does.

    Of a large range a part is gone through; what holds there has to hold at all sizes that are looked at.
    """
    if not is_small(sizes.symbols):
        part = tuple(_part(symbol, sizes.symbols) for symbol in sizes.symbols)
        answers = _asked(name, sizes.reference, combinations(part), progress)
    for symbol in reversed(sizes.symbols):
        formula = _following(symbol, sizes.symbols, answers)
        if formula is not None:
            reason = _reason(answers.refused[0][1])
            return _without(sizes, symbol, formula, f"{symbol.name} is {text(formula)}: {reason}")
    return None


def _part(symbol: Symbol, symbols: Sequence[Symbol]) -> Symbol:
    """A symbol with as many values as leave few combinations, from where all of `symbols` may be alike."""
    low = min(max(symbol.low, *(other.low for other in symbols)), symbol.high)
    count = round(EVERY ** (1 / len(symbols)))
    return replace(symbol, low=low, high=min(low + count - 1, symbol.high))


def _following(symbol: Symbol, symbols: Sequence[Symbol], answers: _Answers) -> Formula | None:
    """Formula of a symbol, if for each combination of the others at most one value of it is possible."""
    others = [other.name for other in symbols if other is not symbol]
    value_of: dict[tuple[int, ...], int] = {}
    for values, _ in answers.possible:
        key = tuple(values[name] for name in others)
        if value_of.setdefault(key, values[symbol.name]) != values[symbol.name]:
            return None
    if len(value_of) < 2:
        return None
    rows = {name: np.array([key[at] for key in value_of], np.int64) for at, name in enumerate(others)}
    return Fitter(rows).formula(np.array(list(value_of.values()), np.int64))


def _without(sizes: Sizes, symbol: Symbol, formula: Formula, said: str) -> Sizes:
    """The sizes with `formula` in place of a symbol."""
    left = tuple(other for other in sizes.symbols if other is not symbol)
    known = OpenSizes(symbols=left)

    def reference(values: Values) -> Module:
        value = known.number_at(formula, values)
        if not symbol.low <= value <= symbol.high:
            text_ = f"{symbol.name} is {value} there, outside {symbol}"
            raise CodegenError(Message(code="E306", where=symbol.name, text=text_))
        return sizes.reference({**values, symbol.name: value})

    axes = {place: formula if size == named(symbol.name) else size for place, size in sizes.axes.items()}
    return replace(sizes, symbols=left, axes=axes, reference=reference, narrowed=(*sizes.narrowed, said))


# ---- words ------------------------------------------------------------------------------


def _forbidden(sizes: Sizes, answers: _Answers) -> CodegenError:
    """E307: what an operator says of the first combination that it forbids, and how it comes there."""
    values, error = answers.refused[0]
    [first, *_] = error.messages
    at = ", ".join(f"{symbol}={value}" for symbol, value in values.items())
    message = Message(
        code="E307",
        where=first.where,
        text=f"{at} is refused: {first.text}{_chain(sizes, answers)}",
        help=_left(sizes.symbols, [values for values, _ in answers.possible]),
        places=first.places,
    )
    forbidden = CodegenError(message)
    forbidden.__cause__ = error
    return forbidden


def _reason(error: CodegenError) -> str:
    """The operator's message, and which operator it is."""
    [first, *_] = error.messages
    return f"{first.where}: {first.text}" if first.where else first.text


def _chain(sizes: Sizes, answers: _Answers) -> str:
    """The operators that lead to the one that refuses: their results, at all sizes."""
    error = answers.refused[0][1]
    if not isinstance(error, ModelRefused):
        return ""
    every = [*_nearby(sizes.symbols), answers.refused[0][0]]
    rows = [(values, _values_at(sizes, values)) for values in every]
    shapes = [(values, {var.name: var.type.shape for var in variables}) for values, variables in rows]
    links = [(param.name, param) for param in error.params]
    links += [(_operator(let), let.var) for let in error.steps]
    said = [f"{name} [{', '.join(_extents(sizes, shapes, var))}]" for name, var in links]
    if len(said) > _LINKS + 1:
        said = [said[0], "...", *said[-_LINKS:]]
    return f"; it reads {' -> '.join(said)}" if said else ""


def _nearby(symbols: Sequence[Symbol]) -> list[Values]:
    """Sizes from the lower ends on, each symbol at another pace: a range of few says little of a formula."""
    return [
        {symbol.name: symbol.low + step * (2 * at + 1) % _SHAPES for at, symbol in enumerate(symbols)}
        for step in range(_SHAPES)
    ]


def _values_at(sizes: Sizes, values: Values) -> list[Var]:
    """Variables that there are at some sizes, up to the refused operator."""
    try:
        return list(sizes.reference(values).main.variables())
    except ModelRefused as refused:
        return [*refused.params, *(let.var for let in refused.steps)]
    except CodegenError:
        return []


def _operator(let: Let) -> str:
    return f"op {let.source.op_index} {let.source.op_name}" if let.source else let.var.name


def _extents(sizes: Sizes, shapes: Sequence[tuple[Values, Shapes]], var: Var) -> list[str]:
    """The extents of a value as formulas of the symbols, or as they are where they follow none."""
    there = [(values, known[var.name]) for values, known in shapes if var.name in known]
    names = [symbol.name for symbol in sizes.symbols]
    fitter = Fitter({name: np.array([values[name] for values, _ in there], np.int64) for name in names})
    extents: list[str] = []
    for axis, extent in enumerate(var.type.shape):
        formula = fitter.formula(np.array([shape[axis] for _, shape in there], np.int64))
        extents.append(str(extent) if formula is None else text(formula))
    return extents


def _left(symbols: Sequence[Symbol], left: Sequence[Values]) -> str:
    """Advice: the range that holds all sizes that nothing forbids."""
    if not left:
        return "no size of the range is possible: look at the model's strides and windows"
    ranges = (
        f"--dim {symbol.name}={min(sizes[symbol.name] for sizes in left)}.."
        f"{max(sizes[symbol.name] for sizes in left)}"
        for symbol in symbols
    )
    return f"what is possible lies in {' '.join(ranges)}"
