"""How far a result may reach into the argument it is computed from.

A kernel that goes front to back writes result element (pixel p, channel o) at p * O + o and from then on
reads nothing below `future(p, o)` of the argument. A result that starts D below the argument is safe if no
write reaches such an element: D = max(p * O + o + 1 - future(p, o)), in elements. One that goes back to front
reads nothing at or above `future(p, o)` any more: a result that starts D above is safe with
D = max(future(p, o) - p * O - o). Source: diagonal memory optimisation, arXiv 2010.01668; the kernels in
runtime_c/kernels state the order they keep.
"""

import numpy as np
from numpy.typing import NDArray

from codegen.ir import Let, Var
from codegen.kernels.base.window import WindowShape
from codegen.kernels.contract import Sharing
from codegen.kernels.rows import Axis, safe_distance

NOTHING = np.iinfo(np.int64).max
"""Position that stands for "reads nothing any more"."""


def first_reads(window: WindowShape) -> NDArray[np.int64]:
    """First image element that each result pixel's window reads (row-major, batches too), or `NOTHING`."""
    batch, height, width, channels = window.image
    row, row_inside = _first_inside(window.result[1], height, window, 0)
    column, column_inside = _first_inside(window.result[2], width, window, 1)
    starts = (row[:, None] * width + column[None, :]) * channels
    starts = np.where(row_inside[:, None] & column_inside[None, :], starts, NOTHING)
    images = np.arange(batch, dtype=np.int64)[:, None, None] * (height * width * channels)
    return np.where(starts[None] == NOTHING, NOTHING, starts[None] + images).reshape(-1)


def _first_inside(
    count: int, extent: int, window: WindowShape, axis: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """First image row (or column) that a tap of each result row meets, and whether there is one."""
    pad = (window.padding.top, window.padding.left)[axis]
    dilation = window.dilation[axis]
    origin = np.arange(count, dtype=np.int64) * window.stride[axis] - pad
    tap = np.maximum(0, -(origin // dilation))  # the first tap at or after 0: ceil(-origin / dilation)
    met = origin + tap * dilation
    return met, (tap < window.window[axis]) & (met < extent)


def last_reads(window: WindowShape) -> NDArray[np.int64]:
    """End of the last image pixel that each result pixel's window reads (row-major, batches too), or 0."""
    batch, height, width, channels = window.image
    row, row_inside = _last_inside(window.result[1], height, window, 0)
    column, column_inside = _last_inside(window.result[2], width, window, 1)
    ends = (row[:, None] * width + column[None, :] + 1) * channels
    images = np.arange(batch, dtype=np.int64)[:, None, None] * (height * width * channels)
    return np.where((row_inside[:, None] & column_inside[None, :])[None], ends[None] + images, 0).reshape(-1)


def _last_inside(
    count: int, extent: int, window: WindowShape, axis: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Last image row (or column) that a tap of each result row meets, and whether there is one."""
    pad = (window.padding.top, window.padding.left)[axis]
    dilation = window.dilation[axis]
    origin = np.arange(count, dtype=np.int64) * window.stride[axis] - pad
    tap = np.minimum(window.window[axis] - 1, (extent - 1 - origin) // dilation)
    met = origin + tap * dilation
    return met, (tap >= 0) & (met >= 0)


def row_major_below(
    reads: NDArray[np.int64], channels: int, *, outputs: int = 0, inputs: int = 0
) -> int | None:
    """Least safe distance in elements from the start of the result up to the start of the argument.

    `reads` as from `first_reads`, `channels` of the result. With `outputs`, each `outputs` channels read a
    further `inputs` elements up (1 and 1: channel by channel); without, every channel reads the whole window.
    None: reads are over before the first write, any overlap is safe.
    """
    pixels = np.arange(len(reads), dtype=np.int64) * channels
    later = np.minimum.accumulate(reads[::-1])[::-1]
    after = np.append(later[1:], NOTHING)
    bounds = [pixels[after != NOTHING] + channels - after[after != NOTHING]]
    if channels > 1:
        done = np.arange(1, channels, dtype=np.int64)
        ahead = int(np.max(done - (done // outputs * inputs if outputs else 0)))
        reads_anything = reads != NOTHING
        bounds.append(pixels[reads_anything] - reads[reads_anything] + ahead)
    distances = np.concatenate(bounds)
    return int(distances.max()) if distances.size else None


def striped_below(window: WindowShape, *, rows: int, columns: int, channels: int) -> int | None:
    """Least safe distance in elements, as `row_major_below`, of a kernel that goes through the result in
    bands of `rows` rows, in these in stripes of `columns` columns, in these in groups of `channels` image
    channels (the last group of an image counted back from its last channel). Of each it reads all windows,
    then writes: a depthwise kernel one output channel an input channel, others all after all are read.
    """
    batch, height, width, depth = window.image
    outputs = window.result[3]
    down, across = window.axes
    bottoms, first_rows, end_rows = _bands(down, rows)
    rights, firsts, ends = _bands(across, columns)
    groups = np.arange(0, depth, channels, dtype=np.int64)
    written = np.where(groups + channels >= depth, outputs, groups + channels)
    images = np.arange(batch, dtype=np.int64)[:, None]
    row_reads, row_writes = images * height + first_rows, images * down.count + bottoms - 1
    reads = (row_reads[..., None] * width + firsts)[..., None] * depth
    writes = (row_writes[..., None] * across.count + rights - 1)[..., None] * outputs
    # In order: image, band, stripe, group; of each what is read, then what is written.
    events = np.zeros((*writes.shape[:3], len(groups), 2, 2), np.int64)
    events[..., 0, 1] = reads + np.clip(groups, 0, max(depth - channels, 0))
    events[..., 1, 0] = writes + written
    events[..., 1, 1] = NOTHING
    happens = np.ones(events.shape[:-1], np.bool_)
    happens[..., 0] = ((first_rows < end_rows)[:, None] & (firsts < ends))[..., None]
    table = events[happens]
    return safe_distance(table[:, 0], table[:, 1])


def _bands(axis: Axis, results: int) -> NDArray[np.int64]:
    """For bands of `results` results: where each ends, and the positions [first, end) that it reads."""
    bands: list[tuple[int, int, int]] = []
    for start in range(0, axis.count, results):
        stop = min(start + results, axis.count)
        bands.append((stop, *axis.span(start, stop)))
    return np.array(bands, np.int64).T


def row_major_above(ends: NDArray[np.int64], channels: int) -> int | None:
    """Least safe distance in elements from the start of the argument up to the start of the result, for a
    kernel that goes from the last pixel to the first and through each pixel's channels in order.

    `ends` as from `last_reads`, `channels` of the result. From its first write on, pixel p reads its whole
    window again for its last channel, and the pixels before it follow: nothing they read may lie at or above
    its first element. None: reads are over before the first write.
    """
    before = np.append(0, np.maximum.accumulate(ends)[:-1])
    later = np.maximum(before, ends) if channels > 1 else before
    bounds = (later - np.arange(len(ends), dtype=np.int64) * channels)[later > 0]
    return int(bounds.max()) if bounds.size else None


def window_sharing(
    let: Let, window: WindowShape, *, outputs: int, inputs: int, either_way: bool
) -> tuple[Sharing, ...]:
    """The rule for argument 0 of a kernel that slides `window`; `either_way`: it can go back to front too.

    Each `outputs` channels of the result read the next `inputs` channels of the image.
    """
    channels = window.result[3]
    below = row_major_below(first_reads(window), channels, outputs=outputs, inputs=inputs)
    if not either_way:
        return forward_sharing(let, 0, below)
    return sharing_either_way(let, below, row_major_above(last_reads(window), channels))


def sharing_either_way(
    let: Let, below_elements: int | None, above_elements: int | None
) -> tuple[Sharing, ...]:
    """The rule for argument 0 of `let`, whose kernel goes either way round: the result may start
    `below_elements` (of its own) below the argument, or `above_elements` above it; None: any distance."""
    rules = forward_sharing(let, 0, below_elements)
    arg = let.call.args[0]
    if not isinstance(arg, Var):
        return rules
    # The mirror of `forward_sharing`: down to the result's last byte, no rule where apart is as good.
    least, element = 1 - let.var.type.size_bytes, let.var.type.dtype.size_bytes
    above = least if above_elements is None else max(above_elements * element, least)
    if above >= arg.type.size_bytes:
        return rules
    return (Sharing(argument=0, below=rules[0].below if rules else None, above=above),)


def forward_sharing(let: Let, argument: int, below_elements: int | None) -> tuple[Sharing, ...]:
    """The rule for `argument` of `let`: the result may start `below_elements` (of the result) below it.

    No rule for a constant, or where the distance is no better than lying apart.
    """
    arg = let.call.args[argument]
    if not isinstance(arg, Var):
        return ()
    # Any overlap at all is safe: then even a result that starts in the argument's last byte is.
    least = 1 - arg.type.size_bytes
    below = least if below_elements is None else below_elements * let.var.type.dtype.size_bytes
    if below >= let.var.type.size_bytes:
        return ()
    return (Sharing(argument=argument, below=max(below, least)),)


def in_place(let: Let, *arguments: int) -> tuple[Sharing, ...]:
    """The rule for kernels that read element i before they write it, for arguments as large as the result."""
    rules: list[Sharing] = []
    seen: set[str] = set()
    for argument in arguments:
        arg = let.call.args[argument]
        if isinstance(arg, Var) and arg.name not in seen and arg.type.size_bytes == let.var.type.size_bytes:
            seen.add(arg.name)
            rules.append(Sharing(argument=argument, below=0))
    return tuple(rules)
