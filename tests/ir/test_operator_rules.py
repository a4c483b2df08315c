"""Short ways to write tensor types in tests.
What `check` rejects, and how it says so.
Result shapes and multiply-accumulates, by hand.
"""

import numpy as np
import pytest

from codegen.ir import DType, Quantization, TensorType
from codegen.ir.ops import (
    OPS,
    Activation,
    Attrs,
    BinaryAttrs,
    ConcatAttrs,
    ConvAttrs,
    DepthwiseConvAttrs,
    FullyConnectedAttrs,
    LeakyReluAttrs,
    MeanAttrs,
    PadAttrs,
    Padding2D,
    PoolAttrs,
    ReshapeAttrs,
    RoundedAttrs,
    SoftmaxAttrs,
    StridedSliceAttrs,
    TransposeAttrs,
)


def i8(*shape: int, scale: float = 0.5, zero_point: int = 0) -> TensorType:
    """int8, quantised per tensor; the scale is rounded to float32."""
    quantization = Quantization(scales=(float(np.float32(scale)),), zero_points=(zero_point,))
    return TensorType(shape=shape, dtype=DType.INT8, quantization=quantization)


def i8_channels(*shape: int, scales: tuple[float, ...], axis: int, zero_point: int = 0) -> TensorType:
    """int8, quantised along `axis`."""
    exact = tuple(float(np.float32(scale)) for scale in scales)
    quantization = Quantization(scales=exact, zero_points=(zero_point,) * len(exact), axis=axis)
    return TensorType(shape=shape, dtype=DType.INT8, quantization=quantization)


def i32(*shape: int, scale: float | None = None) -> TensorType:
    """int32, with a scale if given."""
    quantization = None if scale is None else Quantization(scales=(scale,), zero_points=(0,))
    return TensorType(shape=shape, dtype=DType.INT32, quantization=quantization)


def f32(*shape: int) -> TensorType:
    """float32."""
    return TensorType(shape=shape, dtype=DType.FLOAT32)


def i16(*shape: int, scale: float | None = None, zero_point: int = 0) -> TensorType:
    """int16, quantised per tensor if a scale is given."""
    quantization = None if scale is None else Quantization(scales=(scale,), zero_points=(zero_point,))
    return TensorType(shape=shape, dtype=DType.INT16, quantization=quantization)


IMAGE, WEIGHTS, RESULT = i8(1, 4, 4, 2), i8(3, 1, 1, 2), i8(1, 4, 4, 3)
ROWS, MATRIX, PRODUCT = i8(2, 4, scale=0.1), i8(3, 4, scale=0.02), i8(2, 3, scale=0.05)
PROBABILITY = i8(4, scale=1 / 256, zero_point=-128)
POOL = PoolAttrs(window=(2, 2))
SLICE = StridedSliceAttrs(begins=(1,), strides=(2,), counts=(2,), shape=(2,))
IMAGE16 = i16(1, 4, 4, 2)
CONV, CONV6, DEPTHWISE = ConvAttrs(), ConvAttrs(activation=Activation.RELU6), DepthwiseConvAttrs()
CONNECTED, KEPT = FullyConnectedAttrs(), FullyConnectedAttrs(keep_num_dims=True)
REJECTED: list[tuple[str, Attrs, list[TensorType | None], TensorType, str]] = [
    ("CONV_2D", CONV, [IMAGE], RESULT, "has 1 inputs, needs 2 to 3"),
    ("CONV_2D", CONV, [IMAGE, None], RESULT, "the weights is missing"),
    ("CONV_2D", BinaryAttrs(), [IMAGE, WEIGHTS], RESULT, "BinaryAttrs, the operator takes ConvAttrs"),
    ("CONV_2D", CONV, [i8(4, 4, 2), WEIGHTS], RESULT, r"shape \[4, 4, 2\], needs 4 dimensions"),
    ("CONV_2D", CONV, [IMAGE, i8(3, 1, 1, 4)], RESULT, "do not fit an image of 2 channels"),
    ("CONV_2D", CONV, [IMAGE, i8(3, 1, 1, 1)], RESULT, "do not fit an image of 2 channels"),
    ("CONV_2D", CONV, [IMAGE, i8(3, 5, 1, 2)], RESULT, "window of 5x1 does not fit an image of 4x4"),
    ("CONV_2D", ConvAttrs(stride=(0, 1)), [IMAGE, WEIGHTS], RESULT, "must be positive"),
    ("CONV_2D", CONV, [IMAGE, WEIGHTS], i8(1, 4, 4, 2), r"result shape is \[1, 4, 4, 2\], the operator"),
    ("CONV_2D", CONV, [IMAGE16, WEIGHTS], RESULT, "the result is int8, supported is int16"),
    ("CONV_2D", CONV, [i32(1, 4, 4, 2), WEIGHTS], RESULT, "is int32, supported is int8 or int16 or"),
    ("CONV_2D", CONV, [IMAGE16, WEIGHTS], i16(1, 4, 4, 3), "image is int16 without a scale"),
    (
        "CONV_2D",
        CONV,
        [i16(1, 4, 4, 2, scale=64.0), WEIGHTS],
        i16(1, 4, 4, 3, scale=0.25),
        "a shift of 8 between quantisations is too large for an int16 kernel with 64-bit sums",
    ),
    (
        "DEPTHWISE_CONV_2D",
        DEPTHWISE,
        [i16(1, 4, 4, 2, scale=0.5), i8(1, 1, 1, 2), i32(2)],
        i16(1, 4, 4, 2, scale=0.5),
        "bias is int32, supported is int64",
    ),
    (
        "ADD",
        BinaryAttrs(),
        [i16(2, scale=0.5), i16(2, scale=0.5, zero_point=1)],
        i16(2, scale=0.5),
        "the second argument is int16 with zero point 1, supported is 0",
    ),
    ("ELU", Attrs(), [i16(2, scale=0.5)], i16(2, scale=0.5), "is int16, supported is int8 or flo"),
    ("CONV_2D", CONV, [f32(1, 4, 4, 2), WEIGHTS], RESULT, "weights is int8, supported is float32"),
    ("CONV_2D", CONV, [IMAGE, WEIGHTS, f32(3)], RESULT, "bias is float32, supported is int32"),
    ("CONV_2D", CONV, [IMAGE, WEIGHTS, i32(2)], RESULT, "bias has 2 elements for 3 output channels"),
    (
        "CONV_2D",
        CONV,
        [i16(1, 4, 4, 2, scale=0.5), i8(3, 1, 1, 2, zero_point=1)],
        i16(1, 4, 4, 3, scale=0.5),
        "zero point other",
    ),
    ("CONV_2D", CONV, [i8(1, 4, 4, 2, zero_point=200), WEIGHTS], RESULT, "zero point 200 of the image"),
    (
        "CONV_2D",
        CONV,
        [IMAGE, i8_channels(3, 1, 1, 2, scales=(0.5, 0.5), axis=3)],
        RESULT,
        "2 scales for 3 output channels",
    ),
    ("CONV_2D", CONV, [i8(1, 4, 4, 2, scale=1e9), WEIGHTS], i8(1, 4, 4, 3, scale=1e-9), "too large"),
    (
        "CONV_2D",
        CONV6,
        [i8(1, 4, 4, 2, scale=1e-9), WEIGHTS],
        i8(1, 4, 4, 3, scale=1e-9),
        "too small for an activation limit of 6",
    ),
    (
        "CONV_2D",
        CONV,
        [i8(1, 4, 4, 3), i8_channels(3, 1, 1, 3, scales=(0.5,) * 3, axis=3)],
        RESULT,
        "quantised along axis 3, supported is 0",
    ),
    (
        "DEPTHWISE_CONV_2D",
        DepthwiseConvAttrs(multiplier=2),
        [IMAGE, i8(1, 1, 1, 3)],
        RESULT,
        "2 channels and a multiplier of 2",
    ),
    ("FULLY_CONNECTED", CONNECTED, [i8(2, 3), MATRIX], PRODUCT, "do not fit an image of 6 elements"),
    ("FULLY_CONNECTED", KEPT, [i8(2, 2, 2), MATRIX], PRODUCT, r"do not fit an image of shape \[2, 2, 2\]"),
    (
        "FULLY_CONNECTED",
        CONNECTED,
        [ROWS, MATRIX, i32(3, scale=0.003)],
        PRODUCT,
        "the bias has scale 0.003, image and weights give 0.002",
    ),
    ("FULLY_CONNECTED", CONNECTED, [ROWS, MATRIX, i32(3)], PRODUCT, "the bias has scale 0,"),
    ("AVERAGE_POOL_2D", POOL, [i8(1, 2, 2, 1)], i8(1, 1, 1, 1, scale=0.25), "must be quantised alike"),
    ("MAX_POOL_2D", POOL, [i8(1, 2, 2, 1)], i8(1, 1, 1, 1, zero_point=3), "must be quantised alike"),
    (
        "MAX_POOL_2D",
        PoolAttrs(window=(2, 2), padding=Padding2D(top=2)),
        [f32(1, 2, 2, 1)],
        f32(1, 3, 1, 1),
        "without any element",
    ),
    ("MEAN", MeanAttrs(axes=(2, 1)), [f32(1, 2, 2, 1)], f32(1, 1), "do not fit shape"),
    ("MEAN", MeanAttrs(axes=(1,)), [f32(2, 0)], f32(2), "has no elements"),
    ("ADD", BinaryAttrs(), [f32(2, 3), f32(2)], f32(2, 3), "do not broadcast"),
    ("ADD", BinaryAttrs(), [i8(2), f32(2)], i8(2), "second argument is float32, the first argument int8"),
    ("ADD", BinaryAttrs(), [i8(2), i8(2)], i8(2, scale=1e-7), "must be above 0 and below 1"),
    ("SUB", BinaryAttrs(), [i8(2), i8(2)], i8(2, scale=1e-7), "must be above 0 and below 1"),
    ("MUL", BinaryAttrs(), [i8(2, scale=1e9), i8(2)], i8(2, scale=1e-9), "too large"),
    ("CONCATENATION", ConcatAttrs(axis=0), [i8(2), i8(2, scale=0.25)], i8(4), "input 1 is not quantised as"),
    ("CONCATENATION", ConcatAttrs(axis=1), [f32(2, 1), f32(3, 1)], f32(2, 2), "differ in more than axis 1"),
    ("CONCATENATION", ConcatAttrs(axis=2), [f32(2, 1)], f32(2, 1), "axis 2 does not fit"),
    ("PAD", PadAttrs(paddings=((0, 1),)), [f32(2, 3)], f32(3, 3), "paddings"),
    ("PAD", PadAttrs(paddings=((0, 1),), value=200), [i8(2)], i8(3), "pad value 200 is no int8"),
    ("PAD", PadAttrs(paddings=((0, 1),)), [f32(2)], i8(3), "input 0 is float32, the result int8"),
    ("RESHAPE", ReshapeAttrs(shape=(4,)), [f32(2, 3)], f32(4), r"shape \[2, 3\] cannot become \[4\]"),
    ("TRANSPOSE", TransposeAttrs(permutation=(0, 0)), [f32(2, 3)], f32(2, 2), "no permutation"),
    ("STRIDED_SLICE", SLICE, [f32(3)], f32(2), "leaves an axis of 3"),
    ("SOFTMAX", SoftmaxAttrs(), [f32()], f32(), "no axis"),
    ("SOFTMAX", SoftmaxAttrs(beta=0.0), [f32(4)], f32(4), "beta must be positive"),
    ("SOFTMAX", SoftmaxAttrs(), [i8(4)], i8(4), "scale 1/256 zero point -128"),
    (
        "SOFTMAX",
        SoftmaxAttrs(),
        [i16(4, scale=0.5)],
        i16(4, scale=0.5),
        "an int16 result has scale 1/32768 zero point 0",
    ),
    (
        "SOFTMAX",
        SoftmaxAttrs(beta=99.0),
        [i16(4, scale=0.5)],
        i16(4, scale=2**-15),
        "too large for int16 softmax",
    ),
    ("TANH", Attrs(), [i16(4, scale=3.0)], i16(4, scale=2**-15), "outside what the int16 kernel can apply"),
    ("SOFTMAX", SoftmaxAttrs(), [i8(4, scale=1e-9)], PROBABILITY, "too small for an int8 softmax"),
    ("LOGISTIC", Attrs(), [i8(4)], i8(4, scale=1 / 256), "scale 1/256 zero point -128"),
    ("TANH", Attrs(), [i8(4)], i8(4, scale=1 / 256), "scale 1/128 zero point 0"),
    ("RELU", Attrs(), [i8(4, scale=1e9)], i8(4, scale=1e-9), "too large"),
    ("RELU6", Attrs(), [i8(4, scale=1e-9)], i8(4, scale=1e-9), "activation limit of 6"),
    ("LEAKY_RELU", LeakyReluAttrs(alpha=1e12), [i8(4)], i8(4), "too large"),
    ("LEAKY_RELU", LeakyReluAttrs(alpha=0.1), [i8(4)], f32(4), "the result is float32, the argument int8"),
    ("QUANTIZE", RoundedAttrs(), [f32(4)], f32(4), "the result is float32, supported is int8 or int16"),
    ("QUANTIZE", RoundedAttrs(), [i8(4, scale=1e9)], i8(4, scale=1e-9), "too large"),
    ("DEQUANTIZE", Attrs(), [f32(4)], f32(4), "the argument is float32, supported is int8 or int16 or int32"),
]


@pytest.mark.parametrize(("name", "attrs", "args", "result", "text"), REJECTED)
def test_rejected_with_the_reason(
    name: str, attrs: Attrs, args: list[TensorType | None], result: TensorType, text: str
) -> None:
    with pytest.raises(ValueError, match=text):
        OPS[name].check(attrs, args, result)


def test_int8_without_a_scale_is_rejected() -> None:
    bare = TensorType(shape=(4,), dtype=IMAGE.dtype)
    with pytest.raises(ValueError, match="the argument is int8 without a scale"):
        OPS["RELU"].check(Attrs(), [bare], i8(4))
    channels = i8_channels(4, scales=(0.5,) * 4, axis=0)
    with pytest.raises(ValueError, match="quantised per channel, supported is per tensor"):
        OPS["RELU"].check(Attrs(), [channels], i8(4))
    weights = TensorType(shape=WEIGHTS.shape, dtype=WEIGHTS.dtype)
    with pytest.raises(ValueError, match="the weights are int8 without a scale"):
        OPS["CONV_2D"].check(ConvAttrs(), [IMAGE, weights], RESULT)


SAME3 = Padding2D(top=1, bottom=1, left=1, right=1)
CASES: list[tuple[str, Attrs, list[TensorType], tuple[int, ...], int]] = [
    (
        "CONV_2D",
        ConvAttrs(padding=SAME3),
        [f32(1, 5, 7, 3), f32(4, 3, 3, 3), f32(4)],
        (1, 5, 7, 4),
        5 * 7 * 4 * 27,
    ),
    (
        "CONV_2D",
        ConvAttrs(stride=(2, 1)),
        [f32(2, 6, 5, 1), f32(2, 2, 3, 1)],
        (2, 3, 3, 2),
        2 * 3 * 3 * 2 * 6,
    ),
    ("CONV_2D", ConvAttrs(dilation=(2, 1)), [f32(1, 5, 5, 4), f32(6, 2, 2, 2)], (1, 3, 4, 6), 3 * 4 * 6 * 8),
    (
        "DEPTHWISE_CONV_2D",
        DepthwiseConvAttrs(multiplier=2, stride=(2, 2), padding=Padding2D(bottom=1, right=1)),
        [f32(1, 4, 4, 3), f32(1, 3, 3, 6)],
        (1, 2, 2, 6),
        4 * 6 * 9,
    ),
    ("FULLY_CONNECTED", CONNECTED, [f32(2, 3, 4), f32(5, 4)], (6, 5), 120),
    ("FULLY_CONNECTED", CONNECTED, [f32(2, 3, 4), f32(5, 12)], (2, 5), 120),
    ("FULLY_CONNECTED", KEPT, [f32(2, 3, 4), f32(5, 4)], (2, 3, 5), 120),
    ("AVERAGE_POOL_2D", PoolAttrs(window=(2, 3), stride=(2, 2)), [f32(1, 5, 7, 3)], (1, 2, 3, 3), 0),
    ("MAX_POOL_2D", PoolAttrs(window=(3, 3), padding=SAME3), [f32(1, 2, 2, 1)], (1, 2, 2, 1), 0),
    ("MEAN", MeanAttrs(axes=(1, 2)), [f32(2, 3, 4, 5)], (2, 5), 0),
    ("MEAN", MeanAttrs(axes=(0, 3), keep_dims=True), [f32(2, 3, 4, 5)], (1, 3, 4, 1), 0),
    ("ADD", BinaryAttrs(), [f32(2, 1, 3), f32(4, 1)], (2, 4, 3), 0),
    ("SUB", BinaryAttrs(), [f32(), f32(2, 2)], (2, 2), 0),
    ("MUL", BinaryAttrs(), [f32(5), f32(2, 3, 1, 4, 1)], (2, 3, 1, 4, 5), 0),
    ("CONCATENATION", ConcatAttrs(axis=1), [f32(2, 3), f32(2, 1), f32(2, 2)], (2, 6), 0),
    ("PAD", PadAttrs(paddings=((0, 1), (2, 0))), [f32(2, 3)], (3, 5), 0),
    ("RESHAPE", ReshapeAttrs(shape=(3, 4)), [f32(2, 6)], (3, 4), 0),
    ("TRANSPOSE", TransposeAttrs(permutation=(2, 0, 1)), [f32(2, 3, 4)], (4, 2, 3), 0),
    (
        "STRIDED_SLICE",
        StridedSliceAttrs(begins=(1, 4), strides=(1, -2), counts=(1, 3), shape=(3,)),
        [f32(2, 5)],
        (3,),
        0,
    ),
    ("SOFTMAX", SoftmaxAttrs(), [f32(2, 3)], (2, 3), 0),
    ("LOGISTIC", Attrs(), [f32(2, 3)], (2, 3), 0),
]


@pytest.mark.parametrize(("name", "attrs", "args", "shape", "macs"), CASES)
def test_shapes_and_macs(
    name: str, attrs: Attrs, args: list[TensorType], shape: tuple[int, ...], macs: int
) -> None:
    op = OPS[name]
    assert op.result_shape(attrs, args) == shape
    op.check(attrs, args, f32(*shape))
    assert op.macs(attrs, args, f32(*shape)) == macs


def test_every_operator_is_found_by_its_name_and_has_its_own_short_name() -> None:
    assert all(op.name == name and repr(op) == name for name, op in OPS.items())
    assert len({op.short for op in OPS.values()}) == len(OPS)


@pytest.mark.parametrize(
    ("extent", "window", "stride"), [(n, k, s) for n in (4, 5, 9) for k in (1, 2, 3) for s in (1, 2, 3)]
)
def test_same_padding_made_explicit_gives_tflites_extent(extent: int, window: int, stride: int) -> None:
    """TFLite, SAME: ceil(extent / stride); padding max((result - 1) * stride + window - extent, 0)."""
    expected = -(-extent // stride)
    total = max((expected - 1) * stride + window - extent, 0)
    padding = Padding2D(left=total // 2, right=total - total // 2)
    attrs = PoolAttrs(window=(1, window), stride=(1, stride), padding=padding)
    assert OPS["MAX_POOL_2D"].result_shape(attrs, [f32(1, 1, extent, 1)]) == (1, 1, expected, 1)
