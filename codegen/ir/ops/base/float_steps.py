"""From real numbers or sums to stored integers as onnxruntime does: in float32, halves to even."""

import numpy as np
from numpy.typing import NDArray

from codegen.ir.ops.base.fixed_point import Integers
from codegen.ir.types import TensorType


def stored(values: NDArray[np.float32], result: TensorType, limits: tuple[int, int]) -> np.ndarray:
    """Real numbers in units of the result's scale as integers of the result: halves to even, clipped.

    What is no number becomes the least.
    """
    low, high = limits
    rounded = np.rint(values).astype(np.float64) + result.zero_point
    return np.clip(np.nan_to_num(rounded, nan=low, posinf=high, neginf=low), low, high).astype(
        result.dtype.numpy
    )


def scaled(sums: Integers, scales: NDArray[np.float32]) -> NDArray[np.float32]:
    """Sums in units of the result's scale: a float32 product."""
    with np.errstate(all="ignore"):
        return sums.astype(np.float32) * scales


def dequantized(values: np.ndarray, type_: TensorType) -> NDArray[np.float32]:
    """Stored integers as real numbers, as DequantizeLinear gives them."""
    centred = (values.astype(np.int32) - type_.zero_point).astype(np.float32)
    return centred * np.float32(type_.scale)


def quantized(values: NDArray[np.float32], result: TensorType, limits: tuple[int, int]) -> np.ndarray:
    """Real numbers as stored integers, as QuantizeLinear gives them."""
    with np.errstate(all="ignore"):
        return stored(values / np.float32(result.scale), result, limits)
