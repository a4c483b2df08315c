"""Fourier transforms: products with constant matrices, one for the real and one for the imaginary part.

Complex signals whose length is a product are transformed factor by factor (Cooley and Tukey), in float32 and
in the order of additions that NumPy's FFT has.
"""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from codegen.importers.onnx.arithmetic import pair
from codegen.importers.onnx.composed.choosing import stacked, taken
from codegen.importers.onnx.composed.windows import along, turned
from codegen.importers.onnx.layouts import Known, Value
from codegen.importers.onnx.node_site import Site
from codegen.importers.reporting import Refused


def _dft(site: Site) -> Value:
    value = site.value(0)
    site.need_float(value)
    rank = len(value.shape)
    stated = site.integer("axis", 1) if site.opset < 20 else site.whole(2, "the axis") if site.has(2) else -2
    axis = site.axis(stated, rank)
    if axis == rank - 1 or value.shape[-1] not in (1, 2):
        raise Refused(
            "E303", f"transforms axis {axis} of {list(value.shape)}, the last is real and imaginary"
        )
    inverse, onesided = bool(site.integer("inverse", 0)), bool(site.integer("onesided", 0))
    extent = value.shape[axis]
    length = 2 * (extent - 1) if inverse and onesided else extent
    if site.has(1):
        length = site.whole(1, "the length")
    if length < 1:
        raise Refused("E303", f"a transform of length {length}")
    bins = length // 2 + 1
    used = min(extent, bins if inverse and onesided else length)
    value = taken(site, value, np.arange(used), axis)
    site.steps.count_known((length, used, 2))
    angles = np.outer(np.arange(bins if onesided and not inverse else length), np.arange(used))
    angles = angles % length * (2 * np.pi / length)
    return _transformed(site, value, axis, angles, (inverse, onesided), length)


def _transformed(
    site: Site, value: Value, axis: int, angles: np.ndarray, kind: tuple[bool, bool], length: int
) -> Value:
    """The sums of the parts of `value` times exp(i angles), or exp(-i angles) where `kind` is not inverse."""
    inverse, onesided = kind
    if value.shape[-1] == 2 and angles.shape == (length, length) and FAST <= length != _factor(length):
        return _fast(site, value, axis, inverse)
    cosine, sine = np.cos(angles), np.sin(angles) * (1 if inverse else -1)
    if inverse:
        cosine, sine = cosine / length, sine / length
    if inverse and onesided:  # the other half are conjugates
        twice = np.full(angles.shape[1], 2.0)
        twice[0] = 1.0
        if length % 2 == 0 and angles.shape[1] == length // 2 + 1:
            twice[-1] = 1.0
        cosine, sine = cosine * twice, sine * twice

    def product(part: Value, matrix: np.ndarray) -> Value:
        return along(site, part, matrix.astype(np.float32), axis)

    last = len(value.shape) - 1
    real = taken(site, value, np.array([0]), last)
    first, second = product(real, cosine), product(real, sine)
    if value.shape[last] == 2:
        imaginary = taken(site, value, np.array([1]), last)
        first = pair(site, "SUB", [first, product(imaginary, sine)])
        second = pair(site, "ADD", [second, product(imaginary, cosine)])
    return first if inverse and onesided else stacked(site, [first, second], last)


FAST = 8
"""Shortest signal that is transformed factor by factor."""

Parts = tuple[Value, Value]
"""Real and imaginary part."""


def _factor(length: int) -> int:
    """The factor that comes first: 4, once what is left is no 2 alone, or the smallest prime."""
    if length % 4 == 0:
        return 4 if (length & -length).bit_length() % 2 else 2
    return next((n for n in range(2, math.isqrt(length) + 1) if length % n == 0), length)


def _fast(site: Site, value: Value, axis: int, inverse: bool) -> Value:
    """The transform of complex `value` along `axis`, all of its results."""
    steps, last, length = site.steps, len(value.shape) - 1, value.shape[axis]
    order = (*(index for index in range(last + 1) if index != axis), axis)
    lines = turned(value, order)
    real, imaginary = (taken(site, lines, np.array([part]), last - 1) for part in (0, 1))
    count = math.prod(real.shape) // length
    rows = steps.reshape(real, (count, length)), steps.reshape(imaginary, (count, length))
    transformed = [steps.reshape(part, real.shape) for part in _rows(site, rows, 1 if inverse else -1)]
    whole = stacked(site, transformed, last - 1)
    if inverse:
        share = Known(data=np.full((1,) * (last + 1), 1 / length, np.float32))
        whole = pair(site, "MUL", [whole, share])
    return turned(whole, tuple(order.index(index) for index in range(last + 1)))


def _rows(site: Site, parts: Parts, sign: int) -> Parts:
    """The transforms of rows: of their first factor, turned, then of the rest."""
    steps, (count, length) = site.steps, parts[0].shape
    factor = _factor(length)
    rest = length // factor
    apart = (count, factor, rest)
    small = {2: _two, 4: _four}.get(factor, _prime)
    split = small(site, (steps.reshape(parts[0], apart), steps.reshape(parts[1], apart)), sign)
    if rest > 1:
        angles = np.outer(np.arange(factor), np.arange(rest)) * (sign * 2 * np.pi / length)
        real, imaginary = _turned_by(site, split, angles[None])
        inner = (count * factor, rest)
        real, imaginary = _rows(site, (steps.reshape(real, inner), steps.reshape(imaginary, inner)), sign)
        real, imaginary = (turned(steps.reshape(part, apart), (0, 2, 1)) for part in (real, imaginary))
        split = real, imaginary
    return steps.reshape(split[0], (count, length)), steps.reshape(split[1], (count, length))


def _turned_by(site: Site, parts: Parts, angles: np.ndarray) -> Parts:
    """The product with exp(i angles)."""
    cosine, sine = (Known(data=part.astype(np.float32)) for part in (np.cos(angles), np.sin(angles)))
    products = [[pair(site, "MUL", [part, known]) for known in (cosine, sine)] for part in parts]
    real = pair(site, "SUB", [products[0][0], products[1][1]])
    return real, pair(site, "ADD", [products[0][1], products[1][0]])


def _row(site: Site, value: Value, *rows: int) -> Value:
    return taken(site, value, np.array(rows), 1)


def _two(site: Site, parts: Parts, sign: int) -> Parts:
    """The transforms along axis 1 of two elements: their sum and their difference."""
    assert sign, "of two elements both directions are the same"
    real, imaginary = (
        stacked(
            site, [pair(site, op, [_row(site, part, 0), _row(site, part, 1)]) for op in ("ADD", "SUB")], 1
        )
        for part in parts
    )
    return real, imaginary


def _four(site: Site, parts: Parts, sign: int) -> Parts:
    """The transforms along axis 1 of four elements: sums and differences, twice."""
    halves = [(_row(site, part, 0, 1), _row(site, part, 2, 3)) for part in parts]
    sums, differences = (
        [
            [_row(site, both, row) for row in (0, 1)]
            for both in (pair(site, op, list(half)) for half in halves)
        ]
        for op in ("ADD", "SUB")
    )

    def joined(half: int, ops: tuple[str, str]) -> Value:
        even = [pair(site, op, sums[half]) for op in ("ADD", "SUB")]
        odd = [pair(site, op, [differences[half][0], differences[1 - half][1]]) for op in ops]
        return stacked(site, [even[0], odd[0], even[1], odd[1]], 1)

    first, second = ("SUB", "ADD")[::sign], ("ADD", "SUB")[::sign]
    return joined(0, (first[0], first[1])), joined(1, (second[0], second[1]))


def _prime(site: Site, parts: Parts, sign: int) -> Parts:
    """The transforms along axis 1, of an odd extent: sums and differences of mirrored elements first."""
    extent = parts[0].shape[1]
    half = extent // 2
    front = np.arange(1, half + 1)

    def mirrored(part: Value, op: str) -> Value:
        return pair(site, op, [taken(site, part, front, 1), taken(site, part, extent - front, 1)])

    def sums(part: Value) -> Value:
        rows = np.arange(half + 1)
        folded = stacked(site, [_row(site, part, 0), mirrored(part, "ADD")], 1)
        return along(site, folded, np.cos(np.outer(rows, rows) % extent * (2 * np.pi / extent)), 1)

    def differences(part: Value) -> Value:
        sines = sign * np.sin(np.outer(front, front) % extent * (2 * np.pi / extent))
        return along(site, mirrored(part, "SUB"), sines, 1)

    def joined(straight: Value, across: Value, ops: tuple[str, str]) -> Value:
        rest = taken(site, straight, front, 1)
        near, far = (pair(site, op, [rest, across]) for op in ops)
        return stacked(site, [_row(site, straight, 0), near, _row(site, far, *range(half - 1, -1, -1))], 1)

    real, imaginary = parts
    return (
        joined(sums(real), differences(imaginary), ("SUB", "ADD")),
        joined(sums(imaginary), differences(real), ("ADD", "SUB")),
    )


def _stft(site: Site) -> Value:
    """STFT: frames of the signal, each times the window, transformed."""
    value = site.value(0)
    site.need_float(value)
    if len(value.shape) == 2:
        value = site.steps.reshape(value, (*value.shape, 1))
    step = site.whole(1, "the step of frames")
    window = site.value(2) if site.has(2) else None
    if site.has(3):
        length = site.whole(3, "the length of a frame")
    elif window is not None:
        length = window.shape[0]
    else:
        raise Refused("E303", "has neither a window nor a length")
    batch, extent, parts = value.shape
    if step < 1 or not 0 < length <= extent or parts not in (1, 2):
        raise Refused("E303", f"frames of {length}, {step} apart, of a signal {list(value.shape)}")
    count = (extent - length) // step + 1
    places = (np.arange(count)[:, None] * step + np.arange(length)).reshape(-1)
    frames = site.steps.reshape(taken(site, value, places, 1), (batch, count, length, parts))
    if window is not None:
        frames = pair(site, "MUL", [frames, site.steps.reshape(window, (1, 1, length, 1))])
    bins = length // 2 + 1 if site.integer("onesided", 1) else length
    site.steps.count_known((bins, length, 2))
    angles = np.outer(np.arange(bins), np.arange(length)) % length * (2 * np.pi / length)
    return _transformed(site, frames, 2, angles, (False, False), length)


def _mel(site: Site) -> Value:
    """MelWeightMatrix: triangles of frequencies, a column a band."""
    count, length = site.whole(0, "the number of bands"), site.whole(1, "the length")
    names = ("the rate", "the lower edge", "the upper edge")
    rate, low, high = (site.number(2 + index, name) for index, name in enumerate(names))
    if site.integer("output_datatype", 1) != 1:
        raise Refused("E301", "an output_datatype other than float32 is not supported")
    bins = length // 2 + 1
    if count < 1 or bins < 1:
        raise Refused("E303", f"{count} bands of {bins} frequencies")
    site.steps.count_known((bins, count))
    with np.errstate(all="ignore"):
        edges = 2595 * np.log1p(np.array([low, high]) / 700) / np.log(10)
        mel = np.arange(count + 2) * ((edges[1] - edges[0]) / (count + 2)) + edges[0]
        places = (length + 1) * (700 * np.expm1(mel / 2595 * np.log(10))) // rate
    if not all(0 <= place < bins + (index > count) for index, place in enumerate(places)):  # nor no number
        raise Refused("E303", f"bands from {low:g} to {high:g} Hz lie outside 0 to half of {rate:g} Hz")
    points = places.astype(np.int64)
    triangles = np.zeros((bins, count), np.float32)
    for band, (left, middle, right) in enumerate(zip(points, points[1:], points[2:], strict=False)):
        for place in range(left, middle):
            triangles[place, band] = (place - left) / (middle - left)
        triangles[middle, band] = 1
        for place in range(middle, right):
            triangles[place, band] = (right - place) / (right - middle)
    return Known(data=triangles)


NODES: Mapping[str, Callable[[Site], Value]] = MappingProxyType(
    {"DFT": _dft, "MelWeightMatrix": _mel, "STFT": _stft}
)
