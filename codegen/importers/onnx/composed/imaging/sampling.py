"""Images read between their pixels: GridSample, RoiAlign. Determinants of small matrices."""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from codegen.importers.onnx.arithmetic import convert, pair, reduced
from codegen.importers.onnx.composed.choosing import taken
from codegen.importers.onnx.composed.element_functions import Real, choice
from codegen.importers.onnx.composed.windows import turned
from codegen.importers.onnx.layouts import Known, Value
from codegen.importers.onnx.node_site import Site
from codegen.importers.reporting import Refused
from codegen.ir import DType
from codegen.ir.ops import GatherAttrs

MAX_TAPS = 64
"""Most pixels that one result is a sum of."""

_A = -0.75
"""Parameter of cubic convolution. Source: Keys, https://ieeexplore.ieee.org/document/1163711"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tap:
    """A pixel along one axis: its index, int32, and its weight."""

    index: Value
    weight: Real | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One axis of the image, and how places on it become pixels."""

    extent: int
    """Pixels along the axis."""
    corners: bool
    """True if -1 and 1 are the middles of the outer pixels (align_corners), False if they are the edges."""
    padding: str
    """Value of a place beyond the image: `zeros`, `border` (the outer pixel) or `reflection`."""

    def place(self, x: Real) -> Real:
        """Places between -1 and 1 in pixels: 0.0 is the middle of pixel 0."""
        if self.corners:
            return (x + 1.0) / 2.0 * float(self.extent - 1)
        return ((x + 1.0) * float(self.extent) - 1.0) / 2.0

    def inside(self, x: Real) -> Real:
        """Move places beyond the image to where the padding reads; with `zeros` they stay."""
        low = 0.0 if self.corners else -0.5
        high = self.extent - 1 - low
        if self.padding == "border":
            above = choice(x.site, x.is_above(high), _like(x, self.extent - 1.0), x.value)
            return Real(x.site, choice(x.site, x.is_below(low), _like(x, 0.0), above))
        if self.padding == "reflection":
            if high == low:
                return x * 0.0
            way = (x - low).of("ABS")
            period = 2 * (high - low)
            rest = way - (way / period).of("FLOOR") * period
            return (high - low) - (rest - (high - low)).of("ABS") + low
        return x

    def tap(self, place: Real, weight: Real | None) -> Tap:
        """The pixel at place `place`, a whole number; its weight is 0 where `zeros` pad the image."""
        if self.padding == "reflection":
            place = self.inside(place)
        if self.padding == "zeros":
            is_in = pair(
                place.site, "MINIMUM", [place.is_above(-0.5), place.is_below(self.extent - 0.5)], DType.BOOL
            )
            mask = Real(place.site, convert(place.site, is_in, "float32"))
            weight = mask if weight is None else weight * mask
        place = place.at_least(0.0).at_most(self.extent - 1.0)
        return Tap(index=convert(place.site, place.value, "int32"), weight=weight)

    def neighbours(self, x: Real) -> list[Tap]:
        """The two pixels next to place `x`, given in pixels, weighted as linear interpolation does."""
        first = x.of("FLOOR")
        rest = x - first
        return [self.tap(first, 1.0 - rest), self.tap(first + 1.0, rest)]

    def taps(self, x: Real, mode: str) -> list[Tap]:
        """The pixels, with weights, that `mode` interpolates between at place `x`, from -1 to 1."""
        x = self.place(x)
        if mode == "nearest":
            return [self.tap(self.inside(x.of("ROUND")), None)]
        x = self.inside(x)
        if mode == "linear":
            return self.neighbours(x)
        first = x.of("FLOOR")
        rest = x - first
        weights = [_far(rest + 1.0), _near(rest), _near(1.0 - rest), _far(2.0 - rest)]
        return [
            self.tap(first + float(shift), weight)
            for shift, weight in zip(range(-1, 3), weights, strict=True)
        ]


def _near(x: Real) -> Real:
    return (x * (_A + 2) - (_A + 3)) * x * x + 1.0


def _far(x: Real) -> Real:
    return ((x * _A - 5 * _A) * x + 8 * _A) * x - 4 * _A


def _like(x: Real, number: float) -> Value:
    return Known(data=np.full((1,) * len(x.value.shape), number, np.float32))


_MODES = {
    "bilinear": "linear",
    "linear": "linear",
    "bicubic": "cubic",
    "cubic": "cubic",
    "nearest": "nearest",
}


def _grid_sample(site: Site) -> Value:
    image, grid = site.value(0), site.value(1)
    site.need_float(image, grid)
    mode = _MODES.get(site.word("mode", "linear"), "")
    padding = site.word("padding_mode", "zeros")
    corners = bool(site.integer("align_corners", 0))
    count, channels, *extents = image.shape
    if len(grid.shape) != len(image.shape) or grid.shape[0] != count or grid.shape[-1] != len(extents):
        raise Refused("E303", f"a grid {list(grid.shape)} does not fit an image {list(image.shape)}")
    if not mode or padding not in ("zeros", "border", "reflection"):
        raise Refused("E303", f"mode {site.word('mode', 'linear')} with padding {padding} is not known")
    if {"nearest": 1, "linear": 2, "cubic": 4}[mode] ** len(extents) > MAX_TAPS:
        raise Refused("E301", f"mode {mode} of {len(extents)} axes is not supported")
    rows = math.prod(grid.shape[:-1])
    places = site.steps.reshape(grid, (rows, len(extents)))
    lines = [
        Line(extent=extent, corners=corners, padding=padding).taps(
            Real(site, taken(site, places, np.array([len(extents) - 1 - axis]), 1)), mode
        )
        for axis, extent in enumerate(extents)
    ]
    last = turned(image, (0, *range(2, len(image.shape)), 1))
    flat = site.steps.reshape(last, (count * math.prod(extents), channels))
    total: Real | None = None
    for taps in itertools.product(*lines):
        part = pixels(site, flat, extents, count, taps)
        total = part if total is None else total + part
    assert total is not None, "there is one tap at least"
    sampled = site.steps.reshape(total.value, (*grid.shape[:-1], channels))
    return turned(sampled, (0, len(extents) + 1, *range(1, len(extents) + 1)))


def pixels(site: Site, flat: Value, extents: Sequence[int], count: int, taps: tuple[Tap, ...]) -> Real:
    """One pixel a place, times its weight: [places, channels]."""
    rows = taps[0].index.shape[0]
    image_pixels = math.prod(extents)
    index: Value | None = None
    weight: Real | None = None
    for axis, tap in enumerate(taps):
        step = Known(data=np.full((1, 1), math.prod(extents[axis + 1 :]), np.int32))
        part = pair(site, "MUL", [tap.index, step])
        index = part if index is None else pair(site, "ADD", [index, part])
        if tap.weight is not None:
            weight = tap.weight if weight is None else weight * tap.weight
    assert index is not None, "an image has axes"
    if count > 1:
        start = np.repeat(np.arange(count, dtype=np.int32) * image_pixels, rows // count).reshape(rows, 1)
        index = pair(site, "ADD", [index, Known(data=start)])
    index = site.steps.reshape(index, (rows,))
    args = [site.steps.dense(flat), site.steps.dense(index)]
    read = Real(site, site.steps.step("GATHER", args, GatherAttrs(axis=0)))
    return read if weight is None else read * weight


def _roi_align(site: Site) -> Value:
    """RoiAlign of regions that are known: pixels and their weights are constants."""
    image = site.value(0)
    site.need_float(image)
    regions = site.known(1, "the regions").astype(np.float32)
    if not np.isfinite(regions).all():
        raise Refused("E303", "a corner of a region is not finite")
    batches = site.known(2, "the images of regions").reshape(-1).astype(np.int64)
    mode = site.word("mode", "avg")
    half = site.word("coordinate_transformation_mode", "half_pixel") == "half_pixel"
    if len(image.shape) != 4 or regions.shape != (batches.size, 4) or mode not in ("avg", "max"):
        raise Refused("E303", f"regions {list(regions.shape)} of {list(image.shape)}, mode {mode}")
    if np.any((batches < 0) | (batches >= image.shape[0])):
        raise Refused("E303", f"a region of an image beyond {image.shape[0]}")
    size = site.integer("output_height", 1), site.integer("output_width", 1)
    ends = regions * np.float32(site.real("spatial_scale", 1.0)) - np.float32(0.5 if half else 0.0)
    ratio = site.integer("sampling_ratio", 0)
    if ratio < 1 or min(size) < 1:
        raise Refused("E301", "a sampling_ratio of 0 (as many as the region is large) is not supported")
    site.steps.count_known((batches.size, *size, ratio * ratio * 4))
    rows = _samples(ends[:, [1, 3]], size[0], image.shape[2], ratio, half)
    columns = _samples(ends[:, [0, 2]], size[1], image.shape[3], ratio, half)
    places = _crossed(rows[0] * image.shape[3], columns[0], np.add)
    places = places + (batches * image.shape[2] * image.shape[3])[:, None, None, None]
    weights = _crossed(rows[1], columns[1], np.multiply)
    return _weighted(site, image, places, weights, mode)


def _weighted(site: Site, image: Value, places: np.ndarray, weights: np.ndarray, mode: str) -> Value:
    """Pixels by their places, [region, row, column, taps], times their weights: their mean or the largest."""
    count, channels, height, width = image.shape
    taps = weights.shape[-1]
    flat = site.steps.reshape(turned(image, (0, 2, 3, 1)), (count * height * width, channels))
    read = Real(site, taken(site, flat, places.reshape(-1), 0))
    read = read * Real(site, Known(data=weights.reshape(-1, 1).astype(np.float32)))
    apart = site.steps.reshape(read.value, (weights.size // taps, taps, channels))
    total = reduced(site, "REDUCE_MAX" if mode == "max" else "SUM", apart, (1,), keep=True)
    if mode == "avg":
        total = (Real(site, total) / (taps / 4)).value
    shaped = site.steps.reshape(total, (*weights.shape[:3], channels))
    return turned(shaped, (0, 3, 1, 2))


def _samples(
    ends: np.ndarray, bins: int, extent: int, ratio: int, half: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Along one axis: indices of two pixels a sample and their weights, [region, bin, sample, 2]."""
    length = ends[:, 1] - ends[:, 0]
    length = (length if half else np.maximum(length, 1))[:, None, None] / np.float32(bins)
    samples = (np.arange(ratio, dtype=np.float32) + 0.5) / ratio
    x = ends[:, 0, None, None] + (np.arange(bins, dtype=np.float32)[:, None] + samples) * length
    is_in = (x >= -1) & (x <= extent)
    x = np.clip(x, 0, extent - 1)
    low = np.floor(x).astype(np.int64)
    rest = x - low
    index = np.stack([low, np.minimum(low + 1, extent - 1)], axis=-1)
    return index, np.stack([1 - rest, rest], axis=-1) * is_in[..., None]


def _crossed(rows: np.ndarray, columns: np.ndarray, both: Callable[..., np.ndarray]) -> np.ndarray:
    """Combine each row with each column: [region, row, column, taps]."""
    crossed = both(rows[:, :, None, :, None, :, None], columns[:, None, :, None, :, None, :])
    return crossed.reshape(*crossed.shape[:3], -1)


MAX_DETERMINANT = 4
"""Rows of a matrix whose determinant is computed: its products are as many as its orders."""


def _determinant(site: Site) -> Value:
    value = site.value(0)
    site.need_float(value)
    size = value.shape[-1] if len(value.shape) > 1 else 0
    if value.shape[-2:-1] != (size,):
        raise Refused("E303", f"works on {list(value.shape)}, needs square matrices")
    if size > MAX_DETERMINANT:
        raise Refused("E301", f"matrices of {size} rows are not supported, up to {MAX_DETERMINANT} are")
    flat = site.steps.reshape(value, (math.prod(value.shape[:-2]), size * size))
    cells = [Real(site, taken(site, flat, np.array([place]), 1)) for place in range(size * size)]
    rows = [cells[row * size : (row + 1) * size] for row in range(size)]
    return site.steps.reshape(_expanded(rows).value, value.shape[:-2])


def _expanded(rows: list[list[Real]]) -> Real:
    """By the first row."""
    total: Real | None = None
    for place, cell in enumerate(rows[0]):
        rest = [row[:place] + row[place + 1 :] for row in rows[1:]]
        part = cell * _expanded(rest) if rest else cell
        total = part if total is None else total - part if place % 2 else total + part
    assert total is not None, "a matrix has a row"
    return total


NODES: Mapping[str, Callable[[Site], Value]] = MappingProxyType(
    {"Det": _determinant, "GridSample": _grid_sample, "RoiAlign": _roi_align}
)
