"""Operators that are not those of `OPS`: passes and the search put them in; WHILE runs steps of its own.

SHIFT: a window of frames moved on by one frame. A pass makes it of state.

DEVICE_COPY: the same value in another memory. Only the search (and text) makes it.

FUSED: several steps as one, so that a kernel may run them together. Only the search makes it.

WHILE: steps that run again and again. Importers make it of loops that they do not unroll.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from codegen.ir.function import Arg, ConstRef, Function, Let, Var
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
    refs: dict[str, ConstRef] = {}
    for let in function.body:
        for arg in let.call.args:
            if isinstance(arg, ConstRef):
                refs.setdefault(arg.id, arg)
    return tuple(refs.values())


class Fused(Op):
    """FUSED. It is no operator of files: `OPS` does not list it, and it has no text form."""

    name = "FUSED"
    short = "fused"
    attrs_type = FusedAttrs

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """The last step's."""
        function = narrow(attrs, FusedAttrs).function
        types = [param.type for param in function.params] + [ref.type for ref in constants_of(function)]
        if list(args) != types:
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
        """Multiply-accumulates of all steps, each run once in whole."""
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


@dataclass(frozen=True, kw_only=True, slots=True)
class LoopAttrs(Attrs):
    """`function` is one iteration. Its first `carried` parameters are what lasts from one to the next, the
    others stay as they are; its results are the carried values of the next one.

    With `decided` there is a result more in front of these: whether the iteration takes place at all. Steps
    up to the one that computes it come first. The call's arguments are the first values of the parameters,
    then every constant the steps use, in order of first use. Its result is the carried values `returned` as
    the last iteration leaves them, one behind the other.
    """

    function: Function
    carried: int
    trips: int
    """Iterations: so many, or, if they are `decided`, at most."""
    decided: bool
    returned: tuple[int, ...]

    def __post_init__(self) -> None:
        count = self.carried + self.decided
        if len(self.function.results) != count or not 0 < self.carried <= len(self.function.params):
            raise ValueError(f"{count} results of an iteration, not {len(self.function.results)}")
        if (
            self.trips < 1
            or not self.returned
            or max(self.returned) >= self.carried
            or min(self.returned) < 0
        ):
            raise ValueError(f"{self.trips} iterations that give the values {self.returned}")

    @property
    def deciding_steps(self) -> int:
        """How many steps at the front say whether the iteration takes place."""
        if not self.decided:
            return 0
        names = [let.var.name for let in self.function.body]
        decision = self.function.results[0]
        return names.index(decision.name) + 1 if isinstance(decision, Var) and decision.name in names else 0

    @property
    def decision(self) -> Var | None:
        """The step's result or parameter that says whether an iteration takes place; None if all do."""
        decision = self.function.results[0]
        return decision if self.decided and isinstance(decision, Var) else None

    @property
    def nexts(self) -> tuple[Arg, ...]:
        """Values of the carried parameters in the next iteration."""
        return self.function.results[1:] if self.decided else self.function.results


class Loop(Op):
    """WHILE of a fixed or a limited number of iterations. `OPS` does not list it: files have more kinds."""

    name = "WHILE"
    short = "loop"
    attrs_type = LoopAttrs

    def result_shape(self, attrs: Attrs, args: Types) -> tuple[int, ...]:
        """All elements of the values that are given."""
        loop = narrow(attrs, LoopAttrs)
        function = loop.function
        types = [param.type for param in function.params] + [ref.type for ref in constants_of(function)]
        if list(args) != types:
            raise ValueError("the arguments are not the iteration's parameters and constants")
        if any(param.type != after.type for param, after in zip(function.params, loop.nexts, strict=False)):
            raise ValueError("a carried value becomes one of another type")
        return (sum(function.params[index].type.elements for index in loop.returned),)

    def check(self, attrs: Attrs, args: Types, result: TensorType) -> None:
        """Check that given values have the result's element type and quantisation, and every step by its
        rules.
        """
        super().check(attrs, args, result)
        loop = narrow(attrs, LoopAttrs)
        for index in loop.returned:
            type_ = loop.function.params[index].type
            if (type_.dtype, type_.quantization) != (result.dtype, result.quantization):
                raise ValueError(f"the result is {result}, the loop gives {type_}")
        if loop.decided and loop.decision is None:
            raise ValueError("a constant says whether the iteration takes place")
        for let in loop.function.body:
            let.call.op.check(let.call.attrs, let.call.types, let.var.type)

    def evaluate(self, attrs: Attrs, values: Arrays, args: Types, result: TensorType) -> np.ndarray:
        """The steps' references, iteration by iteration."""
        loop = narrow(attrs, LoopAttrs)
        function = loop.function
        names = [param.name for param in function.params] + [_key(ref) for ref in constants_of(function)]
        held = {name: value for name, value in zip(names, values, strict=True) if value is not None}
        deciding, decision = loop.deciding_steps, loop.decision
        for _ in range(loop.trips):
            known = dict(held)
            if decision is not None and not deciding and not known[decision.name].any():
                break
            for step, (let, step_values, types) in enumerate(_steps(function, known)):
                known[let.var.name] = let.call.op.evaluate(let.call.attrs, step_values, types, let.var.type)
                if step == deciding - 1 and not known[let.var.name].any():
                    break
            else:
                for param, after in zip(function.params, loop.nexts, strict=False):
                    held[param.name] = known[_key(after)].reshape(param.type.shape)
                continue
            break
        last_values = [held[function.params[index].name].reshape(-1) for index in loop.returned]
        return np.concatenate(last_values).astype(result.dtype.numpy)

    def macs(self, attrs: Attrs, args: Types, result: TensorType) -> int:
        """Multiply-accumulates of all steps in as many iterations as there may be."""
        del args, result
        loop = narrow(attrs, LoopAttrs)
        return loop.trips * sum(let.macs for let in loop.function.body)


LOOP = Loop()
