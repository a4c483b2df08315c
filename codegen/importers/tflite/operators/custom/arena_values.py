"""Values that Vela's streams hand on in its arena without listing them: they become tensors of the file.

In: the records of a file. Out: the same, each stream's operator with all that it reads and leaves. Who wrote
which byte of the arena is followed from operator to operator, in the order of the file.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from tflite.TensorType import TensorType as TypeCode

from codegen.ethos_u import payload
from codegen.ethos_u.payload import FIXED_INPUTS, OPERATOR
from codegen.ethos_u.register_commands import (
    SCRATCH,
    ByteRanges,
    extents,
    leaves_in_front,
    unwritten_reads,
    written_bytes,
)
from codegen.importers.tflite.file.reader import FileModel, FileOperator, FileQuantization, FileTensor

_BYTES: Mapping[int, int] = {
    TypeCode.INT8: 1,
    TypeCode.UINT8: 1,
    TypeCode.BOOL: 1,
    TypeCode.INT16: 2,
    TypeCode.INT32: 4,
    TypeCode.FLOAT32: 4,
}
_MOST_BYTES = 1 << 26
"""Bytes of the largest arena that is followed."""
_NO_QUANTIZATION = FileQuantization(
    scales=np.zeros(0, np.float32), zero_points=np.zeros(0, np.int64), axis=0, is_custom=False
)
_MOST_VALUES = 256
"""Most values that are handed on in one file: with more it is refused where they are read."""


def with_arena_values(model: FileModel) -> FileModel:
    """The file with values that only its arena holds.

    What nobody wrote stays missing, as does all of a damaged file: translation refuses its operators.
    """
    offsets = model.arena_offsets
    count = sum(operator.custom_name == OPERATOR for operator in model.operators)
    if count < 2 or offsets is None or len(offsets) != len(model.tensors):
        return model
    try:
        return _Arena(model, offsets).model()
    except (IndexError, ValueError):
        return model


@dataclass(kw_only=True, slots=True)
class _Step:
    """An operator of the file, its inputs and outputs so far."""

    operator: FileOperator
    inputs: list[int]
    outputs: list[int]


class _Arena:
    """Owners of each byte: -1 nobody, even numbers tensors, odd ones streams."""

    def __init__(self, model: FileModel, offsets: Sequence[int]) -> None:
        self._model = model
        self._tensors, self._offsets = list(model.tensors), list(offsets)
        self._steps = [
            _Step(operator=operator, inputs=list(operator.inputs), outputs=list(operator.outputs))
            for operator in model.operators
        ]
        arenas = (self._scratch_bytes(step) for step in self._steps if step.operator.custom_name == OPERATOR)
        self._owners = np.full(max(arenas), -1, np.int32)
        self._made = 0

    def model(self) -> FileModel:
        """The file with the values; raises IndexError or ValueError for what contradicts itself."""
        for index in self._model.inputs:
            self._own(self._ranges([index]), 2 * index)
        for number, step in enumerate(self._steps):
            if step.operator.custom_name == OPERATOR:
                self._follow(number, step)
            for index in step.outputs:
                self._own(self._ranges([index]), 2 * index)
        if not self._made:
            return self._model
        return replace(
            self._model,
            tensors=tuple(self._tensors),
            operators=tuple(
                replace(step.operator, inputs=tuple(step.inputs), outputs=tuple(step.outputs))
                for step in self._steps
            ),
            buffers=(*self._model.buffers, np.zeros(0, np.uint8)),
            arena_offsets=tuple(self._offsets),
        )

    def _follow(self, number: int, step: _Step) -> None:
        """Let a stream have what it reads of others, and own what it writes."""
        data = self._model.buffers[self._tensors[step.inputs[0]].buffer]
        stream = payload.split(data.tobytes()).stream
        if leaves_in_front(stream) or extents(stream).get(SCRATCH, 0) > self._scratch_bytes(step):
            raise ValueError("a stream leaves its scratch")
        held = self._ranges(step.inputs[FIXED_INPUTS:])
        for start, stop in unwritten_reads(stream, SCRATCH, held, self._ranges(step.outputs)):
            for index in self._handed(start, stop):
                if index not in step.inputs:
                    step.inputs.append(index)
        self._own(written_bytes(stream, {SCRATCH}), 2 * number + 1)

    def _handed(self, start: int, stop: int) -> Iterator[int]:
        """Tensors that hold these bytes, as far as somebody wrote them."""
        owners = self._owners[start:stop]
        edges = [0, *(np.flatnonzero(np.diff(owners)) + 1).tolist(), stop - start]
        for low, high in pairwise(edges):
            owner = int(owners[low])
            if owner >= 0 and owner % 2 == 0:
                yield owner // 2
            elif owner >= 0:
                yield self._value(owner // 2, start + low, start + high)

    def _value(self, number: int, start: int, stop: int) -> int:
        """A new tensor of the bytes that stream `number` left at [start, stop)."""
        if self._made == _MOST_VALUES:
            raise ValueError("too many values are handed on")
        index = len(self._tensors)
        self._made += 1
        self._tensors.append(
            FileTensor(
                index=index,
                name=f"arena {start} to {stop}",
                rank=1,
                shape=(stop - start,),
                signature=(),
                type_code=TypeCode.INT8,
                buffer=len(self._model.buffers),
                variable=False,
                sparse=False,
                quantization=_NO_QUANTIZATION,
            )
        )
        self._offsets.append(start)
        self._steps[number].outputs.append(index)
        self._own([(start, stop)], 2 * index)
        return index

    def _ranges(self, indices: Sequence[int]) -> ByteRanges:
        """Bytes of tensors in the arena; none of what Vela did not place there."""
        ranges: list[tuple[int, int]] = []
        for index in indices:
            tensor, start = self._tensors[index], self._offsets[index]
            size = _BYTES.get(tensor.type_code, 0)
            for extent in tensor.shape:
                size *= max(extent, 0)
            if index >= 0 and start >= 0 and 0 < size <= len(self._owners) - start:
                ranges.append((start, start + size))
        return ranges

    def _own(self, ranges: ByteRanges, owner: int) -> None:
        for start, stop in ranges:
            self._owners[start:stop] = owner

    def _scratch_bytes(self, step: _Step) -> int:
        """Bytes of the arena that a stream states; raises ValueError beyond what is followed."""
        shape = self._tensors[step.inputs[2]].shape
        if not shape or not 0 <= shape[0] <= _MOST_BYTES:
            raise ValueError(f"a scratch of shape {shape}")
        return shape[0]
