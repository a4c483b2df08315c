"""Loops: steps that run again and again, as one step, in bytes that were planned for one iteration."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import cast

from codegen.ir.formulas import Formula
from codegen.kernels.block import Block
from codegen.kernels.call import ArrayArg, CallArg, ConstantArg, ResultArg, StructArg, ValueArg, WorkspaceArg

LOOP_WORKSPACE = "values"
"""Name of the bytes that hold the values of an iteration."""


@dataclass(frozen=True, kw_only=True, slots=True)
class InnerPlace:
    """Where a value of an iteration lies: so many bytes behind where an argument, the result, the workspace
    or a constant of the whole step begins."""

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
    block: Block | None = None
    """The layers, if it is a block: `symbol` is then a function rendered for it, with this end of a name."""

    @property
    def symbols(self) -> tuple[str, ...]:
        """C functions of the runtime or the user that it calls."""
        return (self.symbol,) if self.block is None else self.block.symbols

    def renamed(self, names: Mapping[str, str]) -> "InnerCall":
        """The same with other C functions in place of some."""
        if self.block is not None:
            return replace(self, block=self.block.renamed(names))
        return replace(self, symbol=names.get(self.symbol, self.symbol))


@dataclass(frozen=True, kw_only=True, slots=True)
class Move:
    """Bytes that are copied from one place to another."""

    source: InnerPlace
    target: InnerPlace
    size_bytes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class LoopBody:
    """What a loop runs: `first`, then up to `trips` times `deciding`, a look at `decision`, and `calls`; then
    `last`."""

    trips: int
    first: tuple[Move, ...]
    deciding: tuple[InnerCall, ...]
    decision: InnerPlace | None
    """A byte that is not 0 where the iteration takes place; None: all of them do."""
    calls: tuple[InnerCall, ...]
    kept: tuple[Move, ...]
    """What the carried values become, copied when an iteration is done."""
    last: tuple[Move, ...]

    @property
    def symbols(self) -> tuple[str, ...]:
        """C functions that it calls."""
        return tuple(symbol for call in (*self.deciding, *self.calls) for symbol in call.symbols)

    @property
    def is_once(self) -> bool:
        """Whether it runs `calls` once, and does nothing else."""
        more = self.first or self.deciding or self.decision or self.kept or self.last
        return self.trips == 1 and not more

    def renamed(self, names: Mapping[str, str]) -> "LoopBody":
        """The same with other C functions in place of some."""
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

    def called_with(self, told: Callable[[InnerArg], InnerArg]) -> "LoopBody":
        """The same with what `told` makes of structs and constants that its calls are given."""

        def argument(arg: InnerArg) -> InnerArg:
            return arg if isinstance(arg, ArrayArg) else told(arg)

        def call(own: InnerCall) -> InnerCall:
            arrays = tuple(tuple(map(told, each)) for each in own.arrays)
            block = own.block and own.block.called_with(lambda arg: cast("CallArg", told(arg)))
            return replace(own, args=tuple(map(argument, own.args)), arrays=arrays, block=block)

        return replace(self, deciding=tuple(map(call, self.deciding)), calls=tuple(map(call, self.calls)))


@dataclass(frozen=True, kw_only=True, slots=True)
class OtherCall:
    """The call of a step in part `number` of a range of sizes, instead of its own: another C function with
    its own structs. `part` is the size that says in which part a call is."""

    part: Formula
    number: int
    symbol: str
    call_args: tuple[CallArg, ...]
    loop: LoopBody | None = None
    """What it runs if it is rendered: the layers of a block, one after the other."""

    @property
    def symbols(self) -> tuple[str, ...]:
        """C functions of the runtime or the user that it calls."""
        return (self.symbol,) if self.loop is None else self.loop.symbols

    def renamed(self, names: Mapping[str, str]) -> "OtherCall":
        """The same with other C functions in place of some."""
        loop = None if self.loop is None else self.loop.renamed(names)
        return replace(self, symbol=names.get(self.symbol, self.symbol), loop=loop)
