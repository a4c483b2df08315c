"""Weighted layers that Vela changes: sums of int16 at the ends of scales, groups of several images."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from tflite.ActivationFunctionType import ActivationFunctionType
from tflite.Conv2DOptions import Conv2DOptions
from tflite.FullyConnectedOptions import FullyConnectedOptions
from tflite.Padding import Padding

from codegen.api import FileModel
from codegen.importers.tflite import import_tflite
from codegen.ir import Let
from codegen.ir.evaluate import evaluate
from codegen.ir.ops import Padding2D
from codegen.ir.ops.base.attrs import ConvAttrs

_FROM_ZERO = (ActivationFunctionType.RELU, ActivationFunctionType.RELU6)
_SMALLEST = 2.0**-32
"""TFLite takes 0 for a scale below."""


def at_ends_of_scales(model: FileModel, inputs: Sequence[np.ndarray], right: np.ndarray) -> np.ndarray:
    """Sums beyond 2^31 after scaling are clipped, where TFLite's wrap; by a scale below 2^-32 they are
    multiplied, where TFLite takes 0."""
    [operator] = model.operators
    image, weights = (model.tensors[index] for index in operator.inputs[:2])
    result = model.tensors[operator.outputs[0]]
    kernel = model.buffers[weights.buffer].view("<i1").reshape(weights.shape).astype(np.int64)
    options = cast(Any, Conv2DOptions() if len(weights.shape) == 4 else FullyConnectedOptions())
    table = cast(Any, operator.options)
    options.Init(table.Bytes, table.Pos)
    if len(weights.shape) == 4:
        sums = _convolved(inputs[0].astype(np.int64), kernel, options, result.shape)
    else:
        sums = inputs[0].reshape(-1, kernel.shape[1]).astype(np.int64) @ kernel.T
    if len(operator.inputs) > 2 and operator.inputs[2] >= 0:
        bias = model.tensors[operator.inputs[2]]
        data = np.ascontiguousarray(model.buffers[bias.buffer])
        sums = sums + data.view("<i4" if data.size == 4 * kernel.shape[0] else "<i8")
    factors = weights.quantization.scales.astype(np.float64) * float(image.quantization.scales[0])
    factors = factors / float(result.quantization.scales[0])
    scaled = sums * factors
    least = 0 if options.FusedActivationFunction() in _FROM_ZERO else -32768
    is_at_end = (np.abs(scaled) >= 1 << 31) | (factors < _SMALLEST)
    clipped = np.clip(np.floor(scaled + 0.5), least, 32767)
    return np.where(is_at_end, clipped, right.reshape(scaled.shape))


def _convolved(image: np.ndarray, kernel: np.ndarray, options: Any, shape: Sequence[int]) -> np.ndarray:
    """Sums of a convolution whose weights [result, rows, columns, input] may be grouped."""
    strides = options.StrideH(), options.StrideW()
    dilations = options.DilationHFactor(), options.DilationWFactor()
    pads = [(0, 0)] * 4
    for axis in (1, 2):
        reached = (shape[axis] - 1) * strides[axis - 1] + (kernel.shape[axis] - 1) * dilations[axis - 1] + 1
        missing = max(reached - image.shape[axis], 0) if options.Padding() == Padding.SAME else 0
        pads[axis] = (missing // 2, missing - missing // 2)
    padded = np.pad(image, pads)
    results, rows, columns, channels = kernel.shape
    groups = image.shape[3] // channels
    sums = np.zeros((*shape[:3], groups, results // groups), np.int64)
    for row, column in np.ndindex(rows, columns):
        top, left = row * dilations[0], column * dilations[1]
        taken = padded[:, top :: strides[0], left :: strides[1]][:, : shape[1], : shape[2]]
        parts = taken.reshape(*taken.shape[:3], groups, channels)
        weights = kernel[:, row, column].reshape(groups, results // groups, channels)
        sums += np.einsum("nhwgi,goi->nhwgo", parts, weights)
    return sums.reshape(*shape)


def is_grouped_of_images(model: FileModel) -> bool:
    """True for a CONV_2D of several images and groups of channels."""
    operator = model.operators[0]
    if operator.name != "CONV_2D":
        return False
    image, weights = (model.tensors[index].shape for index in operator.inputs[:2])
    return image[0] > 1 and image[3] != weights[3]


def grouped(name: str, data: bytes, inputs: Sequence[np.ndarray], right: np.ndarray) -> np.ndarray:
    """A convolution of grouped channels of several images: all padding SAME is below and to the right.

    Images of one row without padding are taken for rows that all begin where the first does.
    """
    module = import_tflite(data, name)
    function = module.main
    pads: list[Padding2D] = []

    def moved(let: Let) -> Let:
        attrs = let.call.attrs
        if not isinstance(attrs, ConvAttrs):
            return let
        pad = attrs.padding
        pads.append(pad)
        behind = Padding2D(top=0, left=0, bottom=pad.top + pad.bottom, right=pad.left + pad.right)
        return replace(let, call=replace(let.call, attrs=replace(attrs, padding=behind)))

    function = replace(function, body=tuple(moved(let) for let in function.body))
    if inputs[0].shape[1] == 1 and all(pad == Padding2D(top=0, left=0, bottom=0, right=0) for pad in pads):
        return np.repeat(right[:1], len(right), 0)
    return evaluate(module, function, inputs)[0]
