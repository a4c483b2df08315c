"""uint8 of a file: held as int8, turned at the model's edges, refused by name where engines do otherwise."""

from collections.abc import Sequence

import numpy as np

from codegen.importers.tflite import import_tflite
from codegen.importers.tflite.writing.writer import ModelBuilder
from codegen.ir import ConstRef, DType, Function, Var
from codegen.ir.evaluate import evaluate
from codegen.ir.ops.base.parameters import conv_multipliers
from tests.importers.samples import complaint

SHAPE = (1, 4)


def network(*ops: tuple[str, str, str], outputs: Sequence[str] = ("y",)) -> bytes:
    """Operators from one tensor to another; x is the input. Tensors named q are int8, others uint8."""
    model = ModelBuilder()
    tensors: dict[str, int] = {}
    for name in ("x", *(name for _, one, other in ops for name in (one, other))):
        if name not in tensors:
            is_signed = name.startswith("q")
            dtype, zero = ("int8", -28) if is_signed else ("uint8", 100)
            scale = 0.25 if name == "q4" else 0.5
            tensors[name] = model.tensor(name, SHAPE, dtype, scale=scale, zero_point=zero)
    for op, one, other in ops:
        model.op(op, [tensors[one]], [tensors[other]])
    model.inputs(tensors["x"])
    model.outputs(*(tensors[name] for name in outputs))
    return model.build()


def imported(data: bytes) -> Function:
    return import_tflite(data, "m.tflite").main


def steps(function: Function) -> list[tuple[str, str, str]]:
    """Operator, type of its argument, type of its result, step by step."""
    found: list[tuple[str, str, str]] = []
    for let in function.body:
        argument = let.call.args[0]
        assert argument is not None
        found.append((let.call.op.name, argument.type.dtype.value, let.var.type.dtype.value))
    return found


def test_a_quantize_at_an_edge_is_the_step_that_turns_the_sign() -> None:
    function = imported(network(("QUANTIZE", "x", "q"), ("RELU", "q", "q2"), ("QUANTIZE", "q2", "y")))
    assert steps(function) == [
        ("QUANTIZE", "uint8", "int8"),
        ("RELU", "int8", "int8"),
        ("QUANTIZE", "int8", "uint8"),
    ]
    [param], [result] = function.params, function.results
    assert isinstance(result, Var)
    assert (param.name, param.type.dtype, param.type.zero_point) == ("x", DType.UINT8, 100)
    assert (result.origin, result.type.dtype, result.type.zero_point) == ("y", DType.UINT8, 100)


def test_a_network_of_uint8_runs_as_int8_between_two_steps_of_its_own() -> None:
    function = imported(network(("RELU", "x", "a"), ("RELU6", "a", "y")))
    assert steps(function) == [
        ("QUANTIZE", "uint8", "int8"),
        ("RELU", "int8", "int8"),
        ("RELU6", "int8", "int8"),
        ("QUANTIZE", "int8", "uint8"),
    ]
    assert [let.var.type.zero_point for let in function.body] == [-28, -28, -28, 100]


def test_an_input_that_two_read_and_an_output_that_is_read_on_keep_their_steps() -> None:
    data = network(
        ("QUANTIZE", "x", "q4"), ("RELU", "x", "y"), ("QUANTIZE", "q4", "z"), ("RELU", "z", "y2"),
        outputs=("y", "z", "y2"),
    )  # fmt: skip
    found = steps(imported(data))
    assert found.count(("QUANTIZE", "uint8", "int8")) == 1
    assert found.count(("QUANTIZE", "int8", "uint8")) == 3
    assert found[0] == ("QUANTIZE", "uint8", "int8")


def test_both_edges_of_all_bytes() -> None:
    model = ModelBuilder()
    shape = (1, 256)
    x = model.tensor("x", shape, "uint8", scale=0.5, zero_point=3)
    q = model.tensor("q", shape, "int8", scale=0.5, zero_point=-125)
    y = model.tensor("y", shape, "uint8", scale=0.25, zero_point=9)
    model.op("QUANTIZE", [x], [q])
    model.op("QUANTIZE", [q], [y])
    model.inputs(x)
    model.outputs(y)
    module = import_tflite(model.build(), "m.tflite")
    values = np.arange(256, dtype=np.uint8).reshape(shape)
    [found] = evaluate(module, module.main, (values,))
    wanted = np.clip((values.astype(int) - 3) * 2 + 9, 0, 255)
    np.testing.assert_array_equal(found, wanted.astype(np.uint8))


def test_operators_that_round_otherwise_on_uint8_are_refused_by_name() -> None:
    assert complaint(network(("L2_NORMALIZATION", "x", "y"))) == (
        'error[E301] op 0 L2_NORMALIZATION "y": operator L2_NORMALIZATION of uint8 is not supported\n'
        "help: convert the model with int8 instead of uint8; `codegen ops` lists the supported operators"
    )
    assert "operator ZEROS_LIKE of uint8 is not supported" in complaint(network(("ZEROS_LIKE", "x", "y")))


def connected(dtype: str, zero: int, weights: Sequence[int]) -> bytes:
    """A FULLY_CONNECTED of one output."""
    model = ModelBuilder()
    x = model.tensor("x", (1, len(weights)), dtype, scale=0.5, zero_point=0)
    data = np.array([weights], np.dtype(dtype))
    w = model.tensor("w", data.shape, dtype, scale=0.5, zero_point=zero, data=data)
    b = model.tensor("b", (1,), "int32", scale=0.25, data=np.zeros(1, np.int32))
    y = model.tensor("y", (1, 1), dtype, scale=0.5, zero_point=0)
    model.op("FULLY_CONNECTED", [x, w, b], [y])
    model.inputs(x)
    model.outputs(y)
    return model.build()


def test_weights_that_int8_holds_less_their_zero_point_have_none() -> None:
    for zero, weights, wanted in ((128, (0, 255), [-128, 127]), (100, (5, 227), [-95, 127])):
        module = import_tflite(connected("uint8", zero, weights), "m.tflite")
        [let] = [let for let in module.main.body if let.call.op.name == "FULLY_CONNECTED"]
        given = let.call.args[1]
        assert isinstance(given, ConstRef)
        assert given.type.zero_point == 0
        assert module.constants[given.id].data.tolist() == [wanted]


def test_weights_that_need_nine_bits_keep_their_zero_point() -> None:
    module = import_tflite(connected("uint8", 100, (5, 228)), "m.tflite")
    [let] = [let for let in module.main.body if let.call.op.name == "FULLY_CONNECTED"]
    assert let.call.args[1] is not None and let.call.args[1].type.zero_point == -28


def test_weights_of_int8_with_a_zero_point() -> None:
    assert "int8 weights have a zero point other than 0" in complaint(connected("int8", 3, (1, 2)))


def test_scales_by_channel() -> None:
    model = ModelBuilder()
    x = model.tensor("x", (1, 2), "uint8", scale=(0.5, 0.25), axis=1)
    y = model.tensor("y", (1, 2), "uint8", scale=0.5)
    model.op("RELU", [x], [y])
    model.inputs(x)
    model.outputs(y)
    text = 'graph input 0: tensor 0 "x" is uint8 with a scale by channel, supported is one for the tensor\n'
    assert text in complaint(model.build())


def test_mirror_pad_of_a_mode_that_does_not_exist() -> None:
    """A mutant with mode 3 was reflected; engines mirror symmetrically there, or refuse."""
    model = ModelBuilder()
    x, y = model.tensor("x", (4,), "float32"), model.tensor("y", (6,), "float32")
    model.op("MIRROR_PAD", [x, model.constant("k", np.array([[1, 1]], np.int32))], [y], mode=3)
    model.inputs(x)
    model.outputs(y)
    assert "mode number 3 does not exist" in complaint(model.build())


def test_a_resize_to_more_than_an_image_may_have() -> None:
    """A mutant's size took 900 MB before anything looked at it."""
    model = ModelBuilder()
    x, y = model.tensor("x", (1, 2, 2, 1), "float32"), model.tensor("y", (1, 4, 4, 1), "float32")
    model.op("RESIZE_NEAREST_NEIGHBOR", [x, model.constant("size", [4, 117_440_517])], [y])
    model.inputs(x)
    model.outputs(y)
    assert "resizes to 4 x 117,440,517, up to 65,536 are imported" in complaint(model.build())


def test_scales_whose_product_float32_cannot_hold() -> None:
    """A mutant with weights of scale 1e-44 ended in a traceback."""
    model = ModelBuilder()
    x = model.tensor("x", (1, 1, 1, 1), "uint8", scale=1e-3)
    data = np.full((1, 1, 1, 1), 9, np.uint8)
    w = model.tensor("w", (1, 1, 1, 1), "uint8", scale=1e-44, data=data)
    y = model.tensor("y", (1, 1, 1, 1), "uint8", scale=0.5)
    model.op("CONV_2D", [x, w], [y], padding="VALID")
    model.inputs(x)
    model.outputs(y)
    text = "the scales of its image and its weights, 0.001 and 9.80909e-45, have 0 as product in float32"
    assert text in complaint(model.build())


def test_a_convolution_is_requantized_by_a_product_in_float32() -> None:
    """A public MobileNet's fifth layer was wrong by one in 25 of 401,408 numbers: TFLite multiplies the
    scales of image and weights in float32 on uint8, in double on int8 (GetQuantizedConvolutionMultipler)."""
    image, weights, result = (float(np.float32(scale)) for scale in (0.0235284772, 0.0101, 23.7))
    model = ModelBuilder()
    x = model.tensor("x", (1, 1, 1, 1), "uint8", scale=image)
    data = np.full((1, 1, 1, 1), 9, np.uint8)
    w = model.tensor("w", (1, 1, 1, 1), "uint8", scale=weights, zero_point=7, data=data)
    y = model.tensor("y", (1, 1, 1, 1), "uint8", scale=result)
    model.op("CONV_2D", [x, w], [y], padding="VALID")
    model.inputs(x)
    model.outputs(y)
    [let] = [let for let in imported(model.build()).body if let.call.op.name == "CONV_2D"]
    first, second = let.call.types[:2]
    assert first is not None and second is not None
    found = conv_multipliers(first.scale, (second.scale,), result)
    assert found == conv_multipliers(1.0, (float(np.float32(image) * np.float32(weights)),), result)
    assert found != conv_multipliers(image, (weights,), result)
