"""Attention head by head, and some rows of queries at a time: no score matrix of all heads is ever whole.

BATCH_MATMUL, SOFTMAX and BATCH_MATMUL of all heads become those of one head, one behind the other, where the
scores of all heads take more bytes than any other step. Heads are cut out as far in front as possible: of the
weights of a projection, which costs nothing. Every number is computed as before.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from codegen.errors import counted
from codegen.ir import Arg, Function, Let, Module, Var
from codegen.ir.ops import BatchMatMulAttrs, ReshapeAttrs, SoftmaxAttrs, TransposeAttrs
from codegen.passes.edges import with_notes
from codegen.passes.fold import RemoveDead
from codegen.passes.parts import Cut, PartSteps
from codegen.passes.pipeline import with_function

_MOST_ROW_PARTS = 16
"""Parts of the queries of a head: each takes three steps."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AttentionParts:
    """Split attention whose scores are the largest step of the network."""

    name: str = "attention_parts"

    def run(self, module: Module) -> Module:
        """Rewrite one attention after the other."""
        notes: dict[str, None] = {}
        for name, function in tuple(module.functions.items()):
            chosen = {} if function.sizes.symbols else _largest(function)
            for result, rows in chosen.items():
                attentions = {
                    attention.result.var.name: attention for attention in _attentions(module.functions[name])
                }
                module = _rewritten(module, module.functions[name], attentions[result], rows)
                module = RemoveDead().run(module)
                notes[attentions[result].note(rows)] = None
        return with_notes(module, tuple(notes))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Attention:
    """The steps of one attention."""

    scores: Let
    """The products of queries and keys."""
    result: Let
    """The products with values, `[..., queries, channels]`."""

    @property
    def heads(self) -> int:
        """Heads of all batches."""
        return math.prod(self.result.var.type.shape[:-2])

    @property
    def rows(self) -> int:
        """Queries of a head."""
        return self.result.var.type.shape[-2]

    def score_bytes(self, heads: int, rows: int) -> int:
        """Bytes of the scores of so many heads and rows of queries."""
        return self.scores.var.type.size_bytes // self.heads * heads * rows // self.rows

    def note(self, rows: int) -> str:
        """The line of the report about the split."""
        size = self.scores.var.type.size_bytes
        parts = "head by head" if rows == self.rows else f"head by head, {rows} queries at a time"
        text = f"attention of {counted(self.heads, 'head')} runs {parts}"
        return f"{text}: its scores, {size:,} bytes, are never whole"


def _attentions(function: Function) -> Iterator[_Attention]:
    makers, uses = {let.var.name: let for let in function.body}, function.uses()

    def only_maker(arg: Arg | None) -> Let | None:
        let = makers.get(arg.name) if isinstance(arg, Var) else None
        return let if let is not None and len(uses[let.var.name]) == 1 else None

    for let in function.body:
        if not isinstance(let.call.attrs, BatchMatMulAttrs):
            continue
        step, has_softmax = only_maker(let.call.args[0]), False
        while step is not None and not isinstance(step.call.attrs, BatchMatMulAttrs):
            has_softmax |= isinstance(step.call.attrs, SoftmaxAttrs)
            step = only_maker(step.call.args[0])
        if step is not None and has_softmax:
            yield _Attention(scores=step, result=let)


def _step_bytes(let: Let) -> int:
    args = {arg.name: arg.type.size_bytes for arg in let.call.args if isinstance(arg, Var)}
    return sum(args.values()) + let.var.type.size_bytes


def _largest(function: Function) -> dict[str, int]:
    """Results of attention whose scores are the largest step, and the rows of queries that a part may have
    for its step to be no larger than others."""
    attentions = list(_attentions(function))
    shapes = {attention.scores.var.type.shape for attention in attentions}
    others = [
        _step_bytes(let)
        for let in function.body
        if not any(arg.type.shape in shapes for arg in (let.var, *let.call.args) if arg is not None)
    ]
    most, chosen = max(others, default=0), dict[str, int]()
    for attention in attentions:
        rows = attention.rows
        if attention.score_bytes(attention.heads, rows) <= most:
            continue
        while attention.score_bytes(1, rows) > most and rows * _MOST_ROW_PARTS > 2 * attention.rows:
            rows = -(-rows // 2)
        if attention.heads > 1 or rows < attention.rows:
            chosen[attention.result.var.name] = rows
    return chosen


def _rewritten(module: Module, function: Function, attention: _Attention, rows: int) -> Module:
    """The module with parts of an attention in place of it; what they do not read is dead."""
    result = attention.result
    new = PartSteps(module=module, function=function, before=result)
    parts = [_head(new, result.var, head, rows) for head in np.ndindex(*result.var.type.shape[:-2])]
    behind = _merging(function, result)
    end = behind[-1] if behind else result
    shape = end.var.type.shape
    if behind:
        columns = [new.reshaped(part, (*shape[:-1], shape[-1] // len(parts))) for part in parts]
        whole = new.joined(columns, len(shape) - 1)
    else:
        rows_of_heads = [new.reshaped(part, (1, *part.type.shape[-2:])) for part in parts]
        whole = new.reshaped(new.joined(rows_of_heads, 0), shape)
    gone = {let.var.name for let in behind}
    body: list[Let] = []
    for let in function.body:
        if let is result:
            body += [replace(step, var=end.var) if step.var == whole else step for step in new.steps]
        elif let.var.name not in gone:
            body.append(let)
    return with_function(module, replace(function, body=tuple(body)), tuple(new.constants.values()))


def _head(new: PartSteps, value: Var, head: Sequence[int], rows: int) -> Var:
    """The result of one head, some rows of queries at a time."""
    for axis, place in enumerate(head):
        if value.type.shape[axis] > 1:
            value = _cut(new, value, Cut(axis=axis, begin=place, count=1))
    axis, count = len(head), value.type.shape[-2]
    starts = range(0, count, rows)
    parts = [
        _cut(new, value, Cut(axis=axis, begin=start, count=min(rows, count - start))) for start in starts
    ]
    return new.joined(parts, axis)


def _cut(new: PartSteps, value: Var, cut: Cut) -> Var:
    if cut.count == value.type.shape[cut.axis]:
        return value
    part = new.part(value, cut)
    assert isinstance(part, Var), "it is computed"
    return part


def _merging(function: Function, result: Let) -> tuple[Let, ...]:
    """The TRANSPOSE and RESHAPE behind an attention that put its heads side by side; none if others read it
    or if they do something else."""
    uses = function.uses()
    steps: list[Let] = []
    value = result.var
    for attrs in (TransposeAttrs, ReshapeAttrs):
        [reader] = uses[value.name] if len(uses[value.name]) == 1 else [len(function.body)]
        if reader == len(function.body) or not isinstance(function.body[reader].call.attrs, attrs):
            return ()
        steps.append(function.body[reader])
        value = steps[-1].var
    shape = result.var.type.shape
    heads, places = math.prod(shape[:-2]), np.arange(math.prod(shape)).reshape(shape)
    permutation = steps[0].call.attrs
    assert isinstance(permutation, TransposeAttrs), "asked before"
    moved = np.transpose(places, permutation.permutation).reshape(value.type.shape)
    columns = (*value.type.shape[:-1], value.type.shape[-1] // heads)
    joined = [head.reshape(columns) for head in places.reshape(heads, -1)]
    is_merged = math.prod(columns) * heads == places.size and np.array_equal(
        moved, np.concatenate(joined, -1)
    )
    return tuple(steps) if is_merged else ()
