"""Reads open sizes and formulas of them back from text."""

from codegen.ir.formulas import (
    Extent,
    Formula,
    Largest,
    Lookup,
    OpenSizes,
    Quotient,
    RoundedUp,
    Sum,
    Symbol,
    SymbolicInt,
)
from codegen.ir.text.tokens import Tokens

_CALLS = ("max", "up", "table")


class SizeReader:
    """Reads what follows from the sizes of one function."""

    def __init__(self, tokens: Tokens) -> None:
        """At `<`, or the function has no open sizes."""
        self._tokens = tokens
        symbols: list[Symbol] = []
        extents: list[Extent] = []

        def read_size() -> None:
            name = tokens.take()
            tokens.take("in")
            low, high = (int(end) for end in tokens.take().split(".."))
            if tokens.accept("="):
                formula = self._formula()
                tokens.take("of")
                extents.append(Extent(name=name, formula=formula, low=low, high=high, of=tokens.string()))
            else:
                symbols.append(Symbol(name=name, low=low, high=high))

        if tokens.accept("<"):
            tokens.several(read_size, ">")
        self.sizes = OpenSizes(symbols=tuple(symbols), extents=tuple(extents))

    @property
    def at_symbolic(self) -> bool:
        """True if a formula comes next, not a number, a word or several literals."""
        token, behind = self._tokens.peek(), self._tokens.behind()
        return (
            token in self.sizes.names
            or token == "-"
            or (token in _CALLS and behind == "(")
            or (token == "(" and behind == "/")
            or behind == "*"
        )

    def symbolic(self) -> SymbolicInt:
        """The formula that comes next, and its value at the largest sizes."""
        formula = self._formula()
        return SymbolicInt(self.sizes.number_at(formula, self.sizes.largest), formula)

    def extent(self) -> int:
        """A number, or a formula."""
        return self.symbolic() if self.at_symbolic else int(self._tokens.take())

    def _formula(self) -> Formula:
        take, accept = self._tokens.take, self._tokens.accept
        if self._tokens.behind() == "(" and self._tokens.peek() in _CALLS:
            return self._call(take())
        if accept("("):
            dividend = self._sum()
            take(")")
            take("/")
            return Quotient(dividend=dividend, divisor=int(take()))
        return self._sum()

    def _call(self, word: str) -> Formula:
        take = self._tokens.take
        take("(")
        if word == "max":
            return Largest(items=tuple(self._tokens.several(self._formula, ")")))
        if word == "table":
            values = self._tokens.several(lambda: int(take()), ")")
            take("[")
            index = self._sum()
            take("]")
            return Lookup(values=tuple(values), index=index)
        value = self._formula()
        take(",")
        multiple = int(take())
        take(")")
        return RoundedUp(value=value, multiple=multiple)

    def _sum(self) -> Sum:
        constant, terms = 0, [self._term(-1 if self._tokens.accept("-") else 1)]
        while self._tokens.peek() in ("+", "-"):
            terms.append(self._term(-1 if self._tokens.take() == "-" else 1))
        constant = sum(factor for factor, names in terms if not names)
        return Sum(constant=constant, terms=tuple(term for term in terms if term[1]))

    def _term(self, sign: int) -> tuple[int, tuple[str, ...]]:
        factors = [self._tokens.take()]
        while self._tokens.accept("*"):
            factors.append(self._tokens.take())
        names = tuple(factor for factor in factors if not factor.lstrip("-").isdigit())
        for factor in factors:
            sign *= int(factor) if factor not in names else 1
        return sign, names
