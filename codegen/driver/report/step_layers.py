"""Layers of a step as people know them: names, shapes, windows."""

from collections.abc import Iterator

from codegen.driver.report.certificate import inner_lets
from codegen.ir import Let, TensorType, Var
from codegen.ir.ops.base.attrs import ConvAttrs, DepthwiseConvAttrs, PoolAttrs
from codegen.ir.ops.user import operator_name
from codegen.kernels.primfunc import PrimFunc


def layers_report(prim: PrimFunc) -> list[dict[str, object]]:
    """`steps[].layers` of report.json: the layers of a block in order, or the step's only one.

    Shapes are NHWC for images; of a range of sizes at the largest. Windows and strides are (rows, columns).
    """
    return [
        {
            "name": let.var.name,
            "op": operator_name(let.call),
            "kernel": kernel,
            "arguments": [_shape(arg.type) for arg in let.call.args if isinstance(arg, Var)],
            "result": _shape(let.var.type),
            "dtype": let.var.type.dtype.value,
            **_window(let),
        }
        for let, kernel in zip(inner_lets(prim), _kernels(prim), strict=True)
    ]


def _shape(kind: TensorType) -> list[int]:
    return [int(extent) for extent in kind.shape]


def _kernels(prim: PrimFunc) -> Iterator[str]:
    if prim.block is None:
        yield prim.kernel
    else:
        yield from (stage.binding for stage in prim.block.stages if stage.op)


def _window(let: Let) -> dict[str, list[int] | None]:
    """Window and stride of the layer, in elements; None for layers without a window."""
    attrs = let.call.attrs
    if isinstance(attrs, PoolAttrs):
        return {"window": [int(extent) for extent in attrs.window], "stride": list(attrs.stride)}
    weights = let.call.args[1] if len(let.call.args) > 1 else None
    if isinstance(attrs, ConvAttrs | DepthwiseConvAttrs) and weights is not None:
        return {"window": _shape(weights.type)[1:3], "stride": list(attrs.stride)}
    return {"window": None, "stride": None}
