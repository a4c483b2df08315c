"""Operators `ethos-u` of a .tflite file: command streams, their device, their memory.

Vela's convention: inputs of the operator are the stream with the driver's header, constants, scratch, fast
scratch, then the network's values. Values lie in the scratch, at the offsets that the metadata entry
`OfflineMemoryAllocation` states. Source: npu_serialisation.py of Vela.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tflite.TensorType import TensorType as TypeCode

from codegen.api import (
    NPU_FIXED_INPUTS,
    NPU_MOST_BYTES,
    NPU_OPERATOR,
    CodegenError,
    FileModel,
    FileOperator,
    FileTensor,
    Message,
    model_bytes,
    npu_payload,
    printable,
    read_tflite,
    run_on_npu_model,
)

_DTYPES: Mapping[int, type[np.generic]] = MappingProxyType(
    {TypeCode.INT8: np.int8, TypeCode.UINT8: np.uint8, TypeCode.INT16: np.int16, TypeCode.INT32: np.int32}
)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ArenaValue:
    """A value of the network in the scratch."""

    tensor: int
    """Number of the tensor in the file."""
    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    offset: int
    """First byte in the scratch."""

    @property
    def size_bytes(self) -> int:
        """Bytes of all elements."""
        return math.prod(self.shape) * self.dtype.itemsize


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class NpuOperator:
    """One operator `ethos-u`."""

    index: int
    """Number of the operator in the file."""
    device: str
    """Name of the configuration, such as `ethos-u55-128`."""
    stream: NDArray[np.uint32]
    """The register commands, without the driver's header."""
    constants: NDArray[np.uint8]
    scratch_bytes: int
    fast_scratch_bytes: int
    inputs: tuple[ArenaValue, ...]
    outputs: tuple[ArenaValue, ...]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class VelaFile:
    """A .tflite file that Vela wrote."""

    operators: tuple[NpuOperator, ...]
    others: tuple[str, ...]
    """Operators that stay on the core, by name, in the file's order."""
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    """Numbers of the tensors that are the network's inputs and outputs, in its order."""

    def alone(self) -> NpuOperator:
        """The one operator that is the whole network, its values in the network's order.

        Raises CodegenError E316 if other operators compute a part of it.
        """
        if len(self.operators) == 1 and not self.others:
            [operator] = self.operators
            ordered = _ordered(operator.inputs, self.inputs), _ordered(operator.outputs, self.outputs)
            if None not in ordered:
                return replace(operator, inputs=ordered[0] or (), outputs=ordered[1] or ())
        listed = ", ".join(self.others) or "none, but its inputs or outputs are not the network's"
        text = f"operators of the file outside of one ethos-u: {listed}"
        help_ = (
            "only files whose layers are all on the NPU can be compared; without --against they are listed"
        )
        raise CodegenError(Message(code="E316", text=text, help=help_))


def _ordered(values: Sequence[ArenaValue], tensors: Sequence[int]) -> tuple[ArenaValue, ...] | None:
    by_tensor = {value.tensor: value for value in values}
    return tuple(by_tensor[index] for index in tensors) if set(by_tensor) == set(tensors) else None


def read_vela_file(path: Path) -> VelaFile:
    """Read the operators `ethos-u` of the file at `path`.

    Raises CodegenError: E211, E300 or E302..E305 as for any model file; E315 if Vela did not write it; E316
    for a stream or offsets that contradict themselves.
    """
    name = printable(path.name)
    model = read_tflite(model_bytes(path), name)
    operators = [operator for operator in model.operators if operator.custom_name == NPU_OPERATOR]
    if not operators:
        raise CodegenError(
            Message(
                code="E315",
                where=name,
                text="the file has no operator ethos-u: Vela did not compile it",
                help="vela --accelerator-config ethos-u55-128 MODEL.tflite writes output/MODEL_vela.tflite",
            )
        )
    offsets = _offsets(model, name)
    return VelaFile(
        operators=tuple(_operator(model, operator, offsets, name) for operator in operators),
        others=tuple(
            operator.custom_name or operator.name
            for operator in model.operators
            if operator.custom_name != NPU_OPERATOR
        ),
        inputs=model.inputs,
        outputs=model.outputs,
    )


def _refused(name: str, text: str) -> CodegenError:
    return CodegenError(
        Message(code="E316", where=name, text=text, help="compile the file from before Vela again")
    )


def _offsets(model: FileModel, name: str) -> tuple[int, ...]:
    """Offset of each tensor in the scratch; -1 for those that Vela did not place."""
    offsets, tensors = model.arena_offsets, len(model.tensors)
    if offsets is None:
        raise _refused(
            name, "the file lacks the metadata OfflineMemoryAllocation: where values lie is not known"
        )
    if len(offsets) != tensors:
        raise _refused(name, f"OfflineMemoryAllocation has {len(offsets)} offsets for {tensors} tensors")
    return offsets


def _operator(model: FileModel, operator: FileOperator, offsets: Sequence[int], name: str) -> NpuOperator:
    where = f"{name}, op {operator.index} ethos-u"
    indices = (*operator.inputs, *operator.outputs)
    if len(operator.inputs) < NPU_FIXED_INPUTS or not all(0 <= i < len(model.tensors) for i in indices):
        raise _refused(where, "its inputs are not stream, constants, scratch, fast scratch and values")
    stream, constants, scratch, fast = (model.tensors[index] for index in operator.inputs[:NPU_FIXED_INPUTS])
    try:
        payload = npu_payload(_data(model, stream).tobytes())
    except ValueError as error:
        raise _refused(where, str(error)) from error
    scratch_bytes = _extent(scratch)
    if max(scratch_bytes, _extent(fast)) > NPU_MOST_BYTES:
        raise _refused(where, f"its scratch has {scratch_bytes} bytes, up to {NPU_MOST_BYTES} are run")
    return NpuOperator(
        index=operator.index,
        device=payload.device,
        stream=payload.stream,
        constants=_data(model, constants),
        scratch_bytes=scratch_bytes,
        fast_scratch_bytes=_extent(fast),
        inputs=tuple(
            _value(model.tensors[index], offsets, scratch_bytes, where)
            for index in operator.inputs[NPU_FIXED_INPUTS:]
        ),
        outputs=tuple(
            _value(model.tensors[index], offsets, scratch_bytes, where) for index in operator.outputs
        ),
    )


def _data(model: FileModel, tensor: FileTensor) -> NDArray[np.uint8]:
    if not 0 <= tensor.buffer < len(model.buffers):
        return np.zeros(0, np.uint8)
    return np.ascontiguousarray(model.buffers[tensor.buffer])


def _extent(tensor: FileTensor) -> int:
    return max(tensor.shape[0], 0) if tensor.shape else 0


def _value(tensor: FileTensor, offsets: Sequence[int], scratch_bytes: int, where: str) -> ArenaValue:
    dtype = _DTYPES.get(tensor.type_code)
    if dtype is None or any(extent < 0 for extent in tensor.shape):
        raise _refused(where, f"{tensor} is no int8, uint8, int16 or int32 of a known shape")
    value = ArenaValue(
        tensor=tensor.index,
        name=tensor.name,
        shape=tensor.shape,
        dtype=np.dtype(dtype),
        offset=int(offsets[tensor.index]),
    )
    if value.offset < 0 or value.offset + value.size_bytes > scratch_bytes:
        raise _refused(
            where, f"{tensor} lies at {value.offset}, outside the scratch of {scratch_bytes} bytes"
        )
    return value


def run_operator(operator: NpuOperator, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Outputs of one operator whose inputs have the shapes of `operator.inputs`.

    Raises CodegenError E316 with the model's fault, and E501 without a C compiler.
    """
    scratch = np.full(operator.scratch_bytes, 0xAA, np.uint8)
    fast = np.full(operator.fast_scratch_bytes, 0xAA, np.uint8)
    for value, array in zip(operator.inputs, inputs, strict=True):
        stored = np.ascontiguousarray(array, value.dtype).view(np.uint8).reshape(-1)
        scratch[value.offset : value.offset + value.size_bytes] = stored
    run_on_npu_model(operator.device, operator.stream, operator.constants.copy(), scratch, fast)
    return [
        scratch[value.offset : value.offset + value.size_bytes].view(value.dtype).reshape(value.shape).copy()
        for value in operator.outputs
    ]
