"""The memory map people read: a row a step, a column per some bytes of a pool; then a table of buffers.

Which buffers are written over bytes of which, for those who draw plans.
"""

import string
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from codegen.problem.problem import (
    Buffer,
    BufferKind,
    MemoryPlan,
    Placement,
    Problem,
    Times,
    alive_by_step,
    steps_alive,
)
from codegen.program.program import BufferSlice, Program, second_core_steps


def birth_order(buffers: Sequence[Buffer]) -> list[Buffer]:
    """Buffers as they are written; of those born at once in the problem's order, where inputs come first: the
    application has written them before the first step."""
    return sorted(buffers, key=lambda b: b.start)


def under(late: Buffer, ordered: Sequence[Buffer], places: Mapping[str, Placement]) -> list[Buffer]:
    """Buffers with bytes that `late` is written over while they are still alive.

    `ordered`: buffers of one pool in birth order, with `late` among them.
    """
    start, stop = places[late.id].offset, places[late.id].offset + late.size_bytes
    return [
        b
        for b in ordered[: ordered.index(late)]
        if b.stop > late.start and places[b.id].offset < stop and start < places[b.id].offset + b.size_bytes
    ]


_LETTERS = string.ascii_uppercase + string.ascii_lowercase + string.digits
_LIVE_DIGITS = 8
_PEAK = "  <- peak"
_NOTE_WIDTH = 12
_CORE_1 = "  core 1"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Row:
    """A step of the map: the buffers of one pool that are alive in it."""

    index: int
    name: str
    alive: tuple[Buffer, ...]
    live_bytes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class DrawnSteps:
    """The steps of a drawing, in order."""

    names: Sequence[str] = ()
    times: Times = ()
    """The interval of each step."""
    core1: Collection[int] = ()
    """Numbers of the steps that core 1 runs."""


def drawn_steps(program: Program) -> DrawnSteps:
    """The steps of a program."""
    names = [prim.name for prim in program.steps.prim_funcs]
    return DrawnSteps(names=names, times=program.steps.times, core1=second_core_steps(program))


def program_map(program: Program, width: int = 100) -> str:
    """The memory map of a program."""
    return memory_map(
        problem=program.memory.problem,
        plan=program.memory.plan,
        steps=drawn_steps(program),
        slices=program.memory.slices,
        width=width,
    )


def memory_map(
    *,
    problem: Problem,
    plan: MemoryPlan,
    steps: DrawnSteps,
    slices: Mapping[str, BufferSlice],
    width: int = 100,
) -> str:
    """Text of at most `width` columns (80 or more), no trailing blanks, no newline at the end.

    A letter marks the buffer that owns most bytes of a column (letters repeat after 62 buffers), `.` is
    free, `*` a workspace. Live bytes are those covered at the fullest moment of the step; the rows where
    they are most carry the peak mark; `D over C`: D is written over bytes of C while that is still read.
    `slices` names the values that lie in each buffer.
    """
    letters = _letters(problem)
    lines: list[str] = []
    for pool in problem.pools:
        here = [b for b in problem.buffers if plan.placements[b.id].pool == pool.name]
        if here:
            lines.extend(_pool_lines(pool.name, here, plan, steps, letters, width))
            lines.append("")
    lines.extend(_table(problem, plan, steps.times, slices, letters, width))
    return "\n".join(line.rstrip() for line in lines)


def _letters(problem: Problem) -> dict[str, str]:
    """Letters in order of birth."""
    plain = [b for b in problem.buffers if b.kind is not BufferKind.WORKSPACE]
    letters = {b.id: "*" for b in problem.buffers}
    for index, buffer in enumerate(sorted(plain, key=lambda b: b.start)):
        letters[buffer.id] = _LETTERS[index % len(_LETTERS)]
    return letters


def _pool_lines(
    pool: str,
    buffers: Sequence[Buffer],
    plan: MemoryPlan,
    steps: DrawnSteps,
    letters: Mapping[str, str],
    width: int,
) -> list[str]:
    places = plan.placements
    extent = max((places[b.id].offset + b.size_bytes for b in buffers), default=0)
    alive = alive_by_step(buffers, steps.times)
    rows = [
        _row(index, name, steps.times[index][0], alive[index], places)
        for index, name in enumerate(steps.names)
    ]
    name_width = min(max((len(name) for name in steps.names), default=0), 16)
    left = 6 + name_width
    marks = len(_PEAK) + _NOTE_WIDTH + (len(_CORE_1) if steps.core1 else 0)
    column_bytes, columns = _columns(extent, width - left - _LIVE_DIGITS - 3 - marks)
    lines = [
        f"{pool} pool, {extent} bytes (lower bound {plan.lower_bounds.get(pool, 0)}), "
        f"{column_bytes} byte{'s' if column_bytes > 1 else ''} a column",
        " " * left + _ruler(column_bytes, columns).ljust(columns) + "live bytes".rjust(_LIVE_DIGITS + 3),
    ]
    most = max((row.live_bytes for row in rows), default=0)
    for row in rows:
        mark = _PEAK if row.live_bytes == most and most else ""
        cells = _cells(row.alive, places, letters, column_bytes, columns)
        name = _cut(row.name, name_width).ljust(name_width)
        note = _cut(_note(row.alive, places, letters), _NOTE_WIDTH)
        note += _CORE_1 if row.index in steps.core1 else ""
        lines.append(f"{row.index:>4} {name} {cells}{row.live_bytes:>{_LIVE_DIGITS + 3}}{mark}{note}")
    return lines


def _row(index: int, name: str, start: int, alive: Sequence[Buffer], places: Mapping[str, Placement]) -> _Row:
    moments = {start} | {b.start for b in alive if start < b.start}
    live = max(_covered([b for b in alive if b.start <= t < b.stop], places) for t in moments)
    return _Row(index=index, name=name, alive=tuple(alive), live_bytes=live)


def _covered(buffers: Sequence[Buffer], places: Mapping[str, Placement]) -> int:
    """Bytes in at least one of the buffers: overlapping ones count once."""
    total = end = 0
    for start, stop in sorted((places[b.id].offset, places[b.id].offset + b.size_bytes) for b in buffers):
        total += max(stop - max(start, end), 0)
        end = max(end, stop)
    return total


def _note(alive: Sequence[Buffer], places: Mapping[str, Placement], letters: Mapping[str, str]) -> str:
    """Which buffer is written over bytes of which, e.g. `  D over BC`; nothing where none is."""
    ordered = birth_order(alive)
    for late in reversed(ordered):
        if beneath := under(late, ordered, places):
            return f"  {letters[late.id]} over {''.join(letters[b.id] for b in beneath)}"
    return ""


def _columns(extent: int, room: int) -> tuple[int, int]:
    """(bytes a column, columns): the smallest power of two for which the pool fits the room."""
    column_bytes = 1
    while (extent + column_bytes - 1) // column_bytes > room:
        column_bytes *= 2
    return column_bytes, max((extent + column_bytes - 1) // column_bytes, 1)


def _ruler(column_bytes: int, columns: int) -> str:
    """Offsets above every sixteenth column, as long as there is room for them."""
    text = ""
    for column in range(0, columns, 16):
        label = f"0x{column * column_bytes:03x}"
        if column + len(label) <= columns or column == 0:
            text = text.ljust(column) + label
    return text


def _cells(
    alive: Sequence[Buffer],
    places: Mapping[str, Placement],
    letters: Mapping[str, str],
    column_bytes: int,
    columns: int,
) -> str:
    """Who owns most bytes of each column; a later-born buffer wins where two are equal (it overwrites)."""
    owners = ["."] * columns
    most = [0] * columns
    for buffer in birth_order(alive):
        start = places[buffer.id].offset
        stop = start + buffer.size_bytes
        first_column, last_column = start // column_bytes, (stop - 1) // column_bytes
        for column in {first_column, last_column} if first_column <= last_column else ():
            share = min(stop, (column + 1) * column_bytes) - max(start, column * column_bytes)
            if share >= most[column]:
                most[column] = share
                owners[column] = letters[buffer.id]
        whole = max(last_column - first_column - 1, 0)  # nobody has more of these
        most[first_column + 1 : first_column + 1 + whole] = [column_bytes] * whole
        owners[first_column + 1 : first_column + 1 + whole] = [letters[buffer.id]] * whole
    return "".join(owners)


def _table(
    problem: Problem,
    plan: MemoryPlan,
    times: Times,
    slices: Mapping[str, BufferSlice],
    letters: Mapping[str, str],
    width: int,
) -> list[str]:
    """One line a buffer: letter, values, pool, offset, bytes, alignment, first and last step alive."""
    if not problem.buffers:
        return ["no buffers in pools"]
    tied: dict[str, list[str]] = {buffer.id: [] for buffer in problem.buffers}
    for name, part in slices.items():
        tied[part.buffer].append(name)
    names = {id_: ", ".join(values) or id_ for id_, values in tied.items()}
    pool_width = max(4, *(len(pool.name) for pool in problem.pools))
    fixed = 4 + 2 + pool_width + 2 + 8 + 9 + 7 + 2 + 10
    name_width = max(6, min(max(len(name) for name in names.values()), width - fixed))
    numbers = f"{'offset':>8}{'bytes':>9}{'align':>7}"
    lines = [f"id  {'values':<{name_width}}  {'pool':<{pool_width}}  {numbers}  steps"]
    for buffer in problem.buffers:
        place = plan.placements[buffer.id]
        name = _cut(names[buffer.id], name_width).ljust(name_width)
        numbers = f"{f'0x{place.offset:03x}':>8}{buffer.size_bytes:>9}{buffer.alignment:>7}"
        steps = steps_alive(buffer, times)
        lived = f"{steps[0]}..{steps[-1]}" if steps else "-"
        where = f"{place.pool:<{pool_width}}  {numbers}  {lived}"
        lines.append(f"{letters[buffer.id]:<4}{name}  {where}")
    return lines


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 2] + ".."
