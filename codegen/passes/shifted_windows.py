"""State that is a window of frames: a frame goes, the others move on, a new one comes in.

Exporters of streaming networks write that as CONCATENATION and STRIDED_SLICE, in one of two ways:

    window = CONCATENATION(state, frame)          window = CONCATENATION(STRIDED_SLICE(state), frame)
    state  = STRIDED_SLICE(window)                state  = window

Both become `window = SHIFT(window, frame)`, the window itself being the state: one value in one place.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from codegen.ir import Arg, Call, DeviceConflict, Function, Let, Module, StateValue, Var
from codegen.ir.ops import SHIFT, Attrs, ConcatAttrs, StridedSliceAttrs
from codegen.passes.pipeline import with_function


@dataclass(frozen=True, kw_only=True, slots=True)
class ShiftWindows:
    """State that is shifted by a frame becomes a window, shifted where it is."""

    name: str = "shift_windows"

    def run(self, module: Module) -> Module:
        """One state after another; what is no window stays as it is."""
        for function in module.functions.values():
            for index in range(len(function.states)):
                function = _shifted(function, index)
            module = with_function(module, function)
        return module


@dataclass(frozen=True, kw_only=True, slots=True)
class _Window:
    """A state that is shifted: the steps that say so, and the frame."""

    join: Let
    """The CONCATENATION, whose result is the window."""
    cut: Let
    """The STRIDED_SLICE in front of it or behind."""
    frame: Arg


def _shifted(function: Function, index: int) -> Function:
    state = function.states[index]
    pattern = _window(function, state)
    if pattern is None:
        return function
    old = function.params[state.param]
    window = replace(old, type=pattern.join.var.type)
    shift = Let(
        var=pattern.join.var,
        call=Call(op=SHIFT, args=(window, pattern.frame), attrs=Attrs()),
        source=pattern.join.source,
    )
    body = [let for let in function.body if let is not pattern.cut]
    results = list(function.results)
    results[state.result] = pattern.join.var
    states = list(function.states)
    # What lies in front is gone before anything reads it: any bytes do, so those that are there already.
    size_bytes = window.type.size_bytes - old.type.size_bytes
    front = (state.initial * math.ceil(size_bytes / len(state.initial)))[:size_bytes]
    states[index] = replace(state, initial=front + state.initial)
    return replace(
        function,
        params=_replaced(function.params, state.param, window),
        body=tuple(shift if let is pattern.join else let for let in body),
        results=tuple(results),
        states=tuple(states),
    )


def _replaced(params: Sequence[Var], position: int, param: Var) -> tuple[Var, ...]:
    return (*params[:position], param, *params[position + 1 :])


def _window(function: Function, state: StateValue) -> _Window | None:
    """The window that a state is; None if it is none, or is read by something else as well."""
    old, new = function.params[state.param], function.results[state.result]
    uses, end = function.uses(), len(function.body)
    last = next((let for let in function.body if let.var == new), None)
    if last is None or len(uses[old.name]) != 1 or uses[old.name] == [end]:
        return None
    reader = function.body[uses[old.name][0]]
    if _joins(reader, old) and _cuts(last, reader.var) and uses[last.var.name] == [end]:
        pattern = _Window(join=reader, cut=last, frame=_frame(reader))
        is_own = end not in uses[reader.var.name]
    elif _cuts(reader, old) and _joins(last, reader.var) and uses[reader.var.name] == [_step(function, last)]:
        pattern = _Window(join=last, cut=reader, frame=_frame(last))
        is_own = last.var.type == old.type and uses[last.var.name].count(end) == 1
    else:
        return None
    return pattern if is_own and _may_meet(old, pattern.join.var) else None


def _may_meet(old: Var, window: Var) -> bool:
    """True if the devices of the two values allow them one place."""
    try:
        old.device.unify(window.device)
    except DeviceConflict:
        return False
    return True


def _step(function: Function, let: Let) -> int:
    return next(step for step, body_step in enumerate(function.body) if body_step is let)


def _frame(join: Let) -> Arg:
    frame = join.call.args[1]
    assert frame is not None, "arguments of a CONCATENATION are there"
    return frame


def _joins(let: Let, first: Var) -> bool:
    """True if `let` appends a frame to `first`, in memory too."""
    attrs, args = let.call.attrs, let.call.args
    if not isinstance(attrs, ConcatAttrs) or len(args) != 2 or args[0] != first or args[1] == first:
        return False
    return math.prod(let.var.type.shape[: attrs.axis]) == 1


def _cuts(let: Let, window: Var) -> bool:
    """True if `let` cuts the end off `window`, in memory too."""
    attrs = let.call.attrs
    if not isinstance(attrs, StridedSliceAttrs) or let.call.args[0] != window:
        return False
    axes = list(zip(window.type.shape, attrs.begins, attrs.strides, attrs.counts, strict=True))
    while axes and axes[0][0] == 1:
        del axes[0]
    if not axes:
        return False
    extent, begin, stride, count = axes[0]
    whole = all(begin == 0 and stride == 1 and count == extent for extent, begin, stride, count in axes[1:])
    return whole and stride == 1 and begin + count == extent
