"""Passes keep the module's meaning and every surviving value's device."""

import numpy as np
import pytest
from hypothesis import given

from codegen.ir import DType, Module, Quantization, TensorType, Var, VirtualDevice
from codegen.ir.builder import Builder
from codegen.ir.evaluate import evaluate
from codegen.ir.ops import (
    OPS,
    Activation,
    Attrs,
    BinaryAttrs,
    ConvAttrs,
    PadAttrs,
    Padding2D,
    ReshapeAttrs,
    TransposeAttrs,
)
from codegen.passes import (
    FoldConstants,
    FoldPad,
    FuseActivations,
    IoTypesInt8,
    Legalise,
    Pass,
    Reduce,
    RemoveDead,
    run_passes,
)
from tests.ir.strategies import modules

ALL: tuple[Pass, ...] = (FoldConstants(), FoldPad(), FuseActivations(), RemoveDead(), Legalise(), Reduce())
Q = Quantization(scales=(0.5,), zero_points=(-3,))
IMAGE = TensorType(shape=(1, 5, 4, 2), dtype=DType.INT8, quantization=Q)


def _inputs(module: Module) -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    return [rng.integers(-128, 128, p.type.shape).astype(p.type.dtype.numpy) for p in module.main.params]


@given(modules())
def test_outputs_stay_equal(module: Module) -> None:
    inputs = _inputs(module)
    before = evaluate(module, module.main, inputs)
    for each in ALL:
        module = run_passes(module, (each,))
        after = evaluate(module, module.main, inputs)
        assert all(np.array_equal(one, two) for one, two in zip(before, after, strict=True)), each.name


@given(modules())
def test_surviving_values_keep_their_device(module: Module) -> None:
    before = {var.name: var.device for var in module.main.variables()}
    for each in ALL:
        module = run_passes(module, (each,))
        for var in module.main.variables():
            assert var.device == before[var.name], (each.name, var.name)


def _conv_module(pad_value: float, paddings: tuple[tuple[int, int], ...]) -> Module:
    builder = Builder()
    image = builder.param("image", IMAGE)
    grown = tuple(e + a + b for e, (a, b) in zip(IMAGE.shape, paddings, strict=True))
    padded_type = TensorType(shape=grown, dtype=DType.INT8, quantization=Q)
    padded = builder.call(OPS["PAD"], [image], PadAttrs(paddings=paddings, value=pad_value), padded_type)
    weight_q = Quantization(scales=(0.1, 0.2, 0.3), zero_points=(0, 0, 0), axis=0)
    weights = np.arange(-27, 27, dtype=np.int8).reshape(3, 3, 3, 2)
    bias = np.array([1, -2, 3], np.int32)
    attrs = ConvAttrs(padding=Padding2D(top=1, left=0, bottom=0, right=1))
    result = TensorType(shape=(1, grown[1] + 1 - 2, grown[2] + 1 - 2, 3), dtype=DType.INT8, quantization=Q)
    args = [padded, builder.constant(weights, quantization=weight_q), builder.constant(bias)]
    return builder.build([builder.call(OPS["CONV_2D"], args, attrs, result)])


def test_pad_of_zero_points_becomes_the_convolutions_padding() -> None:
    module = _conv_module(-3, ((0, 0), (1, 2), (0, 3), (0, 0)))
    folded = run_passes(module, (FoldPad(), RemoveDead()))
    (conv,) = folded.main.body
    assert isinstance(conv.call.attrs, ConvAttrs)
    assert conv.call.attrs.padding == Padding2D(top=2, bottom=2, left=0, right=4)
    inputs = _inputs(module)
    assert np.array_equal(evaluate(module, module.main, inputs)[0], evaluate(folded, folded.main, inputs)[0])


@pytest.mark.parametrize("value", [0, -4])
def test_pad_of_another_value_stays(value: int) -> None:
    module = _conv_module(value, ((0, 0), (1, 1), (1, 1), (0, 0)))
    assert len(run_passes(module, (FoldPad(), RemoveDead())).main.body) == 2


def test_relu_is_fused_only_without_requantization() -> None:
    for same in (True, False):
        builder = Builder()
        image = builder.param("image", IMAGE)
        total = builder.call(OPS["ADD"], [image, image], BinaryAttrs(), IMAGE)
        other = (
            IMAGE
            if same
            else TensorType(
                shape=IMAGE.shape,
                dtype=DType.INT8,
                quantization=Quantization(scales=(0.25,), zero_points=(0,)),
            )
        )
        module = builder.build([builder.call(OPS["RELU"], [total], Attrs(), other)])
        fused = run_passes(module, (FuseActivations(),))
        assert len(fused.main.body) == (1 if same else 2)
        inputs = _inputs(module)
        assert np.array_equal(
            evaluate(module, module.main, inputs)[0], evaluate(fused, fused.main, inputs)[0]
        )
        if same:
            attrs = fused.main.body[0].call.attrs
            assert isinstance(attrs, BinaryAttrs)
            assert attrs.activation is Activation.RELU


def test_relu_is_not_fused_into_a_value_read_twice() -> None:
    builder = Builder()
    image = builder.param("image", IMAGE)
    total = builder.call(OPS["ADD"], [image, image], BinaryAttrs(), IMAGE)
    clipped = builder.call(OPS["RELU"], [total], Attrs(), IMAGE)
    module = builder.build([total, clipped])
    assert len(run_passes(module, (FuseActivations(),)).main.body) == 2


def test_folding_keeps_the_memory_scope() -> None:
    """A folded value must not move to the default memory: its scope goes to the constant."""
    builder = Builder()
    builder.param("image", IMAGE)
    constant = builder.constant(np.zeros(IMAGE.shape, np.int8), quantization=Q)
    device = VirtualDevice(memory_scope="dtcm")
    total = builder.call(OPS["ADD"], [constant, constant], BinaryAttrs(), IMAGE, device=device)
    module = run_passes(builder.build([total]), (FoldConstants(),))
    assert module.main.body == ()
    assert [constant.memory_scope for constant in module.constants.values()] == ["dtcm"]


def test_float_edges_become_int8() -> None:
    builder = Builder()
    floats = TensorType(shape=(1, 4), dtype=DType.FLOAT32)
    ints = TensorType(shape=(1, 4), dtype=DType.INT8, quantization=Q)
    x = builder.param("x", floats)
    quantised = builder.call(OPS["QUANTIZE"], [x], Attrs(), ints)
    relu = builder.call(OPS["RELU"], [quantised], Attrs(), ints)
    module = builder.build([builder.call(OPS["DEQUANTIZE"], [relu], Attrs(), floats)])
    exposed = run_passes(module, (IoTypesInt8(), RemoveDead()))
    assert [let.call.op.name for let in exposed.main.body] == ["RELU"]
    assert [param.type for param in exposed.main.params] == [ints]
    (result,) = exposed.main.results
    assert isinstance(result, Var) and result.type == ints


def test_float_input_with_a_second_reader_stays_float() -> None:
    builder = Builder()
    floats = TensorType(shape=(1, 4), dtype=DType.FLOAT32)
    ints = TensorType(shape=(1, 4), dtype=DType.INT8, quantization=Q)
    x = builder.param("x", floats)
    quantised = builder.call(OPS["QUANTIZE"], [x], Attrs(), ints)
    module = builder.build([quantised, x])
    assert run_passes(module, (IoTypesInt8(),)) == module


def test_moves_of_unit_axes_become_reshapes() -> None:
    builder = Builder()
    image = builder.param("image", TensorType(shape=(1, 5, 1, 2), dtype=DType.INT8, quantization=Q))
    turned = TensorType(shape=(5, 1, 1, 2), dtype=DType.INT8, quantization=Q)
    moved = builder.call(OPS["TRANSPOSE"], [image], TransposeAttrs(permutation=(1, 0, 2, 3)), turned)
    swapped_type = TensorType(shape=(2, 1, 1, 5), dtype=DType.INT8, quantization=Q)
    swapped = builder.call(OPS["TRANSPOSE"], [moved], TransposeAttrs(permutation=(3, 1, 2, 0)), swapped_type)
    body = run_passes(builder.build([swapped]), (Legalise(),)).main.body
    assert [let.call.op.name for let in body] == ["RESHAPE", "TRANSPOSE"]
    assert isinstance(body[0].call.attrs, ReshapeAttrs)
