"""Loops: steps that run again and again, as one step, in bytes that were planned for one iteration."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from codegen.kernels.call import CallArg, ConstantArg, ResultArg, StructArg, ValueArg, WorkspaceArg

LOOP_WORKSPACE = "values"
"""Name of the bytes that hold the values of an iteration."""


@dataclass(frozen=True, kw_only=True, slots=True)
class InnerPlace:
    """Place of a value of an iteration: `offset_bytes` behind the start of an argument, the result, the
    workspace or a constant of the whole step."""

    base: ValueArg | ResultArg | WorkspaceArg | ConstantArg
    offset_bytes: int = 0


InnerArg = CallArg | InnerPlace


@dataclass(frozen=True, kw_only=True, slots=True)
class InnerCall:
    """The call of one step of an iteration. Structs and constants are those of the whole step."""

    name: str
    op: str
    symbol: str
    args: tuple[InnerArg, ...]
    arrays: tuple[tuple[InnerArg, ...], ...] = ()
    """Arrays of addresses; argument `ArrayArg` number i passes the i-th."""

    def renamed(self, names: Mapping[str, str]) -> "InnerCall":
        """Copy with C functions called by their new names in `names`."""
        return replace(self, symbol=names.get(self.symbol, self.symbol))


@dataclass(frozen=True, kw_only=True, slots=True)
class Move:
    """Bytes that are copied from one place to another."""

    source: InnerPlace
    target: InnerPlace
    size_bytes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class LoopBody:
    """A loop runs `first`, up to `trips` times `deciding`, a look at `decision`, and `calls`, then `last`."""

    trips: int
    first: tuple[Move, ...]
    deciding: tuple[InnerCall, ...]
    decision: InnerPlace | None
    """A byte that is not 0 where the iteration takes place; None: all of them do."""
    calls: tuple[InnerCall, ...]
    kept: tuple[Move, ...]
    """Copies of the next values into the carried ones at the end of an iteration."""
    last: tuple[Move, ...]

    @property
    def symbols(self) -> tuple[str, ...]:
        """C functions that it calls."""
        return tuple(call.symbol for call in (*self.deciding, *self.calls))

    def renamed(self, names: Mapping[str, str]) -> "LoopBody":
        """Copy with C functions called by their new names in `names`."""
        return replace(
            self,
            deciding=tuple(call.renamed(names) for call in self.deciding),
            calls=tuple(call.renamed(names) for call in self.calls),
        )

    @property
    def struct_args(self) -> Iterator[StructArg]:
        """The structs that its calls are given."""
        for call in (*self.deciding, *self.calls):
            yield from (arg for arg in call.args if isinstance(arg, StructArg))
