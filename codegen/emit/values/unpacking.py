"""Constants that are stored compressed, in C: decoded in front of a step's call, or of each of its calls."""

import re
from collections.abc import Sequence

from codegen.emit.c.environment import statement
from codegen.emit.values.locations import Places, PoolBytes
from codegen.kernels.call import Split
from codegen.kernels.primfunc import PrimFunc
from codegen.program.constants import Staged, Unpacking
from codegen.program.program import Program

UNPACK_HEADER = "cg_unpack.h"
UNPACK_SOURCE = "kernels/portable/unpack.c"
"""The runtime's header and source for them, which only models with such constants get."""

MEMORY = "c/steps/memory.c.j2"
"""Template of the statements that copy, decode or set bytes around a call."""

_PLAIN = re.compile(r"[\w.>-]+")


def is_split(copy: Staged) -> bool:
    """Whether a copy is decoded in pieces, each for a call of its own."""
    return copy.unpacking is not None and len(copy.unpacking.packing.piece_bytes) > 1


def unpack_call(copy: Staged, unpacking: Unpacking, places: Places, source: str) -> str:
    """The statement that decodes all of a constant that is stored at `source`."""
    return statement(MEMORY, "unpack", *_target(copy, places), source, _stream(unpacking, source))


def calls_by_groups(
    copy: Staged,
    places: Places,
    source: str,
    split: Split,
    call: str,
    further: Sequence[str],
    names: Sequence[str],
) -> str:
    """The step's calls, each behind the decoding of its piece.

    `call`: the first one, `further`: arguments of the others; `names`: of the pointer into the stream, and of
    the number of outputs that are done.
    """
    if copy.unpacking is None:
        raise ValueError(f"{copy.buffer} is stored as it is")
    stored = (*_target(copy, places), source, _stream(copy.unpacking, source))
    group = split.outputs // len(copy.unpacking.packing.piece_bytes)
    loop = (*names, group, split.outputs)
    return statement(MEMORY, "calls_by_groups", *stored, *loop, call, split.next_symbol, further)


def decoded_text(program: Program, prim: PrimFunc) -> str:
    """What the comment of a step says of the constants that it decodes; empty where there are none."""
    found: list[str] = []
    for copy in program.unpacked:
        if copy.user[0] == prim.name and copy.unpacking is not None:
            packing, calls = copy.unpacking.packing, len(copy.unpacking.packing.piece_bytes)
            text = f"{copy.unpacking.original_bytes} bytes of weights decoded from {packing.stored_bytes}"
            found.append(text + (f", in {calls} pieces, a call each" if calls > 1 else ""))
    return "".join(f"; {text}" for text in found)


def packed_text(program: Program) -> str:
    """What the header says of constants that are stored compressed; empty where there are none."""
    found = [copy.unpacking for copy in program.unpacked if copy.unpacking is not None]
    if not found:
        return ""
    stored = sum(each.packing.stored_bytes for each in found)
    decoded = sum(each.original_bytes for each in found)
    arrays = f"{len(found)} {'array' if len(found) == 1 else 'arrays'}"
    return (
        f"{arrays} stored compressed: {stored} bytes for {decoded}, decoded at every inference by the step "
        "that reads them"
    )


def _target(copy: Staged, places: Places) -> tuple[str, int]:
    place = PoolBytes(pool=copy.pool, offset=copy.offset, size_bytes=copy.size_bytes, buffer=copy.buffer)
    return places.byte_address(place), copy.size_bytes


def _stream(unpacking: Unpacking, source: str) -> str:
    """Address of the first piece, behind the table."""
    begin = unpacking.packing.table_bytes
    return f"&{source}[{begin}]" if _PLAIN.fullmatch(source) else f"{source} + {begin}"
