"""Convolutions on one channel or three: what is packed of them, which are left to other kernels."""

from dataclasses import replace

import numpy as np
import pytest

from codegen.board import load_board
from codegen.ir import DType
from codegen.kernels import kernels_for
from codegen.kernels.base.weighted import CONVOLUTION, WeightedLayer
from codegen.kernels.dsp.first_layers import BIAS_LIMIT, FirstLayer, MonoConv, RgbConv
from tests.fuzz.layers import drawn
from tests.kernels.layers import Layer

KERNEL, RGB = MonoConv("mono", 5), RgbConv("rgb", 4)
SEEDS, RGB_SEEDS = range(3, 300, 12), range(9, 300, 12)
"""Of those that are drawn for each."""


def taken(seed: int, kernel: FirstLayer = KERNEL) -> Layer | None:
    """A layer that it takes."""
    found = drawn("CONV_2D", DType.INT8, seed)
    return found if kernel.refusal(found.let, load_board("mps2-an386").target) is None else None


def weighted(found: Layer) -> WeightedLayer:
    return CONVOLUTION.layer(found.let, found.constants)


@pytest.mark.parametrize("seed", SEEDS)
def test_packed_words_give_twice_the_accumulators(seed: int) -> None:
    """Read as cg_conv_dsp.h states it: bias above the shift, bytes w0 w2 w1 w3 of a row, multiplier."""
    found = taken(seed)
    if found is None:
        return
    layer = weighted(found)
    rows, columns = layer.window.window
    prim = KERNEL.bind(found.let, found.constants, "k")
    if prim.kernel != KERNEL.name:
        return
    table = prim.constant("stream").data.reshape(layer.outputs, rows + 2)
    weights = np.ascontiguousarray(table[:, 1:-1]).view(np.int8).reshape(-1, rows, 4)[:, :, (0, 2, 1, 3)]
    np.testing.assert_array_equal(weights[:, :, :columns].reshape(layer.outputs, -1), layer.weights)
    assert not weights[:, :, columns:].any()
    np.testing.assert_array_equal(table[:, 0] >> 8, 2 * layer.folded_bias)
    multipliers, shifts = layer.every
    near = -shifts <= 23
    np.testing.assert_array_equal(table[near, -1], multipliers[near])
    np.testing.assert_array_equal(
        (table[:, 0] & 0xFF)[near & (multipliers != 0)] + 1, -shifts[near & (multipliers != 0)]
    )
    assert not table[~near, -1].any()


@pytest.mark.parametrize("seed", RGB_SEEDS)
def test_three_channels_are_packed_as_stated(seed: int) -> None:
    """Read as cg_conv_dsp.h states it; what is rounded by is 2 * zero + 1, shifted as sums are less one."""
    found = taken(seed, RGB)
    if found is None:
        return
    layer = weighted(found)
    prim = RGB.bind(found.let, found.constants, "k")
    if prim.kernel != RGB.name:
        return
    table = prim.constant("stream").data.reshape(layer.outputs, 19)
    np.testing.assert_array_equal(table[:, 0], 2 * layer.folded_bias)
    halves = np.ascontiguousarray(table[:, 1:16]).view(np.int16).reshape(-1, 3, 10)
    assert not halves[:, :, 8].any()
    values = halves[:, :, (1, 3, 0, 2, 4, 5, 7, 9, 6)]
    np.testing.assert_array_equal(values.reshape(layer.outputs, -1), 2 * layer.weights.astype(np.int32))
    multipliers, shifts = layer.every
    near = (-shifts <= 23) & (multipliers != 0)
    np.testing.assert_array_equal(table[near, 16], multipliers[near])
    np.testing.assert_array_equal(table[near, 18] + 1, -shifts[near])
    zero = found.let.var.type.zero_point
    np.testing.assert_array_equal(table[:, 17], (2 * zero + 1) * 2 ** table[:, 18].astype(np.int64))


@pytest.mark.parametrize(("kernel", "seeds"), [(KERNEL, SEEDS), (RGB, RGB_SEEDS)])
def test_layers_are_drawn_for_it(kernel: FirstLayer, seeds: range) -> None:
    layers = [taken(seed, kernel) for seed in seeds]
    bound = [kernel.bind(found.let, found.constants, "k").kernel for found in layers if found]
    assert bound.count(kernel.name) > len(seeds) // 2


def test_large_biases_have_the_kernel_for_any_window() -> None:
    """512 times a bias of 2^22 has 33 bits."""
    found = next(found for found in map(taken, SEEDS) if found is not None)
    layer = weighted(found)
    for bias, fits in ((BIAS_LIMIT - 1, True), (BIAS_LIMIT, False), (-BIAS_LIMIT, False)):
        folded = replace(layer, bias=bias + layer.in_zero * layer.weights.sum(axis=1, dtype=np.int64))
        kernel = KERNEL.bind_layer(found.let, folded, "k").kernel
        assert kernel == KERNEL.name if fits else kernel.startswith("conv2d_")
        assert fits == (kernel == KERNEL.name), bias


def test_other_layers_are_refused_with_a_reason() -> None:
    target = load_board("mps2-an386").target
    reasons = {KERNEL.refusal(drawn("CONV_2D", DType.INT8, seed).let, target) for seed in range(200)}
    assert "the kernel conv2d_mono_s8_dsp is for one channel, dilation 1" in reasons
    assert "the kernel conv2d_mono_s8_dsp is for windows of 3 or 4 columns, stride 2 across" in reasons
    reasons = {RGB.refusal(drawn("CONV_2D", DType.INT8, seed).let, target) for seed in range(200)}
    assert "the kernel conv2d_rgb_s8_dsp is for 3x3 windows of stride 2" in reasons
    assert {KERNEL.name, RGB.name} <= {kernel.name for kernel in kernels_for("CONV_2D")}
