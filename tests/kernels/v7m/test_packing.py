"""ARMv7-M kernels without a target: packed weights, sums in halves of words, requantization, refusals."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from codegen.ir import ConstRef, DType, Let, Target, Var
from codegen.ir.ops.base.fixed_point import multiply_by_quantized_multiplier
from codegen.kernels.base.output_groups import output_groups
from codegen.kernels.base.result_limits import limits_of
from codegen.kernels.base.weighted import CONVOLUTION, DEPTHWISE, FULLY_CONNECTED
from codegen.kernels.portable.convolution import CONV_2D_S8, DEPTHWISE_S8, FULLY_CONNECTED_S8
from codegen.kernels.primfunc import PrimFunc
from codegen.kernels.v7m.convolution import V7mTiled
from codegen.kernels.v7m.depthwise import V7mDepthwise, V7mDepthwiseInPlace
from codegen.kernels.v7m.fully_connected import V7mFullyConnected
from codegen.kernels.v7m.packing import LAST, LEFT, LONG, RUN_PAIRS, requantization, runs_of
from tests.kernels.builders import random_layer
from tests.kernels.dsp.conv_layers import conv_layer
from tests.kernels.dsp.test_convolution import windows
from tests.kernels.layers import Layer

M3 = Target(cpu="cortex-m3", features=frozenset({"div"}))
CONVS, ROWS = V7mTiled(CONVOLUTION, CONV_2D_S8, 4), V7mTiled(FULLY_CONNECTED, FULLY_CONNECTED_S8, 4)
TILED = (CONVS, V7mTiled(DEPTHWISE, DEPTHWISE_S8, 4), ROWS)
EVERY = (*TILED, V7mFullyConnected(), V7mDepthwise(), V7mDepthwiseInPlace())


def wrapped(value: int) -> int:
    """Modulo 2^32, signed."""
    return (value + 2**31) % 2**32 - 2**31


def short_requantize(total: int, words: NDArray[np.int32]) -> int:
    """EOR and ADD with the sign; SMLAL; ASR; SSAT #8, as the architecture manual defines them."""
    multiplier, offset, shift = map(int, words)
    sign = -1 if total < 0 else 0
    low = (0x3FFFFFFF ^ sign) & 0xFFFFFFFF
    upper = ((wrapped(offset + sign) << 32) + low + total * multiplier) >> 32
    assert upper == wrapped(upper)
    return max(-128, min(127, upper >> (shift & 0xFF)))


def requantized(total: int, words: NDArray[np.int32], let: Let, limits: tuple[int, int]) -> int:
    """As cg_v7m_parts.h says, short or long."""
    shift = int(words[2]) & 0xFFFFFFFF
    if not shift & LONG:
        return short_requantize(total, words)
    power = shift & 31 if shift & LEFT else -(shift & 31)
    scaled = int(multiply_by_quantized_multiplier(total, int(words[0]), power)) + let.var.type.zero_point
    return max(limits[0], min(limits[1], scaled))


@st.composite
def channel(draw: st.DrawFn) -> tuple[int, int, int, int]:
    """(multiplier, shift to the right, zero point, highest sum); multipliers that end in zeros too."""
    zeros = draw(st.integers(0, 30))
    multiplier = draw(st.integers(2 ** (30 - zeros), 2 ** (31 - zeros) - 1)) << zeros
    highest = draw(st.integers(0, 2**31 - 1) | st.integers(0, 2**12))
    return multiplier, draw(st.integers(-3, 31)), draw(st.integers(-128, 127)), highest


@given(channel(), st.data())
def test_five_instructions_round_as_tflite_does(
    drawn: tuple[int, int, int, int], data: st.DataObject
) -> None:
    """For every sum up to the highest; sums at the edge of a rounding besides random ones."""
    multiplier, right, zero, highest = drawn
    found = requantization(
        np.array([multiplier], np.int32),
        np.array([-right], np.int32),
        highest=np.array([highest], np.int64),
        zero_point=zero,
        is_clamped=False,
    )
    if found.is_long[0]:
        return
    words = found.words(np.zeros(1, np.int64))[0]
    tie = (1 << 30) // (multiplier & -multiplier)
    near = data.draw(st.integers(-(2**31), highest) | st.integers(-3, 3).map(lambda k: k * tie))
    edge = data.draw(st.integers(-300, 300)) * (1 << (31 + right)) // (2 * multiplier)
    for total in (near, edge - 1, edge, edge + 1, -1, 0, highest):
        if -(2**31) <= total <= highest:
            expected = int(multiply_by_quantized_multiplier(total, multiplier, -right)) + zero
            assert short_requantize(total, words) == max(-128, min(127, expected))


def test_what_the_short_way_cannot_do_is_long() -> None:
    def is_long(multiplier: int, shift: int, *, highest: int = 1000, is_clamped: bool = False) -> bool:
        found = requantization(
            np.array([multiplier], np.int32),
            np.array([shift], np.int32),
            highest=np.array([highest], np.int64),
            zero_point=-128,
            is_clamped=is_clamped,
        )
        return bool(found.is_long[0])

    odd = 2**30 + 1
    assert [shift for shift in range(-31, 5) if not is_long(odd, shift)] == list(range(-24, -1))
    assert is_long(odd, -8, is_clamped=True)
    # Ties of the first rounding: odd multiples of 2^(30 - zeros at the multiplier's end).
    assert is_long(odd, -8, highest=2**30)
    assert not is_long(odd, -8, highest=2**30 - 1)
    assert is_long(2**30, -8)
    assert not is_long(2**30 + 2**20, -8, highest=1023)
    assert is_long(2**30 + 2**20, -8, highest=1024)
    assert not is_long(0, 30)


def decoded(data: NDArray[np.int8], outputs: int, values: int) -> Iterator[list[list[int]]]:
    """Runs of each channel, read as cg_kernels_v7m.h states."""
    at = 0
    for _ in range(outputs):
        found: list[list[int]] = []
        is_last, left = False, values
        while not is_last:
            code = int(data[at + 2])
            is_last, pairs = bool(code & 1), code // 2 + 1
            assert 1 <= pairs <= RUN_PAIRS
            rest = at + 3 + 2 * (pairs - 1)
            found.append([*data[at : at + 2].tolist(), *data[at + 3 : rest].tolist()])
            at, left = rest, left - 2 * pairs
        assert left == 0
        yield found
    assert at == len(data)


def tile_sums(words: NDArray[np.int32], runs: list[list[int]], pixels: NDArray[np.int64]) -> tuple[int, int]:
    """Sums of two pixels [2, K] as conv_tile_s8_v7m.S makes them."""
    whole, upper = int(words[0]), int(words[1])
    at = 0
    for run in runs:
        total = wrapped(0xFFFF7FFF)
        for weight in run:
            total = wrapped(total + weight * wrapped(int(pixels[0, at]) + (int(pixels[1, at]) << 16)))
            at += 1
        whole, upper = wrapped(whole + total), wrapped(upper + (total >> 16))
    return wrapped(whole - (upper << 16)), upper


@given(
    st.lists(st.integers(-128, 127) | st.sampled_from([-128, -127, 127]), min_size=1, max_size=40),
    st.integers(0, 2**32 - 1),
)
def test_runs_keep_halves_apart(weights: list[int], seed: int) -> None:
    """For the pixels that make every sum largest or smallest, and any others."""
    row = np.array([weights], np.int8)
    runs = runs_of(row)
    padded = runs.pairs.reshape(-1).astype(np.int64)
    rng = np.random.default_rng(seed)
    most = np.where(padded > 0, 127, -128)
    least = np.where(padded > 0, -128, 127)
    starts = np.repeat(runs.starts[0], 2) * np.tile([True, False], runs.starts.shape[1])
    lengths = np.diff(np.append(np.flatnonzero(starts), len(padded)))
    ends = np.cumsum(lengths).tolist()
    split = [
        [int(w) for w in padded[end - size : end]] for end, size in zip(ends, lengths.tolist(), strict=True)
    ]
    count = len(split)
    words = np.array([wrapped((count << 16) - 32767 * count), count], np.int64).astype(np.int32)
    for pair in (
        (most, least),
        (least, most),
        (most, most),
        (least, least),
        rng.integers(-128, 128, (2, len(padded))),
    ):
        pixels = np.array(pair, np.int64)
        assert tile_sums(words, split, pixels) == tuple(pixels @ padded)


def test_pairs_of_the_lowest_weight_are_runs() -> None:
    assert runs_of(np.full((1, 5), -128, np.int8)).starts.tolist() == [[True, True, True]]
    assert runs_of(np.full((2, 32), 1, np.int8)).counts.tolist() == [2, 2]


def bound(kernel: V7mTiled | V7mFullyConnected | V7mDepthwise, drawn: Layer) -> PrimFunc:
    assert kernel.refusal(drawn.let, M3) is None
    return kernel.bind(drawn.let, drawn.constants, "f")


@pytest.mark.parametrize("seed", range(60))
def test_packed_convolutions_compute_the_layer(seed: int) -> None:
    drawn = conv_layer(seed)
    kernel = next(
        (k for k in TILED if k.op == drawn.let.call.op.name and k.refusal(drawn.let, M3) is None), None
    )
    if kernel is None:
        return
    conv = kernel.operator.layer(drawn.let, drawn.constants)
    function = bound(kernel, drawn)
    pixels = windows(drawn, conv.window)
    pixels = np.pad(pixels, ((0, len(pixels) % 2), (0, pixels.shape[1] % 2)))[:12]
    expected = drawn.expected.reshape(-1, len(conv.bias))
    limits = conv.limits
    words = function.constant("channels").data.reshape(-1, 5)
    assert [bool(word & LAST) for word in words[:, 4]] == [False] * (len(words) - 1) + [True]
    runs = list(decoded(function.constant("weights").data, len(words), pixels.shape[1]))
    for output, start in np.ndindex(len(words), len(pixels) // 2):
        sums = tile_sums(words[output], runs[int(output)], pixels[2 * start : 2 * start + 2])
        for pixel, total in enumerate(sums, 2 * start):
            if pixel < len(expected):
                got = requantized(total, words[output, 2:], drawn.let, limits)
                assert got == expected[pixel, output]


@pytest.mark.parametrize("seed", range(30))
def test_packed_rows_compute_the_layer(seed: int) -> None:
    drawn = random_layer("FULLY_CONNECTED", DType.INT8, seed)
    kernel = V7mFullyConnected()
    image = drawn.values[0]
    if image is None or kernel.refusal(drawn.let, M3) is not None:
        return
    function = bound(kernel, drawn)
    weights, words = function.constant("weights").data, function.constant("channels").data
    limits = limits_of(drawn.let)
    inputs = image.reshape(-1).astype(np.int64)
    got: list[int] = []
    for group in output_groups(drawn.let.var.type.elements, 8):
        count = len(group)
        table = weights[group.start * len(inputs) : group.stop * len(inputs)].reshape(-1, count)
        part = words[4 * group.start : 4 * group.stop]
        sums = inputs @ table + part[:count]
        each = part[count:].reshape(count, 3)
        got += [requantized(wrapped(int(s)), w, drawn.let, limits) for s, w in zip(sums, each, strict=True)]
    assert got == drawn.expected.reshape(-1).tolist()


@pytest.mark.parametrize("seed", range(40))
def test_packed_depthwise_weights_compute_the_layer(seed: int) -> None:
    drawn = random_layer("DEPTHWISE_CONV_2D", DType.INT8, seed)
    kernel = V7mDepthwise()
    image, weights = drawn.let.call.args[:2]
    assert isinstance(image, Var)
    assert isinstance(weights, ConstRef)
    function = bound(kernel, drawn)
    packed = function.constant("weights").data.reshape(weights.type.shape[3], -1)
    assert packed.T.reshape(-1).tolist() == drawn.constants[weights.id].reshape(-1).tolist()
    words = function.constant("channels").data
    table = words[1:].reshape(-1, 4).astype(np.int64)
    multiplier = weights.type.shape[3] // image.type.shape[3]
    outputs = np.arange(len(table))
    # Bit 31: the next channel of the image; bit 29: the last one.
    assert (table[:, 2] < 0).tolist() == ((outputs + 1) % multiplier == 0).tolist()
    assert (table[:, 2] & LAST != 0).tolist() == (outputs == outputs[-1]).tolist()
    biases = [int(words[0]), *table[:-1, 3].tolist()]
    bias = drawn.values[2]
    given_bias = np.zeros(len(table), np.int64) if bias is None else bias.astype(np.int64)
    folded = given_bias - image.type.zero_point * packed.sum(axis=1, dtype=np.int64)
    assert biases == [wrapped(int(value)) for value in folded]
    assert int(table[-1, 3]) == 0


def test_other_cores_are_refused() -> None:
    for name in ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"):
        let = random_layer(name, DType.INT8, 0).let
        for target in (Target(cpu="cortex-m4", features=frozenset({"dsp"})), Target(cpu="cortex-m0")):
            reasons = [kernel.refusal(let, target) for kernel in EVERY if kernel.op == name]
            assert all(
                reason and "is for ARMv7-M cores without the DSP extension" in reason for reason in reasons
            )


def test_groups_and_numbers_of_rows_are_refused() -> None:
    for seed in range(40):
        grouped = random_layer("CONV_2D", DType.INT8, seed).let
        image, weights = grouped.call.args[:2]
        assert isinstance(image, Var)
        assert isinstance(weights, ConstRef)
        is_grouped = image.type.shape[3] != weights.type.shape[3]
        reason = "the kernel conv2d_s8_v7m is for one group"
        assert CONVS.refusal(grouped, M3) == (reason if is_grouped else None)
        rows = random_layer("FULLY_CONNECTED", DType.INT8, seed).let
        image = rows.call.args[0]
        assert isinstance(image, Var)
        is_one = image.type.shape[0] == 1
        reason = "the kernel fully_connected_rows_s8_v7m is for several rows"
        assert ROWS.refusal(rows, M3) == (reason if is_one else None)
        reason = "the kernel fully_connected_s8_v7m is for one row"
        assert V7mFullyConnected().refusal(rows, M3) == (None if is_one else reason)
