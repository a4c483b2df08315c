"""Operations of a command stream: which bytes of which region each reads and writes.

Registers have the numbers of Arm's register description, as npu_parts.h lists them. A tensor's bytes are
bounded by its first and last element: where rows have gaps, those count as accessed.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

CONSTANTS, SCRATCH, FAST_SCRATCH = 0, 1, 2
"""Regions by Vela's convention."""
OPERATIONS: Mapping[int, str] = {
    0x002: "convolution",
    0x003: "depthwise convolution",
    0x005: "pooling",
    0x006: "element-wise",
    0x010: "copy",
}
_CONVOLUTION, _DEPTHWISE, _ELEMENTWISE, _COPY = 0x002, 0x003, 0x006, 0x010
_UNARY = (5, 6, 7)
"""Modes of element-wise operations with one input: leaky ReLU, absolute value, leading zeros."""
_SCALAR = 0x80
"""Bit of the second input: it is a number in a register."""
_OWN_MEMORY = 0x100
_LONG = 0x4000
_KIND = 0xC000
_CODE = 0x3FF


@dataclass(frozen=True, kw_only=True, slots=True)
class Access:
    """Bytes [start, stop) of a region that one operation reads or writes."""

    region: int
    start: int
    stop: int
    elements_stop: int
    """First byte behind the last element: channels of bricks are padded to 16."""
    moved_bytes: int
    """Bytes of the elements in them, each once."""
    writes: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Operation:
    """One operation: its kind, the weights that it unpacks, what it accesses."""

    kind: str
    weights: int
    macs: int
    """Multiply-accumulates of a convolution."""
    accesses: tuple[Access, ...]


@dataclass(kw_only=True, slots=True)
class _Registers:
    short: dict[int, int] = field(default_factory=dict[int, int])
    long: dict[int, int] = field(default_factory=dict[int, int])

    def count(self, code: int) -> int:
        """A short register that holds one less."""
        return self.short.get(code, 0) + 1


def operations(stream: NDArray[np.uint32]) -> Iterator[Operation]:
    """Every operation that the stream starts, in its order."""
    registers = _Registers()
    position = 0
    words: list[int] = stream.tolist()
    while position < len(words):
        word = words[position]
        code, parameter = word & _CODE, word >> 16
        position += 1
        if word & _KIND == _LONG:
            payload = words[position] if position < len(words) else 0
            registers.long[code] = parameter << 32 | payload
            position += 1
        elif code in OPERATIONS:
            yield _operation(registers, code, parameter)
        elif code >= 0x100:
            registers.short[code] = parameter


def kinds(stream: NDArray[np.uint32]) -> Counter[str]:
    """How many operations of each kind a stream starts."""
    return Counter(operation.kind for operation in operations(stream))


def macs(stream: NDArray[np.uint32]) -> int:
    """Multiply-accumulates of all convolutions that a stream starts."""
    return sum(operation.macs for operation in operations(stream))


def extents(stream: NDArray[np.uint32]) -> dict[int, int]:
    """First byte behind everything that the stream accesses there."""
    ends: dict[int, int] = {}
    for operation in operations(stream):
        for access in operation.accesses:
            ends[access.region] = max(ends.get(access.region, 0), access.stop)
    return ends


def leaves_in_front(stream: NDArray[np.uint32]) -> bool:
    """True if an operation accesses bytes in front of a region: a stride or an address is negative."""
    return any(access.start < 0 for operation in operations(stream) for access in operation.accesses)


def last_element(stream: NDArray[np.uint32], region: int) -> int:
    """First byte of a region behind every element that the stream accesses there."""
    accesses = (access for operation in operations(stream) for access in operation.accesses)
    return max((access.elements_stop for access in accesses if access.region == region), default=0)


ByteRanges = Sequence[tuple[int, int]]
"""First byte and first byte behind, of each."""


def unwritten_reads(
    stream: NDArray[np.uint32], region: int, held: ByteRanges, results: ByteRanges
) -> list[tuple[int, int]]:
    """Bytes of a region that are read, or are of `results`, though nothing wrote them.

    `held`: bytes that are there when the stream begins. Of a tensor its first and its last byte are looked
    at: those are bytes of elements, whatever gaps it has. Where one is missing, all missing bytes count.
    """
    accesses = [access for operation in operations(stream) for access in operation.accesses]
    size = max((access.stop for access in accesses if access.region == region), default=0)
    written = np.zeros(max([size, *(stop for _, stop in (*held, *results))]), np.bool_)
    for start, stop in held:
        written[start:stop] = True
    missing: list[tuple[int, int]] = []

    def need(start: int, stop: int) -> None:
        if stop > start and not written[[start, stop - 1]].all():
            missing.extend(_gaps(written, start, stop))
            written[start:stop] = True

    for operation in operations(stream):
        here = [access for access in operation.accesses if access.region == region]
        for access in here:
            if not access.writes:
                need(access.start, access.elements_stop)
        for access in here:
            if access.writes:
                written[access.start : access.stop] = True
    for start, stop in results:
        need(start, stop)
    return missing


def _gaps(written: NDArray[np.bool_], start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Runs of bytes in [start, stop) that are not written."""
    flags = np.concatenate([[True], written[start:stop], [True]])
    edges = np.flatnonzero(np.diff(flags.astype(np.int8)))
    for low, high in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        yield start + low, start + high


def written_bytes(stream: NDArray[np.uint32], regions: Collection[int]) -> ByteRanges:
    """Bytes that the stream writes in these regions, of one memory: ranges in order that do not touch."""
    ranges = sorted(
        (access.start, access.stop)
        for operation in operations(stream)
        for access in operation.accesses
        if access.writes and access.region in regions
    )
    merged: list[tuple[int, int]] = []
    for start, stop in ranges:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((start, stop))
    return merged


def moved_bytes(stream: NDArray[np.uint32]) -> dict[tuple[int, bool], int]:
    """(region, written or read) -> bytes that all operations move, each tensor once an operation."""
    moved: Counter[tuple[int, bool]] = Counter()
    for operation in operations(stream):
        for access in operation.accesses:
            moved[access.region, access.writes] += access.moved_bytes
    return dict(moved)


def _operation(registers: _Registers, code: int, mode: int) -> Operation:
    if code == _COPY:
        return Operation(kind=OPERATIONS[code], weights=0, macs=0, accesses=tuple(_copied(registers)))
    if code == _ELEMENTWISE:
        accesses = [_input(registers, _output_shape(registers)), _output(registers)]
        if mode not in _UNARY and not registers.short.get(0x180, 0) & _SCALAR:
            accesses.append(_second_input(registers))
        return Operation(kind=OPERATIONS[code], weights=0, macs=0, accesses=tuple(accesses))
    accesses = [_input(registers, _input_shape(registers)), _output(registers)]
    weights = 0
    if code in (_CONVOLUTION, _DEPTHWISE):
        depth = registers.count(0x104) if code == _CONVOLUTION else 1
        weights = math.prod(_kernel(registers)) * depth * registers.count(0x113)
        accesses += _constants(registers)
    pixels = registers.count(0x112) * registers.count(0x111)
    return Operation(kind=OPERATIONS[code], weights=weights, macs=weights * pixels, accesses=tuple(accesses))


def _copied(registers: _Registers) -> Iterator[Access]:
    length = registers.long.get(0x032, 0)
    for region_code, base_code, writes in ((0x130, 0x030, False), (0x131, 0x031, True)):
        region, start = registers.short.get(region_code, 0), registers.long.get(base_code, 0)
        if not region & _OWN_MEMORY:
            yield _run(region, start, length, writes=writes)


def _run(region: int, start: int, length: int, *, writes: bool) -> Access:
    """Bytes side by side."""
    stop = start + length
    return Access(
        region=region & 7, start=start, stop=stop, elements_stop=stop, moved_bytes=length, writes=writes
    )


def _constants(registers: _Registers) -> Iterator[Access]:
    """Weights and scales of the first and, for two cores, the second stream."""
    for region_code, pairs in ((0x128, (0x020, 0x090)), (0x129, (0x022, 0x092))):
        for base in pairs:
            start, length = registers.long.get(base, 0), registers.long.get(base + 1, 0)
            if length:
                yield _run(registers.short.get(region_code, 0), start, length, writes=False)


def _input(registers: _Registers, shape: tuple[int, int, int]) -> Access:
    format_ = registers.short.get(0x105, 0)
    return _tensor(registers, (0x000, 0x10A, 0x10F), shape, format_ >> 2 & 3, format_, writes=False)


def _output_shape(registers: _Registers) -> tuple[int, int, int]:
    return registers.count(0x112), registers.count(0x111), registers.count(0x113)


def _kernel(registers: _Registers) -> tuple[int, int]:
    """Rows and columns of a kernel; its registers say what these span."""
    stride = registers.short.get(0x122, 0)
    rows, columns = registers.short.get(0x121, 0), registers.short.get(0x120, 0)
    return rows // (1 + (stride >> 4 & 1)) + 1, columns // (1 + (stride >> 3 & 1)) + 1


def _input_shape(registers: _Registers) -> tuple[int, int, int]:
    """Rows and columns that windows reach without padding, half of them where the input is upscaled."""
    stride = registers.short.get(0x122, 0)
    upscale = 2 if registers.short.get(0x107, 0) & 3 else 1
    axes = (
        (0x112, 0x121, 1 + (stride >> 1 & 1) + 2 * (stride >> 9 & 7), (0x100, 0x103)),
        (0x111, 0x120, 1 + (stride & 1) + 2 * (stride >> 6 & 7), (0x101, 0x102)),
    )
    sizes: list[int] = []
    for results, span, step, pads in axes:
        padding = sum(registers.short.get(code, 0) & 0xFF for code in pads)
        reached = registers.short.get(results, 0) * step + registers.count(span) - padding
        sizes.append(max(-(-reached // upscale), 1))
    return sizes[0], sizes[1], registers.count(0x104)


def _second_input(registers: _Registers) -> Access:
    format_, broadcast = registers.short.get(0x185, 0), registers.short.get(0x180, 0)
    height, width, depth = (
        1 if broadcast >> bit & 1 else extent for bit, extent in enumerate(_output_shape(registers))
    )
    shape = height, width, depth
    return _tensor(registers, (0x080, 0x18A, 0x18F), shape, format_ >> 2 & 3, format_, writes=False)


def _output(registers: _Registers) -> Access:
    format_ = registers.short.get(0x114, 0)
    shape = _output_shape(registers)
    return _tensor(registers, (0x010, 0x11A, 0x11F), shape, format_ >> 1 & 3, format_, writes=True)


def _tensor(
    registers: _Registers,
    codes: tuple[int, int, int],
    shape: tuple[int, int, int],
    element: int,
    format_: int,
    *,
    writes: bool,
) -> Access:
    """`codes`: first base, width of the left tiles, region; `element`: logarithm of an element's bytes."""
    base, width0, region = codes
    height, width, depth = shape
    column, row, brick = (_signed(registers.long.get(base + offset, 0)) for offset in (4, 5, 6))
    left = min(width, registers.count(width0))
    upper_left = min(height, registers.count(width0 + 1))
    upper_right = min(height, registers.count(width0 + 2))
    tiles = (
        (0, upper_left, left),
        (1, upper_right, width - left),
        (2, height - upper_left, left),
        (3, height - upper_right, width - left),
    )
    starts: list[int] = []
    stops: list[tuple[int, int]] = []
    for number, rows, columns in tiles:
        if rows <= 0 or columns <= 0:
            continue
        start = registers.long.get(base + number, 0)
        if format_ & 0x40:
            steps = (depth - 1) // 16 * brick, (rows - 1) * row, (columns - 1) * (16 << element)
            whole, held = 16, (depth - 1) % 16 + 1
        else:
            steps = (rows - 1) * row, (columns - 1) * column
            whole = held = depth
        end = start + sum(max(step, 0) for step in steps)
        starts.append(start + sum(min(step, 0) for step in steps))  # some tensors run backwards
        stops.append((end + (whole << element), end + (held << element)))
    return Access(
        region=registers.short.get(region, 0) & 7,
        start=min(starts),
        stop=max(stop for stop, _ in stops),
        elements_stop=max(stop for _, stop in stops),
        moved_bytes=(height * width * depth) << element,
        writes=writes,
    )


def _signed(register: int) -> int:
    value = register & ((1 << 40) - 1)
    return value - (1 << 40) if value >> 39 else value
