"""DeformConv: a convolution each of whose taps is read where an offset says."""

import itertools
import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from codegen.importers.onnx import spatial
from codegen.importers.onnx.composed.choosing import taken
from codegen.importers.onnx.composed.element_functions import Real
from codegen.importers.onnx.composed.imaging.sampling import Line, Tap, pixels
from codegen.importers.onnx.composed.windows import Geometry, counted, geometry, part, turned
from codegen.importers.onnx.layouts import Known, Value
from codegen.importers.onnx.node_site import Site
from codegen.importers.reporting import Refused


def _deform_conv(site: Site) -> Value:
    """Pixels between four others, a column a tap; the columns times the weights are a convolution of 1x1."""
    image, weights, offsets = site.value(0), site.known(1, "the weights"), site.value(2)
    bias = [Known(data=site.known(3, "the bias"))] if site.has(3) else []
    site.need_float(image, offsets)
    if len(image.shape) != 4 or weights.ndim != 4 or len(offsets.shape) != 4:
        raise Refused("E301", f"works on {list(image.shape)}, supported are images of 2 axes")
    window, groups = (weights.shape[2], weights.shape[3]), site.integer("offset_group", 1)
    if site.integers("kernel_shape", window) != window:
        raise Refused("E303", f"attribute kernel_shape is not that of the weights {list(weights.shape)}")
    shape = geometry(site, image.shape[2:], window)
    count, channels, height, width = image.shape
    if groups < 1 or channels % groups:
        raise Refused("E303", f"{channels} channels in {groups} groups of offsets")
    taps, results = math.prod(window), counted(shape, (height, width))
    _need(offsets, (count, groups * taps * 2, *results), "offsets")
    rows = (count * groups, taps, *results)
    lines = [_line(site, offsets, shape, axis, (height, width)[axis], rows) for axis in (0, 1)]
    apart = site.steps.reshape(image, (count * groups, channels // groups, height, width))
    flat = site.steps.reshape(turned(apart, (0, 2, 3, 1)), (rows[0] * height * width, channels // groups))
    parts = [pixels(site, flat, (height, width), rows[0], corner) for corner in itertools.product(*lines)]
    read = parts[0] + parts[1] + parts[2] + parts[3]
    if site.has(4):
        mask = site.value(4)
        site.need_float(mask)
        _need(mask, (count, groups * taps, *results), "a mask")
        read = read * Real(site, site.steps.reshape(mask, (math.prod(rows), 1)))
    columns = turned(site.steps.reshape(read.value, (*rows, channels // groups)), (0, 4, 1, 2, 3))
    columns = site.steps.reshape(columns, (count, channels * taps, *results))
    flat_weights = Known(data=weights.reshape(len(weights), -1, 1, 1))
    return spatial.conv(part(site, [columns, flat_weights, *bias], {"group": site.integer("group", 1)}))


def _need(value: Value, shape: tuple[int, ...], what: str) -> None:
    if value.shape != shape:
        raise Refused("E303", f"{what} of {list(value.shape)}, {list(shape)} are needed")


def _line(
    site: Site, offsets: Value, shape: Geometry, axis: int, extent: int, rows: tuple[int, ...]
) -> list[Tap]:
    """The two pixels along an axis around each place: where the tap is, and its offset."""
    groups, taps, *results = rows
    both = site.steps.reshape(offsets, (groups, taps, 2, *results))
    axis_offsets = site.steps.reshape(taken(site, both, np.array([axis]), 2), rows)
    tap = np.indices(shape.window)[axis].reshape(1, taps, 1, 1) * shape.dilations[axis]
    start = np.arange(results[axis]) * shape.strides[axis] - shape.before[axis]
    start = start.reshape(1, 1, *((-1, 1) if axis == 0 else (1, -1)))
    places = Real(site, axis_offsets) + Real(site, Known(data=(tap + start).astype(np.float32)))
    line = Line(extent=extent, corners=True, padding="zeros")
    return line.neighbours(Real(site, site.steps.reshape(places.value, (math.prod(rows), 1))))


NODES: Mapping[str, Callable[[Site], Value]] = MappingProxyType({"DeformConv": _deform_conv})
