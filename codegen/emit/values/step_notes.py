"""Comments on steps in C: shapes, where a result lies, and what it lies over."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from codegen.emit.values.locations import CallerBytes, Places, PoolBytes
from codegen.ir import Var
from codegen.ir.ops.user import operator_name
from codegen.kernels.primfunc import PrimFunc
from codegen.program.program import Program, core_of


@dataclass(frozen=True, kw_only=True, slots=True)
class ResultPlace:
    """The place of a step's result."""

    caller: str
    """Its place in the caller's structs; empty where it is in a pool."""
    bytes: PoolBytes | None
    """Its bytes in a pool; None where it is the caller's."""
    alive: tuple[int, int]
    """First and last step in which its buffer is alive."""
    over: tuple[str, ...]
    """Arguments in whose bytes it lies."""
    there: tuple[str, ...]
    """Arguments that are in their place in it already."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StepNote:
    """Contents of a step's comment."""

    operator: str
    inputs: tuple[tuple[str, str], ...]
    """(name, shape)."""
    result: str
    shape: str
    is_view: bool
    is_joined: bool
    """No call: its inputs lie side by side."""
    is_silent: bool
    is_on_core_1: bool
    place: ResultPlace
    borrowed: tuple[str, ...]
    """Parameter structs of steps before, which are equal to its own."""
    decoded: tuple[tuple[int, int, int], ...]
    """(bytes, bytes as they are stored, calls) of weights that are decoded."""


def step_note(
    places: Places, names: Mapping[str, str], prim: PrimFunc, *, is_silent: bool, borrowed: tuple[str, ...]
) -> StepNote:
    """Comment of a step in C; `names`: those of values in C."""
    program, result = places.program, prim.let.var
    args = [arg for arg in prim.let.call.args if isinstance(arg, Var)]
    place = places.value(result.name)
    here = place if isinstance(place, PoolBytes) else None
    there = [arg.name for arg, _ in prim.joins] if prim.is_call else []
    arg_places = [(arg.name, places.value(arg.name)) for arg in args] if prim.is_call else []
    over = [
        name for name, other in arg_places if here and isinstance(other, PoolBytes) and other.overlaps(here)
    ]
    return StepNote(
        operator=operator_name(prim.let.call),
        inputs=tuple((names[arg.name], _dimensions(places, arg)) for arg in args),
        result=names[result.name],
        shape=_dimensions(places, result),
        is_view=prim.view is not None,
        is_joined=prim.view is None and not prim.is_call,
        is_silent=is_silent,
        is_on_core_1=prim.is_call and core_of(prim) == 1,
        place=ResultPlace(
            caller=f"{place.struct}->{place.field}" if isinstance(place, CallerBytes) else "",
            bytes=here,
            alive=places.alive_steps(here.buffer) if here else (0, 0),
            over=tuple(names[name] for name in over if name not in there),
            there=tuple(names[name] for name in there),
        ),
        borrowed=borrowed,
        decoded=tuple(_decoded(program, prim)),
    )


def _decoded(program: Program, prim: PrimFunc) -> Iterator[tuple[int, int, int]]:
    for copy in program.constants.unpacked:
        if copy.user[0] == prim.name and copy.unpacking is not None:
            packing = copy.unpacking.packing
            yield copy.unpacking.original_bytes, packing.stored_bytes, len(packing.piece_bytes)


def _dimensions(places: Places, var: Var) -> str:
    """A shape as comments show it: 1x16x16x1."""
    if places.sizes is not None:
        return places.sizes.shape(var.type)
    return "x".join(map(str, var.type.shape)) or "scalar"
