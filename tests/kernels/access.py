"""What each kernel reads and writes, element by element, in the order of its loops: a model of the C code.

An event is the elements of argument `argument` that are read, then the element of the result written (None:
nothing yet). Written from the loops in runtime_c/kernels, not from the formulas of `overlap`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from codegen.ir.ops import ConvAttrs, DepthwiseConvAttrs, PoolAttrs
from codegen.kernels.base.window import WindowShape
from tests.kernels.layers import Layer


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    reads: Sequence[int]
    write: int | None


def events(layer: Layer, argument: int, *, reverse: bool) -> list[Event]:
    """All events of a layer's kernel."""
    op = layer.let.call.op.name
    if op in ("CONV_2D", "DEPTHWISE_CONV_2D", "AVERAGE_POOL_2D", "MAX_POOL_2D"):
        return list(_sliding(layer, reverse=reverse))
    assert not reverse, op
    if op == "FULLY_CONNECTED":
        return list(_rows(layer))
    if op == "SOFTMAX":
        return list(_softmax(layer))
    # All others walk the result; an argument as large as it is read in step.
    count = layer.let.var.type.elements
    assert _shape(layer, argument) and layer.values[argument] is not None
    return [Event(reads=[index], write=index) for index in range(count)]


def below_bytes(layer: Layer, argument: int, found: Sequence[Event]) -> int | None:
    """Least distance from the result's start up to the argument's at which no write hits a later read."""
    read_size, write_size = _sizes(layer, argument)
    worst: int | None = None
    lowest: int | None = None
    for event in reversed(found):
        if event.write is not None and lowest is not None:
            bound = (event.write + 1) * write_size - lowest * read_size
            worst = bound if worst is None else max(worst, bound)
        for element in event.reads:
            lowest = element if lowest is None else min(lowest, element)
    return worst


def above_bytes(layer: Layer, argument: int, found: Sequence[Event]) -> int | None:
    """The mirror: from the argument's start up to the result's."""
    read_size, write_size = _sizes(layer, argument)
    worst: int | None = None
    highest: int | None = None
    for event in reversed(found):
        if event.write is not None and highest is not None:
            bound = (highest + 1) * read_size - event.write * write_size
            worst = bound if worst is None else max(worst, bound)
        for element in event.reads:
            highest = element if highest is None else max(highest, element)
    return worst


def _sizes(layer: Layer, argument: int) -> tuple[int, int]:
    arg = layer.let.call.args[argument]
    assert arg is not None
    return arg.type.dtype.size_bytes, layer.let.var.type.dtype.size_bytes


def _shape(layer: Layer, argument: int) -> tuple[int, ...]:
    arg = layer.let.call.args[argument]
    assert arg is not None
    return arg.type.shape


def _sliding(layer: Layer, *, reverse: bool) -> Iterator[Event]:
    batch, height, width, depth = _shape(layer, 0)
    _, rows, columns, channels = layer.let.var.type.shape
    attrs = layer.let.call.attrs
    assert isinstance(attrs, ConvAttrs | DepthwiseConvAttrs | PoolAttrs)
    kernel = attrs.window if isinstance(attrs, PoolAttrs) else _shape(layer, 1)[1:3]
    dilation = (1, 1) if isinstance(attrs, PoolAttrs) else attrs.dilation
    pixels = [(b, y, x) for b in range(batch) for y in range(rows) for x in range(columns)]
    for b, y, x in reversed(pixels) if reverse else pixels:
        met = [
            ((b * height + row) * width + column) * depth
            for ky in range(kernel[0])
            for kx in range(kernel[1])
            if 0 <= (row := y * attrs.stride[0] - attrs.padding.top + ky * dilation[0]) < height
            and 0 <= (column := x * attrs.stride[1] - attrs.padding.left + kx * dilation[1]) < width
        ]
        for channel in range(channels):
            first, count = _inputs(layer, channel)
            reads = [start + first + i for start in met for i in range(count)]
            yield Event(reads=reads, write=((b * rows + y) * columns + x) * channels + channel)


def _inputs(layer: Layer, channel: int) -> tuple[int, int]:
    """First input channel that feeds an output channel, and how many do."""
    depth, channels = _shape(layer, 0)[3], layer.let.var.type.shape[3]
    if layer.let.call.op.name == "CONV_2D":
        inputs = _shape(layer, 1)[3]
        return channel // (channels // (depth // inputs)) * inputs, inputs
    return channel // (channels // depth), 1


def _rows(layer: Layer) -> Iterator[Event]:
    outputs, inputs = _shape(layer, 1)
    for row in range(layer.let.var.type.elements // outputs):
        for o in range(outputs):
            yield Event(reads=range(row * inputs, (row + 1) * inputs), write=row * outputs + o)


def _softmax(layer: Layer) -> Iterator[Event]:
    depth = layer.let.var.type.shape[-1]
    for start in range(0, layer.let.var.type.elements, depth):
        row = range(start, start + depth)
        yield Event(reads=row, write=None)
        for element in row:
            yield Event(reads=[element], write=element)


def lowest_reads(window: WindowShape) -> list[int | None]:
    """Per result pixel the first image element of its window, from the definition of a window."""
    batch, height, width, depth = window.image
    found: list[int | None] = []
    for b, y, x in np.ndindex(batch, *window.result[1:3]):
        taps = [
            ((b * height + row) * width + column) * depth
            for ky, kx in np.ndindex(*window.window)
            if 0 <= (row := y * window.stride[0] - window.padding.top + ky * window.dilation[0]) < height
            and 0 <= (column := x * window.stride[1] - window.padding.left + kx * window.dilation[1]) < width
        ]
        found.append(min(taps, default=None))
    return found


def below_in_tiles(least: Sequence[int | None], outputs: int, length: int, most: int) -> int | None:
    """Least safe distance in elements where, of rows of `length` pixels, the windows of up to `most` pixels
    are read before their `outputs` are written; `least` as `lowest_reads`."""
    steps: list[tuple[int | None, int | None]] = []
    for start in range(0, len(least), length):
        for pixel in range(start, start + length, most):
            stop = min(pixel + most, start + length)
            steps += [(None, low) for low in least[pixel:stop]]
            steps.append((stop * outputs, None))
    return nearest(steps)


def nearest(steps: Sequence[tuple[int | None, int | None]]) -> int | None:
    """The largest of (end of a write - lowest element read from then on)."""
    worst: int | None = None
    lowest: int | None = None
    for end, low in reversed(steps):
        if low is not None:
            lowest = low if lowest is None else min(lowest, low)
        if end is not None and lowest is not None:
            worst = end - lowest if worst is None else max(worst, end - lowest)
    return worst
