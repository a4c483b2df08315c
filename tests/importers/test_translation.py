"""What each operator becomes: resolved attributes, types, constants."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.importers.tflite.writing.writer import ModelBuilder
from codegen.ir import ConstRef, DType, ops
from codegen.ir.evaluate import evaluate
from tests.importers.samples import EVERYTHING_OPS, Patch, complaint, everything, imported, one_op, step
from tests.sampling import examples
from tests.tensor_types import per_channel


def _zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.float32)


def test_everything_at_once() -> None:
    module = imported(everything())
    main = module.main
    assert len(main.body) == EVERYTHING_OPS
    assert [param.name for param in main.params] == ["input_1"]
    assert main.params[0].type.shape == (1, 6, 5, 2)
    assert [result.name for result in main.results if not isinstance(result, ConstRef)] == [
        "softmax16",
        "logistic19",
    ]
    assert all(not constant.data.flags.writeable for constant in module.constants.values())


def test_constants_keep_data_type_and_origin() -> None:
    module = imported(everything())
    conv = module.main.body[1]
    weights, bias = conv.call.args[1:]
    assert isinstance(weights, ConstRef) and isinstance(bias, ConstRef)
    constant = module.constants[weights.id]
    assert constant.origin == "c/w"
    assert constant.type.quantization == per_channel(
        tuple(float(np.float32(0.01 * (i + 1))) for i in range(4))
    )
    expected = np.random.default_rng(1).integers(-127, 128, (4, 3, 3, 2)).astype(np.int8)
    assert np.array_equal(constant.data, expected)
    assert module.constants[bias.id].data.tolist() == [0, 1, 2, 3]
    assert module.constants[bias.id].type.dtype is DType.INT32


def test_convolution_options() -> None:
    data = one_op(
        "CONV_2D",
        (1, 9, 8, 2),
        (1, 3, 4, 5),
        (_zeros(5, 3, 2, 2), _zeros(5)),
        padding="VALID",
        stride_h=2,
        stride_w=1,
        dilation_h=2,
        dilation_w=4,
        activation="relu_n1_to_1",
    )
    let = step(data)
    assert let.call.attrs == ops.ConvAttrs(
        stride=(2, 1), dilation=(2, 4), activation=ops.Activation.RELU_N1_TO_1
    )
    assert len(let.call.args) == 3


def test_left_out_bias() -> None:
    model = ModelBuilder()
    x, y = model.tensor("x", (1, 4), "float32"), model.tensor("y", (1, 2), "float32")
    weights = model.tensor("w", (2, 4), "float32", data=_zeros(2, 4))
    model.op("FULLY_CONNECTED", [x, weights, None], [y])
    model.inputs(x)
    model.outputs(y)
    assert step(model.build()).call.args[2] is None


def test_depthwise_multiplier_comes_from_the_shapes() -> None:
    arguments = ("DEPTHWISE_CONV_2D", (1, 4, 4, 2), (1, 4, 4, 6), (_zeros(1, 1, 1, 6),))
    for declared in (0, 3):
        let = step(one_op(*arguments, padding="SAME", depth_multiplier=declared))
        assert let.call.attrs == ops.DepthwiseConvAttrs(multiplier=3)


def test_keep_num_dims() -> None:
    let = step(one_op("FULLY_CONNECTED", (1, 3, 4), (1, 3, 2), (_zeros(2, 4),), keep_num_dims=True))
    assert let.call.attrs == ops.FullyConnectedAttrs(keep_num_dims=True)


@given(st.integers(1, 30), st.integers(1, 7), st.integers(1, 5))
@settings(max_examples=examples(60), deadline=None)
def test_same_padding(extent: int, window: int, stride: int) -> None:
    """The definition of SAME: ceil(extent / stride) results, padding even, an odd element after.

    Taps that never meet the image are cut, so the window itself may be smaller.
    """
    count = -(-extent // stride)
    data = one_op(
        "MAX_POOL_2D",
        (1, extent, 1, 1),
        (1, count, 1, 1),
        padding="SAME",
        filter_height=window,
        filter_width=1,
        stride_h=stride,
        stride_w=1,
    )
    attrs = step(data).call.attrs
    assert isinstance(attrs, ops.PoolAttrs)
    padding = attrs.padding
    assert (padding.left, padding.right) == (0, 0)
    total = max(0, (count - 1) * stride + window - extent)
    for result in range(count):
        given_at = result * stride - total // 2
        taken_at = result * attrs.stride[0] - padding.top
        of_file = range(max(given_at, 0), min(given_at + window, extent))
        assert of_file == range(max(taken_at, 0), min(taken_at + attrs.window[0], extent))
    covered = (count - 1) * attrs.stride[0] + attrs.window[0]
    assert extent + padding.top + padding.bottom == max(covered, extent)


def test_same_padding_of_a_dilated_window() -> None:
    data = one_op(
        "CONV_2D", (1, 8, 7, 1), (1, 4, 7, 1), (_zeros(1, 3, 2, 1),), padding="SAME", stride_h=2, dilation_h=2
    )
    attrs = step(data).call.attrs
    # Rows reach over (4 - 1) * 2 + (3 - 1) * 2 + 1 = 11 of 8, columns over 8 of 7.
    assert isinstance(attrs, ops.ConvAttrs)
    assert attrs.padding == ops.Padding2D(top=1, bottom=2, left=0, right=1)


@pytest.mark.parametrize(
    ("wanted", "result"),
    [([3, 4], (3, 4)), ([-1], (12,)), ([2, -1, 3], (2, 2, 3)), ([1, 12, 1], (1, 12, 1))],
)
def test_reshape_operand(wanted: list[int], result: tuple[int, ...]) -> None:
    assert step(one_op("RESHAPE", (2, 6), result, (wanted,))).call.attrs == ops.ReshapeAttrs(shape=result)


def test_reshape_by_its_options() -> None:
    let = step(one_op("RESHAPE", (2, 6), (3, 4), new_shape=[3, -1]))
    assert let.call.attrs == ops.ReshapeAttrs(shape=(3, 4))
    assert step(one_op("RESHAPE", (1, 1), (), new_shape=[0])).call.attrs == ops.ReshapeAttrs(shape=())


def test_reshape_to_a_scalar_by_an_empty_operand() -> None:
    assert step(one_op("RESHAPE", (1, 1), (), (np.zeros(0, np.int32),))).call.attrs == ops.ReshapeAttrs(
        shape=()
    )


def test_squeeze_and_expand_dims_are_reshapes() -> None:
    squeezed = step(one_op("SQUEEZE", (1, 3, 1, 2), (1, 3, 2), squeeze_dims=[-2]))
    assert squeezed.call.attrs == ops.ReshapeAttrs(shape=(1, 3, 2))
    assert step(one_op("SQUEEZE", (1, 3, 1, 2), (3, 2))).call.attrs == ops.ReshapeAttrs(shape=(3, 2))
    expanded = step(one_op("EXPAND_DIMS", (3, 2), (3, 2, 1), (np.array([-1], np.int64),)))
    assert expanded.call.attrs == ops.ReshapeAttrs(shape=(3, 2, 1))
    assert expanded.var.name == "reshape0"


def test_negative_axes() -> None:
    mean = step(one_op("MEAN", (1, 3, 4, 2), (1, 1, 1, 2), ([-2, 1],), keep_dims=True))
    assert mean.call.attrs == ops.MeanAttrs(axes=(1, 2), keep_dims=True)
    assert step(one_op("MEAN", (1, 3), (1,), (-1,))).call.attrs == ops.MeanAttrs(axes=(1,))
    transpose = step(one_op("TRANSPOSE", (2, 3, 4), (4, 2, 3), ([-1, 0, 1],)))
    assert transpose.call.attrs == ops.TransposeAttrs(permutation=(2, 0, 1))
    concat = step(one_op("CONCATENATION", (2, 3), (2, 5), (_zeros(2, 2),), axis=-1))
    assert concat.call.attrs == ops.ConcatAttrs(axis=1)


def test_pad_of_a_quantised_tensor_is_its_zero_point() -> None:
    body = imported(everything()).main.body
    assert body[3].call.attrs == ops.PadAttrs(paddings=((0, 0), (1, 1), (1, 0), (0, 0)), value=3.0)
    assert body[4].call.attrs == ops.PadAttrs(paddings=((0, 0), (0, 0), (0, 1), (0, 0)), value=-7.0)
    assert step(one_op("PAD", (2,), (5,), ([[1, 2]],))).call.attrs == ops.PadAttrs(paddings=((1, 2),))
    assert step(
        one_op("PADV2", (2,), (5,), ([[1, 2]], np.array([0.5], np.float32)))
    ).call.attrs == ops.PadAttrs(paddings=((1, 2),), value=0.5)


@pytest.mark.parametrize("name", ["ADD", "SUB", "MUL"])
def test_arithmetic(name: str) -> None:
    let = step(one_op(name, (2, 3), (2, 3), (_zeros(3),), activation="relu6"))
    assert let.call.op.name == name
    assert let.call.attrs == ops.BinaryAttrs(activation=ops.Activation.RELU6)


def test_float_options() -> None:
    assert step(one_op("SOFTMAX", (1, 3), (1, 3), beta=0.5)).call.attrs == ops.SoftmaxAttrs(beta=0.5)
    assert step(one_op("LEAKY_RELU", (1, 3), (1, 3), alpha=0.125)).call.attrs == ops.LeakyReluAttrs(
        alpha=0.125
    )


@pytest.mark.parametrize("name", ["RELU", "RELU6", "LOGISTIC", "TANH"])
def test_activations_as_operators(name: str) -> None:
    assert step(one_op(name, (1, 3), (1, 3))).call.op.name == name


def test_unknown_batch_is_one() -> None:
    model = ModelBuilder()
    x = model.tensor("x", (1, 3), "float32", shape_signature=(-1, 3))
    y = model.tensor("y", (1, 3), "float32", shape_signature=(-1, 3))
    model.op("RELU", [x], [y])
    model.inputs(x)
    model.outputs(y)
    assert step(model.build()).var.type.shape == (1, 3)
    for name in ("x", "y"):
        patch = Patch(model.build())
        assert step(patch.element(patch.tensor(name), 0, 0, "<i", -1).build()).var.type.shape == (1, 3)


_INDEX = st.integers(-9, 9)


@given(
    extents=st.lists(st.integers(1, 6), min_size=1, max_size=3),
    numbers=st.lists(st.tuples(_INDEX, _INDEX, st.sampled_from((1, 2, 3, -1, -2))), min_size=3, max_size=3),
    given_axes=st.integers(1, 3),
    begin_mask=st.integers(0, 7),
    end_mask=st.integers(0, 7),
)
@settings(max_examples=examples(150), deadline=None)
def test_strided_slice_is_a_slice_of_numpy(
    extents: list[int], numbers: list[tuple[int, int, int]], given_axes: int, begin_mask: int, end_mask: int
) -> None:
    listed = numbers[: min(given_axes, len(extents))]
    slices = tuple(
        slice(None if begin_mask >> axis & 1 else begin, None if end_mask >> axis & 1 else end, stride)
        for axis, (begin, end, stride) in enumerate(listed)
    )
    source = np.arange(np.prod(extents)).reshape(extents)
    expected = source[slices]
    data = one_op(
        "STRIDED_SLICE",
        tuple(extents),
        expected.shape if expected.size else (1,),
        tuple([entry[part] for entry in listed] for part in range(3)),
        begin_mask=begin_mask,
        end_mask=end_mask,
    )
    if expected.size == 0:
        assert "is empty" in complaint(data)
        return
    attrs = step(data).call.attrs
    assert isinstance(attrs, ops.StridedSliceAttrs)
    picks = [b + s * np.arange(c) for b, s, c in zip(attrs.begins, attrs.strides, attrs.counts, strict=True)]
    assert np.array_equal(source[np.ix_(*picks)].reshape(attrs.shape), expected)


@given(st.integers(1, 5), st.integers(-7, 7))
@settings(max_examples=examples(40), deadline=None)
def test_strided_slice_that_drops_an_axis(extent: int, index: int) -> None:
    data = one_op("STRIDED_SLICE", (extent, 2), (2,), ([index], [0], [1]), shrink_axis_mask=1)
    if not -extent <= index < extent:
        assert f"index {index} is outside axis 0, which has {extent} elements" in complaint(data)
        return
    attrs = step(data).call.attrs
    assert attrs == ops.StridedSliceAttrs(
        begins=(index % extent, 0), strides=(1, 1), counts=(1, 2), shape=(2,)
    )


def splitting(name: str, shape: tuple[int, ...], parts: list[tuple[int, ...]], *constants: object) -> bytes:
    """A model of one SPLIT (`constants`: axis) or SPLIT_V (sizes, axis) with all its parts as outputs."""
    model = ModelBuilder()
    x = model.tensor("x", shape, "float32")
    further = [model.constant(f"k{i}", np.asarray(value, np.int32)) for i, value in enumerate(constants)]
    outputs = [model.tensor(f"y{i}", part, "float32") for i, part in enumerate(parts)]
    inputs = [*further, x] if name == "SPLIT" else [x, *further]
    model.op(name, inputs, outputs, num_splits=len(parts))
    model.inputs(x)
    model.outputs(*outputs)
    return model.build()


@pytest.mark.parametrize(
    ("shape", "axis", "sizes"),
    [((1, 12), 1, [4, 4, 4]), ((6, 2), -2, [3, 3]), ((2, 3, 4), 2, [1, 1, 1, 1]), ((5,), 0, [5])],
)
def test_split_is_numpys(shape: tuple[int, ...], axis: int, sizes: list[int]) -> None:
    source = np.arange(math.prod(shape), dtype=np.float32).reshape(shape)
    wanted = np.split(source, len(sizes), axis=axis)
    module = imported(splitting("SPLIT", shape, [part.shape for part in wanted], axis))
    assert [let.var.name for let in module.main.body] == [f"slice0_{i}" for i in range(len(sizes))]
    assert [str(let.source) for let in module.main.body] == [f'op 0 SPLIT "y{i}"' for i in range(len(sizes))]
    for got, part in zip(evaluate(module, module.main, [source]), wanted, strict=True):
        np.testing.assert_array_equal(got, part)


@pytest.mark.parametrize("left_out", [None, 0, 2])
def test_split_v_is_numpys(left_out: int | None) -> None:
    source = np.arange(24, dtype=np.float32).reshape(2, 12)
    wanted = np.split(source, [3, 8], axis=1)
    sizes = [-1 if i == left_out else size for i, size in enumerate((3, 5, 4))]
    module = imported(splitting("SPLIT_V", (2, 12), [part.shape for part in wanted], sizes, [-1]))
    for got, part in zip(evaluate(module, module.main, [source]), wanted, strict=True):
        np.testing.assert_array_equal(got, part)


@pytest.mark.parametrize(
    ("name", "parts", "constants", "text"),
    [
        ("SPLIT", [(1, 6), (1, 6)], (2,), "axis [2] is not one of 2 dimensions"),
        ("SPLIT", [(1, 5), (1, 5)], (1,), "result shape is [1, 5], the operator gives [1, 6]"),
        ("SPLIT", [(1, 3)] * 5, (1,), "axis 1 has 12 elements, not to be split into 5 equal parts"),
        (
            "SPLIT_V",
            [(1, 6), (1, 6)],
            ([6, 5], 1),
            "sizes [6, 5] do not split axis 1 (12 elements) into 2 outputs",
        ),
        ("SPLIT_V", [(1, 6), (1, 6)], ([-1, -1], 1), "sizes [-1, -1] do not split"),
        ("SPLIT_V", [(1, 12)], ([6, 6], 1), "sizes [6, 6] do not split axis 1 (12 elements) into 1 outputs"),
        ("SPLIT_V", [(1, 12), (1, 1)], ([12, 0], 1), "a part of axis 1 is empty"),
        ("SPLIT_V", [(1, 12), (1, 1)], ([13, -1], 1), "sizes [13, -1] do not split"),
    ],
)
def test_splits_that_make_no_sense(
    name: str, parts: list[tuple[int, ...]], constants: tuple[object, ...], text: str
) -> None:
    found = complaint(splitting(name, (1, 12), parts, *constants))
    assert f'op 0 {name} "y0": ' in found
    assert text in found
