"""Fuses RELU, RELU6 and RELU_N1_TO_1 into the operator before them.

It also folds a PAD of zero points into the convolutions behind it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from codegen.ir import Arg, DType, Let, Module, TensorType, Var
from codegen.ir.ops import (
    ActivatedAttrs,
    Activation,
    ConvAttrs,
    DepthwiseConvAttrs,
    PadAttrs,
    Padding2D,
)
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
    """A convolution pads with its image's zero point, so an explicit PAD of that value is its own padding.

    The PAD stays while anything else reads it (RemoveDead drops it otherwise), and where its value has
    a device of its own.
    """

    name: str = "fold_pad"

    def run(self, module: Module) -> Module:
        """Rewrite every convolution whose image is such a PAD."""
        for function in module.functions.values():
            pads = {let.var.name: let for let in function.body if isinstance(let.call.attrs, PadAttrs)}
            body = tuple(_fold(let, pads) for let in function.body)
            module = with_function(module, replace(function, body=body))
        return module


def _fold(let: Let, pads: dict[str, Let]) -> Let:
    attrs = let.call.attrs
    image = let.call.args[0] if let.call.args else None
    if not isinstance(attrs, ConvAttrs | DepthwiseConvAttrs) or not isinstance(image, Var):
        return let
    pad = pads.get(image.name)
    extra = None if pad is None or not _reads_where_it_was(pad) else _image_padding(pad, image.type)
    if pad is None or extra is None:
        return let
    own = attrs.padding
    padding = Padding2D(
        top=own.top + extra.top,
        bottom=own.bottom + extra.bottom,
        left=own.left + extra.left,
        right=own.right + extra.right,
    )
    args = (pad.call.args[0], *let.call.args[1:])
    return replace(let, call=replace(let.call, args=args, attrs=replace(attrs, padding=padding)))


def _reads_where_it_was(pad: Let) -> bool:
    """Whether the PAD's own device does not tell its readers to read elsewhere than from its argument."""
    source = pad.call.args[0]
    return pad.var.device.is_free or (isinstance(source, Var) and source.device == pad.var.device)


def _image_padding(pad: Let, padded: TensorType) -> Padding2D | None:
    """The PAD as image padding, or None if it pads batch or channels, or with another value."""
    attrs, source = pad.call.attrs, pad.call.args[0]
    if not isinstance(attrs, PadAttrs) or source is None or len(attrs.paddings) != 4:
        return None
    if source.type.quantization != padded.quantization or attrs.value != padded.zero_point:
        return None
    batch, height, width, channels = attrs.paddings
    if batch != (0, 0) or channels != (0, 0):
        return None
    return Padding2D(top=height[0], bottom=height[1], left=width[0], right=width[1])
