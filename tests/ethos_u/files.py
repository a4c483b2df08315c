"""Files as Vela writes them: layers as an operator ethos-u, from command streams written by hand."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen.importers.tflite.writing.writer import Custom, ModelBuilder
from tests.ethos_u import streams

_COP1 = int.from_bytes(b"COP1", "little")
U55_128 = 7
"""Configuration of an Ethos-U55: the binary logarithm of its multipliers."""
SCALE = 0.5


def payload(words: NDArray[np.uint32], configuration: int = U55_128) -> NDArray[np.uint8]:
    """A stream behind the driver's header, to a multiple of 16 bytes as Vela aligns it."""
    header = [_COP1, 1 | 2 << 16, configuration, 0]
    header += [5] * (-(len(header) + 1) % 4)
    header.append(2 | len(words) << 16)
    return np.concatenate([np.array(header, np.uint32), words]).view(np.uint8)


@dataclass(frozen=True, kw_only=True)
class NpuLayers:
    """An operator ethos-u: values in its scratch by tensor number, with their offsets."""

    stream: NDArray[np.uint32]
    inputs: Mapping[int, int]
    outputs: Mapping[int, int]
    scratch_bytes: int
    constants: bytes = b""
    configuration: int = U55_128


def doubled_rows(shape: tuple[int, int, int], address: int, result: int) -> NDArray[np.uint32]:
    """A maximum pool of two rows and columns, stride 2: the largest of each four elements."""
    height, width, depth = shape
    return streams.stream(
        streams.image(shape, 0, address),
        streams.result((height // 2, width // 2, depth), 0, result),
        streams.kernel(2, 2, stride=2),
        [0x005],
    )


class VelaFileBuilder:
    """A model whose operators ethos-u are described by `NpuLayers`."""

    def __init__(self) -> None:
        self._values: list[tuple[str, tuple[int, ...]]] = []
        self._steps: list[tuple[str, Sequence[int], Sequence[int]] | NpuLayers] = []

    def value(self, name: str, shape: Sequence[int]) -> int:
        """A value of int8; its number."""
        self._values.append((name, tuple(shape)))
        return len(self._values) - 1

    def op(self, name: str, inputs: Sequence[int], outputs: Sequence[int]) -> None:
        """An operator on the core."""
        self._steps.append((name, inputs, outputs))

    def npu(self, layers: NpuLayers) -> None:
        """Layers on the NPU."""
        self._steps.append(layers)

    def build(self, inputs: Sequence[int], outputs: Sequence[int], *, offsets: bool = True) -> bytes:
        """The file; without `offsets` it does not say where values lie."""
        layers = [step for step in self._steps if isinstance(step, NpuLayers)]
        tensors = len(self._values) + 3 * len(layers)
        places = [-1] * tensors
        for step in layers:
            for index, offset in (*step.inputs.items(), *step.outputs.items()):
                places[index] = offset
        words = np.array([1, 0, tensors, *places], np.int32)
        model = ModelBuilder(metadata={"OfflineMemoryAllocation": words.tobytes()} if offsets else None)
        for name, shape in self._values:
            model.tensor(name, shape, scale=SCALE)
        for step in self._steps:
            if isinstance(step, NpuLayers):
                _write(model, step)
            else:
                model.op(step[0], step[1], step[2])
        model.inputs(*inputs)
        model.outputs(*outputs)
        return model.build()


def _write(model: ModelBuilder, layers: NpuLayers) -> None:
    data = payload(layers.stream, layers.configuration)
    stream = model.tensor("stream", data.shape, "uint8", data=data)
    held = np.frombuffer(layers.constants or bytes(16), np.uint8)
    constants = model.tensor("read_only", held.shape, "uint8", data=held)
    scratch = model.tensor("scratch", (layers.scratch_bytes,), "uint8")
    fixed = (stream, constants, scratch, scratch)
    model.op("CUSTOM", (*fixed, *layers.inputs), list(layers.outputs), custom=Custom(code="ethos-u"))


def pooled_by_npu() -> bytes:
    """A maximum pool on the NPU, then NEG on the core."""
    model = VelaFileBuilder()
    x, a, y = (
        model.value("x", (1, 4, 4, 16)),
        model.value("a", (1, 2, 2, 16)),
        model.value("y", (1, 2, 2, 16)),
    )
    words = doubled_rows((4, 4, 16), 0, 256)
    model.npu(NpuLayers(stream=words, inputs={x: 0}, outputs={a: 256}, scratch_bytes=320))
    model.op("NEG", [a], [y])
    return model.build([x], [y])
