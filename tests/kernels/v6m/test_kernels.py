"""ARMv6-M kernels without a target: packed streams, overlap, refusals, the way back to portable C."""

from collections.abc import Iterator

import numpy as np
import pytest

from codegen.ir import ConstRef, DType, Let, Target
from codegen.kernels import kernels_for
from codegen.kernels.base.tiles import tiled_below, tiling
from codegen.kernels.base.weighted import CONVOLUTION, DEPTHWISE, FULLY_CONNECTED
from codegen.kernels.base.window import WindowShape
from codegen.kernels.portable.convolution import CONV_2D_S8, DEPTHWISE_S8, FULLY_CONNECTED_S8
from codegen.kernels.primfunc import PrimFunc
from codegen.kernels.v6m.convolution import V6mTiled
from codegen.kernels.v6m.depthwise import V6mDepthwiseLines, banded_below, by_column
from codegen.kernels.v6m.fully_connected import V6mFullyConnected, grouped_below
from codegen.kernels.v6m.packing import LANES, LONG, PackedChannels, channels_of, groups, packed, stream
from tests.kernels.builders import random_layer
from tests.kernels.dsp.conv_layers import conv_layer, shaped_layer
from tests.kernels.layers import Layer

M0 = Target(cpu="cortex-m0")
TILED = (
    V6mTiled(CONVOLUTION, CONV_2D_S8, 4),
    V6mTiled(DEPTHWISE, DEPTHWISE_S8, 4),
    V6mTiled(FULLY_CONNECTED, FULLY_CONNECTED_S8, 4),
)


def tiled(layer: Layer) -> V6mTiled | None:
    """The tiled kernel that takes a layer, if one does."""
    for kernel in TILED:
        if kernel.op == layer.let.call.op.name and kernel.refusal(layer.let, M0) is None:
            return kernel
    return None


def packed_of(layer: Layer, *, lanes: bool) -> PackedChannels | None:
    kernel = tiled(layer)
    if kernel is None:
        return None
    described = kernel.operator.layer(layer.let, layer.constants)
    return packed(channels_of(described, layer.let.var.type), lanes=lanes)


def test_biases_take_back_what_tiles_add() -> None:
    for seed in range(40):
        plain, lanes = (packed_of(conv_layer(seed), lanes=each) for each in (False, True))
        if plain is not None and lanes is not None:
            added = LANES * (plain.weights.shape[1] // 2)
            wrapped = (lanes.biases.astype(np.int64) + added - plain.biases) % (1 << 32)
            assert not wrapped.any()


def test_two_taps_fit_a_half() -> None:
    """Of all weights and pixels, -128 twice and all: what CG_LANES_V6M is for."""
    ends = np.array([-128, -127, 0, 127])
    sums = ends[:, None] * ends[None, :]
    both = sums.reshape(-1, 1) + sums.reshape(1, -1) + LANES
    assert both.min() >= 0
    assert both.max() < 1 << 16


def test_the_streams_words() -> None:
    layer = shaped_layer(image=(4, 4, 6), kernel=(1, 1), outputs=7)
    found = packed_of(layer, lanes=True)
    assert found is not None
    words = stream(found)
    assert len(words) == 7 * (1 + 2 + 4)
    weights = CONVOLUTION.layer(layer.let, layer.constants).weights
    for channel, row in enumerate(words.reshape(7, 7)):
        assert row[0] == found.biases[channel]
        read = row[1:3].tobytes()
        assert np.frombuffer(read, np.int8).tolist() == [*weights[channel].tolist(), 0, 0]
        assert row[3:].tolist() == found.numbers[channel].tolist()


def test_groups_interleave_four_outputs() -> None:
    layer = next(
        layer
        for seed in range(99)
        if (layer := conv_layer(seed)).let.call.op.name == "FULLY_CONNECTED"
        and V6mFullyConnected().refusal(layer.let, M0) is None
        and layer.let.var.type.shape[-1] % 4 == 2
    )
    conv = FULLY_CONNECTED.layer(layer.let, layer.constants)
    found = packed(channels_of(conv, layer.let.var.type), lanes=False)
    outputs, inputs = conv.weights.shape
    words = groups(found, inputs, 4).reshape(-(-outputs // 4), 4 + inputs + 16)
    for output in range(outputs):
        group, place = divmod(output, 4)
        row = words[group]
        assert row[place] == found.biases[output]
        weights = np.frombuffer(row[4 : 4 + inputs].tobytes(), np.int8).reshape(inputs, 4)[:, place]
        assert weights.tolist() == found.weights[output, :inputs].tolist()
        assert row[4 + inputs + 4 * place :][:4].tolist() == found.numbers[output].tolist()


def test_long_channels_say_so() -> None:
    seen: set[bool] = set()
    for seed in range(120):
        found = packed_of(conv_layer(seed), lanes=True)
        if found is not None:
            assert int((found.numbers[:, 3] == LONG).sum()) == found.long
            seen.add(found.long > 0)
    assert seen == {False, True}


# ---- overlap ---------------------------------------------------------------------------------------------


def taps_of(window: WindowShape, result: tuple[int, int, int]) -> Iterator[int]:
    """Index of each image pixel that a result pixel reads."""
    b, y, x = result
    _, height, width, _ = window.image
    for ky, kx in np.ndindex(*window.window):
        row = y * window.stride[0] - window.padding.top + ky * window.dilation[0]
        column = x * window.stride[1] - window.padding.left + kx * window.dilation[1]
        if 0 <= row < height and 0 <= column < width:
            yield (b * height + row) * width + column


def distance(events: list[tuple[int | None, int | None]]) -> int | None:
    """Least distance of (read from byte, written up to byte) in order."""
    worst: int | None = None
    least: int | None = None
    for read, written in reversed(events):
        if written is not None and least is not None:
            worst = written - least if worst is None else max(worst, written - least)
        if read is not None:
            least = read if least is None else min(least, read)
    return worst


@pytest.mark.parametrize("most", [4, 2])
@pytest.mark.parametrize("seed", range(60))
def test_tiles_keep_their_distance(seed: int, most: int) -> None:
    layer = conv_layer(3 * seed + 1)
    kernel = tiled(layer)
    if kernel is None:
        return
    window = kernel.operator.window(layer.let)
    batch, rows, columns, outputs = window.result
    one_row = window.window == (1, 1) == window.stride and window.result[:3] == window.image[:3]
    length = batch * rows * columns if one_row else columns
    pixels = list(np.ndindex(batch, rows, columns))
    events: list[tuple[int | None, int | None]] = []
    for start in range(0, len(pixels), length):
        for first in range(start, start + length, most):
            stop = min(first + most, start + length)
            reads = [tap for pixel in pixels[first:stop] for tap in taps_of(window, pixel)]
            events.append((min(reads) * window.image[3] if reads else None, None))
            events.append((None, stop * outputs))
    assert tiled_below(window, tiling(window, most)) == distance(events)


@pytest.mark.parametrize("seed", range(60))
def test_bands_keep_their_distance(seed: int) -> None:
    layer = random_layer("DEPTHWISE_CONV_2D", DType.INT8, seed)
    kernel = V6mDepthwiseLines()
    if kernel.refusal(layer.let, M0) is not None:
        return
    window = by_column(layer.let, layer.constants).window
    batch, rows, columns, outputs = window.result
    depth = window.image[3]
    events: list[tuple[int | None, int | None]] = []
    for b in range(batch):
        for top in range(0, rows, 2):
            band = [(b, y, x) for y in range(top, min(top + 2, rows)) for x in range(columns)]
            reads = [tap for pixel in band for tap in taps_of(window, pixel)]
            last = (b * rows + band[-1][1]) * columns + columns - 1
            for channel in range(depth):
                events.append((min(reads) * depth + channel if reads else None, None))
                events.append((None, last * outputs + (channel + 1) * (outputs // depth)))
    assert banded_below(window, 2) == distance(events)


@pytest.mark.parametrize("outputs", range(1, 14))
def test_groups_keep_their_distance(outputs: int) -> None:
    events: list[tuple[int | None, int | None]] = []
    for first in range(0, outputs, 4):
        events += [(0, None), (None, min(first + 4, outputs))]
    assert grouped_below(outputs) == distance(events)


# ---- refusals --------------------------------------------------------------------------------------------


def reasons(let: Let, target: Target) -> list[str | None]:
    every = kernels_for(let.call.op.name)
    return [kernel.refusal(let, target) for kernel in every if "_v6m" in kernel.name]


def test_other_cores_are_refused() -> None:
    for seed in (1, 4, 5):
        for cpu in ("cortex-m3", "cortex-m4", "host"):
            found = reasons(conv_layer(seed).let, Target(cpu=cpu))
            assert all(reason and "is for cores of ARMv6-M and Cortex-M23" in reason for reason in found)


@pytest.mark.parametrize("cpu", ["cortex-m0", "cortex-m0plus", "cortex-m1", "cortex-m23"])
def test_cores_without_a_long_multiply_are_taken(cpu: str) -> None:
    let = shaped_layer(image=(4, 4, 6), kernel=(1, 1), outputs=5).let
    assert reasons(let, Target(cpu=cpu)) == [None, None]


def test_dilated_columns_are_refused() -> None:
    found = {
        V6mDepthwiseLines().refusal(random_layer("DEPTHWISE_CONV_2D", DType.INT8, seed).let, M0)
        for seed in range(60)
    }
    assert found == {None, "the kernel depthwise_s8_v6m is for columns without dilation"}


def test_two_weights_of_minus_128_take_the_portable_kernel() -> None:
    for seed in range(60):
        layer = random_layer("DEPTHWISE_CONV_2D", DType.INT8, seed)
        kernel = V6mDepthwiseLines()
        weights = layer.let.call.args[1]
        assert isinstance(weights, ConstRef)
        if kernel.refusal(layer.let, M0) is not None or weights.type.shape[1] * weights.type.shape[2] < 2:
            continue
        bound: list[PrimFunc] = []
        for value in (-128, -127):
            data = np.full(weights.type.shape, value, np.int8)
            constants = {**layer.constants, weights.id: data}
            bound.append(kernel.bind(layer.let, constants, "layer"))
        assert [prim.kernel for prim in bound] == ["depthwise_conv2d_s8_portable", "depthwise_s8_v6m"]
        return
    raise AssertionError("no layer of the draw is taken")
