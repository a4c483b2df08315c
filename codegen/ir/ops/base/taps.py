"""Windows along one axis of an image: which taps meet it, and the smallest window that does the same."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from codegen.ir.operator import Padding2D


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """A tap that meets the image: for the results [first, stop) it reads position `at`, `at + stride`, ..."""

    tap: int
    first: int
    stop: int
    at: int


@dataclass(frozen=True, kw_only=True, slots=True)
class WindowAxis:
    """A window that slides over `extent` elements, with `before` and `after` elements of padding.

    Tap t of result o is at position o * stride - before + t * dilation.
    """

    extent: int
    window: int
    stride: int = 1
    dilation: int = 1
    before: int = 0
    after: int = 0

    @property
    def room(self) -> int:
        """How far the window can move; negative if it does not fit at all."""
        return self.padded - self.reach

    @property
    def padded(self) -> int:
        """Elements of the image and its padding."""
        return self.extent + self.before + self.after

    @property
    def reach(self) -> int:
        """Elements from the first tap to the last, both included."""
        return (self.window - 1) * self.dilation + 1

    @property
    def count(self) -> int:
        """Results; only where the window fits."""
        return self.room // self.stride + 1

    @property
    def _last(self) -> int:
        """How far the last result's window starts behind the first one's."""
        return (self.count - 1) * self.stride

    def hits(self) -> Iterator[Hit]:
        """Taps that meet the image, in order. The work is that of these taps, however large the window."""
        count = self.count
        for tap in range(*self._numbers()):
            origin = tap * self.dilation - self.before
            first = max(0, -(origin // self.stride))
            end = min(count, (self.extent - 1 - origin) // self.stride + 1)
            if first < end:
                yield Hit(tap=tap, first=first, stop=end, at=origin + first * self.stride)

    def _numbers(self) -> tuple[int, int]:
        """The first tap that can meet the image, and the first behind all of those (the gaps between hits
        of a large stride count); equal or crossed where none can."""
        lowest = max(0, -((self._last - self.before) // self.dilation))
        return lowest, min(self.window, (self.extent - 1 + self.before) // self.dilation + 1)

    def cut(self) -> "WindowAxis":
        """Without the taps in front of and behind those that can meet the image: for pools, whose taps
        count only there. Some tap must meet it. The results keep their number and what they read."""
        lowest, stop = self._numbers()
        behind = max(self.window - stop, 0)
        return replace(
            self,
            window=self.window - lowest - behind,
            before=self.before - lowest * self.dilation,
            after=self.after - behind * self.dilation,
        ).short_stride()

    def near(self) -> "WindowAxis":
        """With the smallest dilation that leaves every tap what it meets: for weights, all of which stay.

        Where at most one tap meets the image, the others only have to stay outside.
        """
        if self.window == 1:  # no distance to another tap
            return replace(self, dilation=1).short_stride()
        lowest, stop = self._numbers()
        if self.dilation == 1 or stop - lowest > 1:
            return self.short_stride()
        if stop - lowest == 1:
            met = lowest * self.dilation - self.before
            least = 1
            if lowest > 0:
                least = max(least, met + self._last + 1)
            if lowest < self.window - 1:
                least = max(least, self.extent - met)
            before = lowest * min(least, self.dilation) - met
        else:  # taps below `stop` lie in front of the image, those from it on behind
            least = self.extent + self._last + 1
            before = (stop - 1) * min(least, self.dilation) + self._last + 1
        dilation = min(least, self.dilation)
        if dilation == self.dilation:
            return self.short_stride()
        narrowed = replace(self, dilation=dilation, before=before, after=0)
        return replace(narrowed, after=self.room - narrowed.room).short_stride()

    def short_stride(self) -> "WindowAxis":
        """With a stride that is no longer than what makes the second result impossible."""
        return replace(self, stride=min(self.stride, self.room + 1))


def axes_of(
    image: tuple[int, int],
    window: tuple[int, int],
    *,
    stride: tuple[int, int],
    padding: Padding2D,
    dilation: tuple[int, int] = (1, 1),
) -> tuple[WindowAxis, WindowAxis]:
    """Rows and columns of a window over an image, all in elements."""
    befores, afters = (padding.top, padding.left), (padding.bottom, padding.right)
    rows, columns = (
        WindowAxis(
            extent=image[axis],
            window=window[axis],
            stride=stride[axis],
            dilation=dilation[axis],
            before=befores[axis],
            after=afters[axis],
        )
        for axis in (0, 1)
    )
    return rows, columns


def padding_of(rows: WindowAxis, columns: WindowAxis) -> Padding2D:
    """The padding of both axes."""
    return Padding2D(top=rows.before, bottom=rows.after, left=columns.before, right=columns.after)


Place = tuple[slice, slice, slice]
"""Slices of an NHWC image: batch, rows, columns; all channels."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Meeting:
    """A tap of a two-dimensional window that meets the image."""

    row: int
    column: int
    results: Place
    """The results that read through it."""
    elements: Place
    """Elements that these results read, one pixel each."""


def meetings(rows: WindowAxis, columns: WindowAxis) -> Iterator[Meeting]:
    """Every tap that meets the image, row by row; what lies in the padding is left out."""
    across = tuple(columns.hits())
    for down in rows.hits():
        for beside in across:
            yield Meeting(
                row=down.tap,
                column=beside.tap,
                results=(slice(None), slice(down.first, down.stop), slice(beside.first, beside.stop)),
                elements=(slice(None), _read(down, rows.stride), _read(beside, columns.stride)),
            )


def _read(hit: Hit, stride: int) -> slice:
    return slice(hit.at, hit.at + (hit.stop - hit.first - 1) * stride + 1, stride)
