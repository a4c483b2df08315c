"""Gemm and MatMul: fully connected layers by constant weights, else products of matrices."""

import numpy as np

from codegen.importers.onnx.arithmetic import number_like, pair
from codegen.importers.onnx.layouts import Computed, Known, StepList, Value
from codegen.importers.onnx.node_site import Site
from codegen.importers.reporting import Refused
from codegen.ir import Arg
from codegen.ir.ops import BatchMatMulAttrs, FullyConnectedAttrs


def gemm(site: Site) -> Value:
    """Gemm: alpha * A * B + beta * C, each matrix transposed if so said."""
    first, second = site.value(0), site.value(1)
    site.need_float(first, second)
    if len(first.shape) != 2 or len(second.shape) != 2:
        raise Refused("E303", f"multiplies {list(first.shape)} by {list(second.shape)}, needs matrices")
    alpha, beta = np.float32(site.real("alpha", 1.0)), np.float32(site.real("beta", 1.0))
    first = _turned(first) if site.integer("transA", 0) else first
    second = _turned(second) if site.integer("transB", 0) else second
    addend = site.value(2) if site.has(2) else None
    if isinstance(second, Known):
        bias = None
        if (
            isinstance(addend, Known)
            and addend.data.size in (1, second.shape[1])
            and addend.shape[:-1]
            in (
                (),
                (1,),
            )
        ):
            bias = Known(data=np.broadcast_to(addend.data.reshape(-1) * beta, second.shape[1:]))
            addend = None
        product = _by_weights(site, first, second.data * alpha, bias)
    else:
        product = _product(site, first, second)
        if alpha != 1:
            product = pair(site, "MUL", [product, number_like(float(alpha), product)])
    if addend is None:
        return product
    site.need_float(addend)
    if isinstance(addend, Known):
        addend = Known(data=addend.data * beta)
    elif beta != 1:
        addend = pair(site, "MUL", [addend, number_like(float(beta), addend)])
    return pair(site, "ADD", [product, addend])


def matmul(site: Site) -> Value:
    """MatMul: by constant weights a fully connected layer, else a product of matrices in batches."""
    first, second = site.value(0), site.value(1)
    site.need_float(first, second)
    return multiplied(site, first, second)


def multiplied(site: Site, first: Value, second: Value) -> Value:
    """The product of two float32 values as MatMul has it."""
    if not first.shape or not second.shape:
        raise Refused("E303", "multiplies a number, which has no axis")
    steps, rows, columns = site.steps, len(first.shape) == 1, len(second.shape) == 1
    first = steps.reshape(first, (1, *first.shape)) if rows else first
    second = steps.reshape(second, (*second.shape, 1)) if columns else second
    if isinstance(second, Known) and len(second.shape) == 2 and isinstance(first, Computed):
        product = _by_weights(site, first, second.data, None)
    else:
        product = _product(site, first, second)
    shape = product.shape[:-1] if columns else product.shape
    if rows:
        shape = (*shape[:-2], *shape[-1:]) if not columns else shape[:-1]
    return steps.reshape(product, shape)


def _turned(value: Value) -> Value:
    if isinstance(value, Known):
        return Known(data=value.data.T)
    return Computed(var=value.var, axes=(value.axes[1], value.axes[0]))


def _by_weights(site: Site, value: Value, weights: np.ndarray, bias: Known | None) -> Value:
    if value.shape[-1] != weights.shape[0]:
        raise Refused("E303", f"multiplies {list(value.shape)} by {list(weights.shape)}")
    steps = site.steps
    args = [
        steps.dense(value),
        steps.constant(weights.T),
        None if bias is None else steps.constant(bias.data),
    ]
    return steps.step("FULLY_CONNECTED", args, FullyConnectedAttrs(keep_num_dims=True))


def _product(site: Site, first: Value, second: Value) -> Value:
    steps = site.steps
    (lhs, adj_x), (rhs, adj_y) = (in_order_of_memory(steps, value) for value in (first, second))
    return steps.step("BATCH_MATMUL", [lhs, rhs], BatchMatMulAttrs(adj_x=adj_x, adj_y=adj_y))


def in_order_of_memory(steps: StepList, value: Value) -> tuple[Arg, bool]:
    """Matrices as an argument, and whether they are transposed: rows stay what they are in memory."""
    rank = len(value.shape)
    if isinstance(value, Known) or value.axes[-2] < value.axes[-1]:
        return steps.dense(value), False
    return steps.stored(value, (*range(rank - 2), rank - 1, rank - 2)), True
