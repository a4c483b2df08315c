"""MaxPool of bytes, and MaxPool that also says where its elements were."""

import math

import numpy as np

from codegen.importers.onnx import spatial
from codegen.importers.onnx.arithmetic import convert, pair, reduced
from codegen.importers.onnx.composed.choosing import line, taken
from codegen.importers.onnx.composed.ordering import best
from codegen.importers.onnx.composed.windows import Geometry, count_of, geometry, pool, turned
from codegen.importers.onnx.layouts import Known, Value
from codegen.importers.onnx.node_site import Site, value_type
from codegen.importers.reporting import Refused
from codegen.ir.ops import GatherAttrs

_plain = pool(spatial.max_pool, "MaxPool")


def max_pool(site: Site) -> Value | tuple[Value, Value]:
    """MaxPool; uint8 is looked at as float32, which holds it exactly."""
    value = site.value(0)
    if value_type(value) == "uint8":
        made = max_pool(site.reading({0: convert(site, value, "float32")}))
        if isinstance(made, tuple):
            return convert(site, made[0], "uint8"), made[1]
        return convert(site, made, "uint8")
    by_columns = bool(site.integer("storage_order", 0))
    return _with_indices(site, value, by_columns=by_columns) if site.is_used(1) else _plain(site)


def _with_indices(site: Site, value: Value, *, by_columns: bool) -> tuple[Value, Value]:
    """All elements of a window side by side: the largest, and the first place where it is."""
    site.need_float(value)
    image = value.shape[2:]
    if not 1 <= len(image) <= 3:
        raise Refused("E301", f"works on {list(value.shape)}, supported are images of 1 to 3 axes")
    shape = geometry(site, image, site.integers("kernel_shape"))
    ceil = bool(site.integer("ceil_mode", 0))
    places = [_places(site, shape, axis, extent, ceil=ceil) for axis, extent in enumerate(image)]
    counts, taps = tuple(table.shape[0] for table in places), math.prod(shape.window)
    for axis, table in enumerate(places):
        value = taken(site, value, table.reshape(-1), 2 + axis)
    outer = value.shape[:2]
    apart = site.steps.reshape(
        value, (*outer, *(n for pair_ in zip(counts, shape.window, strict=True) for n in pair_))
    )
    rank = len(image)
    order = (0, 1, *range(2, 2 + 2 * rank, 2), *range(3, 3 + 2 * rank, 2))
    windows = site.steps.reshape(turned(apart, order), (*outer, *counts, taps))
    last = len(windows.shape) - 1
    tap = best(site, "ARG_MAX", windows, last)
    largest = reduced(site, "REDUCE_MAX", windows, (last,), keep=False)
    return largest, convert(site, _flat(site, tap, places, shape, image, by_columns=by_columns), "int64")


def _places(site: Site, shape: Geometry, axis: int, extent: int, *, ceil: bool) -> np.ndarray:
    """Elements of each window along an axis, [window, tap]; for those in the padding the nearest inside."""
    step, dilation = shape.strides[axis], shape.dilations[axis]
    count = count_of(shape, axis, extent, ceil=ceil)
    site.steps.count_known((count, shape.window[axis]))
    starts = np.arange(count) * step - shape.before[axis]
    places = starts[:, None] + dilation * np.arange(shape.window[axis])
    is_in = (places >= 0) & (places < extent)
    if not is_in.any(axis=1).all():
        raise Refused("E303", f"a window of axis {axis} lies in the padding as a whole")
    first = places[np.arange(len(places)), is_in.argmax(axis=1)]
    end = places[np.arange(len(places)), is_in.shape[1] - 1 - is_in[:, ::-1].argmax(axis=1)]
    return np.clip(places, first[:, None], end[:, None])


def _flat(
    site: Site,
    tap: Value,
    places: list[np.ndarray],
    shape: Geometry,
    image: tuple[int, ...],
    *,
    by_columns: bool,
) -> Value:
    """Places in a row of all elements, of the number of a tap in each window."""
    rank, taps = len(image), math.prod(shape.window)
    plane, channels = math.prod(image), tap.shape[1]
    site.steps.count_known((rank + max(len(table) for table in places), taps))
    numbers = np.indices(shape.window).reshape(rank, taps)
    total: Value = Known(
        data=(np.arange(math.prod(tap.shape[:2]), dtype=np.int32) * plane).reshape(-1, channels, *(1,) * rank)
    )
    for axis, line_places in enumerate(places):
        step = math.prod(image[:axis] if by_columns else image[axis + 1 :])
        table = (line_places[:, numbers[axis]] * step).astype(np.int32).reshape(-1)
        row = Known(data=line(len(line_places), 2 + axis, 2 + rank).data * np.int32(taps))
        args = [site.steps.constant(table), site.steps.dense(pair(site, "ADD", [tap, row]))]
        total = pair(site, "ADD", [site.steps.step("GATHER", args, GatherAttrs(axis=0)), total])
    return total
