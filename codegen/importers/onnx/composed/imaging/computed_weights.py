"""Conv whose weights are computed while the model runs: products of matrices, one a tap of the window."""

import itertools
from collections.abc import Callable, Mapping
from types import MappingProxyType

from codegen.importers.onnx import arranging
from codegen.importers.onnx.arithmetic import pair
from codegen.importers.onnx.composed import windows
from codegen.importers.onnx.composed.windows import counted, geometry, padded, part, turned
from codegen.importers.onnx.layouts import Known, Value
from codegen.importers.onnx.matrices import multiplied
from codegen.importers.onnx.node_site import Site
from codegen.importers.reporting import Refused

MAX_TAPS = 64
"""Taps of a window; each is a few steps."""


def conv(site: Site) -> Value:
    """Conv: kernels read constant weights."""
    image, weights = site.value(0), site.value(1)
    if isinstance(weights, Known) or len(image.shape) not in (3, 4) or len(weights.shape) != len(image.shape):
        return windows.conv(site)
    site.need_float(image, weights)
    window = weights.shape[2:]
    if site.integers("kernel_shape", window) != window:
        raise Refused("E303", f"attribute kernel_shape is not that of the weights {list(weights.shape)}")
    steps, shape = site.steps, geometry(site, image.shape[2:], window)
    if len(window) == 1:
        rows, taps = (
            steps.reshape(tensor, (*tensor.shape[:2], 1, tensor.shape[2])) for tensor in (image, weights)
        )
        attributes = {**shape.attributes((-1, 0)), "group": site.integer("group", 1)}
        convolved = _of_images(part(site, [rows, taps], attributes))
        convolved = steps.reshape(convolved, (*convolved.shape[:2], convolved.shape[3]))
    else:
        convolved = _of_images(site)
    if not site.has(2):
        return convolved
    bias = site.value(2)
    site.need_float(bias)
    if bias.shape != weights.shape[:1]:
        raise Refused("E303", f"a bias {list(bias.shape)} does not fit weights {list(weights.shape)}")
    return pair(site, "ADD", [convolved, steps.reshape(bias, (1, bias.shape[0], *[1] * len(window)))])


def _of_images(site: Site) -> Value:
    """The sum over the window's taps: each pixel that a tap meets, times the weights of that tap."""
    image, weights, steps = site.value(0), site.value(1), site.steps
    outputs, inputs, *window = weights.shape
    shape, group = geometry(site, image.shape[2:], (window[0], window[1])), site.integer("group", 1)
    channels = image.shape[1]
    if group < 1 or inputs * group != channels:
        text = f"weights {list(weights.shape)} in {group} groups do not fit {channels} channels"
        raise Refused("E303", text)
    is_depthwise = group == channels == outputs
    if group > 1 and not is_depthwise:
        text = f"computed weights in {group} groups are not supported, one group is, and one a channel"
        raise Refused("E301", text)
    if window[0] * window[1] > MAX_TAPS:
        raise Refused("E301", f"a window of {window[0]}x{window[1]} computed weights is not supported")
    rows, columns = counted(shape, (image.shape[2], image.shape[3]))
    for axis in (0, 1):
        image = padded(site, image, 2 + axis, shape.before[axis], shape.after[axis])
    taps = turned(weights, (2, 3, 0, 1))
    total: Value | None = None
    for tap in itertools.product(*map(range, window)):
        met = [slice(None), slice(None), *_met(shape, tap, (rows, columns))]
        pixels = steps.reshape(arranging.part(site, image, met), (image.shape[0], channels, rows * columns))
        tap_slices = [*(slice(place, place + 1) for place in tap), slice(None), slice(None)]
        numbers = steps.reshape(arranging.part(site, taps, tap_slices), (outputs, inputs))
        term = pair(site, "MUL", [pixels, numbers]) if is_depthwise else multiplied(site, numbers, pixels)
        total = term if total is None else pair(site, "ADD", [total, term])
    assert total is not None, "a window has a tap"
    return steps.reshape(total, (image.shape[0], outputs, rows, columns))


def _met(shape: windows.Geometry, tap: tuple[int, ...], counts: tuple[int, int]) -> list[slice]:
    """Rows and columns of the padded image that a tap meets."""
    slices: list[slice] = []
    for axis in (0, 1):
        first, stride = tap[axis] * shape.dilations[axis], shape.strides[axis]
        slices.append(slice(first, first + (counts[axis] - 1) * stride + 1, stride))
    return slices


NODES: Mapping[str, Callable[[Site], Value]] = MappingProxyType({"Conv": conv})
