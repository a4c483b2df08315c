"""Short ways to write tensor types in tests."""

import numpy as np

from codegen.ir import DType, Quantization, TensorType


def i8(*shape: int, scale: float = 0.5, zero_point: int = 0) -> TensorType:
    """int8, quantised per tensor; the scale is rounded to float32."""
    quantization = Quantization(scales=(float(np.float32(scale)),), zero_points=(zero_point,))
    return TensorType(shape=shape, dtype=DType.INT8, quantization=quantization)


def i8_channels(*shape: int, scales: tuple[float, ...], axis: int, zero_point: int = 0) -> TensorType:
    """int8, quantised along `axis`."""
    exact = tuple(float(np.float32(scale)) for scale in scales)
    quantization = Quantization(scales=exact, zero_points=(zero_point,) * len(exact), axis=axis)
    return TensorType(shape=shape, dtype=DType.INT8, quantization=quantization)


def i32(*shape: int, scale: float | None = None) -> TensorType:
    """int32, with a scale if given."""
    quantization = None if scale is None else Quantization(scales=(scale,), zero_points=(0,))
    return TensorType(shape=shape, dtype=DType.INT32, quantization=quantization)


def f32(*shape: int) -> TensorType:
    """float32."""
    return TensorType(shape=shape, dtype=DType.FLOAT32)


def i16(*shape: int, scale: float | None = None, zero_point: int = 0) -> TensorType:
    """int16, quantised per tensor if a scale is given."""
    quantization = None if scale is None else Quantization(scales=(scale,), zero_points=(zero_point,))
    return TensorType(shape=shape, dtype=DType.INT16, quantization=quantization)
