"""The reduction's rules, one by one; random networks; what must not be touched."""

import numpy as np
import pytest

from codegen.ir import ConstRef, Module, Var, ops
from codegen.ir.evaluate import steps
from codegen.passes import RemoveDead, run_passes
from codegen.passes.reduce.value_ranges import ranges
from tests.passes.layers import NONE, SAME, Layers, dense, int8, reduced, shape_of

STUCK = 2
"""The channel of three that `_producer` makes constant."""


def _producer(layers: Layers, level: int, zero_point: int = 0) -> Var:
    """A CONV_2D of 3 channels whose channel STUCK has zero weights and always holds `level`."""
    image = layers.param("image", int8(1, 4, 4, 2))
    weights = dense(3, 2, 1, 1)
    weights[STUCK] = 0
    return layers.conv(image, weights, [1, 2, level - zero_point], zero_point=zero_point, name="a")


def _bias(module: Module, name: str) -> list[int]:
    (let,) = (let for let in module.main.body if let.var.name == name)
    ref = let.call.args[2]
    assert isinstance(ref, ConstRef)
    return [int(value) for value in module.constants[ref.id].data]


# What a constant channel does to those that read it.


@pytest.mark.parametrize("zero_point", [-128, 0, 3])
def test_a_channel_stuck_at_the_zero_point_goes_even_under_padding(zero_point: int) -> None:
    layers = Layers()
    a = _producer(layers, zero_point, zero_point)
    b = layers.conv(a, dense(2, 3, 3, 3), [5, 6], padding=SAME, name="b")
    reduction = reduced(layers.build([b]))
    assert shape_of(reduction, "a") == (1, 4, 4, 2)
    assert _bias(reduction.module, "b") == [5, 6]
    (lost,) = reduction.removed
    assert (lost.name, lost.zero_weights, lost.channels_before, lost.channels_after) == ("a", 1, 3, 2)


def test_another_constant_goes_into_the_bias_of_an_unpadded_reader() -> None:
    layers = Layers()
    weights = dense(2, 3, 3, 3)
    b = layers.conv(_producer(layers, 7, zero_point=-1), weights, [5, 6], name="b")
    reduction = reduced(layers.build([b]))
    assert shape_of(reduction, "a") == (1, 4, 4, 2)
    # Each of the 9 taps adds weight * (7 - zero point).
    added = weights[..., STUCK].astype(int).sum(axis=(1, 2)) * 8
    assert _bias(reduction.module, "b") == [5 + added[0], 6 + added[1]]


def test_a_reader_without_a_bias_gets_one() -> None:
    layers = Layers()
    weights = dense(2, 3, 1, 1)
    b = layers.conv(_producer(layers, 7), weights, None, name="b")
    reduction = reduced(layers.build([b]))
    assert _bias(reduction.module, "b") == [7 * int(weight) for weight in weights[:, 0, 0, STUCK]]


def test_another_constant_stays_under_padding() -> None:
    layers = Layers()
    b = layers.conv(_producer(layers, 7), dense(2, 3, 3, 3), [5, 6], padding=SAME, name="b")
    assert reduced(layers.build([b])).removed == ()


def test_padding_matters_only_where_weights_meet_it() -> None:
    """Weights of the stuck channel in the middle of the window alone never meet the padding."""
    layers = Layers()
    weights = dense(2, 3, 3, 3)
    weights[..., STUCK] = 0
    weights[:, 1, 1, STUCK] = 4
    b = layers.conv(_producer(layers, 7), weights, [5, 6], padding=SAME, name="b")
    reduction = reduced(layers.build([b]))
    assert shape_of(reduction, "a") == (1, 4, 4, 2)
    assert _bias(reduction.module, "b") == [5 + 28, 6 + 28]


def test_a_channel_stays_everywhere_if_one_reader_needs_it() -> None:
    layers = Layers()
    a = _producer(layers, 7)
    padded = layers.conv(a, dense(2, 3, 3, 3), [5, 6], padding=SAME)
    plain = layers.conv(a, dense(2, 3, 1, 1), [5, 6], name="plain")
    reduction = reduced(layers.build([padded, plain]))
    assert reduction.removed == ()
    assert _bias(reduction.module, "plain") == [5, 6]


@pytest.mark.parametrize(("level", "padding", "left"), [(0, SAME, 2), (7, NONE, 2), (7, SAME, 3)])
def test_constants_run_through_depthwise_readers(level: int, padding: ops.Padding2D, left: int) -> None:
    """Under padding a constant that is not the zero point gives results that differ by position."""
    layers = Layers()
    weights = np.abs(dense(3, 3, 3)).reshape(3, 3, 3)
    b = layers.depthwise(_producer(layers, level), weights, [1, 2, 3], padding=padding, name="b")
    c = layers.conv(b, dense(2, 3, 1, 1), [0, 0], name="c")
    reduction = reduced(layers.build([c]))
    for name in ("a", "b"):
        shape = shape_of(reduction, name)
        assert shape is not None
        assert shape[3] == left


def test_results_of_a_depthwise_multiplier_go_together() -> None:
    layers = Layers()
    image = layers.param("image", int8(1, 3, 3, 2))
    a = layers.conv(image, dense(2, 2, 1, 1), [0, 0], name="a")
    b = layers.depthwise(a, np.full((1, 1, 4), 2), [0, 0, 0, 0], multiplier=2, name="b")
    weights = dense(2, 4, 1, 1)
    weights[..., 0] = 0
    one_unread = reduced(layers.build([layers.conv(b, weights, [0, 0], name="c")]))
    assert one_unread.removed == ()
    weights[..., 1] = 0
    layers = Layers()
    image = layers.param("image", int8(1, 3, 3, 2))
    a = layers.conv(image, dense(2, 2, 1, 1), [0, 0], name="a")
    b = layers.depthwise(a, np.full((1, 1, 4), 2), [0, 0, 0, 0], multiplier=2, name="b")
    both = reduced(layers.build([layers.conv(b, weights, [0, 0], name="c")]))
    assert [(lost.name, lost.unread, lost.channels_after) for lost in both.removed] == [
        ("a", 1, 1),
        ("b", 2, 2),
    ]


# What is constant.


@pytest.mark.parametrize(("bias", "stuck"), [(-127, True), (-126, False)])
def test_stuck_at_a_clamp_to_the_last_unit(bias: int, stuck: bool) -> None:
    """x + bias of x in [-128, 127] under RELU is 0 for every x up to a bias of -127, and no further."""
    layers = Layers()
    image = layers.param("image", int8(1, 2, 2, 1))
    a = layers.conv(image, np.ones((2, 1, 1, 1)), [0, bias], activation=ops.Activation.RELU, name="a")
    reduction = reduced(layers.build([layers.conv(a, dense(1, 2, 1, 1), [0], name="b")]))
    assert [lost.stuck_at_clamp for lost in reduction.removed] == ([1] if stuck else [])


@pytest.mark.parametrize(
    ("bias", "scale"), [(2**31 - 1, 0.5), (-(2**31), 0.5), (2**30, 1.0), (-(2**30) - 100, 1.0), (5, 2.0**24)]
)
def test_an_accumulator_that_may_wrap_is_not_stuck(bias: int, scale: float) -> None:
    """Without wrapping, both ends would meet one clamp. The sum wraps, or its shift by 1 (a factor of 1).

    Shifted by 25 (a factor of 2^24) it wraps twice, and both ends do meet; what lies between does not.
    """
    layers = Layers()
    image = layers.param("image", int8(1, 16, 16, 1))
    a = layers.conv(image, np.ones((2, 1, 1, 1)), [0, bias], scale=scale, name="a")
    module = layers.build([layers.conv(a, dense(1, 2, 1, 1), [0], name="b")])
    assert reduced(module).removed == ()
    found = ranges(module, module.main)["a"]
    assert (found.low[..., 1] == -128).all()
    assert (found.high[..., 1] == 127).all()
    every = np.arange(-128, 128).astype(np.int8).reshape(1, 16, 16, 1)
    values = {let.var.name: value for let, value in steps(module, module.main, [every])}
    assert set(np.unique(values["a"][..., 1])) >= {-128, 127}


def test_a_folded_bias_may_wrap_as_the_accumulator_does() -> None:
    layers = Layers()
    weights = np.full((1, 3, 1, 1), 100).reshape(1, 1, 1, 3)
    b = layers.conv(_producer(layers, 127), weights, [2**31 - 1], name="b")
    reduction = reduced(layers.build([b]))
    assert _bias(reduction.module, "b") == [2**31 - 1 + 12700 - 2**32]


def test_a_layer_that_is_constant_is_folded_whole() -> None:
    layers = Layers()
    image = layers.param("image", int8(1, 4, 4, 2))
    a = layers.conv(image, np.zeros((3, 1, 1, 2)), [4, 5, 6], name="a")
    other = layers.conv(image, dense(3, 2, 1, 1), [0, 0, 0], name="other")
    reduction = reduced(layers.build([layers.add(a, other, name="sum")]))
    assert shape_of(reduction, "a") is None
    (_, total) = reduction.module.main.body
    folded = total.call.args[0]
    assert isinstance(folded, ConstRef)
    # All pixels are alike: one is enough, ADD stretches it.
    assert reduction.module.constants[folded.id].data.tolist() == [[[[4, 5, 6]]]]
    (lost,) = reduction.removed
    assert (lost.name, lost.channels_after, lost.zero_weights) == ("a", 0, 3)


def test_constant_pixels_that_differ_are_kept_one_by_one() -> None:
    """A constant under padding sums to less at the border."""
    layers = Layers()
    image = layers.param("image", int8(1, 4, 4, 2))
    a = layers.conv(image, np.zeros((1, 1, 1, 2)), [1], name="a")
    b = layers.conv(a, np.ones((1, 3, 3, 1)), [0], padding=SAME, name="b")
    other = layers.conv(image, dense(1, 2, 1, 1), [0], name="other")
    reduction = reduced(layers.build([layers.add(b, other, name="sum")]))
    folded = reduction.module.main.body[-1].call.args[0]
    assert isinstance(folded, ConstRef)
    corner_to_middle = [[4, 6, 6, 4], [6, 9, 9, 6], [6, 9, 9, 6], [4, 6, 6, 4]]
    assert reduction.module.constants[folded.id].data[0, :, :, 0].tolist() == corner_to_middle


def test_a_constant_result_is_still_computed() -> None:
    """The caller gets every result from a step; one channel is enough to compute it from."""
    layers = Layers()
    image = layers.param("image", int8(1, 4, 4, 2))
    a = layers.conv(image, dense(3, 2, 1, 1), [0, 0, 0], name="a")
    b = layers.conv(a, np.zeros((2, 1, 1, 3)), [4, 5], name="b")
    reduction = reduced(layers.build([b]))
    assert shape_of(reduction, "a") == (1, 4, 4, 1)
    assert shape_of(reduction, "b") == (1, 4, 4, 2)
    assert isinstance(reduction.module.main.results[0], Var)


# Operators between producer and reader.


def test_addition_loses_a_channel_only_on_both_sides() -> None:
    def build(second: int) -> Module:
        layers = Layers()
        image = layers.param("image", int8(1, 4, 4, 2))
        both: list[Var] = []
        for number, dead in enumerate((0, second)):
            weights = dense(3, 2, 1, 1, seed=number)
            weights[dead] = 0
            both.append(layers.conv(image, weights, [1, 2, 3], name=f"a{number}"))
        total = layers.add(*both, name="sum")
        return layers.build([layers.conv(total, dense(2, 3, 1, 1), [0, 0], name="b")])

    assert reduced(build(1)).removed == ()
    assert [lost.name for lost in reduced(build(0)).removed] == ["a0", "a1", "sum"]


def test_a_constant_argument_is_cut_with_the_other() -> None:
    layers = Layers()
    a = _producer(layers, 7)
    constant = layers.constant(np.array([[[[1, 2, 3]]]], np.int8), quantization=a.type.quantization)
    total = layers.add(constant, a, name="sum")
    reduction = reduced(layers.build([layers.conv(total, dense(2, 3, 1, 1), [0, 0])]))
    ref = reduction.module.main.body[1].call.args[0]
    assert isinstance(ref, ConstRef)
    assert reduction.module.constants[ref.id].data.tolist() == [[[[1, 2]]]]


@pytest.mark.parametrize("through_reshape", [True, False])
def test_columns_of_a_flattened_image_go(through_reshape: bool) -> None:
    layers = Layers()
    a = _producer(layers, 7)
    pooled = layers.step("MAX_POOL_2D", [a], ops.PoolAttrs(window=(2, 2), stride=(2, 2)), name="pool")
    flat = layers.step("RESHAPE", [pooled], ops.ReshapeAttrs(shape=(1, 12)), name="flat")
    weights = dense(2, 12)
    b = layers.connected(flat if through_reshape else pooled, weights, [5, 6], name="b")
    reduction = reduced(run_passes(layers.build([b]), (RemoveDead(),)))
    assert shape_of(reduction, "flat") == ((1, 8) if through_reshape else None)
    ref = reduction.module.main.body[-1].call.args[1]
    assert isinstance(ref, ConstRef)
    left = [column for column in range(12) if column % 3 != STUCK]
    assert np.array_equal(reduction.module.constants[ref.id].data, weights[:, left])
    added = 7 * weights[:, STUCK::3].astype(int).sum(axis=1)
    assert _bias(reduction.module, "b") == [5 + added[0], 6 + added[1]]


def test_a_column_that_is_zero_leaves_its_channel_if_others_are_not() -> None:
    layers = Layers()
    image = layers.param("image", int8(1, 2, 1, 2))
    a = layers.conv(image, dense(2, 2, 1, 1), [0, 0], name="a")
    weights = dense(2, 4)
    weights[:, 0] = 0
    assert reduced(layers.build([layers.connected(a, weights, [0, 0])])).removed == ()
    weights[:, 2] = 0
    layers = Layers()
    image = layers.param("image", int8(1, 2, 1, 2))
    a = layers.conv(image, dense(2, 2, 1, 1), [0, 0], name="a")
    (lost,) = reduced(layers.build([layers.connected(a, weights, [0, 0])])).removed
    assert (lost.name, lost.unread) == ("a", 1)


def test_concatenation_loses_channels_and_arguments() -> None:
    layers = Layers()
    image = layers.param("image", int8(1, 4, 4, 2))
    a = layers.conv(image, dense(2, 2, 1, 1), [0, 0], name="a")
    b = layers.conv(image, dense(3, 2, 1, 1, seed=1), [0, 0, 0], name="b")
    joined = layers.step("CONCATENATION", [a, b], ops.ConcatAttrs(axis=3), name="joined")
    weights = dense(2, 5, 1, 1)
    weights[..., [0, 1, 3]] = 0
    reduction = reduced(layers.build([layers.conv(joined, weights, [0, 0])]))
    assert shape_of(reduction, "a") is None
    assert shape_of(reduction, "b") == (1, 4, 4, 2)
    assert [let.call.op.name for let in reduction.module.main.body] == ["CONV_2D", "RESHAPE", "CONV_2D"]


def test_channels_go_through_whatever_moves_them_along() -> None:
    layers = Layers()
    value = _producer(layers, 7)
    value = layers.step("PAD", [value], ops.PadAttrs(paddings=((0, 0), (0, 0), (0, 0), (1, 1)), value=7))
    value = layers.step("TRANSPOSE", [value], ops.TransposeAttrs(permutation=(0, 2, 1, 3)))
    value = layers.step("RELU", [value], ops.Attrs())
    value = layers.step("AVERAGE_POOL_2D", [value], ops.PoolAttrs(window=(3, 3)))
    value = layers.step("MEAN", [value], ops.MeanAttrs(axes=(1,), keep_dims=True), name="last")
    b = layers.conv(value, dense(2, 5, 1, 1), [0, 0])
    reduction = reduced(layers.build([b]))
    assert [let.var.type.shape[3] for let in reduction.module.main.body] == [2] * 6 + [2]


# What must stay as it is.


def test_inputs_and_results_keep_their_channels() -> None:
    layers = Layers()
    image = layers.param("image", int8(1, 4, 4, 3))
    weights = dense(3, 3, 1, 1)
    weights[..., 0] = weights[1] = 0
    a = layers.conv(image, weights, [1, 2, 3])
    assert reduced(layers.build([a])).removed == ()


def test_softmax_reads_every_channel() -> None:
    layers = Layers()
    a = _producer(layers, 7)
    flat = layers.step("RESHAPE", [a], ops.ReshapeAttrs(shape=(16, 3)))
    one = int8(16, 3, zero_point=-128, scale=1 / 256)
    soft = layers.call(ops.OPS["SOFTMAX"], [flat], ops.SoftmaxAttrs(), one)
    assert reduced(layers.build([soft])).removed == ()


def test_groups_stay_whole() -> None:
    layers = Layers()
    image = layers.param("image", int8(1, 4, 4, 2))
    weights = dense(4, 2, 1, 1)
    weights[0] = 0
    a = layers.conv(image, weights, [0, 0, 0, 0])
    grouped = layers.conv(a, dense(2, 2, 1, 1), [0, 0])
    assert reduced(layers.build([grouped])).removed == ()


def test_fully_connected_with_several_scales_keeps_two_of_them() -> None:
    """With one scale TFLite rounds the product of scales to float32: the multiplier could be another."""
    layers = Layers()
    image = layers.param("image", int8(1, 4))
    a = layers.connected(image, dense(4, 4), [0, 0, 0, 0], scales=4, name="a")
    weights = dense(2, 4)
    weights[:, 1:] = 0
    b = layers.connected(a, weights, [0, 0], name="b")
    reduction = reduced(layers.build([b]))
    assert shape_of(reduction, "a") == (1, 2)


def test_shared_weights_are_cut_for_each_reader() -> None:
    layers = Layers()
    a = _producer(layers, 0)
    b = layers.conv(a, dense(3, 3, 1, 1), [0, 0, 0], name="b")
    shared = layers.build([b]).main.body[-1].call.args[1:]
    again = layers.call(ops.OPS["CONV_2D"], [b, *shared], ops.ConvAttrs(), int8(1, 4, 4, 3), name="again")
    reduction = reduced(layers.build([again]))
    refs = [let.call.args[1] for let in reduction.module.main.body[1:]]
    assert [ref.type.shape for ref in refs if ref] == [(3, 1, 1, 2), (3, 1, 1, 3)]


def test_an_axis_of_millions_is_left_alone() -> None:
    """Two mutants of the ONNX fuzz (seed 31000) had 2^24 channels: masks and links took more than 512 MiB."""
    for extent, is_reduced in ((1 << 17, True), (1 << 20, False)):
        layers = Layers()
        image = layers.param("image", int8(1, 4, 4, 2))
        weights = dense(3, 2, 1, 1)
        weights[STUCK] = 0
        a = layers.conv(image, weights, [1, 2, 0], name="a")
        wide = layers.param("wide", int8(1, extent))
        reduction = reduced(layers.build([layers.conv(a, dense(2, 3, 1, 1), [5, 6], name="b"), wide]))
        assert reduction.is_nothing is not is_reduced
        assert shape_of(reduction, "a") == (1, 4, 4, 2 if is_reduced else 3)
