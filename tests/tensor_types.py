"""Types of tensors as tests write them: shape, element type, scale and zero point."""

from collections.abc import Sequence

from codegen.ir import DType, Quantization, TensorType


def per_tensor(scale: float, zero: int = 0) -> Quantization:
    """One scale and zero point for all elements."""
    return Quantization(scales=(scale,), zero_points=(zero,))


def per_channel(scales: Sequence[float], axis: int | None = 0) -> Quantization:
    """A scale a channel along `axis`, which a single one does not need; zero points are 0."""
    count = len(scales)
    return Quantization(scales=tuple(scales), zero_points=(0,) * count, axis=axis if count > 1 else None)


def tensor_type(
    shape: Sequence[int] = (),
    dtype: DType = DType.INT8,
    *,
    scale: float | None = None,
    zero: int = 0,
    quantization: Quantization | None = None,
) -> TensorType:
    """A type with `quantization`, or one `scale` and `zero` point, or none."""
    meaning = quantization if scale is None else per_tensor(scale, zero)
    return TensorType(shape=tuple(shape), dtype=dtype, quantization=meaning)


REAL = tensor_type((), DType.FLOAT32)
"""A float32 of any shape: results get theirs from the operator."""
