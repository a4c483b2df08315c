"""Turns averages that ONNX rounds into sums of products by 1, which the kernels of such layers compute."""

import math
from dataclasses import dataclass, replace

import numpy as np

from codegen.ir import Arg, Call, Constant, ConstRef, DType, Let, Module, TensorType, Var
from codegen.ir.ops import DepthwiseConvAttrs, OnnxRounding, PoolAttrs, ReshapeAttrs
from codegen.ir.ops.convolution import DEPTHWISE
from codegen.ir.ops.layout import RESHAPE
from codegen.passes.pipeline import rewrite_results, substitute_let, with_function


@dataclass(frozen=True, kw_only=True, slots=True)
class LowerAverages:
    """It follows the reduction, which knows pools. The average of a whole image reads columns: one channel
    as high as the image has pixels and as wide as it has channels, so that there is one weight a pixel."""

    name: str = "lower_averages"

    def run(self, module: Module) -> Module:
        """Rewrite every such pool."""
        for function in module.functions.values():
            body: list[Let] = []
            ones: list[Constant] = []
            values: dict[str, Arg] = {}
            for let in function.body:
                steps, constant = _lowered(substitute_let(let, values))
                body += steps
                ones += [] if constant is None else [constant]
                if steps[-1].var.name != let.var.name:
                    values[let.var.name] = steps[-1].var
            function = replace(function, body=tuple(body), results=rewrite_results(function, values))
            module = with_function(module, function, ones)
        return module


def _lowered(let: Let) -> tuple[list[Let], Constant | None]:
    pool, image = let.call.attrs, let.call.args[0] if let.call.args else None
    if not isinstance(pool, PoolAttrs) or not isinstance(pool.rounding, OnnxRounding):
        return [let], None
    assert isinstance(image, Var), "constants are folded"
    name, (batch, rows, columns, channels) = let.var.name, image.type.shape
    attrs = DepthwiseConvAttrs(activation=pool.activation, stride=pool.stride, padding=pool.padding)
    if batch > 1 or let.var.type.shape[1:3] != (1, 1) or pool.window != (rows, columns):
        weights = _ones(name, (1, *pool.window, channels))
        return [replace(let, call=_product(image, weights, attrs, pool.rounding))], weights
    column = _shaped(image, 1, rows * columns, channels, 1)
    turned = Var(name=f"{name}_columns", type=column, device=image.device)
    mean = Var(name=name, type=_shaped(let.var, 1, 1, channels, 1), device=let.var.device)
    view = replace(let.var, name=f"{name}_pixel")
    weights = _ones(name, (1, rows * columns, 1, 1))
    steps = [
        replace(let, var=turned, call=_reshape(image, turned)),
        replace(let, var=mean, call=_product(turned, weights, attrs, pool.rounding)),
        replace(let, var=view, call=_reshape(mean, view)),
    ]
    return steps, weights


def _product(image: Var, weights: Constant, attrs: DepthwiseConvAttrs, rounding: OnnxRounding) -> Call:
    by_channel = replace(attrs, rounding=replace(rounding, scales=rounding.scales * weights.type.shape[3]))
    ref = ConstRef(id=weights.id, type=weights.type)
    return Call(op=DEPTHWISE, args=(image, ref, None), attrs=by_channel)


def _reshape(source: Var, result: Var) -> Call:
    return Call(op=RESHAPE, args=(source,), attrs=ReshapeAttrs(shape=result.type.shape))


def _ones(name: str, shape: tuple[int, ...]) -> Constant:
    data = np.ones(math.prod(shape), np.int8).reshape(shape)
    return Constant(id=f"ones_{name}", type=TensorType(shape=shape, dtype=DType.INT8), data=data)


def _shaped(var: Var, *shape: int) -> TensorType:
    return replace(var.type, shape=shape)
