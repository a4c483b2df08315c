"""Operator declarations: name, attributes, shape and type rule, evaluation in NumPy, MAC count."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen.ir.dataflow import Links, Range, RowReads, RowSpan
from codegen.ir.types import TensorType

Arrays = Sequence[np.ndarray | None]
"""The arrays of a call's arguments; None where an optional one is absent."""

Types = Sequence[TensorType | None]
"""Their types."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Attrs:
    """Base of all attribute sets; operators without attributes use it as it is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Padding2D:
    """Explicit padding of an image, in elements; padded elements are the zero point."""

    top: int = 0
    bottom: int = 0
    left: int = 0
    right: int = 0

    def __post_init__(self) -> None:
        if min(self.top, self.bottom, self.left, self.right) < 0:
            raise ValueError("padding must not be negative")


NO_PADDING = Padding2D()


class Op(ABC):
    """One kind of operator. Instances are stateless singletons, found by name in `codegen.ir.ops`."""

    name: str
    """The operator's TFLite name, e.g. `CONV_2D`; messages and reports use it."""
    short: str
    """Stem of the names of its results, e.g. `conv` for `conv0`."""
    attrs_type: type[Attrs] = Attrs
    is_monotone: bool = False
    """No element of an int8 result falls when an element of an argument grows."""
    bound: float | None = None
    """Largest magnitude of a real result, whatever the arguments; None where there is none."""
    mixes_channels: bool = False
    """Each channel of the result is a sum over channels of argument 0."""

    @abstractmethod
    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """Shape of the result; raises ValueError with the reason when the arguments do not fit."""

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """Raise ValueError with the reason unless dtypes, quantisation and shapes obey the rule."""
        expected = self.result_shape(attrs, args)
        if result.shape != expected:
            raise ValueError(f"result shape is {list(result.shape)}, the operator gives {list(expected)}")

    @abstractmethod
    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """The reference result: integer-exact to TFLite's reference kernels, float32 within 1e-5 relative.

        `values` have the shapes and dtypes of `args`; returns an array of `result.shape`, `result.dtype`.
        """

    def macs(self, attrs: Attrs, args: Types, result: TensorType) -> int:
        """Multiply-accumulates of one evaluation, taps in the padding included; 0 if it has none."""
        del attrs, args, result
        return 0

    def value_range(
        self, attrs: Attrs, ranges: Sequence[Range], args: Types, result: TensorType
    ) -> Range | None:
        """Bounds of an int8 result, by those of the arguments; None where its type alone bounds it."""
        return self.at_both_ends(attrs, ranges, args, result) if self.is_monotone else None

    def at_both_ends(self, attrs: Attrs, ranges: Sequence[Range], args: Types, result: TensorType) -> Range:
        """The range of a monotone operator: what it makes of both ends."""
        low = self.evaluate(attrs, [bounds.low for bounds in ranges], args, result)
        return Range(low=low, high=self.evaluate(attrs, [bounds.high for bounds in ranges], args, result))

    def channel_links(self, attrs: Attrs, args: Types, result: TensorType) -> Links:
        """Which channels of the arguments go into which of the result; None where it needs all of them."""
        del attrs, args, result
        return None

    def of_channels(self, attrs: Attrs, links: Links, kept: NDArray[np.bool_]) -> Attrs:
        """The attributes of the step that computes these channels of the result alone."""
        del links, kept
        return attrs

    def rows_read(self, attrs: Attrs, args: Types, result: TensorType, axis: int) -> RowReads | None:
        """Rows of the arguments that a row along `axis` of the result is computed from.

        None where rows follow no common rule, or need more than such rows."""
        del attrs, args, result, axis
        return None

    def of_rows(self, attrs: Attrs, span: RowSpan) -> Attrs:
        """The attributes of the step that computes rows of the result alone, from no more than they read."""
        del span
        return attrs

    def takes_as_padding(self, attrs: Attrs, image: TensorType, value: float, least: float) -> bool:
        """True if elements `value` around argument 0 do what the operator's own padding does. `least`: no
        element of the image is below it; both are in stored units."""
        del attrs, image, value, least
        return False

    def domain(self, attrs: Attrs, args: Types, position: int) -> tuple[float, float] | None:
        """Least and largest value that means something in argument `position`; None where all do."""
        del attrs, args, position
        return None

    def __repr__(self) -> str:
        return self.name
