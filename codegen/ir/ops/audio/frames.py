"""Operators of an audio front end, on numbers without quantisation: what TFLM's signal library computes."""

import numpy as np

from codegen.ir.operator import Arrays, Attrs, Op, Types
from codegen.ir.ops.audio import filter_bank, spectrum
from codegen.ir.ops.audio.typed import TypedOp, need_within
from codegen.ir.ops.base.attrs import OverlapAttrs, ShiftAttrs
from codegen.ir.ops.base.operands import narrow, need_count, need_dtype, need_elements, operand, present
from codegen.ir.types import DType, TensorType

MAX_SHIFT = 31
"""Largest shift of a product of two int16 numbers, in 32 bits."""


class SignalWindow(Op):
    """SIGNAL_WINDOW(frames, window): each frame times the window, shifted right (rounded down), saturated."""

    name = "SIGNAL_WINDOW"
    short = "window"
    attrs_type = ShiftAttrs

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """That of the frames, whose elements are a multiple of the window's."""
        narrow(attrs, ShiftAttrs)
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
        shift = narrow(attrs, ShiftAttrs).shift
        if not 0 <= shift <= MAX_SHIFT:
            raise ValueError(f"shift {shift} is not within 0 and {MAX_SHIFT}")

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: ApplyWindow of tflite-micro's signal library."""
        del args
        frames, window = present(values, 0, "frames"), present(values, 1, "window")
        products = frames.reshape(-1, window.size).astype(np.int64) * window
        shifted = products >> narrow(attrs, ShiftAttrs).shift
        return np.clip(shifted, *result.dtype.limits).astype(np.int16).reshape(result.shape)


class ScaleBits(TypedOp):
    """SIGNAL_SCALE_BITS(frame): by how many bits its numbers can be shifted left."""

    name, short = "SIGNAL_SCALE_BITS", "scale_bits"
    takes, gives = (("frame", DType.INT16),), DType.INT32

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """A single number."""
        super().result_shape(attrs, args)
        return ()

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: MaxAbs16, FftAutoScale: of what follows the last -32768, which has no positive."""
        del attrs, args
        frame = present(values, 0, "frame").reshape(-1).astype(np.int64)
        lows = np.flatnonzero(frame == -32768)
        most = 0
        if lows.size:
            most = -32768
            frame = frame[lows[-1] + 1 :]
            for value in frame.tolist():
                most = value if value > most else max(most, -value)
        else:
            most = int(np.abs(frame).max())
        bits = 15 - most.bit_length() if most > 0 else 0
        return np.array(bits, np.int32).reshape(result.shape)


class Scale(TypedOp):
    """SIGNAL_SCALE(frame, bits): the frame shifted left; what 16 bits have no room for is cut off."""

    name, short = "SIGNAL_SCALE", "scale"
    takes, gives = (("frame", DType.INT16), ("bits", DType.INT32)), DType.INT16

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: FftAutoScale."""
        del attrs, args, result
        bits = int(present(values, 1, "bits").reshape(-1)[0]) & 31
        return (present(values, 0, "frame").astype(np.int64) << bits).astype(np.int16)


class OverlapAdd(Op):
    """SIGNAL_OVERLAP_ADD(frames [rows, count, size], what is left of earlier ones [rows, size - step]).

    Sums [rows, (count - 1) step + size], saturated; `step` of them a frame are complete, the rest is left.
    """

    name, short = "SIGNAL_OVERLAP_ADD", "overlap_add"
    attrs_type = OverlapAttrs

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """One sum a row; see the class for its length."""
        step = narrow(attrs, OverlapAttrs).step
        need_count(args, 2, 2)
        frames, left = operand(args, 0, "frames"), operand(args, 1, "rest")
        if len(frames.shape) != 3:
            raise ValueError(f"frames of shape {list(frames.shape)}, need rows, frames and samples")
        rows, count, size = frames.shape
        need_within("frame_step", step, 1, size - 1)
        if left.shape != (rows, size - step):
            raise ValueError(f"a rest of shape {list(left.shape)}, needs {[rows, size - step]}")
        return (rows, (count - 1) * step + size)

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """int16 or float32 throughout."""
        super().check(attrs, args, result)
        need_elements(result)
        need_dtype(operand(args, 0, "frames"), "frames", DType.INT16, DType.FLOAT32)
        for what, type_ in (("rest", operand(args, 1, "rest")), ("result", result)):
            need_dtype(type_, what, operand(args, 0, "frames").dtype)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """Source: OverlapAdd of tflite-micro's signal library."""
        del args
        step = narrow(attrs, OverlapAttrs).step
        frames, left = present(values, 0, "frames"), present(values, 1, "rest")
        sums = np.zeros(result.shape, np.int64 if result.dtype is DType.INT16 else np.float32)
        sums[:, : left.shape[1]] = left
        for index in range(frames.shape[1]):
            place = sums[:, index * step : index * step + frames.shape[2]]
            place += frames[:, index]
            if result.dtype is DType.INT16:
                np.clip(place, *result.dtype.limits, out=place)
        return sums.astype(result.dtype.numpy)


OPERATORS: tuple[Op, ...] = (
    SignalWindow(),
    ScaleBits(),
    *spectrum.OPERATORS,
    *filter_bank.OPERATORS,
)
"""All of this family that files ask for one by one."""

PARTS: tuple[Op, ...] = (Scale(), OverlapAdd(), *filter_bank.PARTS)
"""Parts of operators of files: what goes from one to the other is state, or not to be seen outside."""
