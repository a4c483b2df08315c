"""Arguments, constants and parameters that a layer brings into its block, under names of the block."""

from dataclasses import replace
from typing import cast

from codegen.ir.ops.user import operator_name
from codegen.kernels.base.code_bytes import constant_reads
from codegen.kernels.base.walk import Fields
from codegen.kernels.call import (
    CallArg,
    ConstantArg,
    ConstantPointer,
    CStruct,
    LiteralArg,
    StructArg,
)
from codegen.kernels.contract import LinkedConstant
from codegen.kernels.primfunc import PrimFunc


def _inner(prim: PrimFunc, name: str, is_last: bool) -> str:
    """Struct or constant `name` of an inner step; the last step, whose name the block has, keeps its own."""
    return name if is_last else f"{prim.name}_{name}"


def layer_argument(prim: PrimFunc, arg: CallArg, is_last: bool) -> CallArg:
    """An argument in front of the images."""
    match arg:
        case StructArg(suffix=suffix):
            return StructArg(suffix=_inner(prim, suffix, is_last))
        case ConstantArg(role=role):
            return ConstantArg(role=_inner(prim, role, is_last))
        case LiteralArg():
            return arg
        case _:
            raise ValueError(f"{prim.name}: {arg!r} has no place in a block")


def layer_constant(prim: PrimFunc, constant: LinkedConstant, is_last: bool, share: float) -> LinkedConstant:
    """A constant of a layer. `share`: pixels computed in the block, of each that the layer has."""
    reads = share * constant_reads(prim, constant)
    return replace(
        constant,
        role=_inner(prim, constant.role, is_last),
        reads=reads,
        op=operator_name(prim.let.call),
        steps=(prim.name, prim.let.var.origin),
    )


def layer_struct(prim: PrimFunc, struct: CStruct, is_last: bool, images: int) -> CStruct:
    """The parameters of a layer of so many images, for rows of one."""
    fields = tuple(
        (name, _of_one_image(name, _field(prim, value, is_last), images)) for name, value in struct.fields
    )
    return replace(struct, suffix=_inner(prim, struct.suffix, is_last), fields=fields)


def _of_one_image(name: str, field: object, images: int) -> object:
    """A `cg_window`, `cg_broadcast` or `count` of one image: a row knows of no other, so that how many there
    are is no parameter of a step."""
    if name == "count" and isinstance(field, int):
        return field // images
    if not isinstance(field, tuple):
        return field
    members = dict(cast("Fields", field))
    if "batch" in members:
        members["batch"] = 1
    if "extent" in members:
        members["extent"] = _within_one(cast("tuple[tuple[str, int], ...]", members["extent"]), images)
    return tuple(members.items())


def _within_one(extents: tuple[tuple[str, int], ...], images: int) -> tuple[tuple[str, int], ...]:
    """Extents of loops of which the outermost that is one goes over all images, alone or with other axes."""
    outermost = next((name for name, extent in extents if extent > 1), None)
    return tuple((name, extent // images if name == outermost else extent) for name, extent in extents)


def _field(prim: PrimFunc, value: object, is_last: bool) -> object:
    match value:
        case ConstantPointer(role=role):
            return ConstantPointer(role=_inner(prim, role, is_last))
        case tuple():
            nested = cast("Fields", value)
            return tuple((name, _field(prim, nested_value, is_last)) for name, nested_value in nested)
        case _:
            return value
