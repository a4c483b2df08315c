"""Layers of quantised ONNX that may be one step away from onnxruntime's: at halves of inexact sums.

onnxruntime adds an average, and every layer of 16 bits, in float32. Our sums are integers, which are exact.
The two differ only where the exact result is so near to a half that the rounding of float32 decides.
"""

import math

import numpy as np

from codegen.importers.onnx.integer.scales import IntegerTarget
from codegen.importers.onnx.layouts import StepList, Stored
from codegen.ir import DType

_FLOAT32_UNIT = 2.0**-24
_ROUNDINGS = 4
"""Roundings of float32 besides the sum's: an element, quotients by count and scale, our own product."""
_HALVES = "halves of a step, which onnxruntime's float32 may round the other way"
_MOST_SUMS = 1 << 22
"""More are not looked at: then some are taken to be halves."""


def note_average(steps: StepList, image: Stored, count: int, target: IntegerTarget) -> None:
    """Let the report say of an average of `count` elements how many sums are halves, if any are."""
    note = _halves(image, count, target)
    if note:
        steps.may_differ.append(f"{steps.source}: {note}")


def _halves(image: Stored, count: int, target: IntegerTarget) -> str | None:
    """The note about an average; None if no sum is near a half of a step, or float32 is exact."""
    scales = float(image.scale), float(target.scale)
    if all(math.frexp(number)[0] == 0.5 for number in (*scales, float(count))):
        return None
    low, high = ((limit - int(image.zero)) * count for limit in target.dtype.limits)
    if high - low >= _MOST_SUMS:
        return f"some averages are {_HALVES}"
    steps = np.arange(low, high + 1) * (scales[0] / scales[1] / count)
    reach = max(abs(low), abs(high)) / count * scales[0] / scales[1]
    near = np.abs(np.abs(steps - np.floor(steps)) - 0.5) <= (count + _ROUNDINGS) * _FLOAT32_UNIT * reach
    near_halves = int(np.count_nonzero(near))
    if not near_halves:
        return None
    return f"{near_halves:,} of the {len(steps):,} sums of an average are {_HALVES}"


def note_sixteen_bits(steps: StepList, target: IntegerTarget) -> None:
    """Let the report say so of a layer with weights; of 8 bits onnxruntime sums integers."""
    if target.dtype is not DType.INT8:
        text = "of 16 bits, which onnxruntime sums in float32: now and then its result is one step away"
        steps.may_differ.append(f"{steps.source}: {text}")
