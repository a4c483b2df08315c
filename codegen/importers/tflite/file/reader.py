"""Reads a verified TFLite flatbuffer into records with the `tflite` schema package.

What a TFLite file says, as plain values: tensors, operators, entry points. Nothing is interpreted yet.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

import flatbuffers.table
import numpy as np
import numpy.typing as npt
from flatbuffers.number_types import Int32Flags
from tflite.BuiltinOperator import BuiltinOperator
from tflite.Model import Model

from codegen.errors import CodegenError, Message
from codegen.ethos_u.payload import OPERATOR as NPU_OPERATOR
from codegen.importers import limits
from codegen.importers.printable_names import printable, uncontrolled
from codegen.importers.tflite.file.flatbuffer import METADATA_TABLE, OPERATOR_CODES, model_table, verify
from codegen.importers.tflite.file.option_tables import BY_CODE


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class FileQuantization:
    """Quantisation of a tensor as declared; without scales there is none."""

    scales: npt.NDArray[np.float32]
    zero_points: npt.NDArray[np.int64]
    axis: int
    is_custom: bool


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class FileTensor:
    """A tensor as declared. `shape` and `signature` may hold anything, -1 for unknown extents.

    Of more than `MAX_RANK` dimensions only the number is read.
    """

    index: int
    name: str
    """Name as in the file, by which other programs know the tensor."""
    rank: int
    shape: tuple[int, ...]
    signature: tuple[int, ...]
    type_code: int
    buffer: int
    variable: bool
    sparse: bool
    quantization: FileQuantization

    def __str__(self) -> str:
        return f'tensor {self.index} "{printable(self.name)}"'


def kind_of(name: str, custom_name: str) -> str:
    """Name in the tables of operators: TFLite's, or a custom operator's of tflite-micro."""
    return custom_name if name == _CUSTOM and custom_name.startswith(_TFLM) else name


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class FileOperator:
    """An operator as declared. `name` is TFLite's; -1 among `inputs` is an optional input left out."""

    index: int
    name: str
    custom_name: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    options_kind: int
    options: flatbuffers.table.Table | None
    custom_options: bytes = b""
    """Bytes of a custom operator's options, as they are; none if there are more than `MAX_OPTION_BYTES`."""
    custom_option_bytes: int = 0

    @property
    def kind(self) -> str:
        """Name in the tables of operators: TFLite's, or a custom operator's of tflite-micro."""
        return kind_of(self.name, self.custom_name)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class FileModel:
    """A subgraph of a file, the first one if nothing is said, and all buffers (views of the file's bytes)."""

    file_name: str
    tensors: Sequence[FileTensor]
    operators: tuple[FileOperator, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    buffers: Sequence[npt.NDArray[np.uint8]]
    entry_subgraphs: tuple[int, ...]
    """Subgraph of every signature (named entry point) of the file."""
    arena_offsets: tuple[int, ...] | None = None
    """Offset of each tensor in the arena, -1 where the file states none; None: there is no such table.
    It is read of files with layers for an NPU."""


METADATA = "OfflineMemoryAllocation"
"""Entry of the file's metadata that states offsets of tensors in an arena, behind a few words."""
_METADATA_WORDS = 3
_SCHEMA_VERSION = 3
_CUSTOM = "CUSTOM"
_TFLM = ("Signal", "CIRCULAR_BUFFER", "TFLite_Detection_PostProcess", NPU_OPERATOR)
"""Beginnings of the names of custom operators that tflite-micro has."""
_BUILTIN_CODE_SLOT = 4 + 2 * 3
"""Slot of a field list that keeps `OperatorCode.builtin_code`, field 3."""

_OPERATOR_NAMES: dict[int, str] = {
    code: name for name, code in vars(BuiltinOperator).items() if isinstance(code, int) and name.isupper()
}

_NO_BYTES: npt.NDArray[np.uint8] = np.zeros(0, np.uint8)
_NO_SCALES: npt.NDArray[np.float32] = np.zeros(0, np.float32)
_NO_ZERO_POINTS: npt.NDArray[np.int64] = np.zeros(0, np.int64)


@lru_cache(maxsize=2)
def read(data: bytes, file_name: str, subgraph: int = 0) -> FileModel:
    """Records of one subgraph of the file; of the last ones they are kept: sizes, boards and limits are tried
    with one file.

    Raises CodegenError: E302 for a damaged file, E305 beyond a limit, E303 for a number that points nowhere.
    """
    verify(data, model_table(min(max(subgraph, 0), limits.MAX_SUBGRAPHS) + 1), file_name)
    return _SchemaReader(data, file_name).model(subgraph)


def operator_codes(data: bytes, file_name: str) -> tuple[tuple[str, str], ...]:
    """Name and custom name of every kind of operator that a file lists, whatever else is wrong with it.

    Raises CodegenError: E302 or E305 where that list itself cannot be read.
    """
    verify(data, OPERATOR_CODES, file_name)
    model = cast(Any, Model.GetRootAs(data, 0))
    reader = _SchemaReader(data, file_name)
    codes = (reader.code(model.OperatorCodes(index)) for index in range(model.OperatorCodesLength()))
    return tuple((name, custom_name if name == _CUSTOM else "") for name, custom_name in codes)


_MAX_NAME_BYTES = 4096


def _decode(name: bytes | None) -> str:
    """A name as text; hostile files have very long ones. Keras joins those of the layers that are one."""
    return uncontrolled(name[:_MAX_NAME_BYTES].decode("utf-8", errors="replace")) if name else ""


class _SchemaReader:
    """The schema package has no type stubs: its objects are `Any` here and nowhere else."""

    def __init__(self, data: bytes, file_name: str) -> None:
        self._data = data
        self._file_name = file_name
        self._operands = 0
        self._scales = 0

    def _error(self, code: str, text: str) -> CodegenError:
        return CodegenError(Message(code=code, where=self._file_name, text=text))

    def model(self, subgraph: int) -> FileModel:
        model = cast(Any, Model.GetRootAs(self._data, 0))
        version = int(model.Version())
        if version != _SCHEMA_VERSION:
            raise self._error("E302", f"schema version is {version}, supported is {_SCHEMA_VERSION}")
        if model.SubgraphsLength() == 0:
            raise self._error("E303", "the file holds no subgraph, so there is nothing to run")
        if not 0 <= subgraph < model.SubgraphsLength():
            raise self._error("E303", f"there is no subgraph {subgraph}")
        graph = model.Subgraphs(subgraph)
        codes = [self.code(model.OperatorCodes(index)) for index in range(model.OperatorCodesLength())]
        operators = tuple(
            self._operator(graph.Operators(i), i, codes) for i in range(graph.OperatorsLength())
        )
        has_npu = any(operator.custom_name == NPU_OPERATOR for operator in operators)
        return FileModel(
            file_name=self._file_name,
            tensors=tuple(self._tensor(graph.Tensors(i), i) for i in range(graph.TensorsLength())),
            operators=operators,
            inputs=self._operand_list(graph.InputsLength(), graph.InputsAsNumpy),
            outputs=self._operand_list(graph.OutputsLength(), graph.OutputsAsNumpy),
            buffers=tuple(self._buffer(model.Buffers(i), i) for i in range(model.BuffersLength())),
            entry_subgraphs=tuple(
                int(model.SignatureDefs(i).SubgraphIndex()) for i in range(model.SignatureDefsLength())
            ),
            arena_offsets=self._arena_offsets(model) if has_npu else None,
        )

    def _arena_offsets(self, model: Any) -> tuple[int, ...] | None:
        verify(self._data, METADATA_TABLE, self._file_name)
        for index in range(model.MetadataLength()):
            entry = model.Metadata(index)
            if entry.Name() == METADATA.encode() and entry.Buffer() < model.BuffersLength():
                content = self._buffer(model.Buffers(entry.Buffer()), index).tobytes()
                words = np.frombuffer(content[: len(content) // 4 * 4], "<i4")
                return tuple(words[_METADATA_WORDS:].tolist())
        return None

    def code(self, code: Any) -> tuple[str, str]:
        """TFLite's name of an operator code, and its custom name.

        Old files have it in a byte, most new ones in both fields, some in the new one only: the larger
        counts (GetBuiltinCode, schema_utils.cc). The schema package's `BuiltinCode()` is no reading of the
        new field: it gives the byte for every code below 127.
        """
        new = int(code._tab.GetSlot(_BUILTIN_CODE_SLOT, 0, Int32Flags))
        number = max(int(code.DeprecatedBuiltinCode()), new)
        return _OPERATOR_NAMES.get(number, f"operator code {number}"), printable(_decode(code.CustomCode()))

    def _operand_list(self, length: int, vector: Callable[[], Any]) -> tuple[int, ...]:
        self._operands += length
        if self._operands > limits.MAX_OPERANDS:
            raise self._error("E305", f"operators have more than {limits.MAX_OPERANDS} operands together")
        return self._ints(length, vector)

    def _ints(self, length: int, vector: Callable[[], Any]) -> tuple[int, ...]:
        return tuple(vector().tolist()) if length else ()

    def _operator(self, operator: Any, index: int, codes: list[tuple[str, str]]) -> FileOperator:
        code = int(operator.OpcodeIndex())
        if code >= len(codes):
            raise self._error("E303", f"op {index} has operator code {code}, the file lists {len(codes)}")
        name, custom_name = codes[code]
        kind = int(operator.BuiltinOptionsType())
        option_bytes, custom_options = self._custom_options(operator) if name == _CUSTOM else (0, b"")
        return FileOperator(
            index=index,
            name=name,
            custom_name=custom_name if name == _CUSTOM else "",
            inputs=self._operand_list(operator.InputsLength(), operator.InputsAsNumpy),
            outputs=self._operand_list(operator.OutputsLength(), operator.OutputsAsNumpy),
            options_kind=kind,
            options=operator.BuiltinOptions() if kind in BY_CODE else None,
            custom_options=custom_options,
            custom_option_bytes=option_bytes,
        )

    def _custom_options(self, operator: Any) -> tuple[int, bytes]:
        """Number and values of the bytes of a custom operator's options, in the flatbuffer or behind it."""
        start, length = int(operator.LargeCustomOptionsOffset()), int(operator.LargeCustomOptionsSize())
        if start > 1:
            options = self._behind("a custom operator's options", start, length)
        else:
            length = int(operator.CustomOptionsLength())
            options = operator.CustomOptionsAsNumpy() if length else _NO_BYTES
        return length, options.tobytes() if length <= limits.MAX_OPTION_BYTES else b""

    def _tensor(self, tensor: Any, index: int) -> FileTensor:
        name = _decode(tensor.Name())
        rank = max(int(tensor.ShapeLength()), int(tensor.ShapeSignatureLength()))
        readable = rank <= limits.MAX_RANK
        quantization = tensor.Quantization()
        scales, zero_points = self._quantization(quantization)
        return FileTensor(
            index=index,
            name=name,
            rank=rank,
            shape=self._ints(tensor.ShapeLength(), tensor.ShapeAsNumpy) if readable else (),
            signature=self._ints(tensor.ShapeSignatureLength(), tensor.ShapeSignatureAsNumpy)
            if readable
            else (),
            type_code=int(tensor.Type()),
            buffer=int(tensor.Buffer()),
            variable=bool(tensor.IsVariable()),
            sparse=tensor.Sparsity() is not None,
            quantization=FileQuantization(
                scales=scales,
                zero_points=zero_points,
                axis=int(quantization.QuantizedDimension()) if quantization is not None else 0,
                is_custom=quantization is not None and int(quantization.DetailsType()) != 0,
            ),
        )

    def _quantization(self, quantization: Any) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
        if quantization is None:
            return _NO_SCALES, _NO_ZERO_POINTS
        count, zero_count = int(quantization.ScaleLength()), int(quantization.ZeroPointLength())
        self._scales += count + zero_count
        if self._scales > limits.MAX_CHANNEL_SCALES:
            raise self._error("E305", f"tensors have more than {limits.MAX_CHANNEL_SCALES} scales together")
        scales = quantization.ScaleAsNumpy() if count else _NO_SCALES
        return scales, quantization.ZeroPointAsNumpy() if zero_count else _NO_ZERO_POINTS

    def _buffer(self, buffer: Any, index: int) -> npt.NDArray[np.uint8]:
        """A buffer's bytes, inside the flatbuffer or (offset above 1) behind it in the same file."""
        start, size_bytes = int(buffer.Offset()), int(buffer.Size())
        if start > 1:
            return self._behind(f"buffer {index}", start, size_bytes)
        return buffer.DataAsNumpy() if buffer.DataLength() else _NO_BYTES

    def _behind(self, what: str, start: int, size_bytes: int) -> npt.NDArray[np.uint8]:
        """Bytes of the file that an offset from its beginning names, as files beyond 2 GB have them."""
        if start + size_bytes > len(self._data):
            raise self._error(
                "E302",
                f"{what} would lie at bytes {start} to {start + size_bytes - 1}, "
                f"the file has {len(self._data)} bytes",
            )
        return np.frombuffer(self._data, np.uint8, size_bytes, start) if size_bytes else _NO_BYTES
