"""Where the buffers of a call lie: each alone beside closed memory, and overlapping as far as is stated."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from codegen.ir import Board, Var
from codegen.kernels.primfunc import PrimFunc
from tests.fuzz.rows import RING, Rows, ring_bytes, rows_of

SLOT_BYTES = 32 * 1024
SLOTS = 5
"""Rooms for buffers between closed memory; with code, its data and a stack as many as an MPU has regions."""
HARNESS_BYTES = 64 * 1024
GAP_BYTES = 32
"""Painted bytes around a buffer where nothing is closed."""
SMALL_HARNESS_BYTES = 3 * 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class Buffer:
    """`argument`: index of the argument that lies in it at first; `workspace`: its name."""

    address: int
    size_bytes: int
    front: int = 0
    back: int = 0
    argument: int | None = None
    workspace: str | None = None
    is_kept: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """One call of `prim.symbol` or of what runs it backwards, or (`rows`) calls of its row kernel; the first
    buffer is the result's."""

    prim: PrimFunc
    buffers: tuple[Buffer, ...]
    side: str
    paint: int
    rows: Rows | None = None

    def place(self, argument: int | None = None, workspace: str | None = None) -> int:
        """Number of the buffer of an argument or a workspace; raises KeyError."""
        for number, buffer in enumerate(self.buffers):
            if (argument is not None and buffer.argument == argument) or (
                workspace is not None and buffer.workspace == workspace
            ):
                return number
        raise KeyError(argument if workspace is None else workspace)


@dataclass(frozen=True, kw_only=True, slots=True)
class Room:
    """Memory for buffers. `is_closed`: everything around it is."""

    start: int
    size_bytes: int
    is_closed: bool


def rooms(board: Board) -> tuple[Room, ...]:
    """Slots between closed memory, or all that is left where there is no MPU."""
    region = board.region(board.data_region)
    if board.mpu is None:
        start = region.address + SMALL_HARNESS_BYTES
        return (Room(start=start, size_bytes=region.size_bytes - SMALL_HARNESS_BYTES, is_closed=False),)
    first = region.address + 2 * HARNESS_BYTES
    return tuple(
        Room(start=first + 2 * number * SLOT_BYTES, size_bytes=SLOT_BYTES, is_closed=True)
        for number in range(SLOTS)
    )


class DoesNotFit(Exception):
    """The board has no room for these buffers."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Need:
    size_bytes: int
    alignment: int
    argument: int | None = None
    workspace: str | None = None


def calls(prim: PrimFunc, board: Board) -> Iterator[Call]:
    """Low in their rooms, high in them, over an argument at each stated distance, and row by row if blocks
    can run it, low or high. Raises DoesNotFit."""
    for side, paint in (("low", 0xA5), ("high", 0x5A)):
        yield Call(prim=prim, buffers=_apart(_needs(prim), board, side == "low"), side=side, paint=paint)
    step = max(prim.argument_alignment, 1)
    for rule in prim.sharing:
        if rule.below is not None:
            distance = -(-rule.below // step) * step
            yield _over(prim, board, rule.argument, distance, "below")
        if rule.above is not None and prim.reverse is not None:
            distance = -(-rule.above // step) * step
            back = replace(prim, symbol=prim.reverse.symbol, sources=prim.reverse.sources)
            yield _over(back, board, rule.argument, -distance, "above")
    rows = rows_of(prim)
    if rows is not None:
        is_low = prim.let.var.type.elements % 2 == 0
        buffers = _apart(_row_needs(prim, rows), board, is_low)
        yield Call(prim=prim, buffers=buffers, side="row by row", paint=0x5A, rows=rows)


def _needs(prim: PrimFunc) -> list[_Need]:
    """The result, the arguments that are computed (one that is replaced is the result), the workspaces."""
    least = prim.argument_alignment
    found = [_Need(size_bytes=prim.let.var.type.size_bytes, alignment=least, argument=prim.in_place)]
    for index, arg in enumerate(prim.let.call.args):
        if isinstance(arg, Var) and index != prim.in_place:
            found.append(_Need(size_bytes=arg.type.size_bytes, alignment=least, argument=index))
    spaces = prim.workspaces
    return found + [_Need(size_bytes=s.size_bytes, alignment=s.alignment, workspace=s.name) for s in spaces]


def _row_needs(prim: PrimFunc, rows: Rows) -> list[_Need]:
    """The result; the ring, or all arguments where elements are taken one by one; the row's workspace."""
    least = prim.argument_alignment
    if rows.stripes:
        result = _Need(size_bytes=prim.let.var.type.size_bytes, alignment=least)
        found = [result, _Need(size_bytes=ring_bytes(prim, rows), alignment=least, workspace=RING)]
    else:
        found = [need for need in _needs(prim) if need.workspace is None]
    space = rows.kernel.workspace
    if space is not None:
        found.append(_Need(size_bytes=space.size_bytes, alignment=space.alignment, workspace=space.name))
    return found


def _apart(needs: list[_Need], board: Board, low: bool) -> tuple[Buffer, ...]:
    """Each in a room of its own where there are enough, against its lower or its upper end."""
    given = rooms(board)
    shares: list[list[_Need]] = [[] for _ in given]
    for number, need in enumerate(needs):
        shares[min(number, len(given) - 1)].append(need)
    found: dict[int, Buffer] = {}
    for room, share in zip(given, shares, strict=True):
        for need, buffer in zip(share, _in_room(share, room, low), strict=True):
            found[id(need)] = buffer
    return tuple(found[id(need)] for need in needs)


def _in_room(share: list[_Need], room: Room, low: bool) -> list[Buffer]:
    """One after the other from the lower end, or from the upper end down."""
    around = 0 if room.is_closed else GAP_BYTES
    found: list[Buffer] = []
    place = room.start + around if low else room.start + room.size_bytes - around
    for need in share:
        if low:
            start = -(-place // need.alignment) * need.alignment
            place = start + need.size_bytes + GAP_BYTES
        else:
            start = (place - need.size_bytes) // need.alignment * need.alignment
            place = start - GAP_BYTES
        front = min(GAP_BYTES, start - room.start)
        back = min(GAP_BYTES, room.start + room.size_bytes - start - need.size_bytes)
        if start < room.start or back < 0 or (not room.is_closed and min(front, back) < GAP_BYTES):
            raise DoesNotFit
        found.append(_buffer(need, start, front, back))
    return found


def _buffer(need: _Need, start: int, front: int, back: int) -> Buffer:
    is_kept = need.argument is not None and need.workspace is None
    return Buffer(
        address=start,
        size_bytes=need.size_bytes,
        front=front,
        back=back,
        argument=need.argument,
        workspace=need.workspace,
        is_kept=is_kept,
    )


def _over(prim: PrimFunc, board: Board, argument: int, distance: int, side: str) -> Call:
    """The result `distance` bytes below argument `argument`, both in one room."""
    needs = _needs(prim)
    result, over = needs[0], next(need for need in needs if need.argument == argument)
    start, stop = min(0, distance), max(result.size_bytes, distance + over.size_bytes)
    both = replace(result, size_bytes=stop - start, alignment=max(result.alignment, over.alignment))
    others = [need for need in needs if need is not result and need is not over]
    first, *rest = _apart([both, *others], board, True)
    under = _buffer(result, first.address - start, 0, 0)
    image = replace(_buffer(over, first.address - start + distance, 0, 0), is_kept=False)
    return Call(prim=prim, buffers=(under, image, *rest), side=side, paint=0xA5)
