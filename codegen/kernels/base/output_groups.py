"""Outputs of a FULLY_CONNECTED that are computed together, and their weights in the order that reads them."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray


def output_groups(outputs: int, largest: int) -> Iterator[range]:
    """Groups of `largest` outputs, of four, of one."""
    start = 0
    while start < outputs:
        left = outputs - start
        count = largest if left >= largest else 4 if left >= 4 else 1
        yield range(start, start + count)
        start += count


def interleaved(weights: NDArray[np.int8], largest: int) -> NDArray[np.int8]:
    """Weights [outputs, inputs] in groups of outputs; within a group, input after input, one weight an
    output."""
    groups = [
        weights[group.start : group.stop].T.reshape(-1) for group in output_groups(len(weights), largest)
    ]
    return np.concatenate(groups)
