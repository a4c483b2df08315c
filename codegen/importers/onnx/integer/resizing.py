"""Resize of integers: elements as they are, or four neighbours mixed as real numbers in one step."""

import numpy as np

from codegen.importers.onnx.integer.layers import Translators, move, table
from codegen.importers.onnx.integer.scales import IntegerTarget, LeftInFloat, computed
from codegen.importers.onnx.layouts import Stored, StoredAs, Value
from codegen.importers.onnx.node_site import Site
from codegen.importers.onnx.resized_axes import WHERE, Line, coordinates, lines_of
from codegen.ir import ConstRef, DType
from codegen.ir.ops import TableResizeAttrs

_PLACES = ("align_corners", "asymmetric", "half_pixel", "pytorch_half_pixel")
"""Ways to find places that onnxruntime computes in float32 throughout."""


def resized(site: Site, image: Stored, target: IntegerTarget, others: Translators) -> Value:
    """Resize to the nearest is a move; a linear one of rows and columns mixes four elements."""
    mode = site.word("mode", "nearest")
    if mode == "nearest":
        if coordinates(site) == "tf_crop_and_resize":
            raise LeftInFloat("tf_crop_and_resize puts numbers beside the image")
        return move(site, target, others["Resize"])
    if mode != "linear":
        raise LeftInFloat(f"a Resize of mode {mode} has no integer form")
    return _linear(site, image, target)


def _linear(site: Site, image: Stored, target: IntegerTarget) -> Value:
    value = computed(image)
    if value.var.type.dtype is not DType.INT8 or target.dtype is not DType.INT8:
        raise LeftInFloat("a linear Resize has an integer form of 8 bits")
    if coordinates(site) not in _PLACES or site.integer("antialias", 0) or site.integer("exclude_outside", 0):
        raise LeftInFloat(f"a linear Resize has an integer form for {', '.join(_PLACES)}, without antialias")
    lines = lines_of(site, value.shape)
    if all(line.result_extent == line.extent for line in lines):
        return table(site, image, target, None)
    first = _axis_of_rows(lines)
    axes = value.axes
    if axes[first + 1] != axes[first] + 1:
        axes = tuple(range(len(lines)))
    args = [site.steps.stored(value, axes), *_places(site, lines[first]), *_places(site, lines[first + 1])]
    return site.steps.step(
        "TABLE_RESIZE",
        args,
        TableResizeAttrs(axis=axes[first]),
        axes=axes,
        stored=StoredAs(quantization=target.quantization),
    )


def _axis_of_rows(lines: list[Line]) -> int:
    """The first of the two axes that change, which are those that onnxruntime takes."""
    kept = [line.scale == 1 and line.result_extent == line.extent for line in lines]
    if len(lines) == 2:
        return 0
    if len(lines) == 4 and kept[0] and kept[1]:
        return 2
    if len(lines) == 4 and kept[0] and kept[3]:
        return 1
    raise LeftInFloat("a linear Resize has an integer form along the rows and columns of 2 or 4 dimensions")


def _places(site: Site, line: Line) -> tuple[ConstRef, ConstRef]:
    """The element in front of each result, and the shares of it and of the one behind.

    Source: onnxruntime, Upsample (SetupUpsampleBilinear): all in float32; the last element has no neighbour,
    and is taken twice by halves.
    """
    at: np.ndarray = np.arange(line.result_extent).astype(np.float32)
    if line.scale != 1:
        # onnxruntime counts elements where ONNX multiplies the extent by the scale.
        whole = Line(
            extent=line.extent, result_extent=line.result_extent, scale=line.result_extent / line.extent
        )
        how = coordinates(site)
        at = WHERE[how](whole if how == "align_corners" else line, at)
    at = np.clip(at.astype(np.float32), 0, np.float32(line.extent - 1))
    front = np.minimum(at.astype(np.int32), line.extent - 1)
    behind = np.minimum(front + 1, line.extent - 1)
    shares = np.abs(np.stack([at - behind.astype(np.float32), at - front.astype(np.float32)], axis=1))
    shares[front == behind] = 0.5
    return site.steps.constant(front), site.steps.constant(shares.astype(np.float32))
