"""Layers of int16 that are rounded as ONNX does, in portable C."""

import numpy as np

from codegen.ir import DType
from codegen.ir.ops.rounded.as_onnx import layer_scales
from codegen.kernels import kernels_of_step
from codegen.kernels.base.float_rounding import has_wide_sums, sums_of
from codegen.kernels.base.result_limits import limits_of
from codegen.kernels.base.step_proof import proved_scalings
from tests.fuzz.layers import drawn


def test_all_channels_are_by_float_where_one_needs_64_bits() -> None:
    """One channel of ten was proved, the others' sums need more than 32 bits: C took the fixed point's
    multiplier for the bits of a float32 (found by 300 layers of the fuzz)."""
    layer = drawn("FULLY_CONNECTED/onnx", DType.INT16, 1944)
    let, scales = layer.let, layer_scales(layer.let.call.attrs)
    assert has_wide_sums(let, layer.constants)
    sums = sums_of(let, layer.constants)
    assert proved_scalings(scales, sums, let.var.type.zero_point, limits_of(let)).proved == 1
    [kernel] = [each for each in kernels_of_step(layer.let) if each.name.endswith("connected_s16_portable")]
    prim = kernel.bind(layer.let, layer.constants, "k")
    linked = {constant.role: constant for constant in prim.constants}
    assert not linked["shift"].data.any()
    assert linked["shift"].rounded == (0, 10)
    np.testing.assert_array_equal(linked["multiplier"].data.view(np.float32), np.array(scales, np.float32))
