"""Bytes that are set around calls: copies of linked constants in faster memory, constants that are stored
compressed and decoded, state that one inference leaves to the next."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from codegen.emit.c.c_tables import byte_rows
from codegen.emit.c.c_text import statement
from codegen.emit.c.spelling import array_type
from codegen.emit.values.locations import Places, PoolBytes
from codegen.emit.values.model_data import hash_words
from codegen.kernels.call import Split
from codegen.program.constants import Staged, Unpacking
from codegen.program.interface import IoTensor
from codegen.program.program import Program

STAGE_HEADER, STAGE_SOURCE = "cg_stage_copy.h", "kernels/portable/stage_copy.c"
UNPACK_HEADER, UNPACK_SOURCE = "cg_unpack.h", "kernels/portable/unpack.c"
"""The runtime's headers and sources for them, which only models with such constants get."""
STATE_HEADER, STATE_SOURCE = "cg_state.h", "support/state.c"
"""Header and source of the runtime that only models with state get."""

_STATE_HEADER_BYTES = 28
"""`cg_state_header`: magic, size, layout, CRC-32."""

_MEMORY = "c/steps/memory.c.j2"
"""Template of the statements that copy, decode or set bytes around a call."""

_PLAIN = re.compile(r"[\w.>-]+")


# ---- copies in faster memory ------------------------------------------------------------


def staged_addresses(program: Program, places: Places) -> Mapping[tuple[str, str], str]:
    """(primfunc, role) -> C expression of the first element of the copy that it reads."""
    dtypes = {
        (prim.name, constant.role): constant.data.dtype
        for prim in program.steps.prim_funcs
        for constant in prim.constants
    }
    dtypes |= {copy.user: copy.unpacking.dtype for copy in program.constants.staged if copy.unpacking}
    return {copy.user: _element(copy, places, dtypes[copy.user]) for copy in program.constants.staged}


def _element(copy: Staged, places: Places, dtype: np.dtype[np.generic]) -> str:
    # Kernels load constants through plain types. Whatever is stored in a pool is stored through characters or
    # may_alias types (the copy itself too), which no compiler moves across a load of another type.
    through = "" if dtype.itemsize == 1 else "(const void *)"
    return f"(const {array_type(dtype)} *){through}{_target(copy, places)}"


def stagings(
    program: Program, places: Places, linked: Mapping[tuple[str, str], str], index: int
) -> Iterator[str]:
    """Copies of constants that step `index` makes or awaits before its call.
    It decodes what is compressed (but for pieces, which belong to a call each), waits for copies that it
    reads, then begins those that the next step reads, so that they are made beside the call.
    """
    if index == 0 and has_start(program):
        yield statement(_MEMORY, "start_if_needed", program.name)
    begun = [copy for copy in program.constants.staged if copy.copied_at == index and not is_split(copy)]
    for copy in begun:
        if copy.used_at == index:
            yield _made(copy, places, linked[copy.user])
    awaited = [c for c in program.constants.copied if c.used_at == index and c.copied_at is not None]
    if awaited:
        yield statement(_MEMORY, "wait")
    for copy in begun:
        if copy.used_at != index:
            yield _made(copy, places, linked[copy.user])


def _made(copy: Staged, places: Places, source: str) -> str:
    """The statement that makes a copy of the bytes from `source` on, or decodes them."""
    bytes_there = (_target(copy, places), copy.size_bytes, source)
    if copy.unpacking is None:
        return statement(_MEMORY, "copy", *bytes_there)
    return statement(_MEMORY, "unpack", *bytes_there, _stream(copy.unpacking, source))


def has_start(program: Program) -> bool:
    """True if there is a function that makes the copies that last."""
    return any(copy.copied_at is None for copy in program.constants.staged)


def start_text(program: Program, places: Places, linked: Mapping[tuple[str, str], str]) -> str:
    """Definition of the start function and of its state; empty if there is none."""
    copies = [_made(c, places, linked[c.user]) for c in program.constants.staged if c.copied_at is None]
    return statement(_MEMORY, "start", program.name, copies) if copies else ""


def _target(copy: Staged, places: Places) -> str:
    return places.byte_address(places.copy(copy))


# ---- compressed constants ---------------------------------------------------------------


def is_split(copy: Staged) -> bool:
    """True if a copy is decoded in pieces, each for a call of its own."""
    return copy.unpacking is not None and len(copy.unpacking.packing.piece_bytes) > 1


@dataclass(frozen=True, kw_only=True, slots=True)
class GroupCalls:
    """C text of the calls of one step, a group of outputs each."""

    call: str
    further: Sequence[str]
    """Arguments of the calls after the first one."""
    stream: str
    """Name of the pointer into the compressed constant."""
    done: str
    """Name of the number of outputs that are computed."""


def calls_by_groups(
    copy: Staged,
    places: Places,
    source: str,
    split: Split,
    calls: GroupCalls,
) -> str:
    """The step's calls, each behind the decoding of its piece."""
    if copy.unpacking is None:
        raise ValueError(f"{copy.buffer} is stored as it is")
    stored = (_target(copy, places), copy.size_bytes, source, _stream(copy.unpacking, source))
    group = split.outputs // len(copy.unpacking.packing.piece_bytes)
    loop = (calls.stream, calls.done, group, split.outputs)
    return statement(_MEMORY, "calls_by_groups", *stored, *loop, calls.call, split.next_symbol, calls.further)


def _stream(unpacking: Unpacking, source: str) -> str:
    """Address of the first piece, behind the table."""
    begin = unpacking.packing.table_bytes
    return f"&{source}[{begin}]" if _PLAIN.fullmatch(source) else f"{source} + {begin}"


# ---- state ------------------------------------------------------------------------------


def state_resets(program: Program, places: Places) -> tuple[str, ...]:
    """The statements that set all state to its first bytes: zeros where nothing else is said."""
    return tuple(
        _reset(_address(places, old), state.initial, f"initial{index}")
        for index, (state, (old, _)) in enumerate(
            zip(program.signature.states, program.signature.state_tensors, strict=True)
        )
    )


def saved_state_bytes(program: Program) -> int:
    """Bytes of state as `<model>_save` writes it; 0 where there is none."""
    sizes = [old.type.size_bytes for old, _ in program.signature.state_tensors]
    return _STATE_HEADER_BYTES + sum(sizes) if sizes else 0


@dataclass(frozen=True, kw_only=True, slots=True)
class SavedState:
    """State as `<model>_save` and `<model>_load` know it."""

    parts: tuple[tuple[str, int], ...]
    """(C address, bytes), in the order in which they are saved."""
    layout: str
    """Four words, in C, that say what it is of: the model's file; name, type and bytes of each part."""


def saved_state(program: Program, places: Places) -> SavedState:
    """That of a program."""
    olds = [old for old, _ in program.signature.state_tensors]
    named = [f"{old.origin or old.field}\0{old.type.dtype.value}\0{old.type.size_bytes}\0" for old in olds]
    text = "".join([f"{program.metadata['sha256']}\0", *named])
    return SavedState(
        parts=tuple((_address(places, old), old.type.size_bytes) for old in olds),
        layout=hash_words(hashlib.sha256(text.encode()).digest()),
    )


def _reset(address: str, initial: bytes, name: str) -> str:
    if len(set(initial)) == 1:
        return statement(_MEMORY, "set_state", address, f"0x{initial[0]:02x}", len(initial))
    return statement(_MEMORY, "init_state", address, name, byte_rows(initial), len(initial))


def state_copies(program: Program, places: Places) -> list[str]:
    """Copies that end the last step: every new state takes the place of the old one."""
    return [
        statement(
            _MEMORY, "copy_state", _address(places, first), _address(places, second), first.type.size_bytes
        )
        for first, second in program.copied_states
    ]


def _address(places: Places, tensor: IoTensor) -> str:
    place = places.value(tensor.value)
    if not isinstance(place, PoolBytes):
        raise ValueError(f"state {tensor.field} is the caller's")
    return places.byte_address(place)


@dataclass(frozen=True, kw_only=True, slots=True)
class LastingBytes:
    """Bytes that last from call to call: copies of constants, and state."""

    start: str
    """The function that copies constants at start-up, and its state; empty if there are none."""
    state_resets: tuple[str, ...]
    """Statements that set all state to what the first inference finds."""
    saved: SavedState


def lasting_bytes(program: Program, places: Places, linked: Mapping[tuple[str, str], str]) -> LastingBytes:
    """Copies and state of one program; `linked`: addresses of linked constants."""
    return LastingBytes(
        start=start_text(program, places, linked),
        state_resets=state_resets(program, places),
        saved=saved_state(program, places),
    )
