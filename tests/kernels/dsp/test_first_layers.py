"""Convolutions on one channel: what is packed of them, which are left to other kernels."""

from dataclasses import replace

import numpy as np
import pytest

from codegen.board import load_board
from codegen.ir import DType
from codegen.kernels import kernels_for
from codegen.kernels.base.weighted import CONVOLUTION, WeightedLayer
from codegen.kernels.dsp.first_layers import BIAS_LIMIT, MonoConv
from tests.fuzz.layers import drawn
from tests.kernels.layers import Layer

KERNEL = MonoConv()
SEEDS = range(3, 300, 12)
"""Of those that are drawn for it."""


def taken(seed: int) -> Layer | None:
    """A layer that it takes."""
    found = drawn("CONV_2D", DType.INT8, seed)
    return found if KERNEL.refusal(found.let, load_board("mps2-an386").target) is None else None


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


def test_layers_are_drawn_for_it() -> None:
    bound = [KERNEL.bind(found.let, found.constants, "k").kernel for found in map(taken, SEEDS) if found]
    assert bound.count(KERNEL.name) > len(SEEDS) // 2


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
    assert KERNEL.name in [kernel.name for kernel in kernels_for("CONV_2D")]
