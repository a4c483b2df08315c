"""Resize: each axis by a constant matrix, or by chosen elements."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from codegen.importers.onnx.composed.choosing import taken
from codegen.importers.onnx.composed.curves import choice
from codegen.importers.onnx.composed.windows import along
from codegen.importers.onnx.layouts import Known, Value
from codegen.importers.onnx.node_site import Site
from codegen.importers.reporting import Refused

_Reals = NDArray[np.float64]

_MAX_WEIGHTS = 1 << 21
"""Of one axis: what is computed of them is thirty times as large for a moment."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One axis: extents before and after, the scale between them, the part that is looked at."""

    extent: int
    wanted: int
    scale: float
    begin: float = 0.0
    end: float = 1.0


def _half_pixel(line: Line, x: _Reals) -> _Reals:
    return (x + 0.5) / line.scale - 0.5


def _symmetric(line: Line, x: _Reals) -> _Reals:
    centre = line.extent / 2 * (1 - line.wanted / (line.scale * line.extent))
    return centre + _half_pixel(line, x)


def _corners(line: Line, x: _Reals) -> _Reals:
    whole = line.scale * line.extent
    return x * 0.0 if whole == 1 else x * (line.extent - 1) / (whole - 1)


def _crop(line: Line, x: _Reals) -> _Reals:
    whole, last = line.scale * line.extent, line.extent - 1
    size = (line.end - line.begin) * last
    return line.begin * last + (x * 0.0 + size / 2 if whole == 1 else x * size / (whole - 1))


_WHERE: Mapping[str, Callable[[Line, _Reals], _Reals]] = MappingProxyType(
    {
        "align_corners": _corners,
        "asymmetric": lambda line, x: x / line.scale,
        "half_pixel": _half_pixel,
        "half_pixel_symmetric": _symmetric,
        "pytorch_half_pixel": lambda line, x: _half_pixel(line, x) if line.wanted > 1 else x * 0.0 - 0.5,
        "tf_crop_and_resize": _crop,
    }
)
"""Where in the image an element of the result lies."""

_NEAREST: Mapping[str, Callable[[_Reals], _Reals]] = MappingProxyType(
    {
        "ceil": np.ceil,
        "floor": np.floor,
        "round_prefer_ceil": lambda x: np.floor(x + 0.5),
        "round_prefer_floor": lambda x: np.ceil(x - 0.5),
    }
)


def _linear(distance: _Reals, a: float) -> _Reals:
    del a
    return np.maximum(1 - np.abs(distance), 0)


def _cubic(distance: _Reals, a: float) -> _Reals:
    """Source: Keys, Cubic convolution interpolation for digital image processing."""
    d = np.abs(distance)
    near = (a + 2) * d**3 - (a + 3) * d**2 + 1
    far = a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a
    return np.where(d <= 1, near, np.where(d < 2, far, 0.0))


def resize(site: Site) -> Value:
    """Resize, to sizes or by scales that are known."""
    value = site.value(0)
    if site.word("mode", "nearest") != "nearest":
        site.need_float(value)
    lines = _lines(site, value.shape)
    where = site.word("coordinate_transformation_mode", "half_pixel" if site.opset > 10 else "asymmetric")
    mode, outside = site.word("mode", "nearest"), bool(site.integer("exclude_outside", 0))
    nearest = site.word("nearest_mode", "round_prefer_floor" if site.opset > 10 else "floor")
    slope, smooth = site.real("cubic_coeff_a", -0.75), bool(site.integer("antialias", 0))
    beyond = site.real("extrapolation_value", 0.0)
    if where not in _WHERE or nearest not in _NEAREST or mode not in ("nearest", "linear", "cubic"):
        raise Refused("E301", f"mode {mode} with {where} and {nearest} is not supported")
    inside = np.ones((1,) * len(lines), np.bool_)
    for axis, line in enumerate(lines):
        if line.extent == line.wanted and line.scale == 1 and (line.begin, line.end) == (0, 1):
            continue
        places = _WHERE[where](line, np.arange(line.wanted, dtype=np.float64))
        if where == "tf_crop_and_resize":
            own = (places >= 0) & (places <= line.extent - 1)
            inside = inside & own.reshape([-1 if each == axis else 1 for each in range(len(lines))])
        if mode == "nearest":
            chosen = np.clip(_NEAREST[nearest](places), 0, line.extent - 1).astype(np.int64)
            value = taken(site, value, chosen, axis)
        else:
            weights = _matrix(line, places, _linear if mode == "linear" else _cubic, slope, smooth, outside)
            value = along(site, value, weights, axis)
    if np.all(inside):
        return value
    return choice(site, Known(data=inside), value, Known(data=np.full((1,) * len(lines), beyond, np.float32)))


def _matrix(
    line: Line,
    places: _Reals,
    curve: Callable[[_Reals, float], _Reals],
    slope: float,
    smooth: bool,
    outside: bool,
) -> np.ndarray:
    """Weights [result, image]; `smooth`: wider where it shrinks; `outside`: nothing beyond its ends."""
    narrow = min(line.scale, 1.0) if smooth else 1.0
    reach = math.ceil(2 / narrow) + 1
    if line.wanted * max(2 * reach + 1, line.extent) > _MAX_WEIGHTS:
        raise Refused(
            "E305", f"{line.wanted} elements of {line.extent} have more than {_MAX_WEIGHTS} weights"
        )
    taps = np.floor(places)[:, None] + np.arange(-reach, reach + 1)
    weights = curve((taps - places[:, None]) * narrow, slope)
    if outside:
        weights = np.where((taps < 0) | (taps >= line.extent), 0.0, weights)
    weights = weights / weights.sum(axis=1, keepdims=True)
    found = np.zeros((line.wanted, line.extent))
    columns = np.clip(taps, 0, line.extent - 1).astype(np.int64)
    np.add.at(found, (np.arange(line.wanted)[:, None], columns), weights)
    return found


def _lines(site: Site, shape: tuple[int, ...]) -> list[Line]:
    """What becomes of each axis."""
    rank = len(shape)
    new = site.opset > 10
    axes = tuple(site.axis(axis, rank) for axis in site.integers("axes", tuple(range(rank))))
    policy = site.word("keep_aspect_ratio_policy", "stretch")
    lines = [Line(extent=extent, wanted=extent, scale=1.0) for extent in shape]
    roi = np.array([0.0] * len(axes) + [1.0] * len(axes))
    if (
        new
        and site.has(1)
        and site.word("coordinate_transformation_mode", "half_pixel").startswith("tf_crop")
    ):
        roi = site.known(1, "the part").astype(np.float64)
    if new and site.has(3) and site.known(3, "the sizes").size:
        sizes = site.numbers(3, "the sizes")
        scales = [wanted / shape[axis] for wanted, axis in zip(sizes, axes, strict=True)]
        if policy != "stretch":
            common = min(scales) if policy == "not_larger" else max(scales)
            scales = [common] * len(axes)
            sizes = tuple(math.floor(common * shape[axis] + 0.5) for axis in axes)
    else:
        scales = site.known(2 if new else 1, "the scales").astype(np.float64).reshape(-1).tolist()
        sizes = tuple(math.floor(shape[axis] * scale) for scale, axis in zip(scales, axes, strict=False))
    if not len(scales) == len(sizes) == len(axes) or min((*sizes, 1)) < 1 or roi.size != 2 * len(axes):
        raise Refused("E303", f"sizes {list(sizes)} do not fit {list(shape)}")
    site.steps.count_known(tuple(sizes))
    for number, axis in enumerate(axes):
        begin, end = float(roi[number]), float(roi[number + len(axes)])
        lines[axis] = Line(
            extent=shape[axis], wanted=sizes[number], scale=scales[number], begin=begin, end=end
        )
    return lines


def _upsample(site: Site) -> Value:
    """Upsample (until opset 9): each element several times."""
    value = site.value(0)
    if site.word("mode", "nearest") != "nearest":
        raise Refused(
            "E301", f"mode {site.word('mode', '')} is not supported", "export with Resize (opset 11)"
        )
    if site.opset >= 9:
        scales = site.known(1, "the scales").reshape(-1).astype(np.float64)
    else:
        scales = site.array("scales").astype(np.float64)
    if scales.size != len(value.shape) or not np.all((scales >= 1) & np.isfinite(scales)):
        raise Refused("E303", f"scales {scales.tolist()} of {list(value.shape)}")
    for axis, scale in enumerate(scales.tolist()):
        count = int(value.shape[axis] * scale)
        site.steps.count_known((count,))
        value = taken(site, value, (np.arange(count) / scale).astype(np.int64), axis)
    return value


NODES: Mapping[str, Callable[[Site], Value]] = MappingProxyType({"Resize": resize, "Upsample": _upsample})
