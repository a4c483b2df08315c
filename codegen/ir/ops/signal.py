"""Operators of an audio front end, on numbers without quantisation: what TFLM's signal library computes."""

import numpy as np

from codegen.ir.operator import Arrays, Attrs, Op, Types
from codegen.ir.ops.base.attrs import WindowAttrs
from codegen.ir.ops.base.operands import narrow, need_count, need_dtype, need_elements, operand, present
from codegen.ir.types import DType, TensorType

MAX_SHIFT = 31
"""Of a product of two int16 numbers, in 32 bits."""


class SignalWindow(Op):
    """SIGNAL_WINDOW(frames, window): each frame times the window, shifted right (rounded down), saturated."""

    name = "SIGNAL_WINDOW"
    short = "window"
    attrs_type = WindowAttrs

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """That of the frames, whose elements are a multiple of the window's."""
        narrow(attrs, WindowAttrs)
        need_count(args, 2, 2)
        frames, window = operand(args, 0, "frames"), operand(args, 1, "window")
        need_elements(window)
        if not frames.shape or len(window.shape) != 1 or frames.elements % window.elements:
            raise ValueError(
                f"a window of shape {list(window.shape)} does not fit frames {list(frames.shape)}"
            )
        return frames.shape

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """int16 throughout, a shift that 32 bits have."""
        super().check(attrs, args, result)
        need_elements(result)
        for what, type_ in (("frames", args[0]), ("window", args[1]), ("result", result)):
            assert type_ is not None
            need_dtype(type_, what, DType.INT16)
        shift = narrow(attrs, WindowAttrs).shift
        if not 0 <= shift <= MAX_SHIFT:
            raise ValueError(f"shift {shift} is not within 0 and {MAX_SHIFT}")

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: ApplyWindow of tflite-micro's signal library."""
        del args
        frames, window = present(values, 0, "frames"), present(values, 1, "window")
        products = frames.reshape(-1, window.size).astype(np.int64) * window
        shifted = products >> narrow(attrs, WindowAttrs).shift
        return np.clip(shifted, *result.dtype.limits).astype(np.int16).reshape(result.shape)


OPERATORS: tuple[Op, ...] = (SignalWindow(),)
"""All of this family."""
