"""Calls of kernels as a C program for a board: structs and calls in C, data in one blob beside it."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from codegen.emit.c.spelling import scalar
from codegen.emit.model.structs import Addresses, StructNames, shared_structs, struct_name
from codegen.ir import Board, Region, Var
from codegen.ir.formulas import Formula
from codegen.kernels.call import (
    ArrayArg,
    CallArg,
    ConstantArg,
    CScalar,
    LiteralArg,
    NullArg,
    ResultArg,
    StructArg,
    ValueArg,
    WorkspaceArg,
)
from codegen.kernels.primfunc import PrimFunc
from tests.fuzz.places import HARNESS_BYTES, SMALL_HARNESS_BYTES, Call, rooms
from tests.fuzz.rows import RING, Operands, elements_body, leading, window_body
from tests.fuzz.trials import Trial

ALIGNMENT = 16
BUFFER = struct.Struct("<IIIHHI")
"""A `fuzz_buffer` of target.h."""
PAINTED = 0xFFFFFFFF
"""Its FUZZ_PAINTED."""
FEW_BYTES = 1 << 20
"""A code region smaller than this leaves the blob to the largest other one that is not the data's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """A call of a trial, as the program numbers them."""

    trial: Trial
    call: Call


@dataclass(frozen=True, kw_only=True, slots=True)
class Program:
    """Texts and bytes to build. `c_text` names no address: boards that make the same calls have the same."""

    c_text: str
    assembly: str
    """What is the board's own: the blob, and the ranges that are open."""
    blob: bytes
    linker_script: str
    sources: tuple[str, ...]
    """Below runtime_c."""


class Blob:
    """Bytes side by side, equal ones once."""

    def __init__(self) -> None:
        self.data = bytearray()
        self._known: dict[bytes, int] = {}

    def add(self, data: bytes) -> int:
        """Where `data` lies."""
        if data not in self._known:
            self.data += bytes(-len(self.data) % ALIGNMENT)
            self._known[data] = len(self.data)
            self.data += data
        return self._known[data]


def blob_region(board: Board) -> Region:
    """Where the blob lies."""
    code = board.region(board.code_region)
    others = [r for r in board.regions if r.emulated and r.name not in (code.name, board.data_region)]
    # QEMU loads an image into RAM too; a region that is read only here need not be there.
    others = [r for r in others if r.writable]
    if code.size_bytes >= FEW_BYTES or not others:
        return code
    return max(others, key=lambda region: region.size_bytes)


def program(entries: Sequence[Entry], board: Board) -> Program:
    """One program that makes all calls in order."""
    blob = Blob()
    headers = sorted({header for entry in entries for header in entry.call.prim.headers})
    parts = [f'#include "{header}"' for header in headers]
    parts += ['#include "cg_kernels.h"', '#include "target.h"']
    parts += ["#include <math.h>", "#include <stddef.h>", "#include <string.h>"]
    prims = {entry.call.prim.name: entry.call.prim for entry in entries}
    addresses = {
        (prim.name, constant.role): _in_blob(blob.add(constant.data.tobytes()))
        for prim in prims.values()
        for constant in prim.constants
    }
    structs, names = shared_structs(list(prims.values()), addresses, {}, copies=False)
    known = _Names(addresses=addresses, structs=names)
    parts += structs
    rows: list[str] = []
    functions: dict[str, str] = {}
    lists: dict[str, str] = {}
    for number, entry in enumerate(entries):
        given = Operands()
        body = _body(entry, known, blob, given)
        if body not in functions:
            functions[body] = f"call_{number}"
            taken = "uint8_t *const *at, const void *const *of, const int32_t *n"
            parts.append(f"static void call_{number}({taken})\n{{\n    (void)of, (void)n;\n{body}\n}}")
        pointers = ", ".join(given.pointers) or "NULL"
        if pointers not in lists:
            lists[pointers] = f"of_{number}"
            parts.append(f"static const void *const of_{number}[] = {{{pointers}}};")
        numbers = blob.add(np.array(given.numbers, np.int32).tobytes())
        rows.append(_row(entry, f"{functions[body]}, {lists[pointers]}, {_in_blob(numbers)}", blob))
    table = ["const fuzz_entry fuzz_entries[] = {", *rows, "};"]
    count = f"const uint32_t fuzz_entry_count = {len(entries)};"
    sources = tuple(sorted({source for entry in entries for source in entry.call.prim.sources}))
    return Program(
        c_text="\n".join([*parts, *table, count]) + "\n",
        assembly=_assembly(board),
        blob=bytes(blob.data),
        linker_script=_linker_script(board),
        sources=sources,
    )


def _in_blob(at: int) -> str:
    return f"(const void *)(fuzz_blob + {at})"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Names:
    """How C names constants and parameter structs."""

    addresses: Addresses
    structs: StructNames


def _body(entry: Entry, known: _Names, blob: Blob, given: Operands) -> str:
    call = entry.call
    if call.rows is None:
        arguments = ", ".join(_argument(call, arg, known, given) for arg in call.prim.call_args)
        return f"    {call.prim.symbol}({arguments});"
    before = [_argument(call, arg, known, given) for arg in leading(call.prim, call.rows)]
    if call.rows.stripes:
        image = entry.trial.layer.values[0]
        assert image is not None
        ring = call.place(workspace=RING)
        return window_body(call.prim, call.rows, before, ring, blob.add(image.tobytes()), given)
    computed = [index for index, arg in enumerate(call.prim.let.call.args) if isinstance(arg, Var)]
    places = [call.place(argument=index) for index in computed]
    return elements_body(call.prim, call.rows, before, places, given)


def _literal(value: CScalar | Formula) -> str:
    """A number; layers have fixed sizes."""
    assert not isinstance(value, Formula)
    return scalar(value)


def _argument(call: Call, arg: CallArg, known: _Names, given: Operands) -> str:
    prim: PrimFunc = call.prim
    match arg:
        case StructArg(suffix=suffix):
            return given.pointer(f"&{struct_name(prim, suffix, known.structs)}")
        case ValueArg(index=index):
            is_there = prim.let.call.args[index] is not None
            return f"(void *)at[{call.place(argument=index)}]" if is_there else "NULL"
        case ResultArg():
            return "(void *)at[0]"
        case WorkspaceArg(name=name):
            return f"(void *)at[{call.place(workspace=name)}]"
        case ConstantArg(role=role):
            return given.pointer(known.addresses[prim.name, role])
        case LiteralArg(value=int(value)) if abs(value) <= np.iinfo(np.int32).max:
            return given.number(value)
        case LiteralArg(value=value):
            return _literal(value)
        case NullArg():
            return "NULL"
        case ArrayArg(items=items):
            inner = ", ".join(_argument(call, item, known, given) for item in items)
            return f"(const void *const[]){{{inner}}}"


def _buffers(entry: Entry, blob: Blob) -> str:
    """Address of the call's `fuzz_buffer`s: bytes in the blob, which gcc need not read."""
    rows: list[bytes] = []
    for buffer in entry.call.buffers:
        origin = PAINTED
        if buffer.argument is not None:
            value = entry.trial.layer.values[buffer.argument]
            assert value is not None
            origin = blob.add(value.tobytes())
        kept = buffer.is_kept and buffer is not entry.call.buffers[0]
        rows.append(BUFFER.pack(buffer.address, buffer.size_bytes, origin, buffer.front, buffer.back, kept))
    return _in_blob(blob.add(b"".join(rows)))


def _row(entry: Entry, function: str, blob: Blob) -> str:
    trial = entry.trial
    kind, tolerance = "FUZZ_BYTES", 0.0
    if trial.expected.dtype == np.float32:
        kind = "FUZZ_FLOATS" if trial.tolerance is None else "FUZZ_NEAR"
        tolerance = trial.tolerance or 0.0
    expected = blob.add(trial.expected.tobytes())
    return (
        f"    {{{function}, {_buffers(entry, blob)}, {len(entry.call.buffers)}u, {expected}u, {kind}, "
        f"{scalar(tolerance)}, 0x{entry.call.paint:02x}u}},"
    )


def _assembly(board: Board) -> str:
    """The blob, and what is open: code, the blob, stack and data, the rooms."""
    code, data, blob = board.region(board.code_region), board.region(board.data_region), blob_region(board)
    open_: list[tuple[int, int, int]] = [(code.address, code.size_bytes, 1)]
    if blob.name != code.name:
        open_.append((blob.address, blob.size_bytes, 1))
    open_.append((data.address, HARNESS_BYTES, 0))
    open_ += [(room.start, room.size_bytes, 0) for room in rooms(board)]
    return f""".section .blob, "a"
.balign 16
.global fuzz_blob, fuzz_ranges, fuzz_range_count
fuzz_blob: .incbin "blob"
.balign 4
fuzz_ranges: .word {", ".join(str(number) for row in open_ for number in row)}
fuzz_range_count: .word {len(open_)}
"""


def _linker_script(board: Board) -> str:
    code, data, blob = board.region(board.code_region), board.region(board.data_region), blob_region(board)
    harness = SMALL_HARNESS_BYTES if board.mpu is None else HARNESS_BYTES
    where = "CODE" if blob.name == code.name else "BLOB"
    return f"""ENTRY(fuzz_main)
MEMORY
{{
    CODE (rx) : ORIGIN = {code.address}, LENGTH = {code.size_bytes}
    DATA (rw) : ORIGIN = {data.address}, LENGTH = {harness}
    {"" if where == "CODE" else f"BLOB (r) : ORIGIN = {blob.address}, LENGTH = {blob.size_bytes}"}
}}
SECTIONS
{{
    .text : {{ KEEP(*(.vectors)) *(.text .text.* .rodata .rodata.*) . = ALIGN(16); }} > CODE
    .ARM.exidx : {{ *(.ARM.extab* .ARM.exidx*) }} > CODE
    .blob : ALIGN(16) {{ *(.blob) }} > {where}
    .stack (NOLOAD) : {{ . += {harness - 1024}; fuzz_stack_end = .; }} > DATA
    .bss (NOLOAD) : {{ fuzz_bss_start = .; *(.bss .bss.* COMMON .data .data.*) fuzz_bss_end = .; }} > DATA
}}
"""
