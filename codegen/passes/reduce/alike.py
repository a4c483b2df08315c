"""Results of a convolution that read the same values are computed once.

Bounds of an image are mostly alike from row to row and from column to column: a clamp is the same everywhere,
and only the border differs from the inside. Of rows whose windows read rows with the same content one is
chosen, of columns too. Their windows, laid side by side, are a small image: a convolution whose steps are as
long as its window, without padding, takes it to the chosen results.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from codegen.ir import Arg, Let
from codegen.ir.operator import NO_PADDING
from codegen.ir.ops import ConvAttrs, DepthwiseConvAttrs
from codegen.ir.ops.base.taps import WindowAxis, axes_of

Indices = NDArray[np.int64]
_Arg = TypeVar("_Arg", bound=Arg)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Condensed:
    """A step for the chosen rows and columns alone. `images`: those given, as this step reads them."""

    let: Let
    images: tuple[np.ndarray, ...]
    rows: Indices
    """Per row of the whole result: the row here that is the same."""
    columns: Indices

    def spread(self, result: np.ndarray) -> np.ndarray:
        """The whole result."""
        return result[:, self.rows][:, :, self.columns]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Axis:
    chosen: Indices
    """Positions that windows of the chosen results read, window after window; `extent` for padding."""
    same: Indices
    """Per result: which of the chosen ones is the same."""


def condensed(let: Let, images: Sequence[np.ndarray], fill: int) -> Condensed | None:
    """A convolution of `images` (int8, each of its first argument's shape) for one result of each kind; None
    if that is no less work. `fill` is what padding holds, the zero point."""
    attrs, (image, weights, *_) = let.call.attrs, let.call.args
    if not isinstance(attrs, ConvAttrs | DepthwiseConvAttrs) or image is None or weights is None:
        return None
    _, height, width, channels = image.type.shape
    window = (weights.type.shape[1], weights.type.shape[2])
    result = let.var.type.shape
    where = axes_of(
        (height, width), window, stride=attrs.stride, padding=attrs.padding, dilation=attrs.dilation
    )
    kinds = _kinds(images, 1)
    axes = [_axis(where[0], result[1], kinds)]
    # Of rows that are the same one says how columns differ.
    _, once = np.unique(kinds, return_index=True)
    axes.append(_axis(where[1], result[2], _kinds([image[:, once] for image in images], 2)))
    rows, columns = (axis.chosen for axis in axes)
    if len(rows) * len(columns) >= height * width:
        return None
    small = (result[0], len(rows) // window[0], len(columns) // window[1], result[3])
    shape = (result[0], len(rows), len(columns), channels)
    close = replace(attrs, stride=window, dilation=(1, 1), padding=NO_PADDING)
    args = (_shaped(image, shape), *let.call.args[1:])
    return Condensed(
        let=replace(let, var=_shaped(let.var, small), call=replace(let.call, args=args, attrs=close)),
        images=tuple(_taken(image, rows, columns, fill) for image in images),
        rows=axes[0].same,
        columns=axes[1].same,
    )


def _kinds(images: Sequence[np.ndarray], axis: int) -> Indices:
    """Per position along the axis a number: equal where all images hold the same there."""
    positions = range(images[0].shape[axis])
    seen: dict[bytes, int] = {}
    return np.array(
        [
            seen.setdefault(b"".join(image.take(position, axis).tobytes() for image in images), len(seen))
            for position in positions
        ],
        np.int64,
    )


def _axis(axis: WindowAxis, count: int, kinds: Indices) -> _Axis:
    results, taps = np.arange(count)[:, None], np.arange(axis.window)
    read = results * axis.stride - axis.before + taps * axis.dilation
    read[(read < 0) | (read >= axis.extent)] = axis.extent
    reads = np.append(kinds, -1)[read]
    _, chosen, same = np.unique(reads, axis=0, return_index=True, return_inverse=True)
    return _Axis(chosen=read[chosen].reshape(-1), same=same.reshape(-1))


def _shaped(arg: _Arg, shape: tuple[int, ...]) -> _Arg:
    return replace(arg, type=replace(arg.type, shape=shape))


def _taken(image: np.ndarray, rows: Indices, columns: Indices, fill: int) -> np.ndarray:
    """These rows and columns; those behind the last one are padding."""
    inside = image[:, np.minimum(rows, image.shape[1] - 1)][:, :, np.minimum(columns, image.shape[2] - 1)]
    inside[:, rows == image.shape[1]] = fill
    inside[:, :, columns == image.shape[2]] = fill
    return inside
