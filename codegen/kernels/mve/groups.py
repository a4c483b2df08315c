"""How far results may reach into images of kernels that compute groups of three pixels at once.

Groups are counted in the order of computation, through all rows and batches. What is copied first is read
before any pixel of its group is written; otherwise all channels but the last chunk are written while the
group's image is still read. Distances as in `codegen.kernels.overlap`.
"""

import numpy as np
from numpy.typing import NDArray

from codegen.ir import Let
from codegen.kernels.overlap import NOTHING, first_reads, last_reads, sharing_either_way
from codegen.kernels.primfunc import Sharing
from codegen.kernels.window import WindowShape

CHUNK = 16
"""Channels whose sums are kept together, then requantised and written."""


def grouped_sharing(let: Let, window: WindowShape, *, pixels: int, is_copied: bool) -> tuple[Sharing, ...]:
    """The rule for argument 0 of a kernel that computes groups of `pixels`, either way round."""
    channels = window.result[3]
    early = 0 if is_copied else (channels - 1) // CHUNK * CHUNK
    below = grouped_below(first_reads(window), channels, pixels=pixels, early=early)
    above = grouped_above(last_reads(window), channels, pixels=pixels, early=early)
    return sharing_either_way(let, below, above)


def grouped_below(reads: NDArray[np.int64], channels: int, *, pixels: int, early: int) -> int | None:
    """Least safe distance in elements from the start of the result up to the start of the argument.

    `reads` as from `first_reads`; `early` channels of a pixel are written while its group is read.
    None: reads are over before the first write.
    """
    count = len(reads)
    later = np.append(np.minimum.accumulate(reads[::-1])[::-1], NOTHING)
    starts = np.arange(0, count, pixels)
    stops = np.minimum(starts + pixels, count)
    after = later[stops]
    bounds = [(stops * channels - after)[after != NOTHING]]
    if early:
        own = later[starts]
        bounds.append(((stops - 1) * channels + early - own)[own != NOTHING])
    found = np.concatenate(bounds)
    return int(found.max()) if found.size else None


def grouped_above(ends: NDArray[np.int64], channels: int, *, pixels: int, early: int) -> int | None:
    """Least safe distance in elements from the start of the argument up to the start of the result, from the
    last pixel to the first; groups are counted from the last one. `ends` as from `last_reads`."""
    before = np.append(0, np.maximum.accumulate(ends))
    stops = np.arange(len(ends), 0, -pixels)
    starts = np.maximum(stops - pixels, 0)
    later = before[stops] if early else before[starts]
    bounds = (later - starts * channels)[later > 0]
    return int(bounds.max()) if bounds.size else None
