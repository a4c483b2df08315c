"""What is said of options and operands that make no sense.
Shapes that the file computes: folded where they follow from the shapes that it states.

Seven of 126 public networks were refused for SHAPE, STRIDED_SLICE, PACK and nothing else.
"""

import math
from typing import Any

import numpy as np
import pytest

from codegen.importers.tflite.translate import import_tflite
from codegen.importers.tflite.writing.writer import ModelBuilder
from codegen.ir.evaluate import evaluate
from tests import engines
from tests.engines import TFLITE_RUNTIME, Request, available
from tests.importers.samples import Patch, complaint, imported, one_op

CONV = ("CONV_2D", (1, 4, 4, 2), (1, 4, 4, 3), (np.zeros((3, 1, 1, 2), np.float32),))
POOL = ("MAX_POOL_2D", (1, 4, 4, 2), (1, 4, 4, 2))


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"stride_w": 0}, "stride 1x0 must be positive"),
        ({"stride_h": -3}, "stride -3x1 must be positive"),
        ({"filter_width": -1}, "window 1x-1 must be positive"),
    ],
)
def test_window_options(options: dict[str, Any], text: str) -> None:
    assert f'error[E303] op 0 MAX_POOL_2D "y": {text}' in complaint(one_op(*POOL, padding="SAME", **options))


def test_dilation_and_padding() -> None:
    assert "dilation 0x1 must be positive" in complaint(one_op(*CONV, padding="SAME", dilation_h=0))
    patch = Patch(one_op(*POOL, padding="VALID"))
    table = patch.operator(0).BuiltinOptions()
    patch.data[table.Pos + int(table.Offset(4))] = 9
    assert "padding number 9 does not exist" in complaint(patch.build())


def test_options_missing_or_of_another_operator() -> None:
    patch = Patch(one_op(*POOL, padding="VALID"))
    for kind, text in (
        (0, "has no options, needs Pool2DOptions"),
        (9, "has options of kind SoftmaxOptions, needs Pool2DOptions"),
        (250, "has options of kind type 250, needs Pool2DOptions"),
    ):
        patch.scalar(patch.operator(0), 3, "<B", kind)
        assert text in complaint(patch.build())


def test_shuffled_weights() -> None:
    data = one_op(
        "FULLY_CONNECTED",
        (1, 4),
        (1, 2),
        (np.zeros((2, 4), np.float32),),
        keep_num_dims=True,
        activation="relu",
    )
    patch = Patch(data)
    table = patch.operator(0).BuiltinOptions()
    # The vtable entry of keep_num_dims (field 2, value 1) also serves weights_format (field 1).
    vtable = table.Pos - int.from_bytes(data[table.Pos : table.Pos + 4], "little", signed=True)
    patch.data[vtable + 6 : vtable + 8] = patch.data[vtable + 8 : vtable + 10]
    assert complaint(patch.build()) == (
        'error[E301] op 0 FULLY_CONNECTED "y": '
        "shuffled weights (weights_format SHUFFLED4x16INT8) are not supported\n"
        "help: convert without shuffled weights"
    )


def test_depth_multiplier_that_does_not_fit() -> None:
    data = one_op(
        "DEPTHWISE_CONV_2D",
        (1, 4, 4, 2),
        (1, 4, 4, 6),
        (np.zeros((1, 1, 1, 6), np.float32),),
        padding="SAME",
        depth_multiplier=2,
    )
    assert "depth multiplier 2 does not fit 2 channels and 6 output channels" in complaint(data)


def test_image_of_another_rank() -> None:
    assert "the image has shape [4, 4], needs 4 dimensions" in complaint(
        one_op("MAX_POOL_2D", (4, 4), (4, 4), padding="SAME")
    )


@pytest.mark.parametrize(
    ("name", "shape", "operands", "options", "text"),
    [
        ("RESHAPE", (2, 3), ([-1, -1],), {}, "[-1, -1] is not a shape"),
        ("RESHAPE", (2, 3), ([-1, 4],), {}, "6 elements do not fill shape [-1, 4]"),
        ("RESHAPE", (2, 3), ([1] * 9,), {}, "has shape [9], at most 8 numbers make sense"),
        (
            "RESHAPE",
            (2, 3),
            (np.zeros(2, np.float32),),
            {},
            'tensor 2 "k0" is float32, it has to be int32 or int64',
        ),
        ("RESHAPE", (2, 3), (), {"new_shape": [1] * 9}, "the new shape has 9 dimensions"),
        ("SQUEEZE", (1, 3), (), {"squeeze_dims": [1]}, "axes [1] of shape [1, 3] are not all of extent 1"),
        ("SQUEEZE", (1, 3), (), {"squeeze_dims": [0, 0, 0]}, "lists 3 axes of 2 dimensions"),
        ("EXPAND_DIMS", (1, 3), ([1, 2],), {}, "has 2 axes, needs one"),
        ("EXPAND_DIMS", (1, 3), (4,), {}, "axis 4 is outside 3 dimensions"),
        ("MEAN", (1, 3), ([2],), {}, "axis 2 is outside 2 dimensions"),
        ("TRANSPOSE", (1, 3), ([0, -3],), {}, "axis -3 is outside 2 dimensions"),
        ("CONCATENATION", (1, 3), (), {"axis": 2}, "axis 2 is outside 2 dimensions"),
        ("PAD", (1, 3), ([[0, 0], [1, -1]],), {}, "paddings [0, 0, 1, -1] do not fit 2 dimensions"),
        ("PAD", (1, 3), ([[0, 0]],), {}, "paddings [0, 0] do not fit 2 dimensions"),
        (
            "PADV2",
            (1,),
            ([[0, 1]], np.zeros(2, np.float32)),
            {},
            "the pad value is float32[2], needs one float32",
        ),
        (
            "PADV2",
            (1,),
            ([[0, 1]], np.array([np.inf], np.float32)),
            {},
            "the pad value is inf, supported are finite",
        ),
        ("STRIDED_SLICE", (3,), ([0], [1], [0]), {}, "the stride of axis 0 is 0"),
        ("STRIDED_SLICE", (3,), ([2], [1], [1]), {}, "the slice 2:1:1 of axis 0 (3 elements) is empty"),
        ("STRIDED_SLICE", (3,), ([0], [0], [-1]), {"shrink_axis_mask": 1}, "its stride cannot be -1"),
        (
            "STRIDED_SLICE",
            (3,),
            ([0, 0], [1], [1]),
            {},
            "begin, end and strides have 2, 1 and 1 numbers for shape [3]",
        ),
        ("SOFTMAX", (1, 3), (), {"beta": float("nan")}, "beta is nan"),
        ("LEAKY_RELU", (1, 3), (), {"alpha": float("inf")}, "alpha is inf"),
    ],
)
def test_operands_that_make_no_sense(
    name: str, shape: tuple[int, ...], operands: tuple[Any, ...], options: dict[str, Any], text: str
) -> None:
    assert text in complaint(one_op(name, shape, (7,), operands, **options))


def test_pad_that_would_requantize() -> None:
    model = ModelBuilder()
    x, y = model.tensor("x", (2,), "int8", scale=0.5), model.tensor("y", (3,), "int8", scale=0.25)
    model.op("PAD", [x, model.constant("k", np.array([[0, 1]], np.int32))], [y])
    model.inputs(x)
    model.outputs(y)
    assert "argument and result are quantised differently" in complaint(model.build())


def test_operator_rule_of_the_ir() -> None:
    assert complaint(one_op("RELU", (1, 4), (1, 5))) == (
        'error[E306] op 0 RELU "y": result shape is [1, 5], the operator gives [1, 4]'
    )


def test_pad_value_computed_at_run_time() -> None:
    model = ModelBuilder()
    x, y = model.tensor("x", (1,), "float32"), model.tensor("y", (2,), "float32")
    model.op("PADV2", [x, model.constant("k", np.array([[0, 1]], np.int32)), x], [y])
    model.inputs(x)
    model.outputs(y)
    assert "the pad value is computed while the model runs, supported is a constant" in complaint(
        model.build()
    )


def test_pad_value_quantised_otherwise() -> None:
    model = ModelBuilder()
    x, y = model.tensor("x", (1,), "int8", scale=0.5), model.tensor("y", (2,), "int8", scale=0.5)
    value = model.tensor("v", (1,), "int8", scale=0.25, data=[1])
    model.op("PADV2", [x, model.constant("k", np.array([[0, 1]], np.int32)), value], [y])
    model.inputs(x)
    model.outputs(y)
    assert "argument, pad value and result are quantised differently" in complaint(model.build())


def test_pad_of_a_tensor_quantised_per_channel() -> None:
    model = ModelBuilder()
    scales = [0.5, 0.25]
    x, y = (
        model.tensor(name, (2, size), "int8", scale=scales, axis=0) for name, size in (("x", 1), ("y", 2))
    )
    model.op("PAD", [x, model.constant("k", np.array([[0, 0], [0, 1]], np.int32))], [y])
    model.inputs(x)
    model.outputs(y)
    assert "the result is quantised per channel, supported is per tensor" in complaint(model.build())


def test_concatenation_of_nothing() -> None:
    model = ModelBuilder()
    x, y = model.tensor("x", (1,), "float32"), model.tensor("y", (1,), "float32")
    model.op("CONCATENATION", [], [y])
    model.inputs(x)
    model.outputs(y)
    assert 'op 0 CONCATENATION "y": has no inputs' in complaint(model.build())


needs_engine = pytest.mark.skipif(TFLITE_RUNTIME not in available(), reason="tflite-runtime is not installed")


def test_a_part_that_several_steps_take_is_computed_once() -> None:
    """MIRROR_PAD takes what it has of the axes before three times: four axes were 120 steps. Here an axis
    takes two, as one element in front and one behind are the same."""
    data = one_op("MIRROR_PAD", (3,) * 4, (5,) * 4, ([[1, 1]] * 4,), mode=0)
    module = imported(data)
    assert [let.call.op.name for let in module.main.body].count("CONCATENATION") == 4
    assert len(module.main.body) == 8
    image = np.arange(81, dtype=np.float32).reshape(3, 3, 3, 3)
    [found] = evaluate(module, module.main, (image,))
    np.testing.assert_array_equal(found, np.pad(image, 1, mode="reflect"))


def test_a_stride_of_thousands_is_refused_before_it_is_taken_apart() -> None:
    """A mutant with a stride of 2 by 100,000 made 200,000 convolutions before anybody counted."""
    model = ModelBuilder()
    x = model.tensor("x", (1, 2, 2, 1), "float32")
    weights = model.constant("weights", np.ones((1, 1, 1, 1), np.float32), "float32")
    extents = model.constant("extents", np.array([1, 4, 200_000, 1], np.int32), "int32")
    y = model.tensor("y", (1, 4, 200_000, 1), "float32")
    model.op("TRANSPOSE_CONV", [extents, weights, x], [y], stride_h=2, stride_w=100_000, padding="SAME")
    model.inputs(x)
    model.outputs(y)
    assert "has a stride of 2 by 100000: supported are up to 64 elements in all" in complaint(model.build())


class Network:
    """RELU, a RESHAPE whose shape is computed, RELU; the batch of every tensor is open."""

    def __init__(self, shape: tuple[int, ...], dtype: str = "float32") -> None:
        self.model = ModelBuilder()
        self.scale = 0.5 if dtype == "int8" else None
        self.dtype = dtype
        self.x = self.value("x", shape)
        self.image = self.value("a", shape)
        self.model.op("RELU", [self.x], [self.image])
        self.extents = self.numbers("shape", len(shape))
        self.model.op("SHAPE", [self.image], [self.extents], out_type="int32")

    def value(self, name: str, shape: tuple[int, ...]) -> int:
        signature = (-1, *shape[1:])
        return self.model.tensor(name, shape, self.dtype, shape_signature=signature, scale=self.scale)

    def numbers(self, name: str, *shape: int) -> int:
        return self.model.tensor(name, shape, "int32")

    def constant(self, values: Any) -> int:
        return self.model.constant(f"k{self.model.tensors}", np.asarray(values, np.int32))

    def extent(self, axis: int) -> int:
        """One extent of the image's shape, as a scalar."""
        found = self.numbers(f"extent{self.model.tensors}")
        bounds = [self.constant([number]) for number in (axis, axis + 1, 1)]
        self.model.op("STRIDED_SLICE", [self.extents, *bounds], [found], shrink_axis_mask=1)
        return found

    def packed(self, parts: list[int]) -> int:
        found = self.numbers("new_shape", len(parts))
        self.model.op("PACK", parts, [found], values_count=len(parts), axis=0)
        return found

    def reshaped(self, wanted: int, shape: tuple[int, ...]) -> bytes:
        between, y = self.value("r", shape), self.value("y", shape)
        self.model.op("RESHAPE", [self.image, wanted], [between])
        self.model.op("RELU", [between], [y])
        self.model.inputs(self.x)
        self.model.outputs(y)
        return self.model.build()


def drawn(seed: int) -> tuple[bytes, np.ndarray]:
    """A network whose new shape takes the batch, and now and then another extent, from SHAPE; an input."""
    rng = np.random.default_rng(seed)
    shape = (1, *(int(extent) for extent in rng.integers(1, 6, rng.integers(1, 4))))
    dtype = str(rng.choice(["float32", "int8"]))
    network = Network(shape, dtype)
    others = [int(extent) for extent in shape[1:]]
    if rng.random() < 0.5:
        others = [math.prod(others)] if rng.random() < 0.5 else [*reversed(others)]
    elif rng.random() < 0.5:
        others.insert(int(rng.integers(len(others) + 1)), 1)
    result = (1, *others)
    told: list[Any] = list(others)
    if rng.random() < 0.3:
        told[int(rng.integers(len(told)))] = -1
    if rng.random() < 0.3:  # a run of the shape, joined with constants: no PACK
        batch = network.numbers("batch", 1)
        bounds = [network.constant([number]) for number in (0, 1, 1)]
        network.model.op("STRIDED_SLICE", [network.extents, *bounds], [batch])
        wanted = network.numbers("new_shape", len(result))
        network.model.op("CONCATENATION", [batch, network.constant(told)], [wanted], axis=0)
    else:
        parts = [network.extent(0)]
        for number, extent in enumerate(told):
            same = number + 1 < len(shape) and shape[number + 1] == extent and rng.random() < 0.5
            parts.append(network.extent(number + 1) if same else network.constant(extent))
        wanted = network.packed(parts)
    values = rng.integers(-128, 128, shape)
    return network.reshaped(wanted, result), values.astype(dtype)


@needs_engine
def test_folded_shapes_are_the_engines() -> None:
    """Forty drawn networks: the same bytes as the engine that computes the shape while it runs."""
    cases = [drawn(seed) for seed in range(40)]
    requests = [Request(engine=TFLITE_RUNTIME, model=data, inputs=((x,),)) for data, x in cases]
    for (data, x), answer in zip(cases, engines.evaluate(requests), strict=True):
        assert not answer.error
        module = imported(data)
        assert [let.call.op.name for let in module.main.body] == ["RELU", "RESHAPE", "RELU"]
        [found] = evaluate(module, module.main, [x])
        [[wanted]] = answer.outputs
        assert found.shape == wanted.shape and np.array_equal(found, wanted)


def test_a_chain_of_shape_slice_pack_leaves_one_reshape() -> None:
    network = Network((1, 4, 3, 2))
    data = network.reshaped(network.packed([network.extent(0), network.constant(24)]), (1, 24))
    body = imported(data).main.body
    assert [(let.call.op.name, let.var.type.shape) for let in body] == [
        ("RELU", (1, 4, 3, 2)),
        ("RESHAPE", (1, 24)),
        ("RELU", (1, 24)),
    ]


def test_a_result_unlike_the_file_is_refused() -> None:
    network = Network((1, 4, 3, 2))
    three = network.numbers("three", 3)
    network.model.op("PACK", [network.extent(0), network.constant(24)], [three], values_count=2, axis=0)
    assert 'op 3 PACK "three": result is int32[3], the operator gives int32[2]' in complaint(
        network.reshaped(three, (1, 24))
    )


def test_a_pack_of_unlike_numbers_is_refused() -> None:
    network = Network((1, 4, 3, 2))
    two = network.packed([network.extent(0), network.constant([24])])
    assert 'op 3 PACK "new_shape": packs 2 tensors, which have to be alike' in complaint(
        network.reshaped(two, (1, 24))
    )


def test_a_shape_as_an_output_is_a_constant() -> None:
    network = Network((1, 4))
    network.model.inputs(network.x)
    network.model.outputs(network.image, network.extents)
    assert "does not depend on the model's inputs: it is a constant" in complaint(network.model.build())


def test_a_folded_tensor_gets_no_second_value() -> None:
    network = Network((1, 4))
    network.model.op("SHAPE", [network.x], [network.extents], out_type="int32")
    assert f'tensor {network.extents} "shape" gets a value twice' in complaint(
        network.reshaped(network.extents, (1, 4))
    )


def test_a_scale_of_bool_is_dropped() -> None:
    """It was asked for the limits of an integer: a traceback."""
    model = ModelBuilder()
    x, y = (model.tensor(name, (1, 4), "int8", scale=0.25) for name in "xy")
    z = model.tensor("z", (1, 4), "bool", scale=0.5, zero_point=1)
    model.op("LESS", [x, y], [z])
    model.inputs(x, y)
    model.outputs(z)
    [let] = import_tflite(model.build(), "m.tflite").main.body
    assert let.var.type.quantization is None
