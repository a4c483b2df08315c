"""Depthwise kernels of the DSP extension: what they take, how they pack, how far results may reach."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from codegen.ir import DType, Quantization, Target
from codegen.ir.ops import Activation, DepthwiseConvAttrs, Padding2D
from codegen.kernels import kernels_for
from codegen.kernels.base.overlap import striped_below
from codegen.kernels.base.weighted import DEPTHWISE
from codegen.kernels.base.window import WindowShape
from codegen.kernels.dsp.depthwise.channels import channel_numbers
from codegen.kernels.dsp.depthwise.stripes import band_tile, row_tile
from codegen.kernels.dsp.depthwise.taps import DepthwiseNarrow, DepthwiseTaps
from codegen.kernels.dsp.depthwise.window3x3 import Depthwise3x3, Depthwise3x3InPlace
from codegen.kernels.dsp.packing import MOST_SHIFT, channel_multipliers
from codegen.kernels.primfunc import PrimFunc
from tests.kernels.access import nearest
from tests.kernels.builders import random_layer
from tests.kernels.layers import Layer, Operand, int8_type, integer, layer, random_operand
from tests.tensor_types import per_tensor, tensor_type

M4 = Target(cpu="cortex-m4", features=frozenset({"dsp"}))
KERNELS = (Depthwise3x3(), DepthwiseTaps(), Depthwise3x3InPlace())


def plain(
    seed: int,
    kernel: tuple[int, int] = (3, 3),
    stride: int = 1,
    bias: int | None = None,
    channels: int = 5,
) -> Layer:
    """A layer that nearly every kernel takes: multiplier 1, a scale below one half."""
    rng = np.random.default_rng(seed)
    rows, columns = integer(rng, 4, 9), integer(rng, 4, 9)
    image = random_operand(rng, DType.INT8, (1, rows, columns, channels))
    weights = random_operand(rng, DType.INT8, (1, *kernel, channels), constant=True)
    assert weights.type.quantization is not None
    one = replace(weights.type.quantization, scales=(0.01,), zero_points=(0,), axis=None)
    weights = replace(weights, type=replace(weights.type, quantization=one))
    pads = [(kernel[axis] - 1) // 2 for axis in (0, 1)]
    attrs = DepthwiseConvAttrs(
        multiplier=1,
        stride=(stride, stride),
        dilation=(1, 1),
        padding=Padding2D(top=pads[0], bottom=pads[0], left=pads[1], right=pads[1]),
        activation=Activation.NONE,
    )
    result = int8_type(rng, (), image.type.scale)
    given = None
    if bias is not None:
        scale = per_tensor(image.type.scale * 0.01)
        type_ = tensor_type((channels,), DType.INT32, quantization=scale)
        given = Operand(type=type_, data=np.full(channels, bias, np.int32), constant=True)
    return layer("DEPTHWISE_CONV_2D", attrs, (image, weights, given), result)


def words_of(function: PrimFunc, role: str) -> NDArray[np.int64]:
    return function.constant(role).data.astype(np.int64)


def halves(words: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Low and high int16 of words."""
    low = (words & 0xFFFF).astype(np.uint16).view(np.int16).astype(np.int64)
    return low, words >> 16


def accumulators(found: Layer, function: PrimFunc) -> NDArray[np.int64]:
    """Doubled accumulators of the image's middle pixel from packed data, as the inner loops take them."""
    image = np.asarray(found.values[0], np.int64)[0]
    window = image[1:4, 1:4]
    channels = window.shape[2]
    if function.kernel == "depthwise_taps_s8_dsp":
        table = words_of(function, "weights").reshape(-1, 4 + 2 * 9 + 8)
        sums = np.zeros(channels, np.int64)
        for group, row in enumerate(table):
            start = min(4 * group, channels - 4)
            # Four pairs of taps, a word a channel; the ninth of channels 0 and 2, 1 and 3.
            pairs = np.stack(halves(row[4:20].reshape(4, 4)), axis=1).reshape(8, 4)
            low, high = halves(row[20:22])
            taps = np.vstack((pairs, [low[0], low[1], high[0], high[1]]))
            pixels = window.reshape(9, channels)[:, start : start + 4]
            sums[start : start + 4] = row[:4] + (taps * pixels).sum(axis=0)
        return sums
    table = words_of(function, "channels").reshape(channels, 9)
    low, high = halves(table[:, :6].reshape(channels, 3, 2))
    # {w0, w1} and {w1, w2}: the middle weight is there twice.
    assert (high[:, :, 0] == low[:, :, 1]).all()
    taps = np.stack((low[:, :, 0], high[:, :, 0], high[:, :, 1]), axis=2)
    return table[:, 6] + np.einsum("cyx,yxc->c", taps, window)


@pytest.mark.parametrize("kernel", KERNELS[:2], ids=lambda kernel: kernel.name)
def test_packed_numbers_give_twice_the_accumulators(kernel: Depthwise3x3 | DepthwiseTaps) -> None:
    for seed in range(30):
        found = plain(seed)
        function = kernel.bind(found.let, found.constants, "dw")
        image = np.asarray(found.values[0], np.int64)[0]
        weights = np.asarray(found.values[1], np.int64)[0]
        argument = found.let.call.args[0]
        assert argument is not None
        expected = ((image[1:4, 1:4] - argument.type.zero_point) * weights).sum(axis=(0, 1))
        np.testing.assert_array_equal(accumulators(found, function), 2 * expected)


def test_narrow_weights_give_the_accumulators() -> None:
    """Bytes in the order in which SXTB16 takes them apart, and two times the multiplier modulo 2^32."""
    kernel = DepthwiseNarrow()
    for seed in range(30):
        found = plain(seed, channels=8)
        function = kernel.bind(found.let, found.constants, "dw")
        image = np.asarray(found.values[0], np.int64)[0]
        weights = np.asarray(found.values[1], np.int64)[0]
        pixels = image[1:4, 1:4].reshape(9, 8)
        argument = found.let.call.args[0]
        assert argument is not None
        expected = ((image[1:4, 1:4] - argument.type.zero_point) * weights).sum(axis=(0, 1))
        table = function.constant("weights").data.reshape(2, 18)
        for group, row in enumerate(table):
            taps = row[4:12].copy().view(np.int8).reshape(4, 2, 2, 2)  # two taps, channels, tap, channel
            last = row[12:13].copy().view(np.int8)
            by_tap = np.concatenate((taps.transpose(0, 2, 1, 3).reshape(8, 4), last[None]))
            start = 4 * group
            sums = row[:4] + (by_tap.astype(np.int64) * pixels[:, start : start + 4]).sum(axis=0)
            np.testing.assert_array_equal(sums, expected[start : start + 4])
            multipliers, shifts = channel_multipliers(found.let, DEPTHWISE)
            doubled = row[13:17].astype(np.int64) % 2**32
            np.testing.assert_array_equal(doubled, 2 * multipliers[start : start + 4].astype(np.int64))
            np.testing.assert_array_equal(row[17:18].copy().view(np.int8), -shifts[start : start + 4])


def test_narrow_weights_are_for_nine_taps_of_channels_by_fours() -> None:
    kernel = DepthwiseNarrow()
    assert kernel.refusal(plain(1, channels=8).let, M4) is None
    assert "multiples of 4 channels" in str(kernel.refusal(plain(1).let, M4))
    assert "windows of 9 taps" in str(kernel.refusal(plain(1, (5, 5), channels=8).let, M4))


def test_only_with_the_extension() -> None:
    found = plain(0)
    for kernel in KERNELS:
        assert kernel.refusal(found.let, M4) is None
        reason = f"the kernel {kernel.name} needs a core with the DSP extension"
        assert kernel.refusal(found.let, Target(cpu="cortex-m3")) == reason
    assert {kernel.name for kernel in kernels_for("DEPTHWISE_CONV_2D")} >= {k.name for k in KERNELS}


def test_other_layers_are_refused_with_a_reason() -> None:
    found = plain(1)
    attrs = found.let.call.attrs
    assert isinstance(attrs, DepthwiseConvAttrs)

    def reason(kernel: Depthwise3x3 | DepthwiseTaps, let: object) -> str | None:
        return kernel.refusal(let, M4)  # type: ignore[arg-type]

    clamped = replace(
        found.let, call=replace(found.let.call, attrs=replace(attrs, activation=Activation.RELU6))
    )
    coarse = replace(found.let.var.type, quantization=per_tensor(1e-4))
    large = replace(found.let, var=replace(found.let.var, type=coarse))
    assert reason(KERNELS[1], large) == "a channel's scale is not below one half"
    wide = replace(found.let.var.type, quantization=per_tensor(1.0))
    clamped = replace(clamped, var=replace(clamped.var, type=wide))
    assert reason(KERNELS[0], clamped) == "its activation clamps to less than int8"
    assert "3x3" in str(reason(KERNELS[0], plain(2, (5, 5)).let))
    assert reason(KERNELS[1], plain(2, (5, 5)).let) is None
    assert "49 taps" in str(reason(KERNELS[1], plain(2, (9, 9)).let))
    assert "strides 1 and 2" in str(reason(KERNELS[0], plain(2, stride=3).let))
    assert "as large as the image" in str(reason(KERNELS[2], plain(2, stride=2).let))


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_accumulators_out_of_range_run_portably(kernel: Depthwise3x3 | DepthwiseTaps) -> None:
    """2^30 and beyond cannot be doubled: a bias as large sends the layer to the portable kernel."""
    for bias, fits in ((2**30 - 9 * 128 * 256, True), (2**30, False), (-(2**31), False)):
        found = plain(3, bias=bias)
        bound = kernel.bind(found.let, found.constants, "dw")
        assert (bound.kernel == kernel.name) == fits, bias
        assert (bound.instructions is not None) == fits, bias


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_scales_too_small_for_any_result_count_as_zero(kernel: Depthwise3x3 | DepthwiseTaps) -> None:
    """Beyond 23 bits to the right half of the divisor has no room in a register. What small sums give there
    is the zero point; large ones, by their bias, run portably."""
    for shift, bias, fits in ((23, 2**28, True), (24, 2**20, True), (28, 2**20, True), (24, 2**28, False)):
        found = plain(3, bias=bias)
        first = found.let.call.args[0]
        assert first is not None
        scale = (first.type.scale * 0.01 * 2.0**shift / 0.75,)
        coarse = replace(found.let.var.type, quantization=Quantization(scales=scale, zero_points=(7,)))
        let = replace(found.let, var=replace(found.let.var, type=coarse))
        assert (channel_multipliers(let, DEPTHWISE)[1] == -shift).all()
        numbers = channel_numbers(let, found.constants)
        assert (
            (numbers is not None) == fits == (kernel.bind(let, found.constants, "dw").kernel == kernel.name)
        )
        if numbers is not None:
            assert (numbers.right_shifts == (shift if shift <= MOST_SHIFT else 1)).all()
            assert (numbers.multipliers == 0).all() == (shift > MOST_SHIFT)


def test_workspaces_stay_small_whatever_the_width() -> None:
    for width in (1, 2, 3, 5, 24, 48, 96, 97, 224, 1000):
        for stride in (1, 2):
            window = WindowShape(
                image=(1, 9, width * stride, 8),
                result=(1, 9, width, 8),
                window=(3, 3),
                stride=(stride, stride),
                dilation=(1, 1),
                padding=Padding2D(top=1, bottom=1, left=1, right=1),
            )
            assert band_tile(window).workspace_bytes <= 2048
            assert row_tile(window).workspace_bytes <= 1248
            # Every column is in a stripe, stripes begin at words.
            for tile in (band_tile(window), row_tile(window)):
                assert tile.columns % 4 == 0
                assert tile.columns >= min(width, 4)


def _taps(window: WindowShape, axis: int, result: int) -> list[int]:
    """Rows (axis 0) or columns that a result reads, from the definition of a window."""
    pad = (window.padding.top, window.padding.left)[axis]
    places = (
        result * window.stride[axis] - pad + tap * window.dilation[axis] for tap in range(window.window[axis])
    )
    return [place for place in places if 0 <= place < window.image[1 + axis]]


def _simulated(window: WindowShape, rows: int, columns: int, channels: int) -> int | None:
    """Element by element: bands, stripes, groups; all reads of a group, then all its writes."""
    batch, height, width, depth = window.image
    _, down, across, _ = window.result
    parts = product(range(batch), range(0, down, rows), range(0, across, columns), range(0, depth, channels))
    steps: list[tuple[int | None, int | None]] = []
    for image, top, left, group in parts:
        start = max(0, min(group, depth - channels))
        places = list(product(range(top, min(top + rows, down)), range(left, min(left + columns, across))))
        for y, x in places:
            for at_y, at_x in product(_taps(window, 0, y), _taps(window, 1, x)):
                steps.append((None, ((image * height + at_y) * width + at_x) * depth + start))
        for y, x in places:
            pixel = (image * down + y) * across + x
            steps += [(pixel * depth + c + 1, None) for c in range(start, min(start + channels, depth))]
    return nearest(steps)


@pytest.mark.parametrize("seed", range(60))
def test_distance_of_stripes_is_safe_and_tight(seed: int) -> None:
    rng = np.random.default_rng(seed)
    kernel, dilation = (integer(rng, 1, 3), integer(rng, 1, 3)), (integer(rng, 1, 2), integer(rng, 1, 2))
    pads = [integer(rng, 0, 2) for _ in range(4)]
    image, stride = (integer(rng, 5, 8), integer(rng, 5, 8)), (integer(rng, 1, 3), integer(rng, 1, 3))
    sizes = [
        (image[axis] + pads[2 * axis] + pads[2 * axis + 1] - (kernel[axis] - 1) * dilation[axis] - 1)
        // stride[axis]
        + 1
        for axis in (0, 1)
    ]
    depth, batch = integer(rng, 4, 9), integer(rng, 1, 2)
    window = WindowShape(
        image=(batch, *image, depth),
        result=(batch, sizes[0], sizes[1], depth),
        window=kernel,
        stride=stride,
        dilation=dilation,
        padding=Padding2D(top=pads[0], bottom=pads[1], left=pads[2], right=pads[3]),
    )
    rows, columns = integer(rng, 1, 4), integer(rng, 1, 4)
    found = striped_below(window, rows=rows, columns=columns, channels=4)
    assert found == _simulated(window, rows, columns, 4)


def test_the_portable_kernel_still_runs_what_they_refuse() -> None:
    for seed in range(40):
        other = random_layer("DEPTHWISE_CONV_2D", DType.INT8, seed)
        able = [k for k in kernels_for("DEPTHWISE_CONV_2D") if k.refusal(other.let, M4) is None]
        assert any(not kernel.is_in_place for kernel in able)
