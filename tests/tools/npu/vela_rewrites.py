"""Outputs that Vela's own rewriting of a layer gives where it is not TFLite's: a prediction for each.

Each is arithmetic on the file's tensors, by what Vela's published compiler does to the layer (in the source
that is named). That the model gives these very numbers shows that the stream asks for them.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast
from unittest.mock import patch

import numpy as np
from tflite.LeakyReluOptions import LeakyReluOptions
from tflite.MirrorPadOptions import MirrorPadOptions
from tflite.SoftmaxOptions import SoftmaxOptions

from codegen.api import FileModel, read_tflite
from codegen.ir.ops.base import curves
from codegen.ir.ops.base.fixed_point import round_half_away_array
from codegen.ir.types import DType
from tests.tensor_types import per_tensor, tensor_type
from tests.tools.npu.vela_sums import at_ends_of_scales, grouped, is_grouped_of_images

_PIECES = 512


def _scale(model: FileModel, tensor: int) -> tuple[float, int]:
    quantization = model.tensors[tensor].quantization
    return float(quantization.scales[0]), int(quantization.zero_points[0])


def _constant(model: FileModel, operand: int) -> np.ndarray:
    tensor = model.tensors[model.operators[-1].inputs[operand]]
    return np.ascontiguousarray(model.buffers[tensor.buffer]).view("<i4").reshape(tensor.shape)


def _rounded_up(values: np.ndarray) -> np.ndarray:
    """The nearest whole numbers, halves upwards."""
    return np.floor(values + 0.5).astype(np.int64)


def negated(model: FileModel, inputs: Sequence[np.ndarray], right: np.ndarray) -> np.ndarray:
    """NEG is a difference without scales: the argument's is taken for the result's (graphir_optimiser)."""
    [argument], [result] = model.operators[0].inputs, model.operators[0].outputs
    centred = inputs[0].astype(np.int64) - _scale(model, argument)[1]
    return np.clip(_scale(model, result)[1] - centred, *_limits(right))


def transposed(model: FileModel, inputs: Sequence[np.ndarray], right: np.ndarray) -> np.ndarray:
    """The last pass copies uint8 as int8, clipped at uint8's minimum (ethos_u55_register_cs_generator)."""
    del model, inputs
    return np.clip(right.view(np.int8), 0, 127)


def joined(model: FileModel, inputs: Sequence[np.ndarray], right: np.ndarray) -> np.ndarray:
    """CONCATENATION scales with halves upwards; TFLite rounds a product of float32."""
    axis = next(i for i, n in enumerate(right.shape) if n != inputs[0].shape[i])
    scale, zero = _scale(model, model.operators[0].outputs[0])
    parts: list[np.ndarray] = []
    for tensor, array in zip(model.operators[0].inputs, inputs, strict=True):
        part_scale, part_zero = _scale(model, tensor)
        parts.append(_rounded_up((array.astype(np.int64) - part_zero) * (part_scale / scale)) + zero)
    return np.clip(np.concatenate(parts, axis), *_limits(right))


def _pieces(
    function: Callable[[np.ndarray], np.ndarray],
    argument: tuple[float, int],
    result: tuple[float, int],
    real: type[np.floating],
) -> np.ndarray:
    """512 straight pieces and the last end, in numbers of type `real` (lut_util)."""
    (scale, zero), (result_scale, result_zero) = argument, result
    low, high = real(scale) * real(-32768 - zero), real(scale) * real(32767 - zero)
    step = (high - low) / real(_PIECES)
    lowest, highest = (real(result_scale) * real(limit - result_zero) for limit in (-32768, 32767))
    per_unit = real(65536) / (highest - lowest)
    places = low + np.arange(_PIECES + 1).astype(real) * step
    values, middles = function(places) * per_unit, function(places[:-1] + step / real(2)) * per_unit
    samples = round_half_away_array(values)
    lines = round_half_away_array((values[1:] + samples[:-1]) / real(2))
    bias = round_half_away_array((lines - round_half_away_array(middles)) / real(2))
    return np.clip(np.append(samples[:-1] - bias, samples[-1]), -32768, 32767).astype(np.int16)


def softmax(model: FileModel, inputs: Sequence[np.ndarray], right: np.ndarray) -> np.ndarray:
    """SOFTMAX of int16 as TFLite's, but for a table of 1 / (1 + x) made in float64."""
    del right
    [operator] = model.operators
    options, table = cast(Any, SoftmaxOptions()), cast(Any, operator.options)
    options.Init(table.Bytes, table.Pos)
    scale, zero = _scale(model, operator.inputs[0])
    quantization = per_tensor(scale, zero)
    type_ = tensor_type(inputs[0].shape, DType.INT16, quantization=quantization)
    reciprocals = _pieces(lambda x: 1.0 / (1.0 + x), (1 / 65535, -32768), (2 / 65535, 0), np.float64)
    with patch.object(curves, "softmax_tables", return_value=(curves.softmax_tables()[0], reciprocals)):
        return curves.softmax(inputs[0].astype(np.int64), float(options.Beta()), type_)


def root(model: FileModel, inputs: Sequence[np.ndarray], right: np.ndarray) -> np.ndarray:
    """RSQRT of int16 by straight pieces of 128 steps (lut_util); TFLite computes every element."""
    del right
    lower, curve = model.operators
    constant = model.buffers[model.tensors[lower.inputs[1]].buffer].view("<i2")
    argument, result = _scale(model, curve.inputs[0]), _scale(model, curve.outputs[0])
    behind = np.float32(32767) * np.float32(result[0])

    def function(x: np.ndarray) -> np.ndarray:
        inside = np.where(x > 0, x, np.float32(1))
        return np.where(x > 0, np.float32(1) / np.sqrt(inside), behind).astype(np.float32)

    table = _pieces(function, argument, result, np.float32).astype(np.int64)
    stored = np.maximum(inputs[0].astype(np.int64), constant)
    piece, rest = 256 + (stored >> 7), stored & 127
    return table[piece] + (((table[piece + 1] - table[piece]) * rest + 64) >> 7)


def leaky(model: FileModel, inputs: Sequence[np.ndarray], right: np.ndarray) -> np.ndarray:
    """LEAKY_RELU of int16 scales by its slope; TFLite by a quotient of float32 scales times the slope."""
    del right
    options, table = cast(Any, LeakyReluOptions()), cast(Any, model.operators[0].options)
    options.Init(table.Bytes, table.Pos)
    values = inputs[0].astype(np.int64)
    return np.clip(np.where(values >= 0, values, _rounded_up(values * float(options.Alpha()))), -32768, 32767)


def summed(model: FileModel, inputs: Sequence[np.ndarray], right: np.ndarray) -> np.ndarray:
    """SUM over the first of its axes alone (graphir_optimiser); what does not fit lies behind the output."""
    axis = int(_constant(model, 1).reshape(-1)[0])
    [operator] = model.operators
    argument, result = _scale(model, operator.inputs[0]), _scale(model, operator.outputs[0])
    sums = (inputs[0].astype(np.int64) - argument[1]).sum(axis)
    scaled = _rounded_up(sums * (argument[0] / result[0])) + result[1]
    return np.clip(scaled.reshape(-1)[: right.size], *_limits(right))


def reduced(model: FileModel, inputs: Sequence[np.ndarray], right: np.ndarray) -> np.ndarray:
    """REDUCE_MAX and REDUCE_MIN without the reduced axis: a window over as many columns as the result has."""
    axis = int(_constant(model, 1).reshape(-1)[0])
    size, columns = inputs[0].shape[axis], right.shape[-1]
    rows = right.size // columns
    image = inputs[0].reshape(-1)[: rows * size].reshape(rows, size)
    is_least = model.operators[0].name == "REDUCE_MIN"
    choose, edge = (np.min, np.iinfo(right.dtype).max) if is_least else (np.max, np.iinfo(right.dtype).min)
    padded = np.pad(image, ((0, 0), (0, columns)), constant_values=edge)
    return np.stack([choose(padded[:, column : column + size], 1) for column in range(columns)], 1)


def mirrored(model: FileModel, inputs: Sequence[np.ndarray], right: np.ndarray) -> np.ndarray:
    """MIRROR_PAD of height and width alone (tflite_graph_optimiser); other elements keep the fill byte."""
    options, table = cast(Any, MirrorPadOptions()), cast(Any, model.operators[0].options)
    options.Init(table.Bytes, table.Pos)
    edge = 1 - int(options.Mode())
    rank = max(right.ndim, 3)
    image = inputs[0].reshape((1,) * (rank - right.ndim) + inputs[0].shape)
    pads = np.pad(_constant(model, 1), ((rank - right.ndim, 0), (0, 0)))
    (top, bottom), (left, behind) = pads[-3].tolist(), pads[-2].tolist()
    height, width, _ = image.shape[-3:]
    result = (
        np.full(right.nbytes, 0xAA, np.uint8)
        .view(right.dtype)
        .reshape((1,) * (rank - right.ndim) + right.shape)
    )
    inner = (*map(slice, image.shape[:-3]), slice(None), slice(left, left + width), slice(image.shape[-1]))
    rows = result[inner]
    rows[..., top : top + height, :, :] = image
    rows[..., :top, :, :] = image[..., edge : edge + top, :, :][..., ::-1, :, :]
    rows[..., top + height :, :, :] = image[..., height - bottom - edge : height - edge, :, :][
        ..., ::-1, :, :
    ]
    result[..., :left, :] = result[..., left + edge : 2 * left + edge, :][..., ::-1, :]
    stop = left + width - edge
    result[..., left + width :, :] = result[..., stop - behind : stop, :][..., ::-1, :]
    return result


def _is_rank_above_4(name: str, model: FileModel) -> bool:
    """A mean of more than 4 axes, or operands of unequal shapes, one of more: Vela takes others for them."""
    if name.startswith("mean_"):
        return len(model.tensors[model.operators[0].inputs[0]].shape) > 4
    if not re.match(r"(add|sub|mul|minimum|maximum)_", name):
        return False
    shapes = {model.tensors[tensor].shape for tensor in model.operators[0].inputs}
    return len(shapes) > 1 and max(map(len, shapes)) > 4


def _limits(array: np.ndarray) -> tuple[int, int]:
    limits = np.iinfo(array.dtype)
    return int(limits.min), int(limits.max)


REWRITES: Mapping[str, Callable[[FileModel, Sequence[np.ndarray], np.ndarray], np.ndarray]] = {
    r"neg_u?int8": negated,
    r"transpose_uint8": transposed,
    r"concatenation_uint8": joined,
    r"softmax_int16": softmax,
    r"rsqrt_int16": root,
    r"leaky_relu_int16": leaky,
    r"(fully_connected|conv_2d)_.*int16": at_ends_of_scales,
    r"mirror_pad": mirrored,
    r"sum_": summed,
    r"reduce_(max|min)": reduced,
}
"""Beginning of a layer's name -> what Vela's rewriting of it gives."""


def rewritten(name: str, data: bytes, inputs: Sequence[np.ndarray], right: np.ndarray) -> np.ndarray | None:
    """The output that Vela's rewriting of a layer gives, or None where none is known for its kind."""
    model = read_tflite(data, name)
    if is_grouped_of_images(model):
        return grouped(name, data, inputs, right)
    for pattern, predict in REWRITES.items():
        if re.match(pattern, name):
            return predict(model, inputs, right)
    return None


def is_misread(name: str, data: bytes) -> bool:
    """True for layers of more than four axes of which Vela takes others."""
    return _is_rank_above_4(name, read_tflite(data, name))
