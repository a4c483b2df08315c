"""Overlap distances against a simulation of the kernels' reads and writes, element by element."""

import numpy as np
import pytest

from codegen.ir import DType
from codegen.ir.ops import Padding2D
from codegen.kernels.base.overlap import first_reads, row_major_below
from codegen.kernels.base.window import WindowShape
from tests.kernels.builders import random_layer
from tests.kernels.calling import bind
from tests.kernels.layers import integer


def random_window(rng: np.random.Generator) -> tuple[WindowShape, int, int]:
    """A window, the result channels fed by one step of input channels, and that step."""
    kernel = (integer(rng, 1, 3), integer(rng, 1, 3))
    dilation = (integer(rng, 1, 2), integer(rng, 1, 2))
    pads = [integer(rng, 0, 3) for _ in range(4)]
    image = (integer(rng, 5, 8), integer(rng, 5, 8))
    stride = (integer(rng, 1, 3), integer(rng, 1, 3))
    sizes = [
        (image[axis] + pads[2 * axis] + pads[2 * axis + 1] - (kernel[axis] - 1) * dilation[axis] - 1)
        // stride[axis]
        + 1
        for axis in (0, 1)
    ]
    steps, outputs, inputs = integer(rng, 1, 3), integer(rng, 1, 3), integer(rng, 1, 3)
    batch = integer(rng, 1, 2)
    window = WindowShape(
        image=(batch, *image, steps * inputs),
        result=(batch, sizes[0], sizes[1], steps * outputs),
        window=kernel,
        stride=stride,
        dilation=dilation,
        padding=Padding2D(top=pads[0], bottom=pads[1], left=pads[2], right=pads[3]),
    )
    return window, outputs, inputs


def _reads(window: WindowShape, place: tuple[int, int, int], channels: range) -> list[int]:
    """Image elements that the window at `place` (batch, row, column) reads of `channels`."""
    _, height, width, depth = window.image
    found: list[int] = []
    for ky in range(window.window[0]):
        for kx in range(window.window[1]):
            y = place[1] * window.stride[0] - window.padding.top + ky * window.dilation[0]
            x = place[2] * window.stride[1] - window.padding.left + kx * window.dilation[1]
            if 0 <= y < height and 0 <= x < width:
                start = ((place[0] * height + y) * width + x) * depth
                found.extend(start + channel for channel in channels)
    return found


def _simulated(window: WindowShape, outputs: int, inputs: int) -> int | None:
    """The largest of (element written + 1 - lowest element still to be read) over all writes, in order."""
    batch, rows, columns, channels = window.result
    places = [(b, y, x) for b in range(batch) for y in range(rows) for x in range(columns)]
    reads = [
        _reads(window, place, range(channel // outputs * inputs, (channel // outputs + 1) * inputs))
        for place in places
        for channel in range(channels)
    ]
    worst: int | None = None
    lowest: int | None = None
    for written in reversed(range(len(reads))):
        if lowest is not None:
            worst = written + 1 - lowest if worst is None else max(worst, written + 1 - lowest)
        for element in reads[written]:
            lowest = element if lowest is None else min(lowest, element)
    return worst


@pytest.mark.parametrize("seed", range(60))
def test_distance_is_safe_and_tight(seed: int) -> None:
    window, outputs, inputs = random_window(np.random.default_rng(seed))
    found = row_major_below(first_reads(window), window.result[3], outputs=outputs, inputs=inputs)
    assert found == _simulated(window, outputs, inputs)


def test_one_pixel_one_channel_may_lie_anywhere() -> None:
    assert row_major_below(np.array([0], np.int64), 1) is None


def test_depthwise_without_stride_is_nearly_in_place() -> None:
    # 3x3, stride 1, padding 1 on a 5x5 image of 4 channels: a pixel is written when the row above it and
    # the pixel before it there are still to be read: (5 + 1) pixels of 4 channels.
    window = WindowShape(
        image=(1, 5, 5, 4),
        result=(1, 5, 5, 4),
        window=(3, 3),
        stride=(1, 1),
        dilation=(1, 1),
        padding=Padding2D(top=1, bottom=1, left=1, right=1),
    )
    assert row_major_below(first_reads(window), 4, outputs=1, inputs=1) == 6 * 4


@pytest.mark.parametrize("op", ["ADD", "SUB", "MUL"])
def test_broadcast_and_constant_arguments_are_not_overwritten(op: str) -> None:
    for seed in range(40):
        layer = random_layer(op, DType.INT8, seed)
        shared = {rule.argument for rule in bind(layer).sharing}
        for index, arg in enumerate(layer.let.call.args):
            assert arg is not None
            same_size = arg.type.elements == layer.let.var.type.elements
            assert (index in shared) == (same_size and f"c{index}" not in layer.constants)


def test_quantise_grows_up_and_dequantise_shrinks_down() -> None:
    found: set[tuple[DType, DType]] = set()
    for op, argument in (
        ("QUANTIZE", DType.FLOAT32),
        ("QUANTIZE", DType.INT32),
        ("QUANTIZE", DType.INT16),
        ("QUANTIZE", DType.INT8),
        ("DEQUANTIZE", DType.INT8),
        ("DEQUANTIZE", DType.INT16),
        ("DEQUANTIZE", DType.INT32),
    ):
        for seed in range(30):
            layer = random_layer(op, argument, seed)
            type_ = layer.let.var.type
            growth = type_.dtype.size_bytes - argument.size_bytes
            distance = growth if growth < 0 else growth * (type_.elements - 1)
            if type_.elements > 1:
                found.add((argument, type_.dtype))
                assert [rule.below for rule in bind(layer).sharing] == [distance]
    assert len(found) == 16  # four by three, int8 to uint8, three back to float32
