"""Flash as a treemap: constants and kernels, each as large as its bytes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from codegen.report_file import Report
from codegen.tools.page.treemap import Rect, squarified

WIDTH, HEIGHT = 1060, 300
_GAP, _HEAD = 8, 22
_LETTER, _WIDE_LETTER = 6.8, 10.8
"""Pixels of a letter, and of one of `_WIDE`."""
_WIDE = frozenset("mwMW")
_HEAD_LETTER = 8.0
"""Pixels of a letter of a heading."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FlashTile:
    """A constant or a function. `key`: its bytes in the document; `told`: who uses it."""

    rect: Rect
    kind: str
    name: str
    label: str
    told: str
    size_bytes: int
    key: str


@dataclass(frozen=True, kw_only=True, slots=True)
class TileGroup:
    """Constants or functions that lie together; `key`: their bytes in the document."""

    rect: Rect
    title: str
    heading: str
    """The title, where there is room for it."""
    kind: str
    size_bytes: int
    key: str
    tiles: tuple[FlashTile, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _FlashItem:
    kind: str
    name: str
    told: str
    size_bytes: int
    key: str


@dataclass(frozen=True, kw_only=True, slots=True)
class _Heap:
    title: str
    size_bytes: int
    key: str
    items: tuple[_FlashItem, ...]


def flash_groups(report: Report) -> tuple[TileGroup, ...]:
    """The constant pools and the machine code side by side; nothing where the report tells of none."""
    heaps = sorted(_heaps(report), key=lambda heap: -heap.size_bytes)
    heaps = [heap for heap in heaps if heap.size_bytes]
    rects = squarified([heap.size_bytes for heap in heaps], Rect(x=0, y=0, width=WIDTH, height=HEIGHT))
    return tuple(_group(heap, rect) for heap, rect in zip(heaps, rects, strict=True))


def _heaps(report: Report) -> Iterator[_Heap]:
    for index, pool in enumerate(report.constants.pools if report.constants else ()):
        items = [
            _FlashItem(
                kind="constant",
                name=member.name,
                told=f"read by {', '.join(member.users)}",
                size_bytes=member.bytes,
                key=f"constants.pools[{index}].members[{number}].bytes",
            )
            for number, member in enumerate(pool.members)
        ]
        yield _heap(
            f"constants in {pool.name}", pool.size_bytes, f"constants.pools[{index}].size_bytes", items
        )
    if report.elf is not None:
        items = [
            _FlashItem(
                kind="code",
                name=function.name,
                told="machine code",
                size_bytes=function.bytes,
                key=f"elf.functions[{number}].bytes",
            )
            for number, function in enumerate(report.elf.functions)
        ]
        yield _heap("code of the model", report.elf.model_code_bytes, "elf.model_code_bytes", items)


def _heap(title: str, size_bytes: int, key: str, items: Sequence[_FlashItem]) -> _Heap:
    largest = sorted((item for item in items if item.size_bytes), key=lambda item: -item.size_bytes)
    return _Heap(title=title, size_bytes=size_bytes, key=key, items=tuple(largest))


def _group(heap: _Heap, rect: Rect) -> TileGroup:
    inner = Rect(
        x=rect.x,
        y=rect.y + _HEAD,
        width=max(rect.width - _GAP, 1),
        height=max(rect.height - _HEAD - _GAP, 1),
    )
    places = squarified([item.size_bytes for item in heap.items], inner)
    tiles = tuple(
        FlashTile(
            rect=place,
            kind=item.kind,
            name=item.name,
            label=_label(item.name, place),
            told=item.told,
            size_bytes=item.size_bytes,
            key=item.key,
        )
        for item, place in zip(heap.items, places, strict=True)
    )
    return TileGroup(
        rect=rect,
        title=heap.title,
        heading=heap.title if len(heap.title) * _HEAD_LETTER <= rect.width else "",
        kind=heap.items[0].kind if heap.items else "constant",
        size_bytes=heap.size_bytes,
        key=heap.key,
        tiles=tiles,
    )


def _label(name: str, place: Rect) -> str:
    """The name as far as it fits; nothing where that says nothing."""
    room = place.width - 8
    if place.height < 16 or room < 4 * _LETTER:
        return ""
    widths = accumulate(_WIDE_LETTER if letter in _WIDE else _LETTER for letter in name)
    ends = [(width, width + _LETTER) for width in widths]
    if ends and ends[-1][0] <= room:
        return name
    letters = sum(cut <= room for _, cut in ends)
    return f"{name[:letters]}…" if letters > 2 else ""
