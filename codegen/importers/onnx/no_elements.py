"""Values without elements (an extent is 0): what they are, and what is reduced of them."""

from collections.abc import Sequence

import numpy as np

from codegen.importers.reporting import Refused


def without_elements(shape: Sequence[int], dtype: str) -> np.ndarray:
    """Nothing, of this shape. Raises Refused E305 where extents beside the 0 are beyond what NumPy counts."""
    try:
        return np.zeros(shape, dtype)
    except ValueError:
        raise Refused("E305", f"has shape {list(shape)}, which is too large") from None


def reduced_none(op: str, data: np.ndarray, axes: Sequence[int], *, keep: bool) -> np.ndarray:
    """A reduction of such a value: the number that changes nothing, of a mean 0, as onnxruntime has it.

    `op`: SUM, MEAN, REDUCE_MAX or REDUCE_MIN. The result has elements where every 0 is reduced.
    """
    if data.dtype.kind == "f":
        low, high = -np.inf, np.inf
    else:
        low, high = (np.iinfo(data.dtype).min, np.iinfo(data.dtype).max) if data.dtype != bool else (0, 1)
    number = {"SUM": 0, "MEAN": 0, "REDUCE_MAX": low, "REDUCE_MIN": high}[op]
    extents = [1 if axis in axes else extent for axis, extent in enumerate(data.shape)]
    shape = extents if keep else [extent for axis, extent in enumerate(extents) if axis not in axes]
    return np.full(shape, number, data.dtype)
