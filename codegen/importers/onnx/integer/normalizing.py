"""Softmax and LayerNormalization of integers, row by row."""

from dataclasses import replace

import numpy as np

from codegen.importers.onnx.arithmetic import ONE_AXIS_SINCE, axes_of_lines
from codegen.importers.onnx.integer.layers import alike
from codegen.importers.onnx.integer.scales import IntegerTarget, LeftInFloat
from codegen.importers.onnx.layouts import Known, Stored, StoredAs, Value
from codegen.importers.onnx.node_site import Site
from codegen.ir import DType
from codegen.ir.ops import ONNX, LayerNormAttrs, SoftmaxAttrs
from codegen.ir.ops.base.integer_rows import norm_numbers

_HALVES = "by integers alone: at halves of a step onnxruntime's float32 may round the other way"


def softmax(site: Site, image: Stored, target: IntegerTarget, opset: int) -> Value:
    """Softmax along one axis, as of `opset`."""
    value, steps = alike(image, target), site.steps
    _need_bytes(site, target)
    rank, is_one = len(value.shape), opset >= ONE_AXIS_SINCE
    axis = site.axis(site.integer("axis", -1 if is_one else 1), max(rank, 1))
    if not is_one and any(extent != 1 for extent in value.shape[axis + 1 :]):
        raise LeftInFloat("several axes at once (opset below 13) are not supported")
    axes = axes_of_lines(value, axis)
    made = steps.step(
        "SOFTMAX",
        [steps.stored(value, axes)],
        SoftmaxAttrs(rounding=ONNX),
        axes=axes,
        stored=StoredAs(quantization=target.quantization),
    )
    steps.may_differ.append(f"{steps.source}: {_HALVES}")
    return made


def layer_norm(site: Site, image: Stored, target: IntegerTarget) -> Value:
    """LayerNormalization along the last axis, by constant weights."""
    value, steps = alike(image, target), site.steps
    _need_bytes(site, target)
    rank = len(value.shape)
    if site.axis(site.integer("axis", -1), max(rank, 1)) != rank - 1:
        raise LeftInFloat("a LayerNormalization of several axes has no integer form")
    if site.integer("stash_type", 1) != 1 or site.is_used(1) or site.is_used(2):
        raise LeftInFloat("a LayerNormalization whose mean or deviation is read has no integer form")
    columns = value.shape[-1]
    numbers = [site.value(1), site.value(2) if site.has(2) else Known(data=np.zeros(1, np.float32))]
    held: list[np.ndarray] = []
    for number in numbers:
        if not isinstance(number, Known) or number.data.size not in (1, columns):
            raise LeftInFloat("its weights or bias are not one known number a column")
        held.append(np.broadcast_to(number.data.reshape(-1), (columns,)).astype(np.float32))
    epsilon, axes = site.real("epsilon", 1e-5), axes_of_lines(value, rank - 1)
    argument = steps.stored(value, axes)
    result = replace(argument.type, quantization=target.quantization)
    try:
        norm_numbers(argument.type, epsilon, held[0], held[1], result)
    except ValueError as reason:
        raise LeftInFloat(str(reason)) from reason
    made = steps.step(
        "LAYER_NORMALIZATION",
        [argument, *(steps.constant(data) for data in held)],
        LayerNormAttrs(epsilon=epsilon, rounding=ONNX),
        axes=axes,
        stored=StoredAs(quantization=target.quantization),
    )
    steps.may_differ.append(f"{steps.source}: {_HALVES}")
    return made


def _need_bytes(site: Site, target: IntegerTarget) -> None:
    if target.dtype is not DType.INT8:
        raise LeftInFloat(f"{site.node.op} has an integer form of 8 bits")
