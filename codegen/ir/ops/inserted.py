"""Operators that no file has: passes and the search put them in.

SHIFT: a window of frames moved on by one frame. A pass makes it of state.

DEVICE_COPY: the same value in another memory. Only the search (and text) makes it.

FUSED: several steps as one, so that a kernel may run them together. Only the search makes it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from codegen.ir.function import Arg, ConstRef, Function, Let
from codegen.ir.operator import Arrays, Attrs, Op, Types
from codegen.ir.ops.base.operands import narrow, need_count, operand, present
from codegen.ir.types import TensorType


class Shift(Op):
    """SHIFT of a window: what is first in memory goes, a frame comes in behind the rest. It is no operator of
    files: `OPS` does not list it.

    The axis along which frames follow each other is outermost but for axes of extent 1, so bytes say it all.
    """

    name = "SHIFT"
    short = "shift"

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """The window's."""
        del attrs
        need_count(args, 2, 2)
        window, frame = operand(args, 0, "window"), operand(args, 1, "frame")
        if frame.elements > window.elements:
            raise ValueError(f"a frame of {frame.elements} elements for a window of {window.elements}")
        return window.shape

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """Window and result are of one type, the frame of its elements."""
        self.result_shape(attrs, args)
        window, frame = operand(args, 0, "window"), operand(args, 1, "frame")
        if result != window:
            raise ValueError(f"the result is {result}, a shifted window is of its own type, {window}")
        if (frame.dtype, frame.quantization) != (window.dtype, window.quantization):
            raise ValueError(f"the frame is {frame}, the window {window}, or quantised differently")

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """The window without its first elements, then the frame."""
        del attrs, args
        window, frame = present(values, 0, "window"), present(values, 1, "frame")
        rest = window.reshape(-1)[frame.size :]
        return np.concatenate([rest, frame.reshape(-1)]).reshape(result.shape)


SHIFT = Shift()


class DeviceCopy(Op):
    """DEVICE_COPY of one value. It is no operator of files: `OPS` does not list it.

    Where its argument and its result lie is said by their virtual devices, not by an attribute.
    """

    name = "DEVICE_COPY"
    short = "copy"

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """The argument's."""
        del attrs
        if len(args) != 1:
            raise ValueError(f"{len(args)} arguments, the operator takes one")
        return operand(args, 0, "value").shape

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """The result has the argument's type in every part."""
        self.result_shape(attrs, args)
        if result != operand(args, 0, "value"):
            raise ValueError(f"the result is {result}, a copy is of its argument's type, {args[0]}")

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """The argument."""
        del attrs, args, result
        (value,) = values
        if value is None:
            raise ValueError("a copy of nothing")
        return value.copy()


DEVICE_COPY = DeviceCopy()


@dataclass(frozen=True, kw_only=True, slots=True)
class FusedAttrs(Attrs):
    """`function` holds the steps: its parameters are the values from outside, its result the last one.

    The call's arguments are these values in order, then every constant the steps use, in order of first use.
    """

    function: Function


def constants_of(function: Function) -> tuple[ConstRef, ...]:
    """Every constant that the steps use, each once, in order of first use."""
    found: dict[str, ConstRef] = {}
    for let in function.body:
        for arg in let.call.args:
            if isinstance(arg, ConstRef):
                found.setdefault(arg.id, arg)
    return tuple(found.values())


class Fused(Op):
    """FUSED. It is no operator of files: `OPS` does not list it, and it has no text form."""

    name = "FUSED"
    short = "fused"
    attrs_type = FusedAttrs

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """The last step's."""
        function = narrow(attrs, FusedAttrs).function
        wanted = [param.type for param in function.params] + [ref.type for ref in constants_of(function)]
        if list(args) != wanted:
            raise ValueError("the arguments are not the function's parameters and constants")
        return function.body[-1].var.type.shape

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """The steps' references, one after the other."""
        del args, result
        function = narrow(attrs, FusedAttrs).function
        names = [param.name for param in function.params]
        names += [_key(ref) for ref in constants_of(function)]
        known = {name: value for name, value in zip(names, values, strict=True) if value is not None}
        for let, step_values, types in _steps(function, known):
            known[let.var.name] = let.call.op.evaluate(let.call.attrs, step_values, types, let.var.type)
        return known[function.body[-1].var.name]

    def macs(self, attrs: Attrs, args: Types, result: TensorType) -> int:
        """Of all steps, each run once in whole."""
        del args, result
        return sum(let.macs for let in narrow(attrs, FusedAttrs).function.body)


def _key(arg: Arg) -> str:
    return f"${arg.id}" if isinstance(arg, ConstRef) else arg.name


def _steps(
    function: Function, known: Mapping[str, np.ndarray]
) -> Iterator[tuple[Let, list[np.ndarray | None], list[TensorType | None]]]:
    """Every step with the values and types of its arguments; `known` fills up as the caller goes on."""
    for let in function.body:
        args = let.call.args
        values = [None if arg is None else known[_key(arg)].reshape(arg.type.shape) for arg in args]
        yield let, values, [None if arg is None else arg.type for arg in args]


FUSED = Fused()
