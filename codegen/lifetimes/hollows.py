"""Hollows of a scratch: bytes between values at fixed places, which are free for the whole life of a buffer.

Conflicts of buffers say "below" or "above". So nothing can be planned between two values of one scratch that
are alive at the same time, though room is there. Buffers that fit into such a hollow become parts of the
scratch, at a fixed place too. That never costs anything: all others stay apart from the values around it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from codegen.lifetimes.occupancy import Occupancy
from codegen.problem.problem import Buffer, BufferKind
from codegen.program.program import BufferSlice

Occupancies = Mapping[str, Sequence[Occupancy]]
"""Buffer -> what is in it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FilledHollows:
    """Buffers that are left, what is in them, and places of the others: buffer -> (scratch, offset)."""

    buffers: tuple[Buffer, ...]
    occupancies: Occupancies
    inside: Mapping[str, tuple[str, int]]

    def part(self, part: BufferSlice) -> BufferSlice:
        """Bytes of a buffer, in the buffers that are left."""
        scratch, offset = self.inside.get(part.buffer, (part.buffer, 0))
        return replace(part, buffer=scratch, offset_bytes=offset + part.offset_bytes)


def fill_hollows(
    buffers: Sequence[Buffer], occupancies: Occupancies, scratches: Sequence[str], *, fills_edges: bool
) -> FilledHollows:
    """Put buffers, the largest first, into hollows of `scratches`, ids of buffers in the same pool.

    `fills_edges`: take bytes of a scratch below or above all values too. That may pay, or keep others away.
    """
    left = {buffer.id: buffer for buffer in buffers}
    held = {id_: list(stays) for id_, stays in occupancies.items()}
    inside: dict[str, tuple[str, int]] = {}
    for scratch in scratches:
        for buffer in sorted(buffers, key=lambda b: -b.size_bytes):
            around = left[scratch]
            if buffer.id not in left or buffer.id in scratches or not _may_hold(around, buffer):
                continue
            size = around.size_bytes if fills_edges else None
            offset = _lowest_hollow(buffer, held[scratch], size)
            if offset is not None:
                held[scratch] += _moved(held.pop(buffer.id), offset)
                left[scratch] = _joined(around, left.pop(buffer.id))
                inside[buffer.id] = (scratch, offset)
    return FilledHollows(buffers=tuple(left.values()), occupancies=held, inside=inside)


def _may_hold(scratch: Buffer, part: Buffer) -> bool:
    """True if a scratch is alive as long as another buffer, in the pool that this one would take."""
    is_alive = scratch.start <= part.start < part.stop <= scratch.stop
    return is_alive and part.size_bytes > 0 and part.pool_candidates[0] == scratch.pool_candidates[0]


def _joined(scratch: Buffer, part: Buffer) -> Buffer:
    """A scratch with another buffer in it."""
    size = scratch.size_bytes

    def each_byte(of_scratch: float, of_part: float) -> float:
        return of_scratch + of_part * part.size_bytes / size

    return replace(
        scratch,
        alignment=max(scratch.alignment, part.alignment),
        kind=BufferKind.IO if BufferKind.IO in (scratch.kind, part.kind) else scratch.kind,
        reads=each_byte(scratch.reads, part.reads),
        writes=each_byte(scratch.writes, part.writes),
    )


def _moved(stays: Sequence[Occupancy], offset: int) -> Iterator[Occupancy]:
    for stay in stays:
        yield replace(
            stay,
            offset_bytes=stay.offset_bytes + offset,
            first_byte=stay.first_byte + offset,
            end_byte=stay.end_byte + offset,
        )


def _lowest_hollow(buffer: Buffer, held: Sequence[Occupancy], size: int | None) -> int | None:
    """Lowest offset in a scratch where a buffer lies between values at every time of its life.

    With the `size` of the scratch: anywhere in it.
    """
    meeting = [stay for stay in held if stay.start < buffer.stop and buffer.start < stay.stop]
    low, high = _span(buffer, meeting) if size is None else (0, size)
    offset = _aligned(low, buffer.alignment)
    for stay in sorted(meeting, key=lambda stay: stay.first_byte):
        if stay.first_byte < offset + buffer.size_bytes and offset < stay.end_byte:
            offset = _aligned(stay.end_byte, buffer.alignment)
    return offset if offset + buffer.size_bytes <= high else None


def _span(buffer: Buffer, meeting: Sequence[Occupancy]) -> tuple[int, int]:
    """Bytes [low, high) between values at every time of a buffer's life; (0, 0) if there are none."""
    times = {buffer.start, *(stay.start for stay in meeting if stay.start > buffer.start)}
    times |= {stay.stop for stay in meeting if stay.stop < buffer.stop}
    lows: list[int] = []
    highs: list[int] = []
    for time in times:
        there = [stay for stay in meeting if stay.start <= time < stay.stop]
        if not there:
            return 0, 0
        lows.append(min(stay.end_byte for stay in there))
        highs.append(max(stay.first_byte for stay in there))
    return max(lows), min(highs)


def _aligned(offset: int, alignment: int) -> int:
    return -(-offset // alignment) * alignment
