"""Copies of linked constants in faster memory, in C."""

from collections.abc import Mapping

from codegen.emit.literals import array_type
from codegen.emit.places import Places, PoolBytes
from codegen.emit.text import wrapped
from codegen.plan.program import Program, Staged

STAGE_HEADER = "cg_stage_copy.h"
STAGE_SOURCE = "kernels/stage_copy.c"
"""The runtime's header and source for them, which only models with copies get."""


def staged_addresses(program: Program, places: Places) -> Mapping[tuple[str, str], str]:
    """(primfunc, role) -> C expression of the first element of the copy that it reads."""
    dtypes = {
        (prim.name, each.role): each.data.dtype for prim in program.prim_funcs for each in prim.constants
    }
    return {
        copy.user: f"(const {array_type(dtypes[copy.user])} *){places.byte_address(_bytes(copy))}"
        for copy in program.staged
    }


def staging_call(copy: Staged, places: Places, source: str, indent: str) -> str:
    """The statement that makes a copy."""
    to = places.byte_address(_bytes(copy))
    return wrapped(f"{indent}CG_STAGE_COPY(", [to, source, f"{copy.size_bytes}u"], ");")


def _bytes(copy: Staged) -> PoolBytes:
    return PoolBytes(pool=copy.pool, offset=copy.offset, size_bytes=copy.size_bytes, buffer=copy.buffer)
