"""The C call of a kernel: what is passed, which structs it reads, which files define it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from codegen.ir.numbers import Number, Varying, varies, varying_in


@dataclass(frozen=True, kw_only=True, slots=True)
class ConstantPointer:
    """A field with the address of this PrimFunc's linked constant `role`."""

    role: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ChosenPointer:
    """A field with the address of linked constant `role`, or NULL where `where` is 0 at the call's sizes."""

    role: str
    where: Varying


@dataclass(frozen=True, kw_only=True, slots=True)
class Narrow:
    """A field with the value of a formula, cast to `c_type`, which holds it."""

    c_type: str
    value: Varying


@dataclass(frozen=True, kw_only=True, slots=True)
class StructPointer:
    """A field with the address of this PrimFunc's array `suffix`, of structs or numbers, defined before."""

    suffix: str


@dataclass(frozen=True, kw_only=True, slots=True)
class UserSource:
    """A source that a user wrote: where it goes in the emitted folder, what it says."""

    path: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Reverse:
    """A form of the call that runs from the last pixel to the first: the C function `symbol` in `sources`."""

    symbol: str
    sources: tuple[str, ...]


CScalar = int | float | bool


@dataclass(frozen=True, kw_only=True, slots=True)
class CStruct:
    """A `static const c_type` object named `<primfunc>_<suffix>`; fields in order of initialisation.

    A field is a number, a formula, a constant's address, another struct's, None (NULL), or a nested tuple of
    fields; those of an array are called `[0]`, `[1]`, ...
    """

    suffix: str
    c_type: str
    fields: tuple[tuple[str, object], ...]
    is_array: bool = False
    """The object is an array of `c_type`, and `fields` are its elements."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StructArg:
    """Pass the address of the struct `suffix`."""

    suffix: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ValueArg:
    """Pass the address of call argument `index` (run-time value or linked constant of a const argument)."""

    index: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ResultArg:
    """Pass the address of the result."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkspaceArg:
    """Pass the address of workspace `name`."""

    name: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ConstantArg:
    """Pass the address of linked constant `role`."""

    role: str


@dataclass(frozen=True, kw_only=True, slots=True)
class LiteralArg:
    """Pass a number as it is, or what a formula gives."""

    value: CScalar | Number


@dataclass(frozen=True, kw_only=True, slots=True)
class NullArg:
    """Pass NULL: there is nothing to read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ArrayArg:
    """Pass an array of addresses, in C `(const void *const[]){a, b}`."""

    items: tuple[ValueArg | ConstantArg | NullArg, ...]


PARAMS = StructArg(suffix="params")
ARGUMENT = ValueArg(index=0)
RESULT = ResultArg()

CallArg = StructArg | ValueArg | ResultArg | WorkspaceArg | ConstantArg | LiteralArg | NullArg | ArrayArg


@dataclass(frozen=True, kw_only=True, slots=True)
class Split:
    """How a call can be made once for every group of outputs, in order, instead of once.

    The first call is the PrimFunc's own, further ones are `next_symbol(next_args...)`, for which the result
    is where the group's outputs go. Each reads, as constant `role`, only its group's bytes, all groups the
    same number. The parameter struct `struct` says in `field` how many outputs a call computes. A call
    reads arguments and writes results as the whole call does at that point, so that permitted overlaps stay.
    """

    role: str
    outputs: int
    """Outputs of the whole call, each of one byte."""
    multiple: int
    """Outputs of a group are a multiple of this."""
    struct: str
    field: str
    next_symbol: str
    next_args: tuple[CallArg, ...]
    instructions: int
    """Predicted instructions of each further call, on top of the whole call's."""

    def groups(self) -> tuple[int, ...]:
        """Possible sizes of a group, in outputs, the largest first: all of which make up the whole."""
        sizes = range(self.outputs - self.multiple, 0, -self.multiple)
        return tuple(size for size in sizes if self.outputs % size == 0)


def numbers_in(value: object) -> Iterator[Varying]:
    """Every number in a field of a struct, or in an argument, that depends on the sizes of a call."""
    match value:
        case ChosenPointer(where=where):
            yield where
        case LiteralArg() | Narrow():
            yield from varying_in(value.value)
        case tuple():
            for element in cast("tuple[object, ...]", value):
                yield from numbers_in(element)
        case _ if varies(value):
            yield value
        case _:
            return
