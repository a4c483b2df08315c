"""Result shapes and multiply-accumulates, by hand."""

import pytest

from codegen.ir import TensorType
from codegen.ir.ops import (
    OPS,
    Attrs,
    BinaryAttrs,
    ConcatAttrs,
    ConvAttrs,
    DepthwiseConvAttrs,
    FullyConnectedAttrs,
    MeanAttrs,
    PadAttrs,
    Padding2D,
    PoolAttrs,
    ReshapeAttrs,
    SoftmaxAttrs,
    StridedSliceAttrs,
    TransposeAttrs,
)
from tests.ir.ops.typed import f32

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
    ("FULLY_CONNECTED", FullyConnectedAttrs(), [f32(2, 3, 4), f32(5, 4)], (6, 5), 120),
    ("FULLY_CONNECTED", FullyConnectedAttrs(), [f32(2, 3, 4), f32(5, 12)], (2, 5), 120),
    ("FULLY_CONNECTED", FullyConnectedAttrs(keep_num_dims=True), [f32(2, 3, 4), f32(5, 4)], (2, 3, 5), 120),
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
