"""NPU: layers that Vela compiled for an Ethos-U, a step whose result is the scratch; NPU_VALUE: a part of it.

The scratch holds the step's arguments and results at the offsets that the file states, and all between them.
"""

from dataclasses import dataclass

import numpy as np

from codegen.ethos_u import payload
from codegen.ethos_u.functional_model import run
from codegen.ir.operator import Arrays, Attrs, Op, Types
from codegen.ir.ops.base.operands import narrow, operand
from codegen.ir.types import DType, TensorType

STREAM, CONSTANTS = 0, 1
"""Arguments in front of the values: the command stream with its header, and what it only reads."""
FIXED = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class NpuAttrs(Attrs):
    """NPU: its memory, and where its arguments lie in it."""

    device: str
    """Configuration that the stream is for, as Vela names it."""
    scratch_bytes: int
    tail_bytes: int
    """Last bytes of the scratch that hold the padding of a tensor's channels, and no element."""
    fast_bytes: int
    """Fast scratch; 0: it is the scratch."""
    offsets: tuple[int, ...]
    """First byte of each value among the arguments, in the scratch."""
    macs: int


class Npu(Op):
    """NPU: the command stream, constants or None, then the layers' arguments; the result is the scratch."""

    name = "NPU"
    short = "npu"
    attrs_type = NpuAttrs

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """All bytes of the scratch, in which each argument must lie."""
        npu = narrow(attrs, NpuAttrs)
        operand(args, STREAM, "command stream")
        if len(args) != FIXED + len(npu.offsets):
            raise ValueError(f"{len(args)} arguments with {len(npu.offsets)} offsets")
        for index, offset in enumerate(npu.offsets):
            end = offset + operand(args, FIXED + index, "value").size_bytes
            if offset < 0 or end > npu.scratch_bytes:
                raise ValueError(f"bytes {offset} to {end} are outside the scratch of {npu.scratch_bytes}")
        return (npu.scratch_bytes,)

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """Check that the scratch is bytes."""
        super().check(attrs, args, result)
        if result.dtype is not DType.UINT8:
            raise ValueError(f"the scratch is {result}, it is bytes")

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """The scratch as the functional model of the device leaves it.

        Raises CodegenError E316 where the model refuses the stream, E501 without a C compiler.
        """
        del args
        npu = narrow(attrs, NpuAttrs)
        scratch = np.zeros(result.shape, np.uint8)
        for offset, value in zip(npu.offsets, values[FIXED:], strict=True):
            assert value is not None
            data = np.ascontiguousarray(value).view(np.uint8).reshape(-1)
            scratch[offset : offset + data.size] = data
        stream, constants = values[STREAM], values[CONSTANTS]
        assert stream is not None
        commands = payload.split(stream.tobytes())
        held = np.zeros(0, np.uint8) if constants is None else constants.copy()
        fast = np.zeros(npu.fast_bytes, np.uint8) if npu.fast_bytes else scratch
        run(commands.device, commands.stream, held, scratch, fast)
        return scratch

    def macs(self, attrs: Attrs, args: Types, result: TensorType) -> int:
        """Multiply-accumulates that the stream's convolutions start."""
        del args, result
        return narrow(attrs, NpuAttrs).macs


@dataclass(frozen=True, kw_only=True, slots=True)
class NpuValueAttrs(Attrs):
    """NPU_VALUE: where the value begins in the scratch, and its shape."""

    offset: int
    shape: tuple[int, ...]


class NpuValue(Op):
    """NPU_VALUE: bytes of the scratch as a value."""

    name = "NPU_VALUE"
    short = "npu_value"
    attrs_type = NpuValueAttrs

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """The shape that the file states."""
        operand(args, 0, "scratch")
        return narrow(attrs, NpuValueAttrs).shape

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """Check that the value lies in the scratch."""
        super().check(attrs, args, result)
        offset, held = narrow(attrs, NpuValueAttrs).offset, operand(args, 0, "scratch").size_bytes
        if offset < 0 or offset + result.size_bytes > held:
            end = offset + result.size_bytes
            raise ValueError(f"bytes {offset} to {end} are outside the scratch of {held}")

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """The bytes, in the value's type."""
        del args
        [scratch] = values
        assert scratch is not None
        offset = narrow(attrs, NpuValueAttrs).offset
        held = scratch[offset : offset + result.size_bytes].copy()
        return held.view(result.dtype.numpy).reshape(result.shape)


OPERATORS = (Npu(), NpuValue())
