"""TFLM_DECODE: weights that tflite-micro's tool compressed become constants as if the file held them.

In: records of a subgraph. Out: the same without these operators.
Source: tflite-micro, kernels/decode_state_lut.cc.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from tflite.TensorType import TensorType as TypeCode

from codegen.importers.limits import STATED, ByteLimits
from codegen.importers.reporting import ImportProblem, Refused
from codegen.importers.tflite.control import InlinedGraph
from codegen.importers.tflite.file.reader import FileModel, FileTensor
from codegen.importers.tflite.operators.translators import DECODE

_ELEMENT_BYTES = {
    TypeCode.BOOL: 1,
    TypeCode.INT8: 1,
    TypeCode.INT16: 2,
    TypeCode.INT32: 4,
    TypeCode.FLOAT32: 4,
    TypeCode.INT64: 8,
}
_HEADER_BYTES = 16
_TYPE, _VERSION, _TABLE_VERSION, _WIDTH, _STRIDE = 0, 1, 4, 5, 6
"""Places of the fields in the header; the width of an index is the low three bits."""
_LOOK_UP_TABLE = 0
_UNCOMPRESSED = "use the file from before the compression"


def decoded(model: FileModel, limits: ByteLimits = STATED) -> InlinedGraph:
    """`model` without TFLM_DECODE; one that cannot go stays, with the reason."""
    tensors, buffers = list(model.tensors), list(model.buffers)
    refusals: dict[int, ImportProblem] = {}

    def replaced(inputs: Sequence[int], outputs: Sequence[int]) -> None:
        if not outputs or len(inputs) != 2 * len(outputs):
            raise Refused("E303", f"has {len(inputs)} inputs for {len(outputs)} outputs, needs two for each")
        if any(not 0 <= index < len(tensors) for index in (*inputs, *outputs)):
            raise Refused("E303", "reads or gives a tensor that the file does not have")
        contents = [_content(tensors[index], buffers) for index in inputs]
        decoded_data = [
            _looked_up(indices, tables, tensors[output], limits.constants)
            for indices, tables, output in zip(contents[::2], contents[1::2], outputs, strict=True)
        ]
        for output, data in zip(outputs, decoded_data, strict=True):
            tensors[output] = replace(tensors[output], buffer=len(buffers))
            buffers.append(data)

    kept = list(model.operators)
    for operator in model.operators:
        if operator.custom_name == DECODE:
            try:
                replaced(operator.inputs, operator.outputs)
                kept.remove(operator)
            except Refused as refused:
                refusals[operator.index] = refused.problem
    if len(kept) == len(model.operators):
        return InlinedGraph(model=model, refusals=refusals)
    now = replace(model, tensors=tuple(tensors), operators=tuple(kept), buffers=tuple(buffers))
    return InlinedGraph(model=now, refusals=refusals)


def _content(tensor: FileTensor, buffers: Sequence[np.ndarray]) -> np.ndarray:
    data = buffers[tensor.buffer] if tensor.buffer < len(buffers) else ()
    if not isinstance(data, np.ndarray) or len(data) == 0:
        raise Refused("E303", f"reads {tensor}, which is no constant")
    return data


def _looked_up(indices: np.ndarray, tables: np.ndarray, result: FileTensor, most_bytes: int) -> np.ndarray:
    """The bytes of `result`: its elements are found in a table, or in one for each channel."""
    size = _ELEMENT_BYTES.get(result.type_code)
    if size is None:
        raise Refused("E301", f"{result} has an element type that is not decoded", _UNCOMPRESSED)
    if len(tables) < _HEADER_BYTES or (len(tables) - _HEADER_BYTES) % size:
        raise Refused("E303", f"the tables of {result} have {len(tables)} bytes")
    kinds = int(tables[_TYPE]), int(tables[_VERSION]), int(tables[_TABLE_VERSION])
    if kinds != (_LOOK_UP_TABLE, 1, 1):
        text = f"{result} is compressed in another way than by look-up tables (type {kinds[0]})"
        raise Refused("E301", text, _UNCOMPRESSED)
    width, stride = int(tables[_WIDTH]) & 7, int(tables[_STRIDE])
    count = math.prod(result.shape) if min(result.shape, default=1) > 0 else 0
    if not width or not 0 < count <= min(8 * len(indices) // width, most_bytes // size):
        raise Refused("E303", f"{result} of shape {list(result.shape)} has {len(indices)} bytes of indices")
    bits = np.unpackbits(indices, count=count * width).reshape(count, width)
    places = bits @ (1 << np.arange(width - 1, -1, -1)) + _channels(result, count) * stride
    values = tables[_HEADER_BYTES:].reshape(-1, size)
    if places.max() >= len(values):
        raise Refused("E303", f"an index of {result} lies beyond its table")
    return np.ascontiguousarray(values[places]).reshape(-1)


def _channels(result: FileTensor, count: int) -> np.ndarray:
    """The channel of each element: with scales along the first or the last axis, else one for all."""
    axis, elements = result.quantization.axis, np.arange(count)
    channels = max(1, len(result.quantization.scales))
    if count % channels or (channels > 1 and axis not in (0, result.rank - 1)):
        raise Refused("E301", f"{result} has {channels} scales along axis {axis}", _UNCOMPRESSED)
    is_last = channels > 1 and axis == result.rank - 1
    return elements % channels if is_last else elements // (count // channels)
