"""What is refused together: one message a reason, operators first, and no reason hides another.
What is said of files that contradict themselves: order of operators, tensors, shapes, quantisation.
"""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from codegen.errors import CodegenError
from codegen.importers import STATE_OPS, imported_ops
from codegen.importers.limits import MAX_OPTION_BYTES, MAX_TENSOR_BYTES, MAX_TENSORS
from codegen.importers.tflite import import_tflite
from codegen.importers.tflite.writing.writer import ModelBuilder
from codegen.ir.ops import LSTM, OPS, UserKernel
from tests.importers.hostile import shared_tables
from tests.importers.samples import Patch, chain, complaint, everything, one_op, quantised


def _uint8_network(layers: int) -> bytes:
    """A chain of uint8 layers with two operators in it that nothing imports."""
    model = ModelBuilder()
    last = first = model.tensor("x", (1, 4), "uint8", scale=0.5)
    for number in range(layers):
        after = model.tensor(f"y{number}", (1, 4), "uint8", scale=0.5)
        model.op({40: "GELU", 80: "POW"}.get(number, "RELU"), [last], [after])
        last = after
    model.inputs(first)
    model.outputs(last)
    return model.build()


def test_a_type_of_every_tensor_is_one_message_behind_the_operators_that_are_missing() -> None:
    """A uint8 file gave 612 lines, a line a tensor, that hid the two operators without a kernel."""
    assert complaint(_uint8_network(300)).split("\n") == [
        'error[E301] op 40 GELU "y40": operator GELU is not supported',
        KERNEL_HELP,
        'error[E301] op 80 POW "y80": operator POW is not supported',
        KERNEL_HELP,
        "error[E301] m.tflite: a tensor is uint8, supported are int8, int16 and float32 (301 times)",
        '  at graph input 0: tensor 0 "x"; op 0 RELU "y0": tensor 1 "y0"; op 1 RELU "y1": tensor 2 "y1"; '
        "and 298 more",
        "help: convert it again as int8: target_spec.supported_ops = [TFLITE_BUILTINS_INT8], "
        "inference_input_type = inference_output_type = tf.int8",
    ]


KERNEL_HELP = (
    "help: `codegen ops` lists the supported operators; a kernel of your own can be declared in codegen.toml "
    "(docs/user_kernels.md)"
)


def test_an_operator_that_is_missing_often_is_one_message() -> None:
    names = ("x", "a", "b", "c", "d", "y")
    data = chain(*(("GELU", [one], [other]) for one, other in pairwise(names)))
    assert complaint(data).split("\n") == [
        "error[E301] m.tflite: operator GELU is not supported (5 times)",
        '  at op 0 GELU "a"; op 1 GELU "b"; op 2 GELU "c"; and 2 more',
        KERNEL_HELP,
    ]


def test_every_place_is_there_for_programs() -> None:
    with pytest.raises(CodegenError) as caught:
        import_tflite(_uint8_network(300), "m.tflite")
    places = [message.places for message in caught.value.messages]
    assert [len(found) for found in places] == [0, 0, 301]
    assert places[2][-1] == 'op 299 RELU "y299": tensor 300 "y299"'


@pytest.mark.parametrize(
    ("name", "options", "advice"),
    [
        ("CUSTOM", {"custom_code": "FlexErf"}, "a TensorFlow operator: convert without SELECT_TF_OPS"),
        ("CUSTOM", {"custom_code": "SignalRfft"}, "end the model behind it, and compute these features in"),
        ("CUSTOM", {"custom_code": "TFLite_Detection_PostProcess"}, "end the model in front of it, and"),
        ("CUSTOM", {"custom_code": "Ours"}, "`codegen ops` lists the supported operators; a kernel of"),
        ("GELU", {}, "`codegen ops` lists the supported operators; a kernel of your own can be declared"),
    ],
)
def test_advice_fits_the_operator(name: str, options: dict[str, Any], advice: str) -> None:
    assert f"\nhelp: {advice}" in complaint(one_op(name, (1, 4), (1, 4), **options))


def test_no_kernel_is_advised_where_none_can_be_declared() -> None:
    """A declared kernel computes one result."""
    data = chain(("TOPK_V2", ["x"], ["y", "z"]), outputs=["y", "z"])
    assert complaint(data).split("\n")[1] == "help: `codegen ops` lists the supported operators"


def test_a_handle_of_a_table_is_no_reason_of_its_own() -> None:
    model = ModelBuilder()
    x, y = model.tensor("x", (1, 4), "float32"), model.tensor("y", (1, 4), "float32")
    handle = model.tensor("h", (), "resource")
    model.op("HASHTABLE", [], [handle])
    model.op("HASHTABLE_FIND", [handle, x], [y])
    model.inputs(x)
    model.outputs(y)
    text = complaint(model.build())
    assert text.count("error[") == 2 and "resource" not in text


def _large_options(name: str, *, missing: str = "") -> bytes:
    model = ModelBuilder()
    x, y, z = (model.tensor(tensor, (1, 4), "float32") for tensor in "xyz")
    model.op("CUSTOM", [x], [y], custom_code=name, custom_options=bytes(MAX_OPTION_BYTES + 1))
    model.op(missing or "RELU", [y], [z])
    model.inputs(x)
    model.outputs(z)
    return model.build()


def test_options_that_are_too_long_do_not_hide_whose_they_are() -> None:
    """An Edge TPU's program lies in the options of its operator: E305 for its length said nothing else."""
    text = complaint(_large_options("edgetpu-custom-op", missing="GELU"))
    assert 'op 0 CUSTOM "y": custom operator "edgetpu-custom-op" is not supported' in text
    assert 'op 1 GELU "z": operator GELU is not supported' in text
    assert "E305" not in text


def test_options_of_a_declared_kernel_are_bounded() -> None:
    kernel = UserKernel(op="Mine", symbol="mine", source="mine.c", text="")
    with pytest.raises(CodegenError) as caught:
        import_tflite(_large_options("Mine", missing="GELU"), "m.tflite", (kernel,))
    assert [str(message).split("\n")[0] for message in caught.value.messages] == [
        'error[E301] op 1 GELU "z": operator GELU is not supported',
        'error[E305] op 0 CUSTOM "y": has 65537 bytes of options, supported are 65536',
    ]


def test_a_tensor_of_too_many_dimensions_does_not_hide_other_reasons() -> None:
    model = ModelBuilder()
    x, y, z = (
        model.tensor(tensor, (1,) * rank, "float32") for tensor, rank in (("x", 9), ("y", 2), ("z", 2))
    )
    model.op("RELU", [x], [y])
    model.op("GELU", [y], [z])
    model.inputs(x)
    model.outputs(z)
    assert complaint(model.build()).split("\n") == [
        'error[E301] op 1 GELU "z": operator GELU is not supported',
        KERNEL_HELP,
        'error[E305] graph input 0: tensor 0 "x" has 9 dimensions, up to 8 are supported',
    ]


def test_a_file_that_is_too_large_tells_its_missing_operators_too() -> None:
    """Nothing but the list of operator kinds is read of such a file."""
    data = bytearray(shared_tables(tensors=MAX_TENSORS + 1))
    patch = Patch(bytes(data))
    patch.scalar(patch.model.OperatorCodes(0), 0, "<b", 78)
    assert complaint(patch.build()).split("\n") == [
        "error[E301] m.tflite: operator POW is not supported",
        KERNEL_HELP,
        f"error[E305] m.tflite: SubGraph.tensors has {MAX_TENSORS + 1} elements, up to {MAX_TENSORS} are "
        "imported",
    ]


FOLDED: dict[str, bytes] = {
    "EXPAND_DIMS": one_op("EXPAND_DIMS", (1, 4), (1, 1, 4), (1,)),
    "SQUEEZE": one_op("SQUEEZE", (1, 4), (4,)),
    "PADV2": one_op("PADV2", (4,), (5,), ([[0, 1]], np.zeros(1, np.float32))),
}


@pytest.mark.parametrize("name", sorted(FOLDED))
def test_ops_says_what_an_operator_becomes(name: str) -> None:
    [let] = import_tflite(FOLDED[name], "m.tflite").main.body
    assert imported_ops()[name] == let.call.op.name != name


def test_every_operator_of_the_ir_that_files_may_have_is_imported() -> None:
    assert set(imported_ops().values()) - {None} <= {*OPS, LSTM.name}  # compared by tests/e2e/test_lstm.py
    assert {name for name, op in imported_ops().items() if op is None} == {
        "BROADCAST_ARGS",
        "SHAPE",
        "ZEROS_LIKE",
        *STATE_OPS,
    }
    assert {name for name, op in imported_ops().items() if name == op} <= {*OPS, LSTM.name}


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
        (2**31 - 1, f"bytes, the limit is {MAX_TENSOR_BYTES}"),
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
