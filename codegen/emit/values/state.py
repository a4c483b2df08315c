"""State in C: what the last step copies over it, and the function that sets it to zero."""

from dataclasses import dataclass

from codegen.emit.c.c_text import comment_lines, comment_text, wrapped
from codegen.emit.c.environment import statement
from codegen.emit.values.locations import Places, PoolBytes
from codegen.emit.values.ownership import Check, pool_checks, pools_type
from codegen.emit.values.unpacking import MEMORY
from codegen.program.interface import IoTensor
from codegen.program.program import Program


@dataclass(frozen=True, kw_only=True, slots=True)
class StateView:
    """The function that begins a sequence of inferences."""

    comment: str
    """What it does, for the header."""
    prototype: str
    """As its definition begins."""
    declaration: str
    checks: tuple[Check, ...]
    """What a call is refused for; a function without any returns nothing."""
    statements: tuple[str, ...]


def reset_function(program: Program) -> str:
    """Name of the function that sets all state to zero."""
    return f"{program.name}_reset"


def state_view(program: Program, places: Places) -> StateView | None:
    """The view of a program; None without state."""
    if not program.states:
        return None
    owned = program.interface.caller_pools
    parameters = [f"const {pools_type(program)} *pools"] if owned else ["void"]
    head = f"cg_status {reset_function(program)}(" if owned else f"void {reset_function(program)}("
    return StateView(
        comment=_comment(program),
        prototype=wrapped(head, parameters, ")"),
        declaration=wrapped(f"CG_CHECK_RESULT {head}" if owned else head, parameters, ");"),
        checks=tuple(pool_checks(program)),
        statements=tuple(
            statement(MEMORY, "set_state", _address(places, first), _zero(first), first.type.size_bytes)
            for first, _ in program.state_tensors
        ),
    )


def state_copies(program: Program, places: Places) -> list[str]:
    """What the last step ends with: every new state takes the place of the old one."""
    return [
        statement(
            MEMORY, "copy_state", _address(places, first), _address(places, second), first.type.size_bytes
        )
        for first, second in program.state_tensors
    ]


def _address(places: Places, tensor: IoTensor) -> str:
    place = places.value(tensor.value)
    if not isinstance(place, PoolBytes):
        raise ValueError(f"state {tensor.field} is the caller's")
    return places.byte_address(place)


def _zero(tensor: IoTensor) -> str:
    """The byte that all bytes of a zero are."""
    stored = tensor.type.zero_point
    if stored and tensor.type.dtype.size_bytes > 1:
        raise ValueError(f"state {tensor.field}: zero point {stored} of {tensor.type.dtype.value}")
    return f"0x{stored & 0xFF:02x}"


def _comment(program: Program) -> str:
    text = (
        "Sets the state to zero. Call it before the first inference, and whenever a new sequence begins: "
        f"{program.name}_run takes every state as the inference before left it. Nothing else may write to "
        "its bytes, not even between inferences."
    )
    lines = comment_lines(text, first=" * ", rest=" * ")
    for first, second in program.state_tensors:
        new, old = (comment_text(tensor.origin or tensor.field) for tensor in (second, first))
        row = f'output "{new}" is input "{old}" of the next inference: {first.type.size_bytes} bytes'
        lines += comment_lines(row, first=" *   ", rest=" *     ")
    if program.interface.caller_pools:
        refused = "Returns CG_OK, or CG_ERR_NULL_POINTER, CG_ERR_POOL_SIZE or CG_ERR_POOL_ALIGNMENT before "
        refused += "anything has been written."
        lines += [" *", *comment_lines(refused, first=" * ", rest=" * ")]
    return "\n".join(["/*", *lines, " */"])
