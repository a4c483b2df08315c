"""Rewrites a function to its kept channels: constants sliced, shapes shrunk, constant channels folded."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from codegen.ir import (
    Arg,
    Call,
    Constant,
    ConstRef,
    DType,
    Function,
    Let,
    Module,
    Quantization,
    TensorType,
    Var,
)
from codegen.ir.dataflow import ChannelLink, Range, channels
from codegen.ir.ops import ConcatAttrs, FullyConnectedAttrs, ReshapeAttrs, RoundedAttrs
from codegen.ir.ops.base.fixed_point import wrap_int32
from codegen.ir.ops.base.shape_rules import BroadcastShape
from codegen.ir.ops.base.weighted import WeightedOp
from codegen.ir.ops.layout import RESHAPE
from codegen.passes.pipeline import with_function
from codegen.passes.reduce.flow import Flow, Mask, Needs


def rewrite(
    module: Module, function: Function, flows: Mapping[str, Flow], known: Mapping[str, Range], needed: Needs
) -> Module:
    """`module` with `function` reduced to what is needed."""
    return _Rewriter(module, function, flows, known, needed).module()


class _Rewriter:
    def __init__(
        self,
        module: Module,
        function: Function,
        flows: Mapping[str, Flow],
        known: Mapping[str, Range],
        needed: Needs,
    ) -> None:
        self._module, self._function = module, function
        self._flows, self._known, self._needed = flows, known, needed
        self._added: list[Constant] = []
        self._variables: dict[str, Var] = {param.name: param for param in function.params}

    def module(self) -> Module:
        """The rewritten module."""
        body = [self._let(let) for let in self._function.body if let.var.name in self._needed.computed]
        results = tuple(
            self._variables[result.name] if isinstance(result, Var) else result
            for result in self._function.results
        )
        function = replace(self._function, body=tuple(body), results=results)
        return with_function(self._module, function, self._added)

    def _let(self, let: Let) -> Let:
        flow, kept = self._flows[let.var.name], self._needed.kept[let.var.name]
        if isinstance(let.call.op, WeightedOp) and not flow.whole:
            call = self._weighted(let, flow, kept)
        else:
            call = self._linked(let, flow, kept)
        shape = call.op.result_shape(call.attrs, call.types)
        var = replace(let.var, type=replace(let.var.type, shape=shape))
        self._variables[var.name] = var
        return replace(let, var=var, call=call)

    # Operators that move channels along, and those that keep all of them.

    def _linked(self, let: Let, flow: Flow, kept: Mask) -> Call:
        links = {link.argument: link for link in flow.links}
        sources = [self._argument(let, index, links.get(index), kept) for index in range(len(let.call.args))]
        if isinstance(let.call.attrs, ConcatAttrs) and flow.links:
            # An argument that lost all its channels is no longer there.
            sources = [arg for arg in sources if arg is not None and arg.type.elements]
            if len(sources) == 1 and len(let.call.args) > 1 and _is_at(sources[0], let.var):
                attrs = ReshapeAttrs(shape=sources[0].type.shape)
                return Call(op=RESHAPE, args=tuple(sources), attrs=attrs)
        return replace(
            let.call, args=tuple(sources), attrs=let.call.op.of_channels(let.call.attrs, flow.links, kept)
        )

    def _argument(self, let: Let, index: int, link: ChannelLink | None, kept: Mask) -> Arg | None:
        """Argument `index` with the channels that are left of it."""
        arg = let.call.args[index]
        if arg is None:
            return None
        chosen = np.ones(channels(arg.type.shape), np.bool_)
        if link is not None:
            chosen[:] = False
            chosen[link.source[kept[link.result]]] = True
        if isinstance(arg, ConstRef):
            data = self._module.constants[arg.id].data.reshape(arg.type.shape)
            return arg if chosen.all() else self._slice(let, arg, arg.type, data[..., chosen])
        if arg.name in self._needed.computed:
            if not chosen.any():
                # Only CONCATENATION has such an argument, and drops it.
                return replace(arg, type=replace(arg.type, shape=(*arg.type.shape[:-1], 0)))
            return self._variables[arg.name]
        data = self._known[arg.name].low
        data = data[..., chosen] if arg.type.shape else data
        data = self._stretched(let, arg, data)
        return self._constant(f"folded_{arg.name}", let, arg.type, data, scope=arg.device.memory_scope)

    def _stretched(self, let: Let, arg: Var, data: np.ndarray) -> np.ndarray:
        """One pixel of `data` where all are alike and the other argument has the result's full shape."""
        others = [other for other in let.call.args if other is not arg and other is not None]
        if not isinstance(let.call.op, BroadcastShape) or len(others) != 1 or data.ndim < 2:
            return data
        pixels = data.reshape(-1, data.shape[-1])
        if others[0].type.shape != let.var.type.shape or not (pixels == pixels[0]).all():
            return data
        return pixels[:1].reshape((1,) * (data.ndim - 1) + data.shape[-1:])

    def _constant(
        self,
        stem: str,
        let: Let,
        type_: TensorType,
        data: np.ndarray,
        like: Constant | None = None,
        *,
        scope: str | None = None,
    ) -> ConstRef:
        """A new constant for `let`, of `type_` but for its shape; what else it needs is as in `like`, or, if
        it was a value, its memory `scope`."""
        names = {*self._module.constants, *(constant.id for constant in self._added)}
        name = base = f"{stem}_{let.var.name}"
        number = 2
        while name in names:
            name, number = f"{base}_{number}", number + 1
        held = replace(type_, shape=tuple(data.shape))
        dense = data.copy(order="C")
        if like is None:
            made = Constant(id=name, type=held, data=dense, origin=let.var.origin, memory_scope=scope)
        else:
            made = replace(like, id=name, type=held, data=dense)
        self._added.append(made)
        return ConstRef(id=name, type=held)

    def _slice(self, let: Let, ref: ConstRef, type_: TensorType, data: np.ndarray) -> ConstRef:
        """A part of the constant `ref`, or the constant itself if it is all of it."""
        whole = self._module.constants[ref.id]
        if np.array_equal(data.reshape(-1), whole.data.reshape(-1)):
            return ref
        return self._constant(ref.id, let, type_, data, whole)

    # Operators with weights.

    def _weighted(self, let: Let, flow: Flow, kept: Mask) -> Call:
        image, weights, *rest = let.call.args
        if not isinstance(image, Var) or not isinstance(weights, ConstRef):
            return let.call
        axis = op.weights_axis if isinstance(op := let.call.op, WeightedOp) else 0
        read = self._needed.kept[image.name]
        if read.all() and kept.all():
            return replace(let.call, args=(self._variables[image.name], weights, *rest))
        if not read.any():
            raise ValueError(f"{let.where}: nothing is left to read")
        values = self._module.constants[weights.id].data.reshape(weights.type.shape)
        values = np.compress(kept, values, axis=axis)
        if op.mixes_channels:
            values = values[..., np.resize(read, weights.type.shape[-1])]
        type_ = replace(weights.type, quantization=_sliced(weights.type.quantization, kept, axis))
        args = (
            self._variables[image.name],
            self._slice(let, weights, type_, values),
            self._bias(let, flow, kept, ~read),
        )
        attrs = let.call.attrs
        if isinstance(attrs, RoundedAttrs):
            attrs = replace(attrs, rounding=attrs.rounding.of_channels(np.flatnonzero(kept)))
        return replace(let.call, args=args, attrs=attrs)

    def _bias(self, let: Let, flow: Flow, kept: Mask, folded: Mask) -> ConstRef | None:
        """The kept biases plus what the folded image channels add, wrapped to 32 bits as accumulators are."""
        bias = let.call.args[2] if len(let.call.args) > 2 else None
        added = np.zeros(len(kept), np.int64) if flow.folds is None else flow.folds[folded].sum(axis=0)
        count = int(kept.sum())
        if isinstance(bias, ConstRef):
            data = self._module.constants[bias.id].data.reshape(-1).astype(np.int64)
            scale = _sliced(bias.type.quantization, kept, 0)
            type_ = TensorType(shape=(count,), dtype=DType.INT32, quantization=scale)
            return self._slice(let, bias, type_, wrap_int32(data + added)[kept].astype(np.int32))
        if not added[kept].any():
            return None
        type_ = TensorType(shape=(count,), dtype=DType.INT32, quantization=_bias_scale(let))
        return self._constant("bias", let, type_, wrap_int32(added)[kept].astype(np.int32))


def _is_at(arg: Arg, var: Var) -> bool:
    """True if `var` may be a view of `arg`: a RESHAPE ties both to one memory."""
    return not isinstance(arg, Var) or arg.device == var.device


def _bias_scale(let: Let) -> Quantization | None:
    """Scale of a bias that the file left out; FULLY_CONNECTED with one scale checks it."""
    image, weights = let.call.args[0], let.call.args[1]
    single = isinstance(let.call.attrs, FullyConnectedAttrs)
    if not single or image is None or weights is None or weights.type.quantization is None:
        return None
    if len(weights.type.quantization.scales) > 1:
        return None
    return Quantization(scales=(image.type.scale * weights.type.scale,), zero_points=(0,))


def _sliced(quantization: Quantization | None, kept: Mask, axis: int) -> Quantization | None:
    """Quantisation of the kept channels, along `axis` if it is per channel."""
    if quantization is None or quantization.axis is None:
        return quantization
    if len(quantization.scales) == 1:
        return replace(quantization, axis=axis)
    chosen = np.flatnonzero(kept)
    return Quantization(
        scales=tuple(quantization.scales[channel] for channel in chosen),
        zero_points=tuple(quantization.zero_points[channel] for channel in chosen),
        axis=axis,
    )


def surviving(kept: Mapping[str, Mask], names: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Indices of the channels left of each value in `names` that lost some."""
    return {
        name: tuple(int(channel) for channel in np.flatnonzero(kept[name]))
        for name in names
        if not kept[name].all()
    }
