"""Fuses RELU, RELU6 and RELU_N1_TO_1 into the operator before them.

It also folds a PAD into the windows behind it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from codegen.ir import Arg, DType, Function, Let, Module, TensorType, Var
from codegen.ir.ops import (
    ActivatedAttrs,
    Activation,
    Attrs,
    PadAttrs,
    PaddedAttrs,
    Padding2D,
    TransposeAttrs,
)
from codegen.ir.ops.base.activation import real_limits, stored_limits
from codegen.ir.ops.nonlinear import Clamp
from codegen.passes.pipeline import rewrite_results, substitute_let, with_function


@dataclass(frozen=True, kw_only=True, slots=True)
class FuseActivations:
    """Exact only if the activation does not requantize: integer types must be equal on both sides."""

    name: str = "fuse_activations"

    def run(self, module: Module) -> Module:
        """Rewrite producer and activation into one step, bound to the activation's variable."""
        for function in module.functions.values():
            uses = function.uses()
            values: dict[str, Arg] = {}
            body: list[Let] = []
            steps: dict[str, int] = {}
            for original in function.body:
                let = substitute_let(original, values)
                fused = _fuse(body, steps, let, uses)
                if fused is None:
                    steps[let.var.name] = len(body)
                    body.append(let)
                    continue
                step, producer = fused
                body[step] = producer
                values[let.var.name] = producer.var
            rewritten = replace(function, body=tuple(body), results=rewrite_results(function, values))
            module = with_function(module, rewritten)
        return module


def _fuse(
    body: list[Let], steps: Mapping[str, int], let: Let, uses: dict[str, list[int]]
) -> tuple[int, Let] | None:
    """Index and replacement of the producer that can take `let`'s activation, or None.

    `steps`: name of a value -> index in `body` of the step that computes it.
    """
    op, image = let.call.op, let.call.args[0] if let.call.args else None
    if not isinstance(op, Clamp) or not isinstance(image, Var) or len(uses[image.name]) != 1:
        return None
    step = steps.get(image.name)
    if step is None or body[step].var != image or image.device != let.var.device:
        return None
    producer = body[step]
    attrs = producer.call.attrs
    if not isinstance(attrs, ActivatedAttrs) or attrs.activation is not Activation.NONE:
        return None
    if image.type.dtype is not DType.FLOAT32 and image.type != let.var.type:
        return None
    # The producer's name stays (it is where the step is); the value it now holds is the activation's.
    var = replace(producer.var, type=let.var.type, origin=let.var.origin)
    call = replace(producer.call, attrs=replace(attrs, activation=op.alone.activation))
    return step, replace(producer, var=var, call=call)


@dataclass(frozen=True, kw_only=True, slots=True)
class FoldPad:
    """An explicit PAD becomes the padding of the windows that read it, where that is the same.

    The PAD stays while anything else reads it (RemoveDead drops it otherwise), and where its value has
    a device of its own. A TRANSPOSE behind it goes in front: it moves less, and windows are next to the PAD.
    """

    name: str = "fold_pad"

    def run(self, module: Module) -> Module:
        """Rewrite every window whose image is such a PAD."""
        for function in module.functions.values():
            function = _transposed_first(function)
            makers = {let.var.name: let for let in function.body}
            body = tuple(_fold(let, makers) for let in function.body)
            module = with_function(module, replace(function, body=body))
        return module


def _transposed_first(function: Function) -> Function:
    uses, steps = function.uses(), {let.var.name: step for step, let in enumerate(function.body)}
    body, values = list(function.body), dict[str, Arg]()
    for step, let in enumerate(function.body):
        image = let.call.args[0] if isinstance(let.call.attrs, TransposeAttrs) else None
        pad = function.body[steps[image.name]] if isinstance(image, Var) and image.name in steps else None
        if pad is None or len(uses[pad.var.name]) != 1 or not _moves_freely(pad, let):
            continue
        body[steps[pad.var.name]], body[step] = _swapped(pad, let)
        values[let.var.name] = body[step].var
    padded = {
        var.name for var in values.values() if isinstance(var, Var)
    }  # they read the new names as they are
    moved = tuple(let if let.var.name in padded else substitute_let(let, values) for let in body)
    return replace(function, body=moved, results=rewrite_results(function, values))


def _moves_freely(pad: Let, transpose: Let) -> bool:
    """True if the PAD and the TRANSPOSE may change places."""
    free = pad.var.device.is_free and transpose.var.device.is_free
    return isinstance(pad.call.attrs, PadAttrs) and free and pad.var.type.dtype is transpose.var.type.dtype


def _swapped(pad: Let, transpose: Let) -> tuple[Let, Let]:
    """The TRANSPOSE of what `pad` pads, and the PAD of that."""
    [source], order, around = pad.call.args, transpose.call.attrs, pad.call.attrs
    assert source is not None and isinstance(order, TransposeAttrs) and isinstance(around, PadAttrs)
    shape = tuple(source.type.shape[axis] for axis in order.permutation)
    small = Var(name=transpose.var.name, type=replace(source.type, shape=shape))
    first = replace(transpose, var=small, call=replace(transpose.call, args=(source,)))
    paddings = tuple(around.paddings[axis] for axis in order.permutation)
    whole = replace(transpose.var, name=pad.var.name)
    call = replace(pad.call, args=(small,), attrs=replace(around, paddings=paddings))
    return first, replace(pad, var=whole, call=call)


def _fold(let: Let, makers: Mapping[str, Let]) -> Let:
    attrs, op = let.call.attrs, let.call.op
    image = let.call.args[0] if let.call.args else None
    pad = makers.get(image.name) if isinstance(image, Var) else None
    if not isinstance(attrs, PaddedAttrs) or pad is None or not _reads_where_it_was(pad):
        return let
    around, source = _around_image(pad), pad.call.args[0]
    if around is None or source is None or not isinstance(pad.call.attrs, PadAttrs):
        return let
    least = _least(makers.get(source.name) if isinstance(source, Var) else None, source.type)
    if not op.takes_as_padding(attrs, source.type, pad.call.attrs.value, least):
        return let
    attr_padding = attrs.padding
    padding = Padding2D(
        top=attr_padding.top + around.top,
        bottom=attr_padding.bottom + around.bottom,
        left=attr_padding.left + around.left,
        right=attr_padding.right + around.right,
    )
    call = replace(let.call, args=(source, *let.call.args[1:]), attrs=replace(attrs, padding=padding))
    try:
        op.check(call.attrs, call.types, let.var.type)
    except ValueError:  # some window would have no element of its own
        return let
    return replace(let, call=call)


def _reads_where_it_was(pad: Let) -> bool:
    """True if the PAD's device does not tell its readers to read from another memory than its argument's."""
    source = pad.call.args[0] if pad.call.args else None
    return pad.var.device.is_free or (isinstance(source, Var) and source.device == pad.var.device)


def _around_image(pad: Let) -> Padding2D | None:
    """The PAD as image padding, or None if it is none, or pads batch or channels."""
    attrs, source = pad.call.attrs, pad.call.args[0] if pad.call.args else None
    if not isinstance(attrs, PadAttrs) or source is None or len(attrs.paddings) != 4:
        return None
    batch, height, width, channels = attrs.paddings
    moves_only = source.type.quantization == pad.var.type.quantization
    if not moves_only or batch != (0, 0) or channels != (0, 0):
        return None
    return Padding2D(top=height[0], bottom=height[1], left=width[0], right=width[1])


def _least(maker: Let | None, type_: TensorType) -> float:
    """No element that a step computes (None: that comes from elsewhere) is below it, in stored units."""
    attrs = Attrs() if maker is None else maker.call.attrs
    return stored_limits(attrs, type_)[0] if type_.dtype.is_integer else real_limits(attrs)[0]
