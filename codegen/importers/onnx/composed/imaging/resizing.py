"""Resize: each axis by a constant matrix, or by chosen elements."""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from codegen.importers.onnx.composed.choosing import taken
from codegen.importers.onnx.composed.element_functions import choice
from codegen.importers.onnx.composed.windows import along
from codegen.importers.onnx.layouts import Known, Value
from codegen.importers.onnx.node_site import Site
from codegen.importers.onnx.resized_axes import WHERE, Line, Reals, coordinates, lines_of
from codegen.importers.reporting import Refused

_MAX_WEIGHTS = 1 << 21
"""Weights of one axis at most: computing them takes thirty times their memory for a moment."""


_NEAREST: Mapping[str, Callable[[Reals], Reals]] = MappingProxyType(
    {
        "ceil": np.ceil,
        "floor": np.floor,
        "round_prefer_ceil": lambda x: np.floor(x + 0.5),
        "round_prefer_floor": lambda x: np.ceil(x - 0.5),
    }
)


def _linear(distance: Reals, a: float) -> Reals:
    del a
    return np.maximum(1 - np.abs(distance), 0)


def _cubic(distance: Reals, a: float) -> Reals:
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
    lines = lines_of(site, value.shape)
    where = coordinates(site)
    mode, outside = site.word("mode", "nearest"), bool(site.integer("exclude_outside", 0))
    nearest = site.word("nearest_mode", "round_prefer_floor" if site.opset > 10 else "floor")
    slope, smooth = site.real("cubic_coeff_a", -0.75), bool(site.integer("antialias", 0))
    beyond = site.real("extrapolation_value", 0.0)
    if where not in WHERE or nearest not in _NEAREST or mode not in ("nearest", "linear", "cubic"):
        raise Refused("E301", f"mode {mode} with {where} and {nearest} is not supported")
    inside = np.ones((1,) * len(lines), np.bool_)
    for axis, line in enumerate(lines):
        if line.extent == line.result_extent and line.scale == 1 and (line.begin, line.end) == (0, 1):
            continue
        places = WHERE[where](line, np.arange(line.result_extent, dtype=np.float64))
        if where == "tf_crop_and_resize":
            is_in = (places >= 0) & (places <= line.extent - 1)
            inside = inside & is_in.reshape([-1 if index == axis else 1 for index in range(len(lines))])
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
    places: Reals,
    curve: Callable[[Reals, float], Reals],
    slope: float,
    smooth: bool,
    outside: bool,
) -> np.ndarray:
    """Weights [result, image]; `smooth`: wider where it shrinks; `outside`: nothing beyond its ends."""
    narrow = min(line.scale, 1.0) if smooth else 1.0
    reach = math.ceil(2 / narrow) + 1
    if line.result_extent * max(2 * reach + 1, line.extent) > _MAX_WEIGHTS:
        raise Refused(
            "E305", f"{line.result_extent} elements of {line.extent} have more than {_MAX_WEIGHTS} weights"
        )
    taps = np.floor(places)[:, None] + np.arange(-reach, reach + 1)
    weights = curve((taps - places[:, None]) * narrow, slope)
    if outside:
        weights = np.where((taps < 0) | (taps >= line.extent), 0.0, weights)
    weights = weights / weights.sum(axis=1, keepdims=True)
    matrix = np.zeros((line.result_extent, line.extent))
    columns = np.clip(taps, 0, line.extent - 1).astype(np.int64)
    np.add.at(matrix, (np.arange(line.result_extent)[:, None], columns), weights)
    return matrix


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
