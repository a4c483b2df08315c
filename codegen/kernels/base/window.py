"""Windows that slide over images: the geometry that convolutions and pools share."""

import math
from dataclasses import dataclass

from codegen.ir.ops import Padding2D
from codegen.kernels.base.walk import Fields
from codegen.kernels.rows import Axis


@dataclass(frozen=True, kw_only=True, slots=True)
class WindowShape:
    """Image and result NHWC, window and steps as (rows, columns), all in elements."""

    image: tuple[int, int, int, int]
    result: tuple[int, int, int, int]
    window: tuple[int, int]
    stride: tuple[int, int]
    dilation: tuple[int, int]
    padding: Padding2D

    @property
    def fields(self) -> Fields:
        """Fields of a `cg_window`; C derives the padding behind the image from the result's extents."""
        return (
            ("batch", self.image[0]),
            ("in", _shape(self.image)),
            ("out", _shape(self.result)),
            ("kernel_h", self.window[0]),
            ("kernel_w", self.window[1]),
            ("stride_h", self.stride[0]),
            ("stride_w", self.stride[1]),
            ("dilation_h", self.dilation[0]),
            ("dilation_w", self.dilation[1]),
            ("pad_top", self.padding.top),
            ("pad_left", self.padding.left),
        )

    @property
    def axes(self) -> tuple[Axis, Axis]:
        """Its rows and its columns."""
        pads = (self.padding.top, self.padding.left)
        rows, columns = (
            Axis(
                count=self.result[axis + 1],
                extent=self.image[axis + 1],
                window=self.window[axis],
                stride=self.stride[axis],
                dilation=self.dilation[axis],
                pad=pads[axis],
            )
            for axis in (0, 1)
        )
        return rows, columns

    @property
    def covered_rows(self) -> int:
        """Rows that a window covers, or all of an image that has fewer; `cg_covered_rows` in C."""
        return min((self.window[0] - 1) * self.dilation[0] + 1, self.image[1])

    @property
    def is_pointwise(self) -> bool:
        """True if every result pixel reads the image pixel in its place alone."""
        return self.window == (1, 1) == self.stride and self.image[:3] == self.result[:3]

    @property
    def is_padded(self) -> bool:
        """True if some window reaches beyond an edge of the image."""
        ends = (axis.reach + (axis.count - 1) * axis.stride >= axis.extent for axis in self.axes)
        return any(axis.pad > 0 for axis in self.axes) or any(ends)

    def reads(self, per_tap: int) -> float:
        """How often each image element is loaded, on average, if every tap inside loads `per_tap` elements
        a result pixel."""
        rows, columns = self.axes
        return self.image[0] * rows.taps * columns.taps * per_tap / math.prod(self.image)


def _shape(image: tuple[int, int, int, int]) -> Fields:
    return (("h", image[1]), ("w", image[2]), ("c", image[3]))


def nhwc(shape: tuple[int, ...]) -> tuple[int, int, int, int]:
    """`shape` as four extents; raises ValueError for another rank."""
    if len(shape) != 4:
        raise ValueError(f"shape {list(shape)} is no NHWC image")
    return (shape[0], shape[1], shape[2], shape[3])
