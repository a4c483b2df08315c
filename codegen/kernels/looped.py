"""Binds WHILE: steps of one iteration, bound and placed already, become one call of a rendered function."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from codegen.ir import Let, Var
from codegen.ir.ops.base.operands import narrow
from codegen.ir.ops.inserted import LoopAttrs
from codegen.ir.ops.user import operator_name
from codegen.kernels.base.code_bytes import constant_reads
from codegen.kernels.base.portable_work import estimated_work
from codegen.kernels.call import (
    RESULT,
    ArrayArg,
    CallArg,
    ConstantArg,
    ConstantPointer,
    CStruct,
    LiteralArg,
    NullArg,
    ResultArg,
    StructArg,
    StructPointer,
    ValueArg,
    WorkspaceArg,
)
from codegen.kernels.contract import LinkedConstant, Workspace
from codegen.kernels.loop import LOOP_WORKSPACE, InnerArg, InnerCall, InnerPlace, LoopBody, Move
from codegen.kernels.primfunc import PrimFunc


@dataclass(frozen=True, kw_only=True, slots=True)
class PlacedIteration:
    """Places of the values of an iteration."""

    values: Mapping[str, InnerPlace]
    """Places of values by variable, parameters too."""
    workspaces: Mapping[tuple[str, str], InnerPlace]
    """Places of workspaces by inner step and workspace name."""
    size_bytes: int
    """Size of the whole step's workspace."""
    alignment: int
    firsts: Mapping[int, LinkedConstant]
    """First values of carried ones that are constants, by argument."""


def bind_loop(let: Let, prims: Sequence[PrimFunc], placed: PlacedIteration, nexts: Sequence[Var]) -> PrimFunc:
    """The PrimFunc of WHILE `let`, whose iteration is `prims`; `nexts`: what the carried values become."""
    attrs = narrow(let.call.attrs, LoopAttrs)
    function = attrs.function
    calls = [(prim, _call(prim, placed)) for prim in prims if prim.is_call]
    deciding = {binding.var.name for binding in function.body[: attrs.deciding_steps]}
    carried = function.params[: attrs.carried]
    body = LoopBody(
        trips=attrs.trips,
        first=tuple(
            Move(
                source=InnerPlace(base=_first(index, placed)),
                target=placed.values[var.name],
                size_bytes=var.type.size_bytes,
            )
            for index, var in enumerate(carried)
        ),
        deciding=tuple(call for prim, call in calls if prim.let.var.name in deciding),
        decision=None if attrs.decision is None else placed.values[attrs.decision.name],
        calls=tuple(call for prim, call in calls if prim.let.var.name not in deciding),
        kept=tuple(
            Move(
                source=placed.values[after.name],
                target=placed.values[var.name],
                size_bytes=var.type.size_bytes,
            )
            for var, after in zip(carried, nexts, strict=True)
            if after != var
        ),
        last=tuple(_given(attrs, placed)),
    )
    spaces = ()
    if placed.size_bytes:
        spaces = (
            Workspace(
                name=LOOP_WORKSPACE,
                size_bytes=placed.size_bytes,
                alignment=placed.alignment,
                is_activation=True,
                reads=attrs.trips,
                writes=attrs.trips,
            ),
        )
    work = [(prim.instructions, prim.cycles) for prim in prims if prim.is_call]
    return PrimFunc(
        name=let.var.name,
        let=let,
        kernel="loop",
        symbol=f"{let.var.name}_loop",
        sources=_sources(prims),
        headers=_headers(prims),
        argument_alignment=placed.alignment,
        reads=tuple(float(attrs.trips) if isinstance(arg, Var) else 0.0 for arg in let.call.args),
        workspaces=spaces,
        constants=(*placed.firsts.values(), *_constants(prims, attrs.trips)),
        structs=tuple(_struct(prim, struct) for prim in prims for struct in prim.structs),
        call_args=(
            *(ValueArg(index=index) for index, arg in enumerate(let.call.args) if isinstance(arg, Var)),
            RESULT,
            *(WorkspaceArg(name=space.name) for space in spaces),
        ),
        instructions=_sum([instructions for instructions, _ in work], attrs.trips),
        measured_instructions=attrs.trips * sum(estimated_work(prim) for prim in prims if prim.is_call),
        cycles=_sum([cycles for _, cycles in work], attrs.trips),
        loop=body,
    )


def _sources(prims: Sequence[PrimFunc]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(source for prim in prims for source in prim.sources))


def _headers(prims: Sequence[PrimFunc]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(("cg_kernels.h", *(header for prim in prims for header in prim.headers))))


def _constants(prims: Sequence[PrimFunc], trips: int) -> tuple[LinkedConstant, ...]:
    """The constants of inner steps as those of the whole step."""
    return tuple(
        replace(
            constant,
            role=_inner(prim, constant.role),
            reads=trips * constant_reads(prim, constant),
            op=operator_name(prim.let.call),
            steps=(prim.name, prim.let.var.origin),
        )
        for prim in prims
        for constant in prim.constants
    )


def _first(index: int, placed: PlacedIteration) -> ValueArg | ConstantArg:
    constant = placed.firsts.get(index)
    return ValueArg(index=index) if constant is None else ConstantArg(role=constant.role)


def _sum(per_call: Sequence[int | None], trips: int) -> int | None:
    known = [number for number in per_call if number is not None]
    return trips * sum(known) if len(known) == len(per_call) else None


def _given(attrs: LoopAttrs, placed: PlacedIteration) -> list[Move]:
    """Copies of those delivered values that do not lie in the result already."""
    moves: list[Move] = []
    at = 0
    for index in attrs.returned:
        var = attrs.function.params[index]
        source, target = placed.values[var.name], InnerPlace(base=RESULT, offset_bytes=at)
        if source != target:
            moves.append(Move(source=source, target=target, size_bytes=var.type.size_bytes))
        at += var.type.size_bytes
    return moves


def _inner(prim: PrimFunc, name: str) -> str:
    """Name in the whole step of struct or constant `name` of an inner one."""
    return f"{prim.name}_{name}"


def _struct(prim: PrimFunc, struct: CStruct) -> CStruct:
    """A struct of an inner step as one of the whole step."""
    fields = tuple((name, _field(prim, value)) for name, value in struct.fields)
    return replace(struct, suffix=_inner(prim, struct.suffix), fields=fields)


def _field(prim: PrimFunc, value: object) -> object:
    match value:
        case ConstantPointer(role=role):
            return ConstantPointer(role=_inner(prim, role))
        case StructPointer(suffix=suffix):
            return StructPointer(suffix=_inner(prim, suffix))
        case tuple():
            nested = cast("tuple[tuple[str, object], ...]", value)
            return tuple((name, _field(prim, nested_value)) for name, nested_value in nested)
        case _:
            return value


def _call(prim: PrimFunc, placed: PlacedIteration) -> InnerCall:
    """The call of an inner step, with places for its arguments, result and workspaces."""
    arrays: list[tuple[InnerArg, ...]] = []

    def told(arg: CallArg) -> InnerArg:
        match arg:
            case StructArg(suffix=suffix):
                return StructArg(suffix=_inner(prim, suffix))
            case ConstantArg(role=role):
                return ConstantArg(role=_inner(prim, role))
            case ResultArg():
                return placed.values[prim.let.var.name]
            case WorkspaceArg(name=name):
                return placed.workspaces[prim.name, name]
            case ValueArg(index=index):
                value = prim.let.call.args[index]
                return placed.values[value.name] if isinstance(value, Var) else NullArg()
            case ArrayArg(items=items):
                arrays.append(tuple(told(item) for item in items))
                return arg
            case LiteralArg() | NullArg():
                return arg

    args = tuple(told(arg) for arg in prim.call_args)
    return InnerCall(
        name=prim.name, op=prim.let.call.op.name, symbol=prim.symbol, args=args, arrays=tuple(arrays)
    )
