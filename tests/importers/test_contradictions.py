"""What is said of files that contradict themselves: order of operators, tensors, shapes, quantisation."""

import numpy as np
import pytest

from codegen.importers.limits import STATED
from codegen.importers.tflite.translate import import_tflite
from codegen.importers.tflite.writing.writer import ModelBuilder
from codegen.ir.evaluate import evaluate
from tests.engines import TFLITE_MICRO, Request
from tests.engines import evaluate as ask
from tests.importers.hostile import shared_tables
from tests.importers.samples import Patch, chain, complaint, everything, one_op, quantised

CONV = ("CONV_2D", (1, 4, 4, 2), (1, 4, 4, 3), (np.zeros((3, 1, 1, 2), np.float32),))
POOL = ("MAX_POOL_2D", (1, 4, 4, 2), (1, 4, 4, 2))


def test_operators_out_of_order() -> None:
    data = chain(("RELU", ["a"], ["y"]), ("TANH", ["x"], ["a"]))
    assert complaint(data) == (
        'error[E303] op 0 RELU "y": reads tensor 1 "a", which op 1 writes: not before this operator\n'
        "help: operators have to be in the order of execution, without cycles"
    )


def test_cycle() -> None:
    data = chain(("ADD", ["x", "b"], ["a"]), ("RELU", ["a"], ["b"]), outputs=["b"])
    assert 'op 0 ADD "a": reads tensor 1 "b", which op 1 writes: not before' in complaint(data)
    assert 'op 0 RELU "a": reads tensor 1 "a", which op 0 writes' in complaint(
        chain(("RELU", ["a"], ["a"]), outputs=["a"])
    )


def test_tensor_without_a_value() -> None:
    assert complaint(chain(("RELU", ["a"], ["y"]))) == (
        'error[E303] op 0 RELU "y": reads tensor 1 "a", which has no value: no operator writes it, no data'
    )


def test_tensor_written_twice_or_input_written() -> None:
    assert 'op 1 TANH "y": tensor 1 "y" gets a value twice' in complaint(
        chain(("RELU", ["x"], ["y"]), ("TANH", ["x"], ["y"]))
    )
    assert 'op 0 RELU "x": tensor 0 "x" gets a value twice' in complaint(
        chain(("RELU", ["x"], ["x"]), outputs=["x"])
    )


def test_constant_written() -> None:
    model = ModelBuilder()
    x = model.tensor("x", (1, 1), "float32")
    y = model.tensor("y", (1, 1), "float32", data=np.zeros((1, 1), np.float32))
    model.op("RELU", [x], [y])
    model.inputs(x)
    model.outputs(y)
    assert 'op 0 RELU "y": tensor 1 "y" is computed, yet the file holds data for it' in complaint(
        model.build()
    )


def test_number_of_inputs_and_outputs() -> None:
    assert 'op 0 ADD "y": has 1 inputs, needs 2' in complaint(chain(("ADD", ["x"], ["y"])))
    assert 'op 0 RELU "y": has 2 outputs, needs 1' in complaint(chain(("RELU", ["x"], ["y", "z"])))
    assert 'op 0 CONV_2D "y": has 1 inputs, needs 2 to 3' in complaint(
        one_op("CONV_2D", (1, 4, 4, 2), (1, 4, 4, 2))
    )
    assert "op 0 RELU: has 0 outputs, needs 1" in complaint(chain(("RELU", ["x"], []), outputs=["x"]))


def test_input_left_out() -> None:
    model = ModelBuilder()
    x, y = model.tensor("x", (1, 4), "float32"), model.tensor("y", (1, 4), "float32")
    model.op("ADD", [x, None], [y])
    model.inputs(x)
    model.outputs(y)
    assert 'op 0 ADD "y": input 1 is left out, which this operator does not allow' in complaint(model.build())


@pytest.mark.parametrize("number", [99, -2, 2**31 - 1])
def test_tensor_numbers_out_of_range(number: int) -> None:
    data = chain(("RELU", ["x"], ["y"]))
    patch = Patch(data)
    assert f"there is no tensor {number}, the file has 2" in complaint(
        patch.element(patch.operator(0), 1, 0, "<i", number).build()
    )
    for field, place in ((1, "graph input 0"), (2, "graph output 0")):
        patch = Patch(data)
        patch.element(patch.graph, field, 0, "<i", number)
        assert f"{place}: there is no tensor {number}, the file has 2" in complaint(patch.build())
    patch = Patch(data)
    patch.element(patch.operator(0), 2, 0, "<i", number)
    assert f"op 0 RELU: there is no tensor {number}, the file has 2" in complaint(patch.build())


@pytest.mark.parametrize("number", [2, -1])
def test_operator_code_out_of_range(number: int) -> None:
    patch = Patch(chain(("RELU", ["x"], ["a"]), ("TANH", ["a"], ["y"])))
    patch.scalar(patch.operator(1), 0, "<i", number)
    assert complaint(patch.build()) == (
        f"error[E303] m.tflite: op 1 has operator code {number % 2**32}, the file lists 2"
    )


def test_outputs_that_nothing_computes() -> None:
    data = chain(("RELU", ["x"], ["y"]), outputs=["y", "x", "y"])
    assert complaint(data).split("\n") == [
        'error[E301] graph output 1: tensor 0 "x" is also a graph input: nothing computes it',
        "help: remove this output from the model, the caller has its value already",
        'error[E301] graph output 2: tensor 1 "y" is also graph output 0',
        "help: list each output once when converting the model",
    ]


def test_constant_outputs() -> None:
    model = ModelBuilder()
    x = model.tensor("x", (1, 2), "float32")
    k = model.constant("k", np.zeros((1, 2), np.float32), "float32")
    y = model.tensor("y", (1, 2), "float32")
    model.op("RELU", [k], [y])
    model.inputs(x)
    model.outputs(y, k)
    text = complaint(model.build())
    assert text == (
        'error[E301] graph output 0: tensor 2 "y" does not depend on the model\'s inputs: it is a constant\n'
        "help: remove this output from the model"
    )
    model.outputs(k)
    assert 'graph output 0: tensor 1 "k" does not depend on the model\'s inputs' in complaint(model.build())


def test_no_inputs_no_outputs() -> None:
    model = ModelBuilder()
    text = complaint(model.build())
    assert "error[E301] m.tflite: the model has no inputs, so its outputs are constants" in text
    assert "error[E303] m.tflite: the model has no outputs" in text


def test_several_entry_points() -> None:
    text = complaint(shared_tables(tensors=2, entry_points=[0, 3]))
    assert (
        "the file has several entry points (also subgraph 3), supported is one\n"
        "help: convert a single signature" in text
    )


def test_no_subgraph() -> None:
    text = complaint(shared_tables(subgraphs=0))
    assert text == "error[E303] m.tflite: the file holds no subgraph, so there is nothing to run"


def test_buffer_of_another_size() -> None:
    patch = Patch(one_op(*CONV, padding="SAME"))
    patch.element(patch.tensor("k0"), 0, 0, "<i", 4)
    assert 'tensor 2 "k0" of shape [4, 1, 1, 2] needs 32 bytes, its buffer 24' in complaint(patch.build())


def test_buffer_number_out_of_range() -> None:
    patch = Patch(one_op(*CONV, padding="SAME"))
    patch.scalar(patch.tensor("k0"), 2, "<I", 1000)
    assert 'tensor 2 "k0" is in buffer 1000, the file has ' in complaint(patch.build())


def test_absurd_shapes() -> None:
    for extent, reason in (
        (2**31 - 1, f"bytes, the limit is {STATED.constants}"),
        (-7, "extents cannot be negative"),
        (0, "no elements"),
    ):
        patch = Patch(quantised())
        patch.element(patch.tensor("x"), 0, 1, "<i", extent)
        assert reason in complaint(patch.build())


@pytest.mark.parametrize("scale", [float("nan"), float("inf"), -1.0, 0.0])
def test_scales_that_mean_nothing(scale: float) -> None:
    patch = Patch(quantised())
    patch.element(patch.tensor("y").Quantization(), 2, 0, "<f", scale)
    assert complaint(patch.build()) == (
        'error[E304] op 0 QUANTIZE "y": tensor 1 "y" has a scale that is not a positive number'
    )


def test_zeros_may_have_a_scale_of_zero() -> None:
    """An unrolled LSTM begins with such a constant: it was refused. tflite-micro's factor is 0 there."""
    model, dice = ModelBuilder(), np.random.default_rng(1)
    x = model.tensor("x", (1, 9), "int16", scale=0.003)
    zeros = model.tensor("zeros", (1, 9), "int16", scale=0.0, data=np.zeros((1, 9), np.int16))
    y = model.tensor("y", (1, 9), "int16", scale=0.005)
    model.op("MUL", [x, zeros], [y])
    model.inputs(x)
    model.outputs(y)
    given = tuple((dice.integers(-30000, 30000, (1, 9)).astype(np.int16),) for _ in range(3))
    [answer] = ask([Request(engine=TFLITE_MICRO, model=model.build(), inputs=given)])
    module = import_tflite(model.build(), "m.tflite")
    for inputs, [expected] in zip(given, answer.outputs, strict=True):
        [found] = evaluate(module, module.main, inputs)
        assert np.array_equal(found, expected)


def test_zero_point_outside_its_type() -> None:
    patch = Patch(quantised(zero_point=5))
    patch.element(patch.tensor("y").Quantization(), 3, 0, "<q", 128)
    assert (
        complaint(patch.build())
        == 'error[E304] op 0 QUANTIZE "y": tensor 1 "y" has a zero point outside int8'
    )


def test_number_of_zero_points() -> None:
    patch = Patch(everything())
    patch.element(patch.tensor("f/w").Quantization(), 3, -1, "<I", 2)
    assert '"f/w" has 3 scales and 2 zero points' in complaint(patch.build())


def test_one_zero_point_for_all_channels() -> None:
    """tflite-micro's tool for small files writes it so; a public network of digits was refused for it."""
    model, dice = ModelBuilder(), np.random.default_rng(2)
    x = model.tensor("x", (1, 3, 3, 2), "int8", scale=0.5, zero_point=4)
    scales, data = [0.01, 0.02, 0.04], dice.integers(-127, 128, (3, 2, 2, 2)).astype(np.int8)
    w = model.tensor("w", (3, 2, 2, 2), "int8", scale=scales, axis=0, data=data)
    products = [0.5 * scale for scale in scales]
    b = model.tensor("b", (3,), "int32", scale=products, axis=0, data=np.array([9, -700, 40], np.int32))
    y = model.tensor("y", (1, 2, 2, 3), "int8", scale=2.0, zero_point=-3)
    model.op("CONV_2D", [x, w, b], [y], padding="VALID")
    model.inputs(x)
    model.outputs(y)
    patch = Patch(model.build())
    for name in ("w", "b"):
        patch.element(patch.tensor(name).Quantization(), 3, -1, "<I", 1)
    given = tuple((dice.integers(-128, 128, (1, 3, 3, 2)).astype(np.int8),) for _ in range(3))
    [answer] = ask([Request(engine=TFLITE_MICRO, model=patch.build(), inputs=given)])
    module = import_tflite(patch.build(), "m.tflite")
    for inputs, [expected] in zip(given, answer.outputs, strict=True):
        [found] = evaluate(module, module.main, inputs)
        assert np.array_equal(found, expected)


def test_scales_along_an_axis_of_another_extent() -> None:
    patch = Patch(everything())
    patch.scalar(patch.tensor("d/w").Quantization(), 6, "<i", 1)
    assert "of shape [1, 2, 2, 8] has 8 scales along axis 1" in complaint(patch.build())
    patch = Patch(everything())
    patch.scalar(patch.tensor("d/w").Quantization(), 6, "<i", -1)
    assert "of shape [1, 2, 2, 8] has 8 scales along axis -1" in complaint(patch.build())


def test_sparse_tensor() -> None:
    assert complaint(shared_tables(tensors=2, sparse=True)) == (
        "error[E301] m.tflite: a tensor is sparse, which is not supported (2 times)\n"
        '  at graph input 0: tensor 0 "nnnnnnnn"; op 0 QUANTIZE "nnnnnnnn": tensor 1 "nnnnnnnn"\n'
        "help: convert it as a dense model"
    )


def test_custom_quantisation() -> None:
    text = complaint(shared_tables(tensors=2, channels=1, custom_quantization=True))
    assert "a tensor has custom quantisation, which is not supported (2 times)" in text


@pytest.mark.parametrize(("start", "size_bytes"), [(100, 2**40), (2**63, 2**63), (2**40, 0)])
def test_buffer_behind_the_end_of_the_file(start: int, size_bytes: int) -> None:
    text = complaint(shared_tables(tensors=2, external=(start, size_bytes)))
    assert f"error[E302] m.tflite: buffer 0 would lie at bytes {start} to {start + size_bytes - 1}" in text


def test_buffer_behind_the_flatbuffer_is_read() -> None:
    text = complaint(shared_tables(tensors=2, external=(8, 4)))
    assert 'tensor 0 "nnnnnnnn" is computed, yet the file holds data for it' in text
