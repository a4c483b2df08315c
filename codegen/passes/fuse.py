"""Fuses RELU and RELU6 into the operator that computes their argument."""

from dataclasses import dataclass, replace

from codegen.ir import Arg, DType, Let, Module, Var
from codegen.ir.ops import (
    Activation,
    BinaryAttrs,
    ConvAttrs,
    DepthwiseConvAttrs,
    FullyConnectedAttrs,
    PoolAttrs,
)
from codegen.passes.pipeline import rewrite_results, substitute_let, with_function

_ACTIVATIONS = {"RELU": Activation.RELU, "RELU6": Activation.RELU6}
_Fusable = ConvAttrs | DepthwiseConvAttrs | FullyConnectedAttrs | PoolAttrs | BinaryAttrs


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
            for original in function.body:
                let = substitute_let(original, values)
                fused = _fuse(body, let, uses)
                if fused is None:
                    body.append(let)
                    continue
                step, producer = fused
                body[step] = producer
                values[let.var.name] = producer.var
            rewritten = replace(function, body=tuple(body), results=rewrite_results(function, values))
            module = with_function(module, rewritten)
        return module


def _fuse(body: list[Let], let: Let, uses: dict[str, list[int]]) -> tuple[int, Let] | None:
    """Index and replacement of the producer that can take `let`'s activation, or None."""
    activation = _ACTIVATIONS.get(let.call.op.name)
    image = let.call.args[0] if let.call.args else None
    if activation is None or not isinstance(image, Var) or len(uses[image.name]) != 1:
        return None
    step = next((index for index, each in enumerate(body) if each.var == image), None)
    if step is None or image.device != let.var.device:
        return None
    producer = body[step]
    attrs = producer.call.attrs
    if not isinstance(attrs, _Fusable) or attrs.activation is not Activation.NONE:
        return None
    if image.type.dtype is not DType.FLOAT32 and image.type != let.var.type:
        return None
    # The producer's name stays (it is where the step is); the value it now holds is the activation's.
    var = replace(producer.var, type=let.var.type, origin=let.var.origin)
    call = replace(producer.call, attrs=replace(attrs, activation=activation))
    return step, replace(producer, var=var, call=call)
