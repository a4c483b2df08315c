"""What the application owns beside inputs and outputs: pools, and constants in an image of their own."""

import hashlib
import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass

from codegen.emit.c.c_text import macros, members, wrapped
from codegen.emit.c.program_names import c_name, constant_pool, pool_macro
from codegen.program.constants import ConstantPool
from codegen.program.program import Bundle, Program, own_pools

CONSTANTS_MAGIC = 0x4B434743
CONSTANTS_ABI = 1
"""`CG_CONSTANTS_MAGIC` and `CG_CONSTANTS_ABI` of runtime_c/include/cg_constants.h."""

_HEADER = struct.Struct("<3I16sI")
"""`cg_constants_header`: magic, ABI, bytes of the image, layout, CRC-32."""

CHECK_SOURCE = "support/check_constants.c"
"""Below runtime_c: what looks at an image."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """Conditions under each of which a call is refused, and the status it returns then."""

    conditions: tuple[str, ...]
    status: str

    @property
    def alternatives(self) -> tuple[str, ...]:
        """As they stand in an `if`: in parentheses where there are several."""
        return tuple(f"({each})" for each in self.conditions) if len(self.conditions) > 1 else self.conditions


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolsView:
    """The struct with which an application hands its pools over."""

    type: str
    members: str
    macros: str
    """Alignments of the pools."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ImageView:
    """The image of constants in C."""

    tag: str
    """Of its struct."""
    object: str
    """The array of the test firmware that holds it."""
    file: str
    """Its file in the emitted folder."""
    alignment: int
    size_bytes: int
    size_macro: str
    members: str
    offsets: tuple[tuple[str, int], ...]
    """(pool, planned offset)."""
    layout: str
    """Initialiser of the words that tie code and image."""
    prototype: str
    """Of the function that takes an image, as its definition begins."""


def pools_type(program: Program) -> str:
    """C type of the struct that holds a program's pools."""
    return f"{program.name}_workspace_pools"


def alignment_macro(model: str, pool: str) -> str:
    """Name of the macro with a pool's alignment in bytes."""
    return f"{model}_{pool}_pool_alignment".upper()


def pools_view(program: Program) -> PoolsView:
    """The view of a program whose caller owns the pools."""
    rows: list[tuple[str, str]] = []
    sizes: list[tuple[str, str]] = []
    for pool in own_pools(program):
        alignment = alignment_macro(program.name, pool.name)
        rows.append((f"uint8_t *{c_name(pool.name)}", f"a multiple of {alignment}"))
        size = pool_macro(program.name, pool.name)
        rows.append((f"uint32_t {c_name(pool.name)}_size_bytes", f"at least {size}"))
        sizes.append((alignment, f"{pool.alignment}u"))
    if program.interface.external:
        tag = image_tag(program.name)
        rows.append((f"const struct {tag} *constants", f"NULL until {program.name}_set_constants"))
    return PoolsView(type=pools_type(program), members=members(rows), macros=macros(sizes))


def pool_checks(program: Program) -> list[Check]:
    """Whether the caller's pools are there, large enough and aligned; nothing for static ones."""
    if not program.interface.caller_pools:
        return []
    fields = [(pool.name, f"pools->{c_name(pool.name)}") for pool in own_pools(program)]
    missing = ("pools == NULL", *(f"{field} == NULL" for _, field in fields))
    short = tuple(f"{field}_size_bytes < {pool_macro(program.name, pool)}" for pool, field in fields)
    skewed = tuple(
        f"(uintptr_t){field} % {alignment_macro(program.name, pool)} != 0u" for pool, field in fields
    )
    return [
        Check(conditions=missing, status="CG_ERR_NULL_POINTER"),
        Check(conditions=short, status="CG_ERR_POOL_SIZE"),
        Check(conditions=skewed, status="CG_ERR_POOL_ALIGNMENT"),
    ]


def constant_checks(program: Program) -> list[Check]:
    """Whether constants have been handed over; nothing if they are linked."""
    if not program.interface.external:
        return []
    missing = (f"{constants_base(program)} == NULL",)
    return [Check(conditions=missing, status="CG_ERR_CONSTANTS_MISSING")]


def constants_base(program: Program) -> str:
    """The pointer to the image of constants, as steps see it."""
    return "pools->constants" if program.interface.caller_pools else "constants"


def image_tag(name: str) -> str:
    """Tag of the struct that an image of constants is."""
    return f"{name}_constants_image"


def constants_file(name: str) -> str:
    """Path of the image of constants below the emitted folder."""
    return f"{name}_constants.bin"


def image_view(bundle: Bundle, digest: bytes) -> ImageView:
    """The view of a bundle's image of constants; `digest` says which code may use it."""
    program = bundle.programs[0]
    name = bundle.prefix
    rows = [("cg_constants_header header", "see cg_constants.h")]
    end = _HEADER.size
    for pool, offset in _offsets(bundle.constants):
        if offset != end:
            rows.append((f"uint8_t padding_{end:03x}[{offset - end}]", ""))
        field = c_name(constant_pool(bundle, pool))
        rows.append((f"{name}_{constant_pool(bundle, pool)}_pool_layout {field}", f"0x{offset:03x}"))
        end = offset + pool.size_bytes
    given = ["const void *image", "uint32_t size_bytes"]
    own = [f"{pools_type(program)} *pools"] if program.interface.caller_pools else []
    return ImageView(
        tag=image_tag(name),
        object=f"{name}_constants_bytes",
        file=constants_file(name),
        alignment=_alignment(bundle.constants),
        size_bytes=end,
        size_macro=f"{name}_constants_size".upper(),
        members=members([(code, note) for code, note in rows]),
        offsets=tuple(
            (c_name(constant_pool(bundle, pool)), offset) for pool, offset in _offsets(bundle.constants)
        ),
        layout=", ".join(f"0x{word:08x}u" for word in struct.unpack("<4I", digest[:16])),
        prototype=wrapped(f"cg_status {name}_set_constants(", [*own, *given], ")"),
    )


def _alignment(pools: Iterable[ConstantPool]) -> int:
    return max(4, *(pool.alignment for pool in pools))


def _offsets(pools: Iterable[ConstantPool]) -> list[tuple[ConstantPool, int]]:
    """Where each pool begins in the image."""
    found: list[tuple[ConstantPool, int]] = []
    end = _HEADER.size
    for pool in pools:
        offset = -(-end // pool.alignment) * pool.alignment
        found.append((pool, offset))
        end = offset + pool.size_bytes
    return found


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
    found = hashlib.sha256()
    for name, text in sorted(files):
        found.update(f"{name}\0{len(text.encode())}\0{text}".encode())
    return found.digest()
