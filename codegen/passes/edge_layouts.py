"""`--layout nhwc|nchw`: images at the model's edge lie in memory as the application has them.

An image that the network turns at once, or gives turned, is handed over as the network computes with it: the
TRANSPOSE goes. An image that the network takes as it is gets a TRANSPOSE, if the other layout is asked for.
Whether steps turn an image is decided by where they put each element.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from codegen.ir import Arg, Call, Function, Let, Module, Var
from codegen.ir.ops import ELEMENT_BY_ELEMENT, PaddedAttrs, ReshapeAttrs, TransposeAttrs
from codegen.ir.ops.layout import RESHAPE, TRANSPOSE
from codegen.passes.edges import edge_name, new_name, outer_params, outer_results, rewritten, with_notes
from codegen.passes.pipeline import rewrite_results, substitute_let, with_function

Layout = Literal["file", "nhwc", "nchw"]
TURNED = "turned_edges"
"""Key of the metadata: a line `input 0 0,2,3,1` per edge whose axes are permuted, by its position."""

_MOVES = TransposeAttrs | ReshapeAttrs
_IMAGE_RANKS = (3, 4, 5)


def turned_edges(metadata: Mapping[str, str]) -> dict[tuple[str, int], tuple[int, ...]]:
    """(input or output, position) -> the permutation of the file's axes that the program has."""
    lines = (line.split() for line in metadata.get(TURNED, "").splitlines())
    return {(kind, int(place)): tuple(map(int, axes.split(","))) for kind, place, axes in lines}


@dataclass(frozen=True, kw_only=True, slots=True)
class EdgeLayouts:
    """Hand images over in `layout`. For `file` nothing changes, but notes tell what the other layout saves.

    `streams`: rows of the only input are delivered one by one, channels last in any case.
    """

    layout: Layout = "file"
    streams: bool = False
    name: str = "edge_layouts"

    def run(self, module: Module) -> Module:
        """Rewrite parameters, then results; tell of edges that stay as they are."""
        work = _Edges(asked=self.layout, function=module.main, notes=[], turned=[])
        for position, param in list(outer_params(module.main)):
            work.param(position, "nhwc" if self.streams else self.layout)
            if self.streams and work.turned and self.layout != "nhwc":
                work.notes.append(f"--stream-input: rows of {edge_name(param)} have their channels last")
        for position, _ in list(outer_results(module.main)):
            work.result(position, self.layout)
        if self.layout != "file" and not work.turned and not work.notes:
            work.notes.append(f"--layout {self.layout} changes nothing: no input or output is an image")
        module = with_notes(with_function(module, work.function), work.notes)
        if not work.turned:
            return module
        return replace(module, metadata={**module.metadata, TURNED: "\n".join(work.turned)})


@dataclass(kw_only=True, slots=True)
class _Edges:
    """A function whose edges are rewritten one after the other."""

    asked: Layout
    """The layout that the user named for all edges; a streamed input has channels last anyway."""
    function: Function
    notes: list[str]
    turned: list[str]

    def param(self, position: int, layout: Layout) -> None:
        """Hand input `position` over in `layout`."""
        param = self.function.params[position]
        path = _path_behind(self.function, param)
        order = _permutation(len(param.type.shape), "nhwc")
        places = _moved_places(param.type.shape, path)
        is_first = bool(path) and np.array_equal(places, _turned_places(param.type.shape, order))
        if is_first and layout == "nhwc":
            self._replace_param(position, param, path, order)
        elif not is_first and layout == "nchw" and _reads_windows(self.function, path, param):
            self._insert_param(position, param)
        elif layout != "file" or (is_first and not _are_in_order(places)):
            self._note("input", param, layout, path, is_first=is_first)

    def result(self, position: int, layout: Layout) -> None:
        """Hand output `position` over in `layout`."""
        result = self.function.results[position]
        assert isinstance(result, Var), "a computed result"
        source, path = _path_before(self.function, result)
        order = _permutation(len(result.type.shape), "nhwc")
        places = _moved_places(source.type.shape, path)
        is_first = bool(path) and _are_in_order(_turned_places(result.type.shape, order, places))
        if is_first and layout == "nhwc":
            self._replace_result(position, result, source, path, order)
        elif not is_first and layout == "nchw" and _is_of_windows(self.function, source):
            self._insert_result(position, result)
        elif layout != "file" or (is_first and not _are_in_order(places)):
            self._note("output", result, layout, path, is_first=is_first)

    def _note(self, kind: str, edge: Var, layout: Layout, path: Sequence[Let], *, is_first: bool) -> None:
        """Tell of an edge that stays as it is."""
        if len(edge.type.shape) not in _IMAGE_RANKS:
            return
        turn = next((let for let in path if isinstance(let.call.attrs, TransposeAttrs)), None)
        if layout == "file":
            assert turn is not None, "its elements are moved"
            text = f"{kind} {edge_name(edge)} has its channels first, as in the file: --layout nhwc saves"
            copied = f"a copy of {turn.var.type.size_bytes:,} bytes"
            self.notes.append(f"{text} the step that turns it, and {copied}")
        elif self.asked != "file":
            reason = "it is so in the file" if is_first else "no step at this edge turns an image"
            self.notes.append(f"--layout {layout}: {kind} {edge_name(edge)} stays as it is: {reason}")

    def _tell_turned(self, kind: str, position: int, order: Sequence[int]) -> None:
        self.turned.append(f"{kind} {position} {','.join(map(str, order))}")

    def _replace_param(self, position: int, param: Var, path: Sequence[Let], order: tuple[int, ...]) -> None:
        """Take the moves of `path` out: the parameter is what they made."""
        outer = _permuted(param, order)
        values: dict[str, Arg] = {}
        at: Var = outer
        body: list[Let] = []
        for let in path:
            if isinstance(let.call.attrs, _MOVES):
                continue
            at = replace(let.var, type=replace(let.var.type, shape=outer.type.shape))
            body.append(replace(let, var=at, call=_reading(let.call, body[-1].var if body else outer)))
        last = path[-1].var
        if last.type.shape != at.type.shape:
            step = _reshaped(self.function, at, last)
            body.append(step)
            at = step.var
        values[last.name] = at
        values.setdefault(param.name, outer)
        inner = {let.var.name for let in path}
        first_step = next(step for step, let in enumerate(self.function.body) if let.var.name in inner)
        kept = [let for let in self.function.body if let.var.name not in inner]
        before = [let for let in self.function.body[:first_step] if let.var.name not in inner]
        steps = [*before, *body, *kept[len(before) :]]
        done = {let.var.name for let in body}
        self.function = replace(
            self.function,
            params=(*self.function.params[:position], outer, *self.function.params[position + 1 :]),
            body=tuple(let if let.var.name in done else substitute_let(let, values) for let in steps),
            results=rewrite_results(self.function, values),
        )
        self._tell_turned("input", position, order)

    def _replace_result(
        self, position: int, result: Var, source: Var, path: Sequence[Let], order: tuple[int, ...]
    ) -> None:
        """Take the moves of `path` out: the result is what they turned."""
        shape = tuple(result.type.shape[axis] for axis in order)
        at, body = source, list[Let]()
        if source.type.shape != shape:
            body.append(
                _reshaped(self.function, source, replace(source, type=replace(source.type, shape=shape)))
            )
            at = body[-1].var
        for let in path:
            if not isinstance(let.call.attrs, _MOVES):
                var = replace(let.var, type=replace(let.var.type, shape=shape))
                body.append(replace(let, var=var, call=_reading(let.call, at)))
                at = var
        outer = replace(at, origin=result.origin)
        inner = {let.var.name for let in path}
        kept = tuple(let for let in self.function.body if let.var.name not in inner)
        results = (*self.function.results[:position], at, *self.function.results[position + 1 :])
        steps = replace(self.function, body=(*kept, *body), results=results)
        self.function = rewritten(steps, {at.name: outer}, {})
        self._tell_turned("output", position, order)

    def _insert_param(self, position: int, param: Var) -> None:
        """Let the parameter have its channels first; a step turns it."""
        order = _permutation(len(param.type.shape), "nchw")
        outer = _permuted(param, order)
        step = _transposed(self.function, outer, param, _inverse(order))
        held = {param.name: step.var}
        self.function = replace(
            self.function,
            params=(*self.function.params[:position], outer, *self.function.params[position + 1 :]),
            body=(step, *(substitute_let(let, held) for let in self.function.body)),
            results=rewrite_results(self.function, held),
        )
        self._tell_turned("input", position, order)

    def _insert_result(self, position: int, result: Var) -> None:
        """Let the result have its channels first, turned by a last step."""
        order = _permutation(len(result.type.shape), "nchw")
        step = _transposed(self.function, result, _permuted(result, order), order)
        results = (*self.function.results[:position], step.var, *self.function.results[position + 1 :])
        self.function = replace(self.function, body=(*self.function.body, step), results=results)
        self._tell_turned("output", position, order)


def _permutation(rank: int, layout: Layout) -> tuple[int, ...]:
    """The other layout's axes in the order of `layout`."""
    if rank < 2:
        return tuple(range(rank))
    return (0, *range(2, rank), 1) if layout == "nhwc" else (0, rank - 1, *range(1, rank - 1))


def _inverse(order: Sequence[int]) -> tuple[int, ...]:
    return tuple(sorted(range(len(order)), key=lambda axis: order[axis]))


def _permuted(var: Var, order: Sequence[int]) -> Var:
    shape = tuple(var.type.shape[axis] for axis in order)
    return replace(var, type=replace(var.type, shape=shape))


def _turned_places(
    shape: Sequence[int], order: Sequence[int], places: np.ndarray | None = None
) -> np.ndarray:
    """Places of the elements of an image (by default their own numbers) with its axes in another order."""
    numbers = _numbers(shape) if places is None else places
    return numbers.reshape([int(extent) for extent in shape]).transpose(order).reshape(-1)


def _are_in_order(places: np.ndarray) -> bool:
    return np.array_equal(places, _numbers(places.shape))


def _numbers(shape: Sequence[int]) -> np.ndarray:
    """Numbers of the elements of a value, in few bytes: a value may be as large as a board's memory."""
    count = math.prod(int(extent) for extent in shape)
    return np.arange(count, dtype=np.int32 if count < 1 << 31 else np.int64)


def _moved_places(shape: Sequence[int], path: Sequence[Let]) -> np.ndarray:
    """Number of the element that lies at each place behind `path`."""
    numbers = _numbers(shape).reshape([int(extent) for extent in shape])
    for let in path:
        if isinstance(let.call.attrs, TransposeAttrs):
            numbers = numbers.transpose(let.call.attrs.permutation)
        elif isinstance(let.call.attrs, ReshapeAttrs):
            numbers = numbers.reshape([int(extent) for extent in let.var.type.shape])
    return numbers.reshape(-1)


def _goes_on(let: Let) -> bool:
    """True if elements behind this step are those before it, converted or moved."""
    return isinstance(let.call.op, ELEMENT_BY_ELEMENT) or isinstance(let.call.attrs, _MOVES)


def _path_behind(function: Function, param: Var) -> list[Let]:
    """Steps, each the only reader of the one before, up to the last one that moves elements."""
    uses, path, at = function.uses(), list[Let](), param
    while len(uses[at.name]) == 1 and uses[at.name][0] < len(function.body):
        let = function.body[uses[at.name][0]]
        if not _goes_on(let) or not (let.var.device.is_free or let.var.device == param.device):
            break
        path.append(let)
        at = let.var
        if isinstance(let.call.attrs, TransposeAttrs):
            break
    while path and not isinstance(path[-1].call.attrs, TransposeAttrs):
        path.pop()
    return path


def _path_before(function: Function, result: Var) -> tuple[Var, list[Let]]:
    """The value that the last TRANSPOSE reads, and the steps from there to the result, nobody else reads."""
    uses = function.uses()
    makers = {let.var.name: let for let in function.body}
    path, at = list[Let](), result
    while at.name in makers and len(uses[at.name]) == 1:
        let = makers[at.name]
        argument = let.call.args[0] if let.call.args else None
        if not _goes_on(let) or not isinstance(argument, Var):
            break
        if not (let.var.device.is_free or let.var.device == result.device):
            break
        path.insert(0, let)
        at = argument
        if isinstance(let.call.attrs, TransposeAttrs):
            is_edge = at in (*function.params, *function.results)
            return (result, []) if is_edge else (at, path)
    return result, []


def _reads_windows(function: Function, path: Sequence[Let], param: Var) -> bool:
    """True if windows go over the image as it is handed over, converted at most."""
    if path:
        return False
    uses, at = function.uses(), param
    while len(uses[at.name]) == 1 and uses[at.name][0] < len(function.body):
        let = function.body[uses[at.name][0]]
        if isinstance(let.call.attrs, PaddedAttrs):
            return True
        if not isinstance(let.call.op, ELEMENT_BY_ELEMENT):
            return False
        at = let.var
    return False


def _is_of_windows(function: Function, source: Var) -> bool:
    """True if an output is made by windows over an image, converted at most."""
    makers = {let.var.name: let for let in function.body}
    at: Arg | None = source
    while isinstance(at, Var) and at.name in makers:
        let = makers[at.name]
        if isinstance(let.call.attrs, PaddedAttrs):
            return True
        if not isinstance(let.call.op, ELEMENT_BY_ELEMENT):
            return False
        at = let.call.args[0]
    return False


def _reading(call: Call, argument: Var) -> Call:
    return replace(call, args=(argument, *call.args[1:]))


def _reshaped(function: Function, argument: Var, target: Var) -> Let:
    """`argument` in the shape of `target`, under a name of its own."""
    type_ = replace(argument.type, shape=target.type.shape)
    var = replace(target, name=new_name(function, RESHAPE.short), type=type_)
    return Let(var=var, call=Call(op=RESHAPE, args=(argument,), attrs=ReshapeAttrs(shape=type_.shape)))


def _transposed(function: Function, argument: Var, target: Var, order: Sequence[int]) -> Let:
    """`argument` with its axes in another order, of the type of `target`, under a name of its own."""
    var = replace(target, name=new_name(function, TRANSPOSE.short))
    attrs = TransposeAttrs(permutation=tuple(order))
    return Let(var=var, call=Call(op=TRANSPOSE, args=(argument,), attrs=attrs))
