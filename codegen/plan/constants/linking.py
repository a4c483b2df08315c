"""Linking constants: merged by content, spread over the constant pools by cost, laid out as C structs."""

from collections.abc import Iterable, Sequence
from itertools import chain

from codegen.kernels.contract import LinkedConstant
from codegen.kernels.primfunc import PrimFunc
from codegen.plan.constants.assigning import assigned
from codegen.plan.constants.merging import Piece, merge
from codegen.plan.constants.pool_order import round_up
from codegen.program.constants import ConstantMember, ConstantPool
from codegen.program.problem import Pool


def link(
    prim_funcs: Sequence[PrimFunc],
    pools: Sequence[Pool],
    extra: Iterable[tuple[str, LinkedConstant]] = (),
) -> tuple[ConstantPool, ...]:
    """Lay out all linked constants in `pools` (read-only ones, best first); pools left empty are left out.

    A constant goes to the pool its memory scope or section names, else to one with room, the most-read bytes
    to the cheapest (`assigning.py`). Equal constants, and those that are a part of another one, are there
    once (`merging.py`). `extra` are constants without a PrimFunc (constant results), each with the name its
    users know it by. Offsets are multiples of the member's alignment, the size is one of its widest element:
    where a C struct of the members would differ, its declaration needs explicit padding. Raises DoesNotLink
    where pools are too small, CodegenError E404 (no such pool).
    """
    owned = ((prim.name, constant) for prim in prim_funcs for constant in prim.constants)
    pieces = merge(chain(owned, extra), pools)
    shares = assigned(pieces, pools)
    return tuple(_pool(pool, share) for pool, share in zip(pools, shares, strict=True) if share)


def _pool(pool: Pool, pieces: Sequence[Piece]) -> ConstantPool:
    members: list[ConstantMember] = []
    end = 0
    for piece in pieces:
        offset = round_up(end, piece.alignment)
        members.append(
            ConstantMember(
                name=piece.name,
                offset=offset,
                data=piece.data,
                alignment=piece.alignment,
                parts=piece.readers,
                reads=piece.reads,
            )
        )
        end = offset + piece.size_bytes
    return ConstantPool(
        name=pool.name,
        region=pool.region,
        section=pool.section,
        alignment=max(pool.alignment, *(piece.alignment for piece in pieces)),
        size_bytes=round_up(end, max(piece.data.dtype.itemsize for piece in pieces)),
        members=tuple(members),
        merged_bytes=sum(piece.used_bytes - piece.size_bytes for piece in pieces),
        read_cost=pool.read_cost,
    )
