"""Axes of a Resize: extents, scales, and where in the image each element of the result lies."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from codegen.importers.onnx.node_site import Site
from codegen.importers.reporting import Refused, whole_number

Reals = NDArray[np.float64] | NDArray[np.float32]
"""Places; what is computed of them has their type."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One axis: extents before and after, the scale between them, the part that is looked at."""

    extent: int
    result_extent: int
    scale: float
    begin: float = 0.0
    end: float = 1.0


def _half_pixel(line: Line, x: Reals) -> Reals:
    return (x + 0.5) / line.scale - 0.5


def _symmetric(line: Line, x: Reals) -> Reals:
    centre = line.extent / 2 * (1 - line.result_extent / (line.scale * line.extent))
    return centre + _half_pixel(line, x)


def _corners(line: Line, x: Reals) -> Reals:
    whole = line.scale * line.extent
    return x * 0.0 if whole == 1 else x * (line.extent - 1) / (whole - 1)


def _crop(line: Line, x: Reals) -> Reals:
    whole, last = line.scale * line.extent, line.extent - 1
    size = (line.end - line.begin) * last
    return line.begin * last + (x * 0.0 + size / 2 if whole == 1 else x * size / (whole - 1))


WHERE: Mapping[str, Callable[[Line, Reals], Reals]] = MappingProxyType(
    {
        "align_corners": _corners,
        "asymmetric": lambda line, x: x / line.scale,
        "half_pixel": _half_pixel,
        "half_pixel_symmetric": _symmetric,
        "pytorch_half_pixel": lambda line, x: (
            _half_pixel(line, x) if line.result_extent > 1 else x * 0.0 - 0.5
        ),
        "tf_crop_and_resize": _crop,
    }
)
"""Place in the image of an element of the result, by coordinate mode."""


def coordinates(site: Site) -> str:
    """The coordinate mode of a Resize, a key of `WHERE`; older opsets have one mode alone."""
    return site.word("coordinate_transformation_mode", "half_pixel" if site.opset > 10 else "asymmetric")


def _unfit(sizes: Sequence[int], shape: tuple[int, ...]) -> Refused:
    return Refused("E303", f"sizes {list(sizes)} do not fit {list(shape)}")


def lines_of(site: Site, shape: tuple[int, ...]) -> list[Line]:
    """Old extent, new extent and scale of each axis."""
    rank = len(shape)
    new = site.opset > 10
    axes = tuple(site.axis(axis, rank) for axis in site.integers("axes", tuple(range(rank))))
    policy = site.word("keep_aspect_ratio_policy", "stretch")
    lines = [Line(extent=extent, result_extent=extent, scale=1.0) for extent in shape]
    roi = np.array([0.0] * len(axes) + [1.0] * len(axes))
    if new and site.has(1) and coordinates(site).startswith("tf_crop"):
        roi = site.known(1, "the part").astype(np.float64)
        if not np.isfinite(roi).all():
            raise Refused("E303", f"the part is {roi.tolist()}, it has to be finite")
    if new and site.has(3) and site.known(3, "the sizes").size:
        sizes = site.numbers(3, "the sizes")
        if len(sizes) != len(axes):
            raise _unfit(sizes, shape)
        scales = [size / shape[axis] for size, axis in zip(sizes, axes, strict=True)]
        if policy != "stretch":
            common = min(scales) if policy == "not_larger" else max(scales)
            scales = [common] * len(axes)
            sizes = tuple(
                whole_number(math.floor, common * shape[axis] + 0.5, "a scaled extent") for axis in axes
            )
    else:
        scales = site.known(2 if new else 1, "the scales").astype(np.float64).reshape(-1).tolist()
        sizes = tuple(
            whole_number(math.floor, shape[axis] * scale, "a scaled extent")
            for scale, axis in zip(scales, axes, strict=False)
        )
    if not len(scales) == len(sizes) == len(axes) or min((*sizes, 1)) < 1 or roi.size != 2 * len(axes):
        raise _unfit(sizes, shape)
    site.steps.count_known(tuple(sizes))
    for number, axis in enumerate(axes):
        begin, end = float(roi[number]), float(roi[number + len(axes)])
        lines[axis] = Line(
            extent=shape[axis], result_extent=sizes[number], scale=scales[number], begin=begin, end=end
        )
    return lines
