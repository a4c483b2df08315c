"""A TFLite file under construction, with a drawn layer's arguments."""

from dataclasses import replace
from typing import Any

import numpy as np

from codegen.importers.tflite.writing.writer import ModelBuilder
from codegen.ir import Arg, ConstRef, DType, TensorType, ops
from tests.engines import Arrays
from tests.kernels.layers import Layer

_MOST_BROADCAST_AXES = 4
"""Of more axes tflite-runtime spreads no argument of a MUL (it aborts): arguments are spread beforehand."""


def _has_weight_zero(layer: Layer) -> bool:
    """Whether the weights have a zero point, which only files of uint8 give them."""
    attrs = ops.ConvAttrs | ops.DepthwiseConvAttrs | ops.FullyConnectedAttrs
    types = layer.let.call.types
    weights = types[1] if len(types) > 1 and isinstance(layer.let.call.attrs, attrs) else None
    meaning = None if weights is None else weights.quantization
    return meaning is not None and any(meaning.zero_points)


def _rounds_halves_up(layer: Layer) -> bool:
    return isinstance(ops.rounding_of(layer.let.call.attrs), ops.HalvesUp)


class File:
    """A file under construction: arguments are there already, in `operands`."""

    def __init__(self, layer: Layer) -> None:
        self.model = ModelBuilder()
        self.operands: list[int | None] = []
        self.is_unsigned = _has_weight_zero(layer) or _rounds_halves_up(layer)
        self._inputs: list[int] = []
        self._dtype = layer.let.call.args[0].type.dtype if layer.let.call.args[0] else None
        values: list[np.ndarray] = []
        shape = layer.let.var.type.shape
        spread = isinstance(layer.let.call.attrs, ops.BinaryAttrs) and len(shape) > _MOST_BROADCAST_AXES
        for arg, data in zip(layer.let.call.args, layer.values, strict=True):
            if arg is None or data is None:
                self.operands.append(None)
                continue
            is_constant = isinstance(arg, ConstRef)
            data = np.ascontiguousarray(np.broadcast_to(data, shape)) if spread else data
            index = self.tensor(replace(arg.type, shape=data.shape), data if is_constant else None)
            self.operands.append(index)
            if not is_constant:
                self._inputs.append(index)
                values.append(data.view(np.uint8) ^ 0x80 if self.is_unsigned else data)
        self.inputs: Arrays = tuple(values)

    @property
    def is_int16(self) -> bool:
        """Whether the first argument is int16."""
        return self._dtype is DType.INT16

    def tensor(self, type_: TensorType, data: np.ndarray | None = None) -> int:
        quantization = type_.quantization
        more: dict[str, Any] = {}
        if quantization is not None:
            more = {"scale": quantization.scales, "zero_point": quantization.zero_points}
            more["axis"] = quantization.axis or 0
        name, dtype = f"t{self.model.tensors}", type_.dtype.value
        if self.is_unsigned and type_.dtype is DType.INT8:
            dtype, more["zero_point"] = "uint8", type_.zero_point + 128
            data = None if data is None else data.view(np.uint8) ^ 0x80
        return self.model.tensor(name, type_.shape, dtype, data=data, **more)

    def constant(self, values: object) -> int:
        """An int32 tensor."""
        return self.model.constant(f"t{self.model.tensors}", np.array(values, np.int32))

    def finish(self, outputs: list[int]) -> bytes:
        self.model.inputs(*self._inputs)
        self.model.outputs(*outputs)
        return self.model.build()


def given(arg: Arg | None) -> TensorType:
    """The type of an argument that is there."""
    assert arg is not None
    return arg.type
