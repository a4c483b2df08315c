"""What a TFLite file says, as plain values: tensors, operators, entry points. Nothing is interpreted yet."""

from dataclasses import dataclass

import flatbuffers.table
import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class FileTensor:
    """A tensor as declared. `shape` and `signature` may hold anything, -1 for unknown extents.

    Of more than `MAX_RANK` dimensions only the number is read.
    """

    index: int
    name: str
    rank: int
    shape: tuple[int, ...]
    signature: tuple[int, ...]
    type_code: int
    buffer: int
    variable: bool
    sparse: bool
    scales: npt.NDArray[np.float32]
    zero_points: npt.NDArray[np.int64]
    axis: int
    custom_quantization: bool

    def __str__(self) -> str:
        return f'tensor {self.index} "{self.name}"'


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
    """What the file holds for a custom operator, as it is; nothing of more than `MAX_OPTION_BYTES`."""
    custom_option_bytes: int = 0


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class FileModel:
    """The first subgraph of a file and its buffers (views of the file's bytes)."""

    file_name: str
    tensors: tuple[FileTensor, ...]
    operators: tuple[FileOperator, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    buffers: tuple[npt.NDArray[np.uint8], ...]
    entry_subgraphs: tuple[int, ...]
    """Subgraph of every signature (named entry point) of the file."""
