"""Copies of linked constants in faster memory, in C."""

from collections.abc import Iterator, Mapping

import numpy as np

from codegen.emit.c.environment import statement
from codegen.emit.c.literals import array_type
from codegen.emit.values.locations import Places, PoolBytes
from codegen.emit.values.unpacking import MEMORY, is_split, unpack_call
from codegen.program.constants import Staged
from codegen.program.program import Program

STAGE_HEADER = "cg_stage_copy.h"
STAGE_SOURCE = "kernels/portable/stage_copy.c"
"""The runtime's header and source for them, which only models with copies get."""


def staged_addresses(program: Program, places: Places) -> Mapping[tuple[str, str], str]:
    """(primfunc, role) -> C expression of the first element of the copy that it reads."""
    dtypes = {
        (prim.name, each.role): each.data.dtype for prim in program.prim_funcs for each in prim.constants
    }
    dtypes |= {copy.user: copy.unpacking.dtype for copy in program.staged if copy.unpacking}
    return {copy.user: _address(copy, places, dtypes[copy.user]) for copy in program.staged}


def _address(copy: Staged, places: Places, dtype: np.dtype[np.generic]) -> str:
    # Kernels load constants through plain types. Whatever is stored in a pool is stored through characters or
    # may_alias types (the copy itself too), which no compiler moves across a load of another type.
    through = "" if dtype.itemsize == 1 else "(const void *)"
    return f"(const {array_type(dtype)} *){through}{places.byte_address(_bytes(copy))}"


def stagings(
    program: Program, places: Places, linked: Mapping[tuple[str, str], str], index: int
) -> Iterator[str]:
    """What step `index` does with copies of constants before its call: decode what is compressed (but
    for pieces, which belong to a call each), wait for copies that it reads, then begin those that the next
    step reads, so that they are made beside the call."""
    if index == 0 and start_function(program):
        yield statement(MEMORY, "start_if_needed", program.name, start_function(program))
    begun = [copy for copy in program.staged if copy.copied_at == index and not is_split(copy)]
    for copy in begun:
        if copy.used_at == index:
            yield _staging_call(copy, places, linked[copy.user])
    if any(copy.used_at == index and copy.copied_at is not None for copy in program.copied):
        yield statement(MEMORY, "wait")
    for copy in begun:
        if copy.used_at != index:
            yield _staging_call(copy, places, linked[copy.user])


def _staging_call(copy: Staged, places: Places, source: str) -> str:
    """The statement that makes a copy of the bytes from `source` on, or decodes them."""
    if copy.unpacking is not None:
        return unpack_call(copy, copy.unpacking, places, source)
    to = places.byte_address(_bytes(copy))
    return statement(MEMORY, "copy", to, source, copy.size_bytes)


def start_function(program: Program) -> str:
    """Name of the function that makes the copies that last; empty if there are none."""
    return f"{program.name}_start" if any(copy.copied_at is None for copy in program.staged) else ""


def start_text(program: Program, places: Places, linked: Mapping[tuple[str, str], str]) -> str:
    """Definition of the start function and of its state."""
    name = start_function(program)
    if not name:
        return ""
    lasting = [copy for copy in program.staged if copy.copied_at is None]
    copies = [_staging_call(copy, places, linked[copy.user]) for copy in lasting]
    return statement(MEMORY, "start", program.name, name, copies)


def _bytes(copy: Staged) -> PoolBytes:
    return PoolBytes(pool=copy.pool, offset=copy.offset, size_bytes=copy.size_bytes, buffer=copy.buffer)
