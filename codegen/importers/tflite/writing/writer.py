"""Writes `.tflite` files (schema version 3) from a simple description: the example and the tests use it.

    model = ModelBuilder()
    x = model.tensor("x", (1, 4), "int8", scale=0.5, zero_point=-3)
    y = model.tensor("y", (1, 4), "int8", scale=1 / 256, zero_point=-128)
    model.op("SOFTMAX", [x], [y], beta=1.0)
    model.inputs(x)
    model.outputs(y)
    data = model.build()

The same calls give the same bytes. Field numbers are the schema's (tensorflow/lite/schema/schema.fbs).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import flatbuffers
import numpy as np

from codegen.importers.tflite.file.option_tables import BY_OPERATOR, OptionField
from codegen.importers.tflite.writing.writer_encoding import (
    OperatorSpec,
    OptionValue,
    TensorSpec,
    encoded,
    write_buffer,
    write_code,
    write_ints,
    write_metadata,
    write_offsets,
    write_operator,
    write_tensor,
)
from codegen.importers.tflite.writing.writer_options import INT8_VERSIONS, TENSOR_TYPES, builtin_code

_IDENTIFIER = b"TFL3"


@dataclass(frozen=True, kw_only=True, slots=True)
class Custom:
    """Name and options of an operator that is CUSTOM in the file."""

    code: str = ""
    options: bytes = b""


NOT_CUSTOM = Custom()


class ModelBuilder:
    """Collects tensors and operators of one subgraph; `build` gives the file's bytes, with those of further
    subgraphs."""

    def __init__(self, *, description: str = "", metadata: Mapping[str, bytes] | None = None) -> None:
        self._description = description
        self._buffers: list[bytes] = [b""]  # buffer 0 is empty: tensors without data point to it
        self._tensors: list[TensorSpec] = []
        self._operators: list[OperatorSpec] = []
        self._codes: list[tuple[int, str, int]] = []
        self._inputs: tuple[int, ...] = ()
        self._outputs: tuple[int, ...] = ()
        self._others: list[ModelBuilder] = []
        self._metadata = {name: self._buffer(data) for name, data in sorted((metadata or {}).items())}

    @property
    def tensors(self) -> int:
        """Number of tensors so far, which is the next one's index."""
        return len(self._tensors)

    def tensor(
        self,
        name: str,
        shape: Sequence[int],
        dtype: str = "int8",
        *,
        scale: float | Sequence[float] | None = None,
        zero_point: int | Sequence[int] = 0,
        axis: int = 0,
        data: np.ndarray | Sequence[int] | Sequence[float] | None = None,
        shape_signature: Sequence[int] | None = None,
        variable: bool = False,
    ) -> int:
        """Add a tensor, return its index. `data` makes it a constant; several scales quantise along `axis`.

        Raises ValueError when type, shape, data and quantisation do not fit each other.
        """
        if dtype not in TENSOR_TYPES:
            raise ValueError(f"{name}: {dtype!r} is not one of {', '.join(TENSOR_TYPES)}")
        shape = tuple(int(extent) for extent in shape)
        scales, zero_points = _quantisation(name, scale, zero_point)
        if len(scales) > 1 and (axis >= len(shape) or shape[axis] != len(scales)):
            raise ValueError(f"{name}: {len(scales)} scales along axis {axis} do not fit shape {list(shape)}")
        buffer = 0 if data is None else self._buffer(_data_bytes(name, data, dtype, shape))
        self._tensors.append(
            TensorSpec(
                name=name,
                shape=shape,
                dtype=dtype,
                scales=scales,
                zero_points=zero_points,
                axis=axis,
                buffer=buffer,
                shape_signature=None if shape_signature is None else tuple(shape_signature),
                variable=variable,
            )
        )
        return len(self._tensors) - 1

    def constant(self, name: str, values: Sequence[int] | np.ndarray, dtype: str = "int32") -> int:
        """Add an unquantised constant tensor shaped as `values`, such as axes, a shape or paddings."""
        array = np.asarray(values, dtype=dtype)
        return self.tensor(name, array.shape, dtype, data=array)

    def op(
        self,
        name: str,
        inputs: Sequence[int | None],
        outputs: Sequence[int],
        *,
        version: int | None = None,
        custom: Custom = NOT_CUSTOM,
        **options: OptionValue,
    ) -> None:
        """Append an operator by its TFLite name; None leaves an optional input out.

        Options left out have the schema's defaults; strides, windows and the depthwise multiplier, whose
        default of 0 no kernel takes, become 1. Raises ValueError for an unknown operator, option or tensor.
        """
        code = builtin_code(name)
        if (name == "CUSTOM") != bool(custom.code) or (custom.options and not custom.code):
            raise ValueError(
                f"{name}: custom options and a custom code belong to CUSTOM, and CUSTOM needs one"
            )
        table = BY_OPERATOR.get(name)
        known: Mapping[str, OptionField] = table.fields if table else {}
        unknown = sorted(set(options) - set(known))
        if unknown:
            raise ValueError(
                f"{name} has no option {', '.join(unknown)}; it has {', '.join(known) or 'none'}"
            )
        for option, value in options.items():
            encoded(name, option, known[option], value)
        entry = (code, custom.code, version or INT8_VERSIONS.get(name, 1))
        if entry not in self._codes:
            self._codes.append(entry)
        self._operators.append(
            OperatorSpec(
                code=self._codes.index(entry),
                inputs=tuple(-1 if index is None else self._index(name, index) for index in inputs),
                outputs=tuple(self._index(name, index) for index in outputs),
                name=name,
                options=_with_ones(known, options),
                custom_options=custom.options,
            )
        )

    def subgraph(self) -> "ModelBuilder":
        """A further subgraph of the file, in order: the first one is number 1."""
        other = ModelBuilder()
        other._buffers, other._codes = self._buffers, self._codes
        self._others.append(other)
        return other

    def inputs(self, *tensors: int) -> None:
        """Set the graph's inputs."""
        self._inputs = tuple(self._index("inputs", index) for index in tensors)

    def outputs(self, *tensors: int) -> None:
        """Set the graph's outputs."""
        self._outputs = tuple(self._index("outputs", index) for index in tensors)

    def build(self) -> bytes:
        """The `.tflite` file. Building twice gives equal bytes."""
        fb: Any = cast(Any, flatbuffers).Builder(1024)
        buffers = write_offsets(fb, [write_buffer(fb, data) for data in self._buffers])
        metadata = write_offsets(fb, [write_metadata(fb, name, at) for name, at in self._metadata.items()])
        codes = write_offsets(fb, [write_code(fb, *code) for code in self._codes])
        subgraphs = write_offsets(fb, [builder._write_subgraph(fb) for builder in (self, *self._others)])
        description = fb.CreateString(self._description)
        fb.StartObject(8)
        fb.PrependUint32Slot(0, 3, 0)
        fb.PrependUOffsetTRelativeSlot(1, codes, 0)
        fb.PrependUOffsetTRelativeSlot(2, subgraphs, 0)
        fb.PrependUOffsetTRelativeSlot(3, description, 0)
        fb.PrependUOffsetTRelativeSlot(4, buffers, 0)
        if self._metadata:
            fb.PrependUOffsetTRelativeSlot(6, metadata, 0)
        fb.Finish(fb.EndObject(), _IDENTIFIER)
        return bytes(fb.Output())

    def _buffer(self, data: bytes) -> int:
        self._buffers.append(data)
        return len(self._buffers) - 1

    def _index(self, where: str, index: int) -> int:
        if not 0 <= index < len(self._tensors):
            raise ValueError(f"{where}: there is no tensor {index}")
        return index

    def _write_subgraph(self, fb: Any) -> int:
        tensors = write_offsets(fb, [write_tensor(fb, tensor) for tensor in self._tensors])
        operators = write_offsets(fb, [write_operator(fb, operator) for operator in self._operators])
        inputs, outputs = write_ints(fb, self._inputs), write_ints(fb, self._outputs)
        name = fb.CreateString("main")
        fb.StartObject(5)
        for number, offset in enumerate((tensors, inputs, outputs, operators, name)):
            fb.PrependUOffsetTRelativeSlot(number, offset, 0)
        return int(fb.EndObject())


def _quantisation(
    name: str, scale: float | Sequence[float] | None, zero_point: int | Sequence[int]
) -> tuple[tuple[float, ...], tuple[int, ...]]:
    if scale is None:
        return (), ()
    scales = (float(scale),) if isinstance(scale, int | float) else tuple(float(item) for item in scale)
    zeros = (
        (zero_point,) * len(scales)
        if isinstance(zero_point, int)
        else tuple(int(item) for item in zero_point)
    )
    if not scales or len(zeros) != len(scales):
        raise ValueError(f"{name}: {len(scales)} scales, {len(zeros)} zero points")
    return scales, zeros


def _data_bytes(name: str, data: object, dtype: str, shape: tuple[int, ...]) -> bytes:
    array: np.ndarray = np.asarray(data)
    if dtype == "int4":
        return _packed(name, array)
    if not isinstance(data, np.ndarray):
        array = array.astype(dtype)
    if array.dtype != np.dtype(dtype) or array.shape != shape:
        raise ValueError(f"{name}: data is {array.dtype}{list(array.shape)}, tensor {dtype}{list(shape)}")
    return np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False).tobytes()


def _packed(name: str, array: np.ndarray) -> bytes:
    """int4 elements, held as int8, two in a byte, the first one in its low half."""
    if array.min(initial=0) < -8 or array.max(initial=0) > 7:
        raise ValueError(f"{name}: an element is outside int4")
    nibbles = (
        np.append(array.reshape(-1), np.zeros(array.size % 2, np.int8)).astype(np.int8).view(np.uint8) & 15
    )
    return (nibbles[::2] | nibbles[1::2] << 4).tobytes()


def _with_ones(
    known: Mapping[str, OptionField], options: Mapping[str, OptionValue]
) -> dict[str, OptionValue]:
    ones = ("stride_w", "stride_h", "filter_width", "filter_height", "depth_multiplier")
    defaults: dict[str, OptionValue] = {name: 1 for name in ones if name in known}
    return defaults | dict(options)
