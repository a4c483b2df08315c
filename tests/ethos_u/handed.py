"""Files by hand with more than one stream, and with weights."""

import numpy as np

from tests.ethos_u import streams
from tests.ethos_u.files import NpuLayers, VelaFileBuilder, doubled_rows

_SHAPE, _HALF = (8, 8, 16), (4, 4, 16)
_BYTES, _HALF_BYTES = 1024, 256


def handed_on() -> bytes:
    """A stream gives one value to NEG on the core, and leaves one in the arena that the next stream reads."""
    model = VelaFileBuilder()
    x, a = model.value("x", (1, *_SHAPE)), model.value("a", (1, *_HALF))
    b, y = model.value("b", (1, *_HALF)), model.value("y", (1, 2, 2, 16))
    left_at = _BYTES + _HALF_BYTES
    words = np.concatenate([doubled_rows(_SHAPE, 0, left_at)[:-1], doubled_rows(_SHAPE, 0, _BYTES)])
    size = left_at + _HALF_BYTES
    model.npu(NpuLayers(stream=words, inputs={x: 0}, outputs={a: _BYTES}, scratch_bytes=size))
    model.op("NEG", [a], [b])
    words = doubled_rows(_HALF, left_at, _BYTES)
    model.npu(NpuLayers(stream=words, inputs={}, outputs={y: _BYTES}, scratch_bytes=size))
    return model.build([x], [b, y])


def weighted() -> bytes:
    """A convolution of 8 channels to 8, with weights in the plain form of the format."""
    model = VelaFileBuilder()
    x, y = model.value("x", (1, 2, 2, 8)), model.value("y", (1, 2, 2, 8))
    weights = np.arange(64, dtype=np.int64).reshape(8, 1, 1, 8) - 32
    packed = streams.plain_weights(streams.depth_first(weights))
    scales = b"".join(streams.channel(0, *streams.UNIT) for _ in range(8))
    words = streams.stream(
        streams.image((2, 2, 8), 0, 0),
        streams.result((2, 2, 8), 0, 32),
        streams.kernel(1, 1),
        streams.weights_at(0, len(packed), len(packed), len(scales)),
        [0x002],
    )
    constants = packed + scales
    model.npu(NpuLayers(stream=words, inputs={x: 0}, outputs={y: 32}, scratch_bytes=64, constants=constants))
    return model.build([x], [y])
