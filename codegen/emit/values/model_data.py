"""Contents of <model>_data.h and <model>_data.c: pools, and constant pools as structs in offset order.

And the image of constants, which an application hands over.
"""

import hashlib
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from codegen.emit.c.c_tables import bit_rows, numbers, table_rows
from codegen.emit.c.spelling import (
    array_type,
    c_name,
    constant_pool,
    pool_array,
    pool_macro,
)
from codegen.kernels.contract import LinkedConstant
from codegen.program.constants import ConstantMember, ConstantPart, ConstantPool, Unpacking
from codegen.program.program import Bundle

CONSTANTS_MAGIC = 0x4B434743
CONSTANTS_ABI = 1
"""`CG_CONSTANTS_MAGIC` and `CG_CONSTANTS_ABI` of runtime_c/include/cg_constants.h."""

_HEADER = struct.Struct("<3I16sI")
"""`cg_constants_header`: magic, ABI, bytes of the image, layout, CRC-32."""

CHECK_SOURCE = "support/check_constants.c"
"""Below runtime_c: what looks at an image."""


# ---- what models share ------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolView:
    """A writable pool in C."""

    object: str
    size_macro: str
    size_bytes: int
    section: str
    alignment: int


@dataclass(frozen=True, kw_only=True, slots=True)
class SetView:
    """Pools and constants in C, which a bundle's models share."""

    name: str
    """Name of the files with the constants, in front of `_data`."""
    macro: str
    models: tuple[str, ...]
    is_single: bool
    header: str
    """Header with the pools' sizes."""
    sizes: tuple[tuple[str, int], ...]
    """Macros with the sizes of all pools, for a header of their own."""


def pool_views(bundle: Bundle) -> tuple[PoolView, ...]:
    """The writable pools of a bundle."""
    return tuple(
        PoolView(
            object=pool_array(bundle, pool.name),
            size_macro=pool_macro(bundle.prefix, pool.name),
            size_bytes=pool.size_bytes,
            section=pool.section,
            alignment=pool.alignment,
        )
        for pool in bundle.pools
    )


def set_view(bundle: Bundle) -> SetView:
    """The view of a bundle."""
    sizes = [(pool.size_macro, pool.size_bytes) for pool in pool_views(bundle)]
    return SetView(
        name=bundle.prefix,
        macro=bundle.prefix.upper(),
        models=tuple(program.name for program in bundle.programs),
        is_single=bundle.is_single,
        header=f"{bundle.prefix}.h" if bundle.is_single else f"{bundle.prefix}_pools.h",
        sizes=(*sizes, *constant_macros(bundle)),
    )


def constant_macros(bundle: Bundle) -> list[tuple[str, int]]:
    """Macros with the sizes of the constant pools, in bytes."""
    return [(_size_macro(bundle, pool), pool.size_bytes) for pool in bundle.constants]


def _size_macro(bundle: Bundle, pool: ConstantPool) -> str:
    return pool_macro(bundle.prefix, constant_pool(bundle, pool))


# ---- constant pools ---------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class MemberView:
    """A linked constant in the struct of its pool, or padding."""

    offset: int
    padding_bytes: int = 0
    """0 for a constant."""
    arrays: tuple[tuple[str, str, int], ...] = ()
    """(type, name, elements): its own, then those as which others read its bytes, as members of a union.
    Signed integers in hexadecimal are written as the unsigned ones of the union, which hold the same bits."""
    table: str = ""
    """Name of the array that the table of values fills."""
    decoded_bytes: int = 0
    """Bytes after decoding where it is stored compressed, else 0."""
    shared: tuple[str, ...] = ()
    """Who reads all of it, where several do."""
    parts: tuple[str, ...] = ()
    """Who reads a part of it."""
    order: str = ""
    """Order of its elements, in words."""
    data: np.ndarray | None = None
    """Its values."""
    has_bits: bool = False
    """True if the table has the bits of integers, in hexadecimal."""

    @property
    def rows(self) -> str:
        """Its values as text, where they are a table of C."""
        if self.data is None:
            return ""
        return "\n".join(bit_rows(self.data) if self.has_bits else table_rows(numbers(self.data)))


@dataclass(frozen=True, kw_only=True, slots=True)
class ConstantPoolView:
    """A constant pool in C."""

    name: str
    object: str
    layout: str
    """Name of the struct type."""
    size_bytes: int
    size_macro: str
    merged_bytes: int
    section: str
    alignment: int
    members: tuple[MemberView, ...]
    """In offset order; every gap is a member, so no compiler's padding rule matters."""
    has_unions: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class _Uses:
    """Facts about constants by (user of the bundle's constants, role)."""

    packed: Mapping[tuple[str, str], Unpacking]
    """How those are stored that are compressed."""
    constants: Mapping[tuple[str, str], LinkedConstant]
    """The constants of kernels."""
    has_tables: bool
    """False where the application hands over an image: C has types, no values."""

    def has_bits(self, member: ConstantMember) -> bool:
        """True if a member holds packed integers. Those of 64 bits are sums, which are plain numbers."""
        user = member.parts[0].user
        is_plain = user not in self.packed and user in self.constants and self.constants[user].is_plain
        is_short = member.data.dtype.kind in "iu" and member.data.itemsize <= 4
        return self.has_tables and is_short and not is_plain


def constant_views(bundle: Bundle) -> tuple[ConstantPoolView, ...]:
    """Every constant pool of a bundle; raises ValueError where the plan is none a struct can have."""
    uses = _uses(bundle)
    return tuple(_pool(bundle, pool, uses) for pool in bundle.constants)


def _uses(bundle: Bundle) -> _Uses:
    return _Uses(
        packed={
            (bundle.users[program.name, copy.user[0]], copy.user[1]): copy.unpacking
            for program in bundle.programs
            for copy in program.constants.unpacked
            if copy.unpacking is not None
        },
        constants={
            (bundle.users[program.name, prim.name], constant.role): constant
            for program in bundle.programs
            for prim in program.steps.prim_funcs
            for constant in prim.constants
        },
        has_tables=not bundle.programs[0].interface.external,
    )


def _pool(bundle: Bundle, pool: ConstantPool, uses: _Uses) -> ConstantPoolView:
    name = pool_array(bundle, constant_pool(bundle, pool))
    if len({member.name for member in pool.members}) != len(pool.members) or not pool.members:
        raise ValueError(f"constant pool {pool.name}: no members, or two of one name")
    members = tuple(_members(pool, uses))
    return ConstantPoolView(
        name=pool.name,
        object=name,
        layout=f"{name}_layout",
        size_bytes=pool.size_bytes,
        size_macro=_size_macro(bundle, pool),
        merged_bytes=pool.merged_bytes,
        section=pool.section,
        alignment=pool.alignment,
        members=members,
        has_unions=any(len(member.arrays) > 1 for member in members),
    )


def _members(pool: ConstantPool, uses: _Uses) -> Iterator[MemberView]:
    end = 0
    for member in pool.members:
        if member.offset < end or member.offset % member.data.dtype.itemsize:
            raise ValueError(f"constant {member.name}: offset {member.offset} overlaps or is misaligned")
        if end < member.offset:
            yield MemberView(offset=end, padding_bytes=member.offset - end)
        yield _member(member, uses)
        end = member.offset + member.data.nbytes
    if pool.size_bytes < end:
        raise ValueError(f"constant pool {pool.name}: {pool.size_bytes} bytes, members end at {end}")
    if end < pool.size_bytes:
        yield MemberView(offset=end, padding_bytes=pool.size_bytes - end)


def _member(member: ConstantMember, uses: _Uses) -> MemberView:
    size = member.data.nbytes
    whole = [part.user for part in member.parts if part.size_bytes == size]
    parts = dict.fromkeys(part.user[0] for part in member.parts if part.size_bytes < size)
    decoded = (uses.packed[part.user].original_bytes for part in member.parts if part.user in uses.packed)
    # Others may read the same bytes as another type, where that is no character.
    types = [part.dtype for part in member.parts if part.dtype.itemsize > 1]
    table, data = c_name(member.name), member.data
    has_bits = uses.has_bits(member)
    if has_bits and data.dtype.kind == "i":
        data = data.view(f"u{data.itemsize}")
        types.append(data.dtype)
        table = alternative(member, data.dtype)
    others = [
        (array_type(dtype), alternative(member, dtype), size // dtype.itemsize)
        for dtype in dict.fromkeys(types)
        if dtype != member.data.dtype
    ]
    return MemberView(
        offset=member.offset,
        arrays=((array_type(member.data.dtype), c_name(member.name), member.data.size), *others),
        decoded_bytes=max(decoded, default=0),
        shared=tuple(dict.fromkeys(user for user, _ in whole)) if len(member.parts) - len(parts) > 1 else (),
        parts=tuple(parts),
        order=next(
            filter(None, (uses.constants[user].layout for user in whole if user in uses.constants)), ""
        ),
        table=table,
        data=data,
        has_bits=has_bits,
    )


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


# ---- the image of constants -------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class ImagePart:
    """A constant pool in the image of constants."""

    field: str
    layout: str
    """Name of its struct type."""
    offset: int
    padding_offset: int
    padding_bytes: int
    """In front of it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ImageView:
    """The image of constants in C."""

    tag: str
    """Tag of its struct."""
    object: str
    """The array of the test firmware that holds it."""
    file: str
    """Its file in the emitted folder."""
    alignment: int
    size_bytes: int
    size_macro: str
    parts: tuple[ImagePart, ...]
    layout: str
    """Initialiser of the words that tie code and image."""


def image_tag(name: str) -> str:
    """Tag of the struct that an image of constants is."""
    return f"{name}_constants_image"


def constants_file(name: str) -> str:
    """Path of the image of constants below the emitted folder."""
    return f"{name}_constants.bin"


def image_view(bundle: Bundle, digest: bytes) -> ImageView:
    """The view of a bundle's image of constants; `digest` says which code may use it."""
    name = bundle.prefix
    parts: list[ImagePart] = []
    end = _HEADER.size
    for pool, offset in _offsets(bundle.constants):
        word = constant_pool(bundle, pool)
        parts.append(
            ImagePart(
                field=c_name(word),
                layout=f"{name}_{word}_pool_layout",
                offset=offset,
                padding_offset=end,
                padding_bytes=offset - end,
            )
        )
        end = offset + pool.size_bytes
    return ImageView(
        tag=image_tag(name),
        object=f"{name}_constants_bytes",
        file=constants_file(name),
        alignment=max(4, *(pool.alignment for pool in bundle.constants)),
        size_bytes=end,
        size_macro=f"{name}_constants_size".upper(),
        parts=tuple(parts),
        layout=hash_words(digest),
    )


def hash_words(digest: bytes) -> str:
    """The first four words of a hash, in C."""
    return ", ".join(f"0x{word:08x}u" for word in struct.unpack("<4I", digest[:16]))


def _offsets(pools: Iterable[ConstantPool]) -> list[tuple[ConstantPool, int]]:
    """(pool, offset in the image) of each pool."""
    offsets: list[tuple[ConstantPool, int]] = []
    end = _HEADER.size
    for pool in pools:
        offset = -(-end // pool.alignment) * pool.alignment
        offsets.append((pool, offset))
        end = offset + pool.size_bytes
    return offsets


def image_bytes(bundle: Bundle, digest: bytes) -> bytes:
    """The image of a bundle's constants: header, then every pool as its struct lies in memory."""
    content = bytearray()
    for pool, offset in _offsets(bundle.constants):
        content += bytes(offset - _HEADER.size - len(content))
        base = len(content)
        for member in pool.members:
            content += bytes(base + member.offset - len(content))
            content += member.data.astype(member.data.dtype.newbyteorder("<")).tobytes()
        content += bytes(base + pool.size_bytes - len(content))
    size = _HEADER.size + len(content)
    head = _HEADER.pack(CONSTANTS_MAGIC, CONSTANTS_ABI, size, digest[:16], 0)[:-4]
    return head + struct.pack("<I", zlib.crc32(content, zlib.crc32(head))) + bytes(content)


def digest_of(files: Iterable[tuple[str, str]]) -> bytes:
    """SHA-256 of texts under their names: of all code that an image of constants is made for."""
    digest = hashlib.sha256()
    for name, text in sorted(files):
        digest.update(f"{name}\0{len(text.encode())}\0{text}".encode())
    return digest.digest()
