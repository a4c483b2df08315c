"""Functions of one int8 element as tables: their results between any two of its values."""

import numpy as np
from numpy.typing import NDArray

from codegen.ir.dataflow import Range

BYTES = np.arange(-128, 128, dtype=np.int8)
"""Every value, in order."""


def range_of_table(results: NDArray[np.int8], argument: Range) -> Range:
    """The extremes of `results` (those of `BYTES`) between both ends of each element."""
    smallest, largest = (np.zeros((256, 256), np.int8) for _ in range(2))
    for start in range(256):
        smallest[start, start:] = np.minimum.accumulate(results[start:])
        largest[start, start:] = np.maximum.accumulate(results[start:])
    low, high = (end.astype(np.int64) + 128 for end in (argument.low, argument.high))
    return Range(low=smallest[low, high], high=largest[low, high])
