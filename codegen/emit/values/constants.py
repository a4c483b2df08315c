"""What <model>_data.h and <model>_data.c hold: constant pools as structs in offset order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from codegen.emit.c.c_text import COLUMNS, declaration, hexadecimal, members, unformatted
from codegen.emit.c.literals import array_type, float32s, integer
from codegen.emit.c.program_names import c_name, constant_pool, pool_array, pool_macro
from codegen.program.constants import ConstantMember, ConstantPart, ConstantPool, Unpacking
from codegen.program.program import Bundle

_Packed = Mapping[tuple[str, str], Unpacking]

_INDENT = "    "
_ROW_COUNTS = (32, 16, 12, 8, 6, 4, 3, 2, 1)
"""Values a row of a table: powers of two where they fit, else what comes close."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ConstantPoolView:
    """A constant pool in C."""

    name: str
    object: str
    layout: str
    """Name of the struct type."""
    size_bytes: int
    merged_bytes: int
    section: str
    alignment: int
    members: str
    """Member declarations with offsets."""
    offsets: tuple[tuple[str, str], ...]
    """(member, planned offset)."""
    size_check: str
    """C condition: the struct is as large as planned."""
    declaration: str
    opening: str
    """Head of the definition, up to the brace."""
    tables: tuple[str, ...]
    """Initialisers of the members."""


def constant_views(bundle: Bundle) -> tuple[ConstantPoolView, ...]:
    """Every constant pool of a bundle; raises ValueError where the plan is none a struct can have."""
    packed, layouts = _packed(bundle), _layouts(bundle)
    return tuple(_pool(bundle, pool, packed, layouts) for pool in bundle.constants)


def _packed(bundle: Bundle) -> _Packed:
    """(user of the bundle's constants, role) -> how it is stored, where that is compressed."""
    return {
        (bundle.users[program.name, copy.user[0]], copy.user[1]): copy.unpacking
        for program in bundle.programs
        for copy in program.unpacked
        if copy.unpacking is not None
    }


def _layouts(bundle: Bundle) -> Mapping[tuple[str, str], str]:
    """(user of the bundle's constants, role) -> what follows what in it."""
    return {
        (bundle.users[program.name, prim.name], each.role): each.layout
        for program in bundle.programs
        for prim in program.prim_funcs
        for each in prim.constants
    }


def _note(member: ConstantMember, packed: _Packed, layouts: Mapping[tuple[str, str], str]) -> str:
    """What stands above a table: the layout, as it is first read whole, or that it is stored compressed."""
    whole = [part.user for part in member.parts if part.size_bytes == member.data.nbytes]
    layout = next((layouts[user] for user in whole if layouts.get(user)), "")
    return _packed_text(member, packed) or layout


def _packed_text(member: ConstantMember, packed: _Packed) -> str:
    """What a member that is stored compressed is; empty for others."""
    found = next((packed[part.user] for part in member.parts if part.user in packed), None)
    return "" if found is None else f"packed: decodes to {found.original_bytes} bytes"


def _pool(
    bundle: Bundle, pool: ConstantPool, packed: _Packed, layouts: Mapping[tuple[str, str], str]
) -> ConstantPoolView:
    name = pool_array(bundle, constant_pool(bundle, pool))
    layout = f"{name}_layout"
    if len({member.name for member in pool.members}) != len(pool.members) or not pool.members:
        raise ValueError(f"constant pool {pool.name}: no members, or two of one name")
    size = f"sizeof({layout}) == {pool_macro(bundle.prefix, constant_pool(bundle, pool))}"
    return ConstantPoolView(
        name=pool.name,
        object=name,
        layout=layout,
        size_bytes=pool.size_bytes,
        merged_bytes=pool.merged_bytes,
        section=pool.section,
        alignment=pool.alignment,
        members=_struct(pool, packed),
        offsets=tuple((c_name(member.name), f"{hexadecimal(member.offset)}u") for member in pool.members),
        size_check=size,
        declaration=declaration(f"extern const {layout} {name};"),
        opening=_opening(layout, name, f'CG_SECTION("{pool.section}") CG_ALIGNED({pool.alignment}) = {{'),
        tables=tuple(_table(member, _note(member, packed, layouts)) for member in pool.members),
    )


def _opening(layout: str, name: str, attributes: str) -> str:
    line = f"const {layout} {name} {attributes}"
    return line if len(line) <= COLUMNS else f"const {layout} {name}\n{_INDENT}{attributes}"


def _struct(pool: ConstantPool, packed: _Packed) -> str:
    rows = _members(pool, packed)
    # A union on one line is more readable than what clang-format makes of it.
    return unformatted(members(rows)) if any(code.startswith("union") for code, _ in rows) else members(rows)


def _members(pool: ConstantPool, packed: _Packed) -> list[tuple[str, str]]:
    """Declarations in offset order; every gap is a member, so no compiler's padding rule matters."""
    rows: list[tuple[str, str]] = []
    end = 0
    for member in pool.members:
        if member.offset < end or member.offset % member.data.dtype.itemsize:
            raise ValueError(f"constant {member.name}: offset {member.offset} overlaps or is misaligned")
        rows += _padding(end, member.offset)
        text = _packed_text(member, packed)
        note = hexadecimal(member.offset) + (f"  {text}" if text else "") + _readers(member)
        rows.append((_declaration(member), note))
        end = member.offset + member.data.nbytes
    if pool.size_bytes < end:
        raise ValueError(f"constant pool {pool.name}: {pool.size_bytes} bytes, members end at {end}")
    return rows + _padding(end, pool.size_bytes)


def _readers(member: ConstantMember) -> str:
    """Who shares a member, and who reads a part of it."""
    whole = dict.fromkeys(part.user[0] for part in member.parts if part.size_bytes == member.data.nbytes)
    parts = dict.fromkeys(part.user[0] for part in member.parts if part.size_bytes < member.data.nbytes)
    note = f"  shared: {', '.join(whole)}" if len(member.parts) - len(parts) > 1 else ""
    return note + (f"  parts: {', '.join(parts)}" if parts else "")


def _padding(start: int, stop: int) -> list[tuple[str, str]]:
    if start == stop:
        return []
    return [(f"uint8_t padding_{start:03x}[{stop - start}]", hexadecimal(start))]


def _declaration(member: ConstantMember) -> str:
    """The array; a union of arrays where others read the same bytes as another type than characters."""
    plain = f"{array_type(member.data.dtype)} {c_name(member.name)}[{member.data.size}]"
    others = [
        f"{array_type(dtype)} {alternative(member, dtype)}[{member.data.nbytes // dtype.itemsize}]"
        for dtype in dict.fromkeys(part.dtype for part in member.parts)
        if dtype != member.data.dtype and dtype.itemsize > 1
    ]
    return f"union {{ {'; '.join([plain, *others])}; }}" if others else plain


def alternative(member: ConstantMember, dtype: np.dtype[np.generic]) -> str:
    """Name of `member` as it is read by those who take its bytes for elements of `dtype`."""
    return c_name(f"{member.name}_{dtype.name}")


def part_address(c_object: str, member: ConstantMember, part: ConstantPart) -> str:
    """C expression of the first element that the reader of `part` wants, of its element type."""
    whole = f"{c_object}.{c_name(member.name)}"
    if part.dtype == member.data.dtype:
        index = part.offset_bytes // part.dtype.itemsize
        return f"&{whole}[{index}]" if index else whole
    if part.dtype.itemsize > 1:
        return f"{c_object}.{alternative(member, part.dtype)}"
    # Characters may read any object.
    characters = f"(const {array_type(part.dtype)} *){whole}"
    return f"&({characters})[{part.offset_bytes}]" if part.offset_bytes else characters


def _table(member: ConstantMember, note: str) -> str:
    rows = table_rows(numbers(member.data))
    head = [f"{_INDENT}/* {note} */"] if note else []
    return "\n".join([*head, f"{_INDENT}.{c_name(member.name)} = {{", *rows, f"{_INDENT}}},"])


def numbers(data: np.ndarray) -> list[str]:
    """Every element as a C constant."""
    if data.dtype.kind == "f":
        return float32s(data)
    if data.dtype.kind == "b":
        return ["1" if value else "0" for value in data]
    # Most values fit an int and need no suffix: formatting them one by one is the slow part.
    if data.dtype.itemsize == 1:
        return list(map(_TEXTS.__getitem__, data.tolist()))
    plain = data.dtype.itemsize < 4
    return list(map(str, data.tolist())) if plain else [integer(value) for value in data.tolist()]


_TEXTS = {value: str(value) for value in range(-128, 256)}
"""Of every byte, signed or not: weights are millions of them."""


def byte_rows(data: bytes) -> tuple[str, ...]:
    """Rows of a table of bytes."""
    return tuple(table_rows([f"0x{byte:02x}" for byte in data]))


def table_rows(cells: Sequence[str]) -> list[str]:
    """Cells right-aligned in columns, as many a row as fit into COLUMNS."""
    width = max(map(len, cells))
    count = next(n for n in _ROW_COUNTS if len(_INDENT) + n * (width + 2) - 1 <= COLUMNS or n == 1)
    count = min(count, len(cells))
    different = set(cells)
    # Bytes are few different texts, in millions of cells.
    repeated = len(different) * 2 < len(cells)
    known = {cell: cell.rjust(width) for cell in different} if repeated else {}
    padded = list(map(known.__getitem__, cells)) if repeated else [cell.rjust(width) for cell in cells]
    deeper = len(_INDENT) + len(_INDENT) + count * (width + 2) - 1 <= COLUMNS
    indent = _INDENT + _INDENT if deeper else _INDENT
    return [f"{indent}{', '.join(padded[i : i + count])}," for i in range(0, len(padded), count)]


def pool_definition(c_object: str, macro: str, section: str, alignment: int) -> str:
    """Definition of a writable pool."""
    head, tail = f'uint8_t {c_object}[{macro}] CG_SECTION("{section}")', f"CG_ALIGNED({alignment});"
    if len(f"{head} {tail}") <= COLUMNS:
        return f"{head} {tail}"
    broken = f"{head}\n    {tail}"
    return broken if len(head) <= COLUMNS else unformatted(broken)
