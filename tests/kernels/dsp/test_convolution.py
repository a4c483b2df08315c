"""DSP convolutions without a target: the packed stream, overlap, refusals.
What the int16 DSP kernels pack, when they refuse, and their distances, without a target.
"""

from collections.abc import Iterator

import numpy as np
import pytest

from codegen.ir import ConstRef, DType, Let, Target, Var
from codegen.ir.ops.base.fixed_point import multiply_by_quantized_multiplier
from codegen.kernels import kernels_for
from codegen.kernels.base.c_kernel import arg_type
from codegen.kernels.base.tiles import PixelTiling, tiled_below
from codegen.kernels.base.weighted import FULLY_CONNECTED, WeightedLayer
from codegen.kernels.base.window import WindowShape
from codegen.kernels.dsp.convolution import DspTiled
from codegen.kernels.dsp.convolution_s16 import LEAST_SHIFT, Channels, pairwise_below
from codegen.kernels.dsp.fully_connected import DspFullyConnected
from codegen.kernels.dsp.packing import INT8_STREAM, channels_of, stream
from codegen.kernels.dsp.price_s16 import tiles
from codegen.kernels.dsp.tiles import dsp_tiling
from codegen.kernels.portable.convolution import CONV_2D_S8, DEPTHWISE_S8, FULLY_CONNECTED_S8
from tests.fuzz.layers import drawn
from tests.kernels.access import below_in_tiles, lowest_reads
from tests.kernels.base.test_overlap import random_window
from tests.kernels.builders import random_layer
from tests.kernels.dsp.conv_layers import conv_layer, shaped_layer
from tests.kernels.dsp.int16_layers import int16_layer, shaped
from tests.kernels.dsp.test_requantize import short_requantize
from tests.kernels.layers import Layer

M4 = Target(cpu="cortex-m4", features=frozenset({"dsp", "fpu", "div"}))
KERNELS: tuple[DspTiled | DspFullyConnected, ...] = (
    DspTiled(CONV_2D_S8, 4, INT8_STREAM),
    DspTiled(CONV_2D_S8, 2, INT8_STREAM),
    DspTiled(DEPTHWISE_S8, 4, INT8_STREAM),
    DspTiled(FULLY_CONNECTED_S8, 4, INT8_STREAM),
    DspFullyConnected(INT8_STREAM),
)


class Stream:
    """Reads a stream as runtime_c/include/cg_conv_dsp.h states it."""

    def __init__(self, words: np.ndarray, channels: int, groups: int) -> None:
        self._bytes, self._at = words.tobytes(), 0
        self.halves_up: list[bool] = []
        """Of each pair of channels, and of a last one."""
        self.channels = list(self._channels(channels, groups))
        assert self._at == len(self._bytes)

    def _word(self) -> int:
        self._at += 4
        return int.from_bytes(self._bytes[self._at - 4 : self._at], "little")

    def _signed(self) -> int:
        return int(np.uint32(self._word()).view(np.int32))

    def _four(self) -> list[int]:
        self._at += 4
        return np.frombuffer(self._bytes[self._at - 4 : self._at], np.int8).tolist()

    def _channels(self, count: int, groups: int) -> Iterator[tuple[int, list[int], int, int, bool]]:
        """(bias, weights, doubled multiplier, byte of shifts, whether the long way) of each channel."""
        for _ in range(count // 2):
            biases = self._signed(), self._signed()
            weights: tuple[list[int], list[int]] = [], []
            for _ in range(groups):
                a0, b0, a2, b2 = self._four()
                a1, b1, a3, b3 = self._four()
                weights[0].extend((a0, a1, a2, a3))
                weights[1].extend((b0, b1, b2, b3))
            doubled = self._word(), self._word()
            shifts = self._word()
            self.halves_up.append(bool(shifts >> 31))
            for index in (0, 1):
                shift = shifts >> 8 * index & 0xFF
                yield biases[index], weights[index], doubled[index], shift, bool(shifts & 0x80)
        if count % 2:
            bias = self._signed()
            row = [weight for _ in range(groups) for weight in self._four()]
            doubled, shifts = self._word(), self._word()
            self.halves_up.append(bool(shifts >> 31))
            yield bias, row, doubled, shifts & 0xFF, bool(shifts & 0x80)


def windows(drawn: Layer, window: WindowShape) -> np.ndarray:
    """Every result pixel's window, [pixels, K], the zero point in the padding."""
    image = drawn.values[0]
    argument = drawn.let.call.args[0]
    assert image is not None
    assert argument is not None
    image = image.reshape(window.image)
    batch, height, width, depth = window.image
    found = np.full((*window.result[:3], *window.window, depth), argument.type.zero_point, np.int64)
    for y, x, ky, kx in np.ndindex(*window.result[1:3], *window.window):
        row = y * window.stride[0] - window.padding.top + ky * window.dilation[0]
        column = x * window.stride[1] - window.padding.left + kx * window.dilation[1]
        if 0 <= row < height and 0 <= column < width:
            found[:, y, x, ky, kx] = image[:, row, column]
    return found.reshape(batch * window.result[1] * window.result[2], -1)


Able = DspTiled | DspFullyConnected


def able(drawn: Layer) -> Able | None:
    """The first kernel that takes a layer; None where it has groups."""
    for kernel in KERNELS:
        if kernel.op == drawn.let.call.op.name and kernel.refusal(drawn.let, M4) is None:
            return kernel
    return None


def conv_of(drawn: Layer, kernel: Able) -> WeightedLayer:
    operator = kernel.operator if isinstance(kernel, DspTiled) else FULLY_CONNECTED
    return operator.layer(drawn.let, drawn.constants)


@pytest.mark.parametrize("seed", range(80))
def test_the_stream_computes_the_layer(seed: int) -> None:
    drawn = conv_layer(seed)
    kernel = able(drawn)
    if kernel is None:
        return
    conv = conv_of(drawn, kernel)
    pixels = windows(drawn, conv.window)
    channels = channels_of(conv, drawn.let.var.type)
    groups = -(-pixels.shape[1] // 4)
    padded = np.zeros((len(pixels), 4 * groups), np.int64)
    padded[:, : pixels.shape[1]] = pixels
    expected = drawn.expected.reshape(len(pixels), -1)
    zero = drawn.let.var.type.zero_point
    found = Stream(stream(channels), len(conv.weights), groups)
    assert set(found.halves_up) == {zero == -128}
    read = found.channels
    for channel, (bias, weights, doubled, shift, is_long) in enumerate(read):
        sums = (padded @ np.array(weights) + bias + 2**31) % 2**32 - 2**31
        if is_long:
            power = (shift & 31) if shift & 0x40 else -(shift & 31)
            scaled = multiply_by_quantized_multiplier(sums, doubled >> 1, power) + zero
            got = np.clip(scaled, *conv.limits)
        else:
            up = zero == -128
            got = np.array(
                [short_requantize(int(total), doubled, shift, zero, halves_up=up) for total in sums]
            )
        np.testing.assert_array_equal(got, expected[:, channel])


@pytest.mark.parametrize("most", [4, 2])
@pytest.mark.parametrize("seed", range(60))
def test_distance_is_the_least_safe_one(seed: int, most: int) -> None:
    """Against the order of accesses itself: a tile's windows are read, then its results are written."""
    drawn = conv_layer(3 * seed + 1)
    kernel = able(drawn)
    if not isinstance(kernel, DspTiled):
        return
    window = kernel.operator.window(drawn.let)
    batch, _, _, depth = window.image
    rows, columns, outputs = window.result[1:]
    one_row = window.window == (1, 1) == window.stride and window.result[:3] == window.image[:3]
    length = batch * rows * columns if one_row and depth % 4 == 0 else columns
    worst = below_in_tiles(lowest_reads(window), outputs, length, most)
    assert tiled_below(window, dsp_tiling(window, most)) == worst


def is_int4(let: Let) -> bool:
    """Whether the weights are."""
    return arg_type(let, 1).dtype is DType.INT4


def refused(let: Let, target: Target = M4) -> list[str | None]:
    return [kernel.refusal(let, target) for kernel in KERNELS if kernel.op == let.call.op.name]


def test_a_core_without_the_extension_is_refused() -> None:
    target = Target(cpu="cortex-m3", features=frozenset({"div"}))
    for seed in (1, 4):
        reasons = refused(conv_layer(seed).let, target)
        assert all(reason and "needs a core with the DSP extension" in reason for reason in reasons)


def test_groups_are_refused() -> None:
    for seed in range(40):
        drawn = random_layer("CONV_2D", DType.INT8, seed)
        image, weights = drawn.let.call.args[:2]
        assert isinstance(image, Var)
        assert isinstance(weights, ConstRef)
        grouped = image.type.shape[3] != weights.type.shape[3]
        if is_int4(drawn.let):
            continue
        reasons = [f"the kernel conv2d_s8_dsp{end} is for one group" for end in ("", "_2")]
        assert refused(drawn.let) == (reasons if grouped else [None, None])


def test_a_window_that_reaches_too_far_is_refused() -> None:
    """Its table of offsets has 16 bits an entry."""
    drawn = shaped_layer(image=(3, 5600, 3), kernel=(3, 3), outputs=1)
    assert refused(drawn.let) == ["its window reaches over more than 32767 bytes"] * 2
    assert refused(shaped_layer(image=(3, 5400, 3), kernel=(3, 3), outputs=1).let) == [None, None]


def test_depthwise_of_several_channels_is_refused() -> None:
    drawn = random_layer("DEPTHWISE_CONV_2D", DType.INT8, 0)
    image = drawn.let.call.args[0]
    assert isinstance(image, Var)
    assert image.type.shape[3] > 1
    assert refused(drawn.let) == ["the kernel depthwise_conv2d_1_s8_dsp is for images of one channel"]


def test_narrow_inputs_are_whole_words() -> None:
    kernel = DspFullyConnected(INT8_STREAM, "narrow_")
    seen: set[bool] = set()
    for seed in range(40):
        drawn = random_layer("FULLY_CONNECTED", DType.INT8, seed)
        image = drawn.let.call.args[0]
        assert isinstance(image, Var)
        if image.type.shape[0] == 1 and not is_int4(drawn.let):
            whole = image.type.shape[1] % 4 == 0
            reason = "the kernel fully_connected_narrow_s8_dsp is for inputs by the multiple of 4"
            assert kernel.refusal(drawn.let, M4) == (None if whole else reason)
            seen.add(whole)
    assert seen == {True, False}


def test_a_single_output_has_a_kernel_of_its_own() -> None:
    kernel = DspFullyConnected(INT8_STREAM, "single_")
    reasons: dict[bool, set[str | None]] = {True: set(), False: set()}
    for seed in range(60):
        layer = drawn("FULLY_CONNECTED", DType.INT8, seed)
        reasons[layer.let.var.type.shape[-1] == 1].add(kernel.refusal(layer.let, M4))
    several = f"the kernel {kernel.name} is for one output"
    assert None in reasons[True] and several not in reasons[True]
    assert None not in reasons[False] and several in reasons[False]


def test_rows_of_a_fully_connected_layer_have_kernels_of_their_own() -> None:
    one = "the kernel fully_connected_s8_dsp is for one row"
    several = "the kernel fully_connected_rows_s8_dsp is for several rows"
    for seed in range(20):
        drawn = random_layer("FULLY_CONNECTED", DType.INT8, seed)
        image = drawn.let.call.args[0]
        assert isinstance(image, Var)
        if is_int4(drawn.let):
            assert None not in refused(drawn.let)
            continue
        assert refused(drawn.let) == ([several, None] if image.type.shape[0] == 1 else [None, one])


M4_S16 = Target(cpu="cortex-m4", features=frozenset({"dsp"}))


def _channels(rng: np.random.Generator) -> Channels:
    count, values = int(rng.integers(1, 8)), int(rng.integers(1, 20))
    return Channels(
        weights=rng.integers(-128, 128, (count, values), np.int8),
        bias=rng.integers(-(2**31), 2**31, count),
        multipliers=rng.integers(0, 1 << 15, count),
        shifts=rng.integers(LEAST_SHIFT, 47, count),
    )


@pytest.mark.parametrize("seed", range(20))
def test_the_stream_holds_every_number_once(seed: int) -> None:
    """Read back as the assembly does: SXTB16 of a word is a's pair, rotated by 8 it is b's."""
    channels = _channels(np.random.default_rng(seed))
    count, values = channels.weights.shape
    words = (values + 1) // 2
    pairs = channels.packed().reshape((count + 1) // 2, words + 5)
    for number, pair in enumerate(pairs):
        taps = np.ascontiguousarray(pair[2 : 2 + words]).view(np.int8).reshape(words, 4)
        for which in (0, 1):
            channel = 2 * number + which
            stored = taps[:, which::2].reshape(-1)
            shift = int(pair[4 + words]) >> 8 * which & 0xFF
            if channel == count:
                assert not stored.any()
                assert (pair[which], pair[2 + words + which], shift) == (0, 0, 1)
                continue
            assert stored[:values].tolist() == channels.weights[channel].tolist()
            assert not stored[values:].any()
            assert pair[which] == channels.bias[channel]
            assert pair[2 + words + which] == channels.multipliers[channel] << 16
            assert shift == channels.shifts[channel] - 16


def _one(weight: int, values: int, bias: int = 0, shift: int = 20) -> Channels:
    return Channels(
        weights=np.full((1, values), weight, np.int8),
        bias=np.array([bias]),
        multipliers=np.array([1 << 14]),
        shifts=np.array([shift]),
    )


def test_sums_fit_up_to_the_last_unit() -> None:
    """511 products of -128 and -32768 leave 2^22 - 1 for the bias, of either sign; 512 none."""
    assert _one(-128, 511, 2**22 - 1).fits
    assert _one(-128, 511, -(2**22) + 1).fits
    assert not _one(-128, 511, 2**22).fits
    assert not _one(-128, 512).fits
    assert not _one(1, 1, shift=LEAST_SHIFT - 1).fits
    assert _one(1, 1, shift=LEAST_SHIFT).fits


def test_the_short_requantization_is_the_reference_for_every_sum_that_fits() -> None:
    rng = np.random.default_rng(3)
    sums = np.concatenate([rng.integers(-(2**31) + 1, 2**31, 100_000), [-(2**31) + 1, -1, 0, 1, 2**31 - 1]])
    multipliers = rng.integers(0, 1 << 15, sums.size)
    shifts = rng.integers(LEAST_SHIFT, 47, sums.size)
    high = sums * (multipliers << 16) >> 32
    short = (high >> shifts - 16) + (high >> shifts - 17 & 1)
    expected = sums * multipliers + (1 << shifts - 1) >> shifts
    np.testing.assert_array_equal(short, expected)


@pytest.mark.parametrize("seed", range(40))
def test_convolutions_distance_against_a_simulation(seed: int) -> None:
    window, _, _ = random_window(np.random.default_rng(seed))
    batch, height, width, depth = window.image
    down, across = window.axes
    worst: int | None = None
    lowest: int | None = None
    ends = 0
    events: list[tuple[int, list[int]]] = []
    for b in range(batch):
        for y in range(down.count):
            x = 0
            for size in tiles(across.count):
                reads = _reads(window, b, y, range(x, x + size))
                x += size
                ends += size * window.result[3]
                events.append((ends, reads))
    for end, reads in reversed(events):
        if lowest is not None:
            worst = end - lowest if worst is None else max(worst, end - lowest)
        for element in reads:
            lowest = element if lowest is None else min(lowest, element)
    assert tiled_below(window, PixelTiling(rows=batch * down.count, tiles=tiles(across.count))) == worst
    assert height * width * depth > 0


def _reads(window: WindowShape, b: int, y: int, columns: range) -> list[int]:
    _, height, width, depth = window.image
    return [
        ((b * height + row) * width + column) * depth
        for x in columns
        for ky in range(window.window[0])
        for kx in range(window.window[1])
        if 0 <= (row := y * window.stride[0] - window.padding.top + ky * window.dilation[0]) < height
        and 0 <= (column := x * window.stride[1] - window.padding.left + kx * window.dilation[1]) < width
    ]


def test_distances_of_a_fully_connected_layer() -> None:
    assert pairwise_below(1, 8, 2) is None  # the one pair is written when all is read
    assert pairwise_below(1, 8, 3) == 2  # a pair is written, and the row is read again
    assert pairwise_below(2, 8, 2) == 2 - 8
    assert pairwise_below(3, 4, 6) == 16 - 8


def test_what_is_refused() -> None:
    [kernel] = [each for each in kernels_for("CONV_2D") if each.name == "conv2d_s16_dsp"]
    fine = shaped((4, 4), 4, (1, 1), 4).let
    assert kernel.refusal(fine, M4_S16) is None
    assert kernel.refusal(fine, Target(cpu="cortex-m3")) is not None
    reasons = {kernel.refusal(random_layer("CONV_2D", DType.INT16, seed).let, M4_S16) for seed in range(60)}
    assert "the kernel conv2d_s16_dsp is for sums of 64 bits, the bias is int32" in reasons
    assert "the kernel conv2d_s16_dsp is for one group" in reasons


def test_where_sums_may_leave_32_bits_the_portable_kernel_is_bound() -> None:
    found: set[str] = set()
    for seed in range(80):
        layer = int16_layer(seed)
        for kernel in kernels_for(layer.let.call.op.name):
            if kernel.name.endswith("s16_dsp") and kernel.refusal(layer.let, M4_S16) is None:
                found.add(kernel.bind(layer.let, layer.constants, "x").kernel)
    assert {"conv2d_s16_dsp", "conv2d_s16_portable", "fully_connected_s16_dsp"} <= found
