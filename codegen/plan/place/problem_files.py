"""Problems as files: CSV (`id,lower,upper,size`, the format public instances use) and JSON (everything)."""

import csv
import dataclasses
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import msgspec

from codegen.documents import read_text
from codegen.errors import CodegenError, Message, Messages, listed
from codegen.problem.problem import (
    Buffer,
    Conflict,
    Limits,
    Pool,
    Problem,
    count_intersecting,
    intersecting,
    interval_conflicts,
)

SCHEMA = 1
DEFAULT_POOL = Pool(name="pool", region="", limit_bytes=1 << 32)
"""Pool of a CSV file's buffers where none is stated: the whole of a 32-bit address space."""

MAX_FILE_BYTES = 16 << 20
"""Bytes of a problem file."""

MAX_BUFFERS = 20_000
"""Buffers of a problem file."""

MAX_PAIRS = 2_000_000
"""Pairs of buffers alive at the same time; each is a conflict to keep."""

_COLUMNS = ("id", "lower", "upper", "size")
_OPTIONAL = ("alignment",)


def read_problem(
    path: Path, pools: Sequence[Pool] = (DEFAULT_POOL,), limits: Limits | None = None
) -> Problem:
    """The problem in `path`: JSON if it is called `*.json`, else CSV (to lie in `pools`, all allowed).

    `limits`, where given, replace those of the file. Raises CodegenError E212 for a file that cannot be
    read or is malformed, with every line that is wrong.
    """
    try:
        text = read_text(path, MAX_FILE_BYTES)
    except OSError as error:
        raise _malformed(path.name, f"cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise _malformed(path.name, str(error)) from error
    if path.suffix.lower() == ".json":
        return from_json(text, path.name, limits)
    return from_csv(text, pools, path.name, limits)


def from_csv(
    text: str,
    pools: Sequence[Pool] = (DEFAULT_POOL,),
    name: str = "problem.csv",
    limits: Limits | None = None,
) -> Problem:
    """Problem of CSV rows with half-open live intervals; a column `alignment` is optional.

    Buffers alive at the same time are disjoint. Raises CodegenError E212 naming every wrong
    line, of as many lines as there may be buffers.
    """
    rows = csv.reader(io.StringIO(text, newline=""))
    messages = Messages()
    buffers: list[Buffer] = []
    lines: dict[str, int] = {}
    try:
        header = [cell.strip() for cell in next(rows, list[str]())]
        _check_header(header, name)
        for row in rows:
            if row:
                where = f"{name} line {rows.line_num}"
                buffer = _buffer(header, row, pools, where, messages)
                if buffer is not None and buffer.id in lines:
                    text = f"id {buffer.id} is that of line {lines[buffer.id]} too"
                    messages.add("E212", text, where=where)
                elif buffer is not None:
                    lines[buffer.id] = rows.line_num
                    buffers.append(buffer)
            if len(buffers) + len(messages) > MAX_BUFFERS:
                break
    except csv.Error as error:
        raise _malformed(f"{name} line {rows.line_num}", str(error)) from error
    messages.raise_if_any()
    _need_few(buffers, name)
    return Problem(
        buffers=tuple(buffers),
        conflicts=interval_conflicts(buffers),
        pools=tuple(pools),
        limits=limits or Limits(),
    )


def _need_few(buffers: Sequence[Buffer], name: str) -> None:
    """Raise CodegenError E212 for more buffers, or more pairs of them alive together, than are read."""
    if len(buffers) > MAX_BUFFERS:
        raise _malformed(name, f"has more than {MAX_BUFFERS:,} buffers")
    pairs = count_intersecting(buffers)
    if pairs > MAX_PAIRS:
        raise _malformed(name, f"{pairs:,} pairs of buffers are alive together, up to {MAX_PAIRS:,} are read")


_CELLS = "a row is id,lower,upper,size: alive in steps lower to upper - 1, size in bytes, more than 0"


def _check_header(header: Sequence[str], name: str) -> None:
    missing = [column for column in _COLUMNS if column not in header]
    unknown = [column for column in header if column not in _COLUMNS + _OPTIONAL]
    if missing or unknown or len(set(header)) != len(header):
        columns = "".join(
            character if character.isprintable() else "?" for character in ",".join(header)[:200]
        )
        raise _malformed(f"{name} line 1", f"the columns are {columns or 'missing'}")


def _buffer(
    header: Sequence[str], row: Sequence[str], pools: Sequence[Pool], where: str, messages: Messages
) -> Buffer | None:
    if surplus := len(row) - len(header):
        messages.add(
            "E212",
            f"has {abs(surplus)} cells too {'many' if surplus > 0 else 'few'}",
            where=where,
            help=_CELLS,
        )
        return None
    cells = dict(zip(header, row, strict=True))
    id_ = cells.pop("id").strip()
    numbers = {column: _integer(column, cell, where, messages) for column, cell in cells.items()}
    if None in numbers.values():
        return None
    values = {column: number for column, number in numbers.items() if number is not None}
    try:
        return Buffer(
            id=id_,
            start=values["lower"],
            stop=values["upper"],
            size_bytes=values["size"],
            alignment=values.get("alignment", 1),
            pool_candidates=tuple(pool.name for pool in pools),
        )
    except ValueError as error:
        messages.add("E212", str(error), where=where, help=_CELLS)
        return None


def _integer(column: str, cell: str, where: str, messages: Messages) -> int | None:
    text = cell.strip()
    # int() also takes '1_000' and other scripts' digits, and refuses very long numbers in its own words.
    if text.isascii() and text.removeprefix("-").isdigit() and len(text) <= 19:
        return int(text)
    wrong = f"{column} {text[:40]!r} is not a whole number of at most 19 characters"
    messages.add("E212", wrong, where=where, help=_CELLS)
    return None


def to_csv(problem: Problem) -> str:
    """CSV of the problem, for other planners: all buffers, permitted overlaps left out (they are optional).

    A column `alignment` is written only if some buffer needs it. Raises CodegenError E214 if two buffers
    that are never alive together conflict: CSV has no way to say so.
    """
    explained = {(c.first, c.second) for c in interval_conflicts(problem.buffers)}
    empty = {b.id for b in problem.buffers if not b.size_bytes}
    for conflict in problem.conflicts:
        pair = (conflict.first, conflict.second)
        if pair not in explained and pair[::-1] not in explained and not empty.intersection(pair):
            raise CodegenError(
                Message(
                    code="E214",
                    where=f"buffers {conflict.first} and {conflict.second}",
                    text="they conflict though no live interval says so, which CSV cannot express",
                    help="write the problem as JSON",
                )
            )
    aligned = any(buffer.alignment > 1 for buffer in problem.buffers)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS + _OPTIONAL if aligned else _COLUMNS)
    for b in problem.buffers:
        row = [b.id, b.start, b.stop, b.size_bytes]
        writer.writerow([*row, b.alignment] if aligned else row)
    return out.getvalue()


class _Document(msgspec.Struct, forbid_unknown_fields=True):
    schema: int
    buffers: tuple[Buffer, ...]
    conflicts: tuple[Conflict, ...]
    pools: tuple[Pool, ...]
    limits: Limits = msgspec.field(default_factory=Limits)


def to_json(problem: Problem) -> str:
    """JSON of the whole problem; ends with a newline."""
    document = {"schema": SCHEMA, **msgspec.to_builtins(problem)}
    return msgspec.json.format(msgspec.json.encode(document), indent=1).decode() + "\n"


def from_json(text: str, name: str = "problem.json", limits: Limits | None = None) -> Problem:
    """Problem of a JSON document as `to_json` writes it. Raises CodegenError E212 naming line or element."""
    try:
        raw: object = msgspec.json.decode(text)
        document = msgspec.convert(raw, _Document)
    except msgspec.ValidationError as error:
        raise _malformed(name, str(error)) from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise _malformed(f"{name} line {_line(text, str(error))}", str(error)) from error
    if document.schema != SCHEMA:
        raise _malformed(name, f"schema is {document.schema}, this version reads {SCHEMA}")
    unknown = list(_unknown_fields(raw))
    if unknown:
        raise _malformed(name, f"unknown fields: {listed(unknown)}")
    _need_few(document.buffers, name)
    try:
        problem = Problem(
            buffers=document.buffers,
            conflicts=document.conflicts,
            pools=document.pools,
            limits=limits or document.limits,
        )
    except ValueError as error:
        raise _malformed(name, str(error)) from error
    missing = list(_missing_conflicts(document))
    if missing:
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        raise _malformed(name, f"alive together, yet not in conflict: {', '.join(missing[:3])}{more}")
    return problem


def _missing_conflicts(document: _Document) -> Iterator[str]:
    """Pairs whose intervals intersect must be listed, be it with distances that permit every overlap."""
    listed = {frozenset((conflict.first, conflict.second)) for conflict in document.conflicts}
    for i, j in intersecting(document.buffers):
        first, second = document.buffers[i].id, document.buffers[j].id
        if frozenset((first, second)) not in listed:
            yield f"{first} and {second}"


def _unknown_fields(raw: object) -> Iterator[str]:
    """Fields that no type has: msgspec checks this for its own structs, not for dataclasses."""
    document = cast(dict[str, object], raw)
    items = [("limits", Limits, document.get("limits", {}))]
    for key, cls in (("buffers", Buffer), ("conflicts", Conflict), ("pools", Pool)):
        listed = cast(list[object], document[key])
        items += [(f"{key}[{index}]", cls, item) for index, item in enumerate(listed)]
    for path, cls, item in items:
        known = {field.name for field in dataclasses.fields(cls)}
        yield from (f"{path}.{name}" for name in cast(dict[str, object], item) if name not in known)


def _line(text: str, error: str) -> int:
    """Line of the byte that msgspec's message names; the last line where it names none (cut short)."""
    digits = error.rpartition("(byte ")[2].rstrip(")")
    data = text.encode()
    return data[: int(digits) if digits.isdigit() else len(data)].count(b"\n") + 1


def _malformed(where: str, text: str) -> CodegenError:
    return CodegenError(
        Message(
            code="E212",
            where=where,
            text=text,
            help="a problem is CSV with the columns id,lower,upper,size[,alignment], or JSON",
        )
    )
