"""How a dynamic-range layer quantises its image: by the range of what it is given."""

import numpy as np
from numpy.typing import NDArray

Float = np.float32


def quantised(values: NDArray[np.float32], *, asymmetric: bool) -> tuple[NDArray[np.float64], np.float32]:
    """(`values` in units of the scale, less the zero point, as whole numbers; the scale).

    Source: PortableSymmetricQuantizeFloats and PortableAsymmetricQuantizeFloats, TFLite
    kernels/internal/reference/portable_tensor_utils.cc. Zeros alone have scale 1.
    """
    low, high = values.min(), values.max()
    if asymmetric:
        return _asymmetric(values, min(float(low), 0.0), max(float(high), 0.0))
    reach = max(abs(low), abs(high))
    if reach == 0:
        return np.zeros(values.shape), Float(1)
    stored = _rounded(values * (Float(127) / reach))
    return np.clip(stored, -127, 127), reach / Float(127)


def _asymmetric(
    values: NDArray[np.float32], low: float, high: float
) -> tuple[NDArray[np.float64], np.float32]:
    if low == high:
        return np.zeros(values.shape), Float(1)
    step = (high - low) / 255.0
    from_low, from_high = -128.0 - low / step, 127.0 - high / step
    low_error, high_error = 128.0 + abs(low / step), 127.0 + abs(high / step)
    zero = np.clip(_rounded(np.array(from_low if low_error < high_error else from_high)), -128, 127)
    scale = Float(step)
    stored = _rounded(Float(zero) + values * (Float(1) / scale))
    return np.clip(stored, -128, 127) - zero, scale


def _rounded(values: np.ndarray) -> NDArray[np.float64]:
    """Nearest whole numbers, halves away from zero."""
    whole = np.trunc(values).astype(np.float64)
    rest = values.astype(np.float64) - whole
    return whole + (rest >= 0.5) - (rest <= -0.5)
