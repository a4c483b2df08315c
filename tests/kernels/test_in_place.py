"""Kernels that replace their argument: equal to the reference, in exactly the bytes they say."""

import numpy as np
import pytest

from codegen.ir import DType
from codegen.kernels import kernels_for
from codegen.kernels.base.registry import Kernel
from codegen.kernels.primfunc import PrimFunc
from tests.kernels.builders import depthwise_same_size, random_layer
from tests.kernels.calling import ANY_TARGET, Library, bind, check_result
from tests.kernels.layers import Layer

_KERNELS = {kernel.name: kernel for kernel in kernels_for("DEPTHWISE_CONV_2D")}
KERNEL = _KERNELS["depthwise_conv2d_s8_in_place"]
FLOAT_KERNEL = _KERNELS["depthwise_conv2d_f32_in_place"]


def bound(layer: Layer, kernel: Kernel = KERNEL) -> PrimFunc:
    assert kernel.refusal(layer.let, ANY_TARGET) is None
    return kernel.bind(layer.let, layer.constants, layer.let.var.name)


@pytest.mark.usefixtures("no_reports")
@pytest.mark.parametrize(("kernel", "dtype"), [(KERNEL, DType.INT8), (FLOAT_KERNEL, DType.FLOAT32)])
def test_depthwise_equals_the_reference(library: Library, kernel: Kernel, dtype: DType) -> None:
    for seed in range(150):
        layer = depthwise_same_size(np.random.default_rng(seed), dtype)
        function = bound(layer, kernel)
        assert function.in_place == 0
        outcomes = [library.run(function, layer, paint=paint, overlap=(0, 0)) for paint in (0xA5, 0x5A)]
        for outcome in outcomes:
            check_result(layer, outcome.result)
        # Every byte of the workspace is written before it is read, and all of it is used.
        assert outcomes[0] == outcomes[1]


def test_the_workspace_is_as_many_padded_rows_as_the_window_is_high() -> None:
    for seed in range(50):
        layer = depthwise_same_size(np.random.default_rng(seed))
        image, weights = (arg.type.shape for arg in layer.let.call.args[:2] if arg is not None)
        attrs = layer.let.call.attrs
        dilation = getattr(attrs, "dilation")  # noqa: B009 - attrs are typed by operator, this test by name
        rows = (weights[1] - 1) * dilation[0] + 1
        columns = image[2] + (weights[2] - 1) * dilation[1]
        [ring] = bound(layer).workspaces
        assert ring.size_bytes == rows * columns


def test_the_workspace_of_floats_is_as_many_rows_as_a_window_covers() -> None:
    for seed in range(50):
        layer = depthwise_same_size(np.random.default_rng(seed), DType.FLOAT32)
        image, weights = (arg.type.shape for arg in layer.let.call.args[:2] if arg is not None)
        dilation = getattr(layer.let.call.attrs, "dilation")  # noqa: B009 - as above
        [ring] = bound(layer, FLOAT_KERNEL).workspaces
        assert ring.size_bytes == 4 * min((weights[1] - 1) * dilation[0] + 1, image[1]) * image[2]


def test_others_are_refused_and_nothing_picks_it_by_itself() -> None:
    refused = 0
    for seed in range(60):
        layer = random_layer("DEPTHWISE_CONV_2D", DType.INT8, seed)
        image = layer.let.call.args[0]
        assert image is not None
        reason = KERNEL.refusal(layer.let, ANY_TARGET)
        refused += reason is not None
        if image.type.shape != layer.let.var.type.shape:
            assert reason == "only with multiplier 1, stride 1 and a result as large as the image"
        assert bind(layer).in_place is None
    assert refused > 30
    reason = KERNEL.refusal(random_layer("DEPTHWISE_CONV_2D", DType.FLOAT32, 0).let, ANY_TARGET)
    assert reason is not None
    assert reason.startswith("the kernel depthwise_conv2d_s8_in_place is for int8 to int8")
