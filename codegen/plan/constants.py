"""Linking constants: merged by content, ordered, given offsets as a C compiler lays out a struct."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from codegen.errors import Messages
from codegen.kernels.primfunc import LinkedConstant, PrimFunc
from codegen.plan.problem import Pool
from codegen.plan.program import ConstantMember, ConstantPool


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Merged:
    """One piece of data and all who use it. Equal bytes of another dtype are another piece (C types)."""

    data: np.ndarray
    alignment: int
    users: tuple[tuple[str, str], ...]
    pools: tuple[int, ...]
    """Constant pools it may lie in, by position, best first."""

    @property
    def size_bytes(self) -> int:
        """Bytes it takes in the image."""
        return int(self.data.nbytes)

    @property
    def name(self) -> str:
        """C member name: `<primfunc>_<role>` of the first user."""
        return "_".join(self.users[0])


def link(
    prim_funcs: Sequence[PrimFunc],
    pools: Sequence[Pool],
    extra: Iterable[tuple[str, LinkedConstant]] = (),
) -> tuple[ConstantPool, ...]:
    """Lay out all linked constants in `pools` (read-only ones, best first); pools left empty are left out.

    A constant goes to the pool its memory scope or section names, else to the first with room. `extra` are
    constants without a PrimFunc (constant results), each with the name its users know it by. Offsets are
    multiples of the member's alignment, sizes are rounded up to the pool's alignment: where a C struct of the
    members would differ, its declaration needs explicit padding. Raises CodegenError E402 (a pool is too
    small) or E404 (no such pool).
    """
    merged = _merge([(p.name, c) for p in prim_funcs for c in p.constants] + list(extra), pools)
    messages = Messages()
    chosen: list[list[_Merged]] = [[] for _ in pools]
    ends = [0] * len(pools)
    for item in merged:
        for index in item.pools:
            end = _round_up(_round_up(ends[index], item.alignment) + item.size_bytes, pools[index].alignment)
            if end <= pools[index].limit_bytes:
                break
        else:
            index = item.pools[0]
        ends[index] = _round_up(ends[index], item.alignment) + item.size_bytes
        chosen[index].append(item)
    for pool, items, end in zip(pools, chosen, ends, strict=True):
        _check_limit(pool, items, _round_up(end, pool.alignment), messages)
    messages.raise_if_any()
    return tuple(_pool(pool, items) for pool, items in zip(pools, chosen, strict=True) if items)


def _merge(constants: Sequence[tuple[str, LinkedConstant]], pools: Sequence[Pool]) -> list[_Merged]:
    """Merge equal constants, in the order of least padding: by alignment, odd sizes last, then by step."""
    found: dict[tuple[str, bytes, tuple[int, ...]], _Merged] = {}
    messages = Messages()
    for user, constant in constants:
        if not constant.data.size:
            raise ValueError(f"{user}: linked constant {constant.role} is empty")
        allowed = _allowed(user, constant, pools, messages)
        key = (constant.data.dtype.str, constant.data.tobytes(), allowed)
        alignment = max(constant.alignment, constant.data.dtype.itemsize)
        users: tuple[tuple[str, str], ...] = ()
        if key in found:
            alignment, users = max(alignment, found[key].alignment), found[key].users
        found[key] = _Merged(
            data=constant.data, alignment=alignment, users=(*users, (user, constant.role)), pools=allowed
        )
    messages.raise_if_any()
    return sorted(found.values(), key=lambda item: (-item.alignment, item.size_bytes % item.alignment != 0))


def _allowed(
    user: str, constant: LinkedConstant, pools: Sequence[Pool], messages: Messages
) -> tuple[int, ...]:
    indices = tuple(
        index
        for index, pool in enumerate(pools)
        if constant.memory_scope in (None, pool.name) and constant.section in (None, pool.section)
    )
    if not indices:
        wish = constant.memory_scope or constant.section or "any"
        messages.add(
            "E404",
            f"linked constant {constant.role} is to lie in {wish}, which no constant pool is",
            where=user,
            help=f"constant pools are {', '.join(pool.name for pool in pools) or 'missing'}",
        )
    return indices


def _check_limit(pool: Pool, items: Sequence[_Merged], size_bytes: int, messages: Messages) -> None:
    if size_bytes <= pool.limit_bytes:
        return
    biggest = sorted(items, key=lambda item: -item.size_bytes)[:5]
    names = ", ".join(f"{item.name} {item.size_bytes}" for item in biggest)
    messages.add(
        "E402",
        f"lacks {size_bytes - pool.limit_bytes} bytes: constants need {size_bytes} bytes, "
        f"the limit is {pool.limit_bytes}; the biggest are {names}",
        where=f"constant pool {pool.name}",
        help="try a board with more read-only memory, --optimize size, or a smaller model",
    )


def _pool(pool: Pool, items: Sequence[_Merged]) -> ConstantPool:
    members: list[ConstantMember] = []
    end = 0
    for item in items:
        offset = _round_up(end, item.alignment)
        members.append(
            ConstantMember(
                name=item.name, offset=offset, data=item.data, alignment=item.alignment, users=item.users
            )
        )
        end = offset + item.size_bytes
    alignment = max(pool.alignment, *(item.alignment for item in items))
    return ConstantPool(
        name=pool.name,
        region=pool.region,
        section=pool.section,
        alignment=alignment,
        size_bytes=_round_up(end, pool.alignment),
        members=tuple(members),
        merged_bytes=sum(item.size_bytes * (len(item.users) - 1) for item in items),
    )


def _round_up(value: int, multiple: int) -> int:
    return (value + multiple - 1) // multiple * multiple
