"""Outputs against the reference: integers and float64 are equal, float32 by max|d| <= 1e-5 * max|y|."""

import hashlib
from dataclasses import dataclass

import numpy as np

from codegen.ir import TensorType

FLOAT_TOLERANCE = 1e-5


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """One output of one case. `differing` counts elements; `first` is the flat index of the first one."""

    matches: bool
    max_abs_difference: float
    differing: int
    first: int | None
    sha256: str
    """Of the measured bytes."""


def compare(measured: np.ndarray, expected: np.ndarray) -> Comparison:
    """Compare two arrays of equal shape and dtype; NaN equals NaN only at the same place.

    Raises ValueError if shapes or dtypes differ.
    """
    if measured.shape != expected.shape or measured.dtype != expected.dtype:
        raise ValueError(f"{measured.dtype}{measured.shape} against {expected.dtype}{expected.shape}")
    digest = hashlib.sha256(np.ascontiguousarray(measured).tobytes()).hexdigest()
    left, right = measured.astype(np.float64).ravel(), expected.astype(np.float64).ravel()
    # Integers of 64 bits as they are: beyond 2^53 a float64 holds not each of them.
    same = (measured == expected).ravel() | (np.isnan(left) & np.isnan(right))
    with np.errstate(invalid="ignore"):
        difference = np.where(same, 0.0, np.abs(left - right))
    difference = np.where(np.isnan(difference), np.inf, difference)
    if measured.dtype == np.float32:
        finite = np.abs(right[np.isfinite(right)])
        allowed = FLOAT_TOLERANCE * float(finite.max(initial=0.0))
        wrong = difference > allowed
    else:
        wrong = ~same
    indices = np.flatnonzero(wrong)
    return Comparison(
        matches=indices.size == 0,
        max_abs_difference=float(difference.max(initial=0.0)),
        differing=int(indices.size),
        first=int(indices[0]) if indices.size else None,
        sha256=digest,
    )


def array(data: bytes, type_: TensorType) -> np.ndarray:
    """Bytes from the target (little endian) as an array of `type_`."""
    return (
        np.frombuffer(data, dtype=type_.dtype.numpy.newbyteorder("<"))
        .astype(type_.dtype.numpy)
        .reshape(type_.shape)
    )
