"""The account of a reduction for reports: what each step lost, and the work saved."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from codegen.ir import ConstRef, Function, Let, Module
from codegen.ir.dataflow import Range, channels
from codegen.ir.ops.base.weighted import WeightedOp
from codegen.passes.reduce.flow import Flow, Mask, Needs
from codegen.passes.reduce.value_ranges import is_foldable


@dataclass(frozen=True, kw_only=True, slots=True)
class Removal:
    """Channels that one step lost, each counted under the first reason that holds."""

    name: str
    """The step's variable."""
    op: str
    where: str
    """How messages name the step."""
    channels_before: int
    channels_after: int
    zero_weights: int = 0
    """Constant, and all weights are zero."""
    constant_input: int = 0
    """Constant, because all that goes into it is."""
    stuck_at_clamp: int = 0
    """Constant, because both ends of its accumulator's range give one result."""
    unread: int = 0
    """No step that is left needs it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Work:
    """Multiply-accumulates, and bytes of weights (biases left out; each constant once)."""

    macs: int
    weight_bytes: int


def work(module: Module) -> Work:
    """Return the MACs and the bytes of weights of all functions of `module`."""
    macs, weights = 0, dict[str, int]()
    for function in module.functions.values():
        for let in function.body:
            macs += let.macs
            if isinstance(let.call.op, WeightedOp):
                held = let.call.args[1]
                if isinstance(held, ConstRef):
                    weights[held.id] = held.type.size_bytes
    return Work(macs=macs, weight_bytes=sum(weights.values()))


def removals(
    module: Module, function: Function, flows: Mapping[str, Flow], known: Mapping[str, Range], needed: Needs
) -> Iterator[Removal]:
    """Every step of `function` that lost channels, in order."""
    for let in function.body:
        name = let.var.name
        left = needed.kept[name] & (name in needed.computed)
        if left.all():
            continue
        bounds = known.get(name)
        constant = np.zeros(len(left), np.bool_) if bounds is None else bounds.constant
        zero, still = _zero_rows(module, let, len(left)), _still(let, flows[name], known, len(left))
        gone = ~left
        yield Removal(
            name=name,
            op=let.call.op.name,
            where=let.where,
            channels_before=len(left),
            channels_after=int(left.sum()),
            zero_weights=int((gone & constant & zero).sum()),
            constant_input=int((gone & constant & ~zero & still).sum()),
            stuck_at_clamp=int((gone & constant & ~zero & ~still).sum()),
            unread=int((gone & ~constant).sum()),
        )


def _zero_rows(module: Module, let: Let, count: int) -> Mask:
    """Result channels of a step with weights whose weights are all zero."""
    weights = let.call.args[1] if is_foldable(let) else None
    if not isinstance(weights, ConstRef):
        return np.zeros(count, np.bool_)
    values = module.constants[weights.id].data.reshape(weights.type.shape)
    axis = op.weights_axis if isinstance(op := let.call.op, WeightedOp) else 0
    return (np.moveaxis(values, axis, 0).reshape(count, -1) == 0).all(axis=1)


def _still(let: Let, flow: Flow, known: Mapping[str, Range], count: int) -> Mask:
    """Result channels into which only constants go."""
    moving = np.zeros(count, np.bool_)
    for index, arg in enumerate(let.call.args):
        if arg is None or isinstance(arg, ConstRef):
            continue
        bounds = known.get(arg.name)
        varying = np.ones(channels(arg.type.shape), np.bool_) if bounds is None else ~bounds.constant
        if flow.reads is not None:
            moving |= flow.reads[varying].any(axis=0)
        elif flow.whole:
            moving |= varying.any()
        for link in flow.links:
            if link.argument == index:
                moving[link.result[varying[link.source]]] = True
    return ~moving
