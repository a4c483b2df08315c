"""Memory in <model>.h: a row a pool, the sizes of pools as macros, pools that the application hands over."""

from collections.abc import Iterator
from dataclasses import dataclass

from codegen.emit.c.spelling import base_macro, c_name, pool_array, pool_macro
from codegen.emit.values.locations import used_pools
from codegen.emit.values.model_data import constant_macros
from codegen.program.program import Bundle, Program, own_pools


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryRow:
    """Bytes that a model takes of one pool."""

    name: str
    """With `(rw)` or `(ro)` behind it."""
    planned_bytes: int
    lower_bound_bytes: int
    section: str
    object: str = ""
    """The pool of several models in which it lies, from `base` on; empty for a pool of its own."""
    base: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class CallerPool:
    """A pool that the application hands over."""

    field: str
    pointer: str
    size_macro: str
    alignment_macro: str
    alignment: int


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryView:
    """Bytes that the model takes of all pools."""

    rows: tuple[MemoryRow, ...]
    width: int
    """Columns of the pools' names."""
    sharers: tuple[str, ...]
    """Models that use the same bytes."""
    macros: tuple[tuple[str, int], ...]
    """Sizes, and of shared pools where its bytes begin."""
    caller_pools: bool
    pools: tuple[CallerPool, ...]
    """Empty where they are the model's own."""


def memory_view(bundle: Bundle, program: Program) -> MemoryView:
    """Bytes that a model takes of its pools, and of those that it shares with others."""
    rows = tuple(_memory_rows(bundle, program))
    return MemoryView(
        rows=rows,
        width=max(16, *(len(row.name) for row in rows), 0),
        sharers=tuple(bundle.sharers(program.name)) if used_pools(program) else (),
        macros=tuple(_pool_macros(bundle, program)),
        caller_pools=program.interface.caller_pools,
        pools=tuple(_caller_pools(program)) if program.interface.caller_pools else (),
    )


def _memory_rows(bundle: Bundle, program: Program) -> Iterator[MemoryRow]:
    """Rows of the pools; a model by itself has constants of its own as well."""
    for pool in used_pools(program):
        yield MemoryRow(
            name=f"{pool.name} (rw)",
            planned_bytes=pool.peak_bytes,
            lower_bound_bytes=pool.lower_bound_bytes,
            section=pool.section,
            object="" if bundle.is_single else pool_array(bundle, pool.name),
            base=bundle.base(program.name, pool.name),
        )
    for pool in bundle.constants if bundle.is_single else ():
        yield MemoryRow(
            name=f"{pool.name} (ro)",
            planned_bytes=pool.size_bytes,
            lower_bound_bytes=sum(member.data.nbytes for member in pool.members),
            section="none (external)" if program.interface.external else pool.section,
        )


def _pool_macros(bundle: Bundle, program: Program) -> list[tuple[str, int]]:
    used = used_pools(program)
    macros = [(pool_macro(program.name, pool.name), pool.size_bytes) for pool in used]
    if bundle.is_single:
        return macros + constant_macros(bundle)
    bases = [(base_macro(program.name, p.name), bundle.base(program.name, p.name)) for p in used]
    return macros + bases


def _caller_pools(program: Program) -> Iterator[CallerPool]:
    for pool in own_pools(program):
        field = c_name(pool.name)
        yield CallerPool(
            field=field,
            pointer=f"pools->{field}",
            size_macro=pool_macro(program.name, pool.name),
            alignment_macro=f"{program.name}_{pool.name}_pool_alignment".upper(),
            alignment=pool.alignment,
        )
