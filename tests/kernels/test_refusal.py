"""What kernels refuse, word by word, and what they say of themselves."""

from dataclasses import replace

import numpy as np
import pytest

from codegen.ir import Call, DType, Let, Quantization, TensorType, Var
from codegen.ir.ops import OPS, Attrs, PadAttrs, SoftmaxAttrs, TransposeAttrs
from codegen.kernels import kernels_for, supported_ops
from codegen.resources import folder
from tests.kernels.builders import CASES, random_layer
from tests.kernels.calling import ANY_TARGET, bind
from tests.kernels.layers import Layer, Operand, layer


def _refusals(case: Layer) -> list[str | None]:
    return [kernel.refusal(case.let, ANY_TARGET) for kernel in kernels_for(case.let.call.op.name)]


def _int8(shape: tuple[int, ...], scale: float) -> TensorType:
    return TensorType(
        shape=shape, dtype=DType.INT8, quantization=Quantization(scales=(scale,), zero_points=(0,))
    )


def test_every_operator_has_a_kernel() -> None:
    assert set(supported_ops()) == set(OPS)


def test_other_element_types_are_refused_by_name() -> None:
    case = random_layer("RELU", DType.FLOAT32, 0)
    assert _refusals(case) == [
        "the kernel relu_s8_table is for int8 to int8, not float32 to float32",
        None,
        "the kernel relu_s16_portable is for int16 to int16, not float32 to float32",
    ]


def test_weights_computed_at_run_time() -> None:
    case = random_layer("FULLY_CONNECTED", DType.INT8, 0)
    image, weights, bias = case.let.call.args
    assert weights is not None
    call = Call(
        op=case.let.call.op, args=(image, Var(name="w", type=weights.type), bias), attrs=case.let.call.attrs
    )
    refusal = kernels_for("FULLY_CONNECTED")[0].refusal(replace(case.let, call=call), ANY_TARGET)
    assert refusal == "the weights are computed at run time, supported are constants"


def test_more_than_five_loops() -> None:
    value = np.zeros((2, 3, 2, 3, 2, 3), np.int8)
    operand = Operand(type=_int8(value.shape, 1.0), data=value)
    permutation = (5, 4, 3, 2, 1, 0)
    case = layer("TRANSPOSE", TransposeAttrs(permutation=permutation), (operand,), operand.type)
    assert _refusals(case) == ["the shapes need 6 nested loops, the portable kernels have 5"]


def test_axes_that_belong_together_count_once() -> None:
    value = np.zeros((2, 3, 2, 3, 2, 3), np.int8)
    operand = Operand(type=_int8(value.shape, 1.0), data=value)
    case = layer("TRANSPOSE", TransposeAttrs(permutation=(3, 4, 5, 0, 1, 2)), (operand,), operand.type)
    assert _refusals(case) == [None]


def test_factor_out_of_range() -> None:
    argument, result = _int8((2,), 1e6), _int8((2,), 1e-6)
    call = Call(op=OPS["QUANTIZE"], args=(Var(name="in0", type=argument),), attrs=Attrs())
    refusals = [
        kernel.refusal(Let(var=Var(name="q", type=result), call=call), ANY_TARGET)
        for kernel in kernels_for("QUANTIZE")
    ]
    assert refusals[0] is not None and "between quantisations" in refusals[0]


def test_long_int8_softmax() -> None:
    operand = Operand(type=_int8((4096,), 0.1), data=np.zeros(4096, np.int8))
    result = TensorType(
        shape=(), dtype=DType.INT8, quantization=Quantization(scales=(1 / 256,), zero_points=(-128,))
    )
    case = layer("SOFTMAX", SoftmaxAttrs(), (operand,), result)
    assert _refusals(case)[0] == (
        "a softmax over 4096 int8 elements overflows TFLite's fixed-point sum, supported are fewer than 4096"
    )


def test_int64_padding_with_unlike_bytes() -> None:
    type_ = TensorType(shape=(2,), dtype=DType.INT64)
    operand = Operand(type=type_, data=np.zeros(2, np.int64))
    refused = layer("PAD", PadAttrs(paddings=((1, 1),), value=5.0), (operand,), type_)
    assert _refusals(refused) == ["padding int64 with 5 is not supported, only with 0 and -1"]
    taken = layer("PAD", PadAttrs(paddings=((1, 1),), value=-1.0), (operand,), type_)
    assert _refusals(taken) == [None]


def test_reshape_of_a_constant() -> None:
    case = random_layer("RESHAPE", DType.INT8, 0)
    value = case.values[0]
    assert value is not None
    operand = Operand(type=case.let.var.type, data=value.reshape(-1), constant=True)
    constant = layer("RESHAPE", case.let.call.attrs, (operand,), case.let.var.type)
    assert _refusals(constant) == ["RESHAPE of a constant: it should have been folded into another constant"]


def test_mean_tells_sub_steps_and_workspace() -> None:
    for seed in range(20):
        case = random_layer("MEAN", DType.INT8, seed)
        function = bind(case)
        assert (function.sub_steps, function.argument_stops, function.result_start) == (2, (1,), 1)
        (space,) = function.workspaces
        assert (space.start, space.stop, space.size_bytes) == (0, 2, 4 * case.let.var.type.elements)


@pytest.mark.parametrize("op", ["CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"])
def test_macs_are_the_operator_s(op: str) -> None:
    case = random_layer(op, DType.INT8, 3)
    types = tuple(None if arg is None else arg.type for arg in case.let.call.args)
    assert bind(case).macs == case.let.call.op.macs(case.let.call.attrs, types, case.let.var.type) > 0


def test_sources_exist_and_float_means_need_no_workspace() -> None:
    assert {op for op, _ in CASES} == set(supported_ops())
    for op, dtype in CASES:
        function = bind(random_layer(op, dtype, 0))
        assert all((folder("runtime_c") / source).is_file() for source in function.sources)
    assert bind(random_layer("MEAN", DType.FLOAT32, 0)).workspaces == ()
