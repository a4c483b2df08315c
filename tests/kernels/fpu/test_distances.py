"""Distances of the FPU kernels against a simulation of what they read and write, element by element."""

from collections.abc import Iterator

import numpy as np
import pytest

from codegen.ir.ops import ConvAttrs, DepthwiseConvAttrs
from codegen.ir.ops.base.operands import narrow
from codegen.kernels.base.weighted import window_of
from codegen.kernels.base.window import WindowShape
from codegen.kernels.fpu.tiles import depthwise_below, product_below, spans, taps_inside
from codegen.kernels.rows import Axis
from tests.kernels.fpu.layers import float_layer

Access = tuple[set[int], set[int]]
"""Elements of the image that are read, then elements of the result that are written."""


def windows() -> Iterator[WindowShape]:
    for seed in range(240):
        let = float_layer(seed).let
        if let.call.op.name == "CONV_2D":
            window = window_of(let, narrow(let.call.attrs, ConvAttrs))
        elif let.call.op.name == "DEPTHWISE_CONV_2D":
            window = window_of(let, narrow(let.call.attrs, DepthwiseConvAttrs))
        else:
            continue
        if window.result[1] * window.result[2] * window.result[3] < 600:
            yield window


def tiles_of(window: WindowShape) -> Iterator[list[tuple[int, int, int]]]:
    """Pixels (batch, row, column) computed together, from the contract in cg_kernels_fpu.h."""
    batch, rows, columns, _ = window.result
    axis = window.axes[1]
    is_whole = [taps == axis.window for taps in taps_inside(axis)]
    one_row = window.window == (1, 1) == window.stride and not window.is_padded
    one_row = one_row and window.image[:3] == window.result[:3]
    pixels = [(b, y, x) for b in range(batch) for y in range(rows) for x in range(columns)]
    width = len(pixels) if one_row else columns
    for start in range(0, len(pixels), width):
        row = pixels[start : start + width]
        while row:
            together = row[:4]
            alike = len(together) == 4 and (one_row or all(is_whole[x] for _, _, x in together))
            count = 4 if alike else 1
            yield row[:count]
            row = row[count:]


def reads(window: WindowShape, pixel: tuple[int, int, int], channels: range) -> set[int]:
    _, height, width, depth = window.image
    batch, y, x = pixel
    found: set[int] = set()
    for ky in range(window.window[0]):
        for kx in range(window.window[1]):
            row = y * window.stride[0] - window.padding.top + ky * window.dilation[0]
            column = x * window.stride[1] - window.padding.left + kx * window.dilation[1]
            if 0 <= row < height and 0 <= column < width:
                start = ((batch * height + row) * width + column) * depth
                found |= {start + channel for channel in channels}
    return found


def accesses(window: WindowShape, groups: list[range], *, is_depthwise: bool) -> Iterator[Access]:
    _, rows, columns, channels = window.result
    for tile in tiles_of(window):
        for group in groups:
            inputs = group if is_depthwise else range(window.image[3])
            read = set[int]().union(*(reads(window, pixel, inputs) for pixel in tile))
            places = [((b * rows + y) * columns + x) * channels for b, y, x in tile]
            yield read, {place + channel for place in places for channel in group}


def least(events: list[Access]) -> int | None:
    """The largest of (element written + 1 - lowest element still to be read)."""
    worst: int | None = None
    lowest: int | None = None
    for read, written in reversed(events):
        if lowest is not None:
            bound = max(written) + 1 - lowest
            worst = bound if worst is None else max(worst, bound)
        low = min(read, default=None)
        if low is not None:
            lowest = low if lowest is None else min(lowest, low)
    return worst


def test_products() -> None:
    seen = 0
    for window in windows():
        channels = window.result[3]
        whole = channels // 4 * 4
        fours = [range(start, start + 4) for start in range(0, whole, 4)]
        groups = [*fours, *(range(c, c + 1) for c in range(whole, channels))]
        assert product_below(window) == least(list(accesses(window, groups, is_depthwise=False)))
        seen += 1
    assert seen > 60


def test_depthwise() -> None:
    seen = 0
    for window in windows():
        channels = window.result[3]
        if channels == window.image[3] and channels >= 4:
            starts = [min(start, channels - 4) for start in range(0, channels, 4)]
            groups = [range(start, start + 4) for start in starts]
            assert depthwise_below(window) == least(list(accesses(window, groups, is_depthwise=True)))
            seen += 1
    assert seen > 25


@pytest.mark.parametrize(
    ("pad", "stride", "dilation", "expected"),
    [
        (0, 1, 1, [4, 4, 1, 1]),
        (1, 1, 1, [1, 4, 4, 1, 1, 1]),
        (2, 2, 1, [1, 4, 1, 1]),
        (2, 1, 2, [1, 1, 4, 4, 1, 1]),
    ],
)
def test_spans(pad: int, stride: int, dilation: int, expected: list[int]) -> None:
    """An image of 12 columns, a window of 3: pixels without padding in fours."""
    count = (12 + 2 * pad - 2 * dilation - 1) // stride + 1
    axis = Axis(count=count, extent=12, window=3, stride=stride, dilation=dilation, pad=pad)
    window = next(w for w in windows() if w.window == (3, 3))
    shaped = WindowShape(
        image=(1, 3, 12, 1),
        result=(1, 1, count, 1),
        window=(1, 3),
        stride=(1, stride),
        dilation=(1, dilation),
        padding=type(window.padding)(left=pad, right=pad),
    )
    assert shaped.axes[1] == axis
    found = spans(shaped)
    assert [span.stop - span.start for span in found] == expected
    assert all(span.columns == 3 for span in found if span.stop - span.start == 4)
    assert np.diff([span.start for span in found]).tolist() == expected[:-1]
