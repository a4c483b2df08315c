"""Loops in C: a function of this model that runs the steps of an iteration again and again."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from codegen.emit.c.c_text import fill
from codegen.emit.c.spelling import TakenNames, local_names, scalar
from codegen.emit.model.blocks import Around, Parameters, block_text, function_name
from codegen.emit.model.structs import (
    late_constants,
    local_structs,
    local_text,
    struct_name,
)
from codegen.ir import Var
from codegen.kernels.call import (
    ArrayArg,
    ConstantArg,
    LiteralArg,
    NullArg,
    ResultArg,
    StructArg,
    ValueArg,
    WorkspaceArg,
)
from codegen.kernels.loop import InnerArg, InnerCall, InnerPlace, LoopBody, Move
from codegen.kernels.primfunc import PrimFunc

_RESULT, _WORKSPACE = "result", "values"
_NAMES = (_RESULT, _WORKSPACE, "iteration", "constants", "pools")
"""Words of the template; no argument's name may hide one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class InnerCallView:
    """The call of one step of an iteration."""

    note: str
    arrays: tuple[tuple[str, tuple[str, ...]], ...]
    """Local arrays of addresses: name, addresses."""
    symbol: str
    arguments: tuple[str, ...]


_Copies = tuple[tuple[str, str, int], ...]
"""Copies: where to, where from, bytes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LoopCopies:
    """Copies of the values that a loop carries."""

    first: _Copies
    """Before the first iteration."""
    kept: _Copies
    """Behind each iteration."""
    last: _Copies
    """Behind the last one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LoopView:
    """Fields of loop.c.j2."""

    name: str
    function: str
    parameters: Parameters
    structs: tuple[str, ...]
    works: bool
    """It has a workspace."""
    cleared_bytes: int
    """Bytes of the workspace that are cleared before anything.
    An iteration that does not take place writes nothing, and what a run touches is not to depend on its
    data.
    """
    trips: int
    copies: LoopCopies
    deciding: tuple[InnerCallView, ...]
    decision: str
    """The byte that is 0 when the loop is done; empty if the number of iterations is fixed."""
    calls: tuple[InnerCallView, ...]


def functions_of(prims: Sequence[PrimFunc], around: Around) -> tuple[str, ...]:
    """The functions that are rendered for blocks and loops."""
    return tuple(text for prim in prims for text in _functions_of(prim, around))


def _functions_of(prim: PrimFunc, around: Around) -> Iterator[str]:
    if prim.block is not None:
        yield block_text(prim, prim.block, around)
    if prim.loop is not None:
        yield _loop_text(prim, prim.loop, around)


def _loop_text(prim: PrimFunc, loop: LoopBody, around: Around) -> str:
    """The function of one loop."""
    return fill("c/loop.c.j2", loop_=_LoopFunction(prim, loop, around).view()).rstrip("\n")


class _LoopFunction:
    def __init__(self, prim: PrimFunc, loop: LoopBody, around: Around) -> None:
        self._model, self._image_parameter = around.model, around.image_parameter
        self._constants, self._struct_names = around.constants, around.structs
        self._prim, self._loop = prim, loop
        taken = TakenNames([*_NAMES, *(f"{prim.name}_{struct.suffix}" for struct in prim.structs)])
        self._names = {
            index: taken.take(*local_names(around.model, arg.name, "_value"))
            for index, arg in enumerate(prim.let.call.args)
            if isinstance(arg, Var)
        }
        self._taken = taken

    def view(self) -> LoopView:
        """All of it."""
        loop = self._loop
        return LoopView(
            name=self._prim.let.var.name,
            function=function_name(self._model, self._prim),
            parameters=tuple(self._parameters()),
            structs=self._structs(),
            works=bool(self._prim.workspaces),
            cleared_bytes=sum(space.size_bytes for space in self._prim.workspaces) if loop.decision else 0,
            trips=loop.trips,
            copies=LoopCopies(
                first=self._moves(loop.first), kept=self._moves(loop.kept), last=self._moves(loop.last)
            ),
            deciding=tuple(self._call(call) for call in loop.deciding),
            decision="" if loop.decision is None else self._byte(loop.decision),
            calls=tuple(self._call(call) for call in loop.calls),
        )

    def _parameters(self) -> list[tuple[str, str]]:
        parameters = list(self._image_parameter or ())
        for arg in self._prim.call_args:
            if isinstance(arg, ValueArg):
                parameters.append(("const void *", self._names[arg.index]))
            else:
                parameters.append(("void *", _RESULT if isinstance(arg, ResultArg) else "workspace"))
        return parameters

    def _structs(self) -> tuple[str, ...]:
        """Parameters that hold addresses of constants that are known at run time only."""
        late = late_constants(self._prim, self._constants, None, external=self._image_parameter is not None)
        return tuple(
            local_text(self._prim, struct, self._constants, self._struct_names, "    ")
            for struct in local_structs(self._prim, late, self._loop.struct_args)
        )

    def _moves(self, moves: tuple[Move, ...]) -> tuple[tuple[str, str, int], ...]:
        return tuple((self._address(m.target), self._address(m.source), m.size_bytes) for m in moves)

    def _call(self, call: InnerCall) -> InnerCallView:
        arrays: list[tuple[str, tuple[str, ...]]] = []
        arguments: list[str] = []
        for arg in call.args:
            if isinstance(arg, ArrayArg):
                name = self._taken.take(f"{call.name}_addresses")
                arrays.append((name, tuple(self._argument(element) for element in call.arrays[len(arrays)])))
                arguments.append(name)
            else:
                arguments.append(self._argument(arg))
        return InnerCallView(
            note=f"{call.op} {call.name}",
            arrays=tuple(arrays),
            symbol=call.symbol,
            arguments=tuple(arguments),
        )

    def _argument(self, arg: InnerArg) -> str:
        match arg:
            case InnerPlace():
                return self._address(arg)
            case StructArg(suffix=suffix):
                return f"&{struct_name(self._prim, suffix, self._struct_names)}"
            case ConstantArg(role=role):
                return self._constants[self._prim.name, role]
            case LiteralArg(value=bool() | int() | float() as value):
                return scalar(value)
            case NullArg():
                return "NULL"
            case _:
                raise ValueError(f"{self._prim.name}: argument {arg!r} has no form in a loop")

    def _byte(self, place: InnerPlace) -> str:
        if isinstance(place.base, WorkspaceArg):
            return f"{_WORKSPACE}[{place.offset_bytes}]"
        return f"*(const uint8_t *)({self._address(place)})"

    def _address(self, place: InnerPlace) -> str:
        at = place.offset_bytes
        match place.base:
            case WorkspaceArg():
                return f"(void *)&{_WORKSPACE}[{at}]"
            case ResultArg():
                return f"(void *)((uint8_t *){_RESULT} + {at})" if at else _RESULT
            case ValueArg(index=index):
                name = self._names[index]
                return f"(const void *)((const uint8_t *){name} + {at})" if at else name
            case ConstantArg(role=role):
                return self._constants[self._prim.name, role]
