"""Nodes that slide a window over an image: Conv and pools. Images have two spatial axes."""

from dataclasses import dataclass

import numpy as np

from codegen.importers.onnx.layouts import CHANNELS_LAST, Value
from codegen.importers.onnx.node_site import Site
from codegen.importers.reporting import Refused
from codegen.ir.ops import ConvAttrs, DepthwiseConvAttrs, PadAttrs, Padding2D, PoolAttrs


def conv(site: Site) -> Value:
    """Conv with constant weights; of a group a channel it is a depthwise convolution."""
    site.need_float(site.value(0))
    image, weights = _image(site), site.known(1, "the weights")
    bias = site.known(2, "the bias") if site.has(2) else None
    layer = conv_layer(site, image, weights)
    steps = site.steps
    args = [
        steps.stored(image, CHANNELS_LAST),
        steps.constant(layer.weights),
        None if bias is None else steps.constant(bias),
    ]
    return steps.step(layer.op, args, layer.attrs, axes=CHANNELS_LAST)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ConvLayer:
    """A convolution as the kernels have it."""

    attrs: ConvAttrs | DepthwiseConvAttrs
    weights: np.ndarray
    """[O, H, W, I], of a depthwise one [1, H, W, O]."""

    @property
    def op(self) -> str:
        """The operator's name."""
        return "DEPTHWISE_CONV_2D" if isinstance(self.attrs, DepthwiseConvAttrs) else "CONV_2D"


def conv_layer(site: Site, image: Value, weights: np.ndarray) -> ConvLayer:
    """Geometry and weights of a Conv."""
    if weights.ndim != 4 or len(image.shape) != 4:
        raise Refused("E303", f"weights {list(weights.shape)} do not fit an image of 4 dimensions")
    window = (weights.shape[2], weights.shape[3])
    if site.integers("kernel_shape", window) != window:
        raise Refused("E303", f"attribute kernel_shape is not that of the weights {list(weights.shape)}")
    group = site.integer("group", 1)
    dilation, stride = _pair(site, "dilations"), _pair(site, "strides")
    reach = tuple((size - 1) * step + 1 for size, step in zip(window, dilation, strict=True))
    padding = _padding(site, image, (reach[0], reach[1]), stride)
    channels, outputs = image.shape[1], weights.shape[0]
    if group < 1 or weights.shape[1] * group != channels:
        text = f"weights {list(weights.shape)} in {group} groups do not fit {channels} channels"
        raise Refused("E303", text)
    if group == channels and group > 1:
        attrs = DepthwiseConvAttrs(
            multiplier=outputs // channels, stride=stride, dilation=dilation, padding=padding
        )
        taps = weights.reshape(outputs, 1, *window)[:, 0].transpose(1, 2, 0)[None]
        return ConvLayer(attrs=attrs, weights=taps)
    return ConvLayer(
        attrs=ConvAttrs(stride=stride, dilation=dilation, padding=padding),
        weights=weights.transpose(0, 2, 3, 1),
    )


def max_pool(site: Site) -> Value:
    """MaxPool; its indices are another translator's."""
    site.integer("storage_order", 0)
    image = _image(site)
    site.need_float(image)
    attrs, _ = _pool(site, image)
    return site.steps.step(
        "MAX_POOL_2D", [site.steps.stored(image, CHANNELS_LAST)], attrs, axes=CHANNELS_LAST
    )


def average_pool(site: Site) -> Value:
    """AveragePool; padding that is counted becomes zeros around the image."""
    image, steps = _image(site), site.steps
    site.need_float(image)
    attrs, stated = _pool(site, image)
    arg = steps.stored(image, CHANNELS_LAST)
    if site.integer("count_include_pad", 0) and attrs.padding != Padding2D():
        if stated != attrs.padding:
            raise Refused("E301", "count_include_pad together with ceil_mode is not supported")
        around = ((0, 0), (stated.top, stated.bottom), (stated.left, stated.right), (0, 0))
        padded = steps.step("PAD", [arg], PadAttrs(paddings=around), axes=CHANNELS_LAST)
        arg, attrs = (
            steps.stored(padded, CHANNELS_LAST),
            PoolAttrs(window=attrs.window, stride=attrs.stride),
        )
    return steps.step("AVERAGE_POOL_2D", [arg], attrs, axes=CHANNELS_LAST)


def mean_pool(site: Site, image: Value) -> PoolAttrs:
    """An AveragePool all of whose windows have as many elements."""
    attrs, stated = _pool(site, image)
    counted = site.integer("count_include_pad", 0)
    if attrs.padding != Padding2D() and not (counted and stated == attrs.padding):
        raise Refused("E301", "an average of integers over windows of several sizes is not supported")
    return attrs


def _image(site: Site) -> Value:
    image = site.value(0)
    if len(image.shape) != 4:
        raise Refused(
            "E301",
            f"works on {list(image.shape)}, supported are images of 4 dimensions (N, C, H, W)",
            "give a signal a height of 1 before exporting (unsqueeze), and the kernel as well",
        )
    return image


def _pair(site: Site, name: str) -> tuple[int, int]:
    numbers = site.integers(name, (1, 1))
    if len(numbers) != 2 or min(numbers) < 1:
        raise Refused("E303", f"attribute {name} is {list(numbers)}, it has to be two positive numbers")
    return numbers[0], numbers[1]


def _pool(site: Site, image: Value) -> tuple[PoolAttrs, Padding2D]:
    """The pool, and the padding that the file states; with `ceil_mode` the last window may reach further."""
    window, stride = _pair(site, "kernel_shape"), _pair(site, "strides")
    if _pair(site, "dilations") != (1, 1):
        raise Refused("E301", "a pool with dilations is not supported")
    stated = padding = _padding(site, image, window, stride)
    if site.integer("ceil_mode", 0):
        more = [
            _beyond(image.shape[2 + axis], window[axis], stride[axis], *pads)
            for axis, pads in enumerate(((stated.top, stated.bottom), (stated.left, stated.right)))
        ]
        padding = Padding2D(
            top=stated.top, bottom=stated.bottom + more[0], left=stated.left, right=stated.right + more[1]
        )
    return PoolAttrs(window=window, stride=stride, padding=padding), stated


def _beyond(extent: int, window: int, stride: int, before: int, after: int) -> int:
    """Elements that the last window of `ceil_mode` reaches beyond the padding; it begins before that."""
    count = -((window - extent - before - after) // stride) + 1
    if (count - 1) * stride >= extent + before:
        count -= 1
    return max((count - 1) * stride + window - extent - before - after, 0)


def _padding(site: Site, image: Value, reach: tuple[int, int], stride: tuple[int, int]) -> Padding2D:
    """Padding in elements; `auto_pad` is resolved for the image's extents."""
    pads, auto = site.integers("pads", (0, 0, 0, 0)), site.word("auto_pad", "NOTSET")
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        pairs: list[tuple[int, int]] = []
        for extent, size, step in zip(image.shape[2:], reach, stride, strict=True):
            total = max((-(-extent // step) - 1) * step + size - extent, 0)
            small, large = total // 2, total - total // 2
            pairs.append((small, large) if auto == "SAME_UPPER" else (large, small))
        pads = (pairs[0][0], pairs[1][0], pairs[0][1], pairs[1][1])
    elif auto == "VALID":
        pads = (0, 0, 0, 0)
    elif auto != "NOTSET":
        raise Refused("E303", f"attribute auto_pad is {auto}")
    if len(pads) != 4 or min(pads) < 0:
        raise Refused(
            "E301", f"attribute pads is {list(pads)}, supported are four numbers that are not negative"
        )
    return Padding2D(top=pads[0], left=pads[1], bottom=pads[2], right=pads[3])
