"""ARMv7-M kernels: how far results may reach into images, how far patches reach into packed pixels."""

import numpy as np
import pytest

from codegen.ir.ops import Padding2D
from codegen.kernels.base.tiles import patch_line_bytes, tiled_below, tiling
from codegen.kernels.base.window import WindowShape
from codegen.kernels.v7m.tiles import (
    blocks_below,
    patch_end,
    values,
    workspace_bytes,
)
from tests.kernels.layers import integer


def random_window(seed: int, *, outputs: int = 0) -> WindowShape:
    """Any small window; as many channels of the result as of the image unless `outputs` says."""
    rng = np.random.default_rng([seed, 19])
    kernel = (integer(rng, 1, 4), integer(rng, 1, 4)) if rng.random() < 0.8 else (1, 1)
    dilation = (integer(rng, 1, 2), integer(rng, 1, 2))
    stride = (integer(rng, 1, 3), integer(rng, 1, 3)) if rng.random() < 0.5 else (1, 1)
    pads = [integer(rng, 0, kernel[side // 2]) for side in range(4)]
    spans = [(kernel[axis] - 1) * dilation[axis] + 1 for axis in (0, 1)]
    extents = [
        max(1, spans[axis] - sum(pads[2 * axis : 2 * axis + 2])) + integer(rng, 0, 6) for axis in (0, 1)
    ]
    results = [
        (extents[axis] + sum(pads[2 * axis : 2 * axis + 2]) - spans[axis]) // stride[axis] + 1
        for axis in (0, 1)
    ]
    depth, batch = integer(rng, 1, 5), integer(rng, 1, 2)
    return WindowShape(
        image=(batch, extents[0], extents[1], depth),
        result=(batch, results[0], results[1], outputs or depth),
        window=kernel,
        stride=stride,
        dilation=dilation,
        padding=Padding2D(top=pads[0], bottom=pads[1], left=pads[2], right=pads[3]),
    )


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


@pytest.mark.parametrize("most", [4, 2])
@pytest.mark.parametrize("seed", range(60))
def test_distance_of_tiles_is_the_least_safe_one(seed: int, most: int) -> None:
    """Against the order of accesses itself: a tile's windows are read, then its results are written."""
    window = random_window(seed, outputs=1 + seed % 7)
    one_row = window.window == (1, 1) == window.stride and window.result[1:3] == window.image[1:3]
    least, outputs = lowest_reads(window), window.result[3]
    length = len(least) if one_row else window.result[2]
    worst: int | None = None
    for start in range(0, len(least), length):
        for pixel in range(start, start + length, most):
            stop = min(pixel + most, start + length)
            later = [read for read in least[stop:] if read is not None]
            if later:
                bound = stop * outputs - min(later)
                worst = bound if worst is None else max(worst, bound)
    assert tiled_below(window, tiling(window, most)) == worst


@pytest.mark.parametrize("multiplier", [1, 3])
@pytest.mark.parametrize("seed", range(40))
def test_distance_of_blocks_is_the_least_safe_one(seed: int, multiplier: int) -> None:
    """Blocks of four pixels of an image, channel by channel: read from all windows, then written."""
    depth = random_window(seed).image[3]
    window = random_window(seed, outputs=depth * multiplier)
    least, outputs = lowest_reads(window), window.result[3]
    pixels = window.result[1] * window.result[2]
    accesses: list[tuple[int | None, int | None]] = []
    for image in range(window.image[0]):
        for start in range(0, pixels, 4):
            block = range(image * pixels + start, image * pixels + min(start + 4, pixels))
            for output in range(outputs):
                reads = [low + output // multiplier for pixel in block if (low := least[pixel]) is not None]
                accesses.append((min(reads, default=None), None))
                accesses.append((None, block[-1] * outputs + output + 1))
    worst: int | None = None
    lowest: int | None = None
    for read, end in reversed(accesses):
        if read is not None:
            lowest = read if lowest is None else min(lowest, read)
        if end is not None and lowest is not None:
            worst = end - lowest if worst is None else max(worst, end - lowest)
    assert blocks_below(window, multiplier) == worst


@pytest.mark.parametrize("most", [4, 2])
@pytest.mark.parametrize("seed", range(60))
def test_a_patch_is_read_before_pixels_take_its_place(seed: int, most: int) -> None:
    """Value by value, as gathers go; and four bytes less would lose one or end in front of the pixels."""
    window = random_window(seed)
    if not window.is_padded:
        assert patch_end(window, most) == 0
        return

    def is_safe(end: int) -> bool:
        return all(_survives(window, most, count, end) for count in range(1, min(most, window.result[2]) + 1))

    found = patch_end(window, most)
    assert is_safe(found)
    assert not is_safe(found - 4)
    assert workspace_bytes(window, most) == max(found, 2 * most * values(window))


def _survives(window: WindowShape, most: int, count: int, end: int) -> bool:
    lines, taps = window.window
    line, depth = patch_line_bytes(window, count), window.image[3]
    start = end - lines * line
    if start < 0:
        return False
    reads = [
        start + ky * line + (kx * window.dilation[1]) * depth + channel
        for ky, kx, channel in np.ndindex(lines, taps, depth)
    ]
    write = most * values(window) if most == 4 and count <= 2 else 0
    each = 4 if count <= 2 else 8
    for index in range(len(reads)):
        write += each
        if any(read < write for read in reads[index + 1 :]):
            return False
    # The last write may end behind the patch: nothing is read any more.
    return True
