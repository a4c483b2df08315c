"""What is refused together: one message a reason, operators first, and no reason hides another."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from codegen.errors import CodegenError
from codegen.importers import STATE_OPS, imported_ops
from codegen.importers.limits import MAX_OPTION_BYTES, MAX_TENSORS
from codegen.importers.tflite import import_tflite
from codegen.importers.tflite.writing.writer import Custom, ModelBuilder
from codegen.ir.ops import UserKernel, find_op
from tests.importers.hostile import shared_tables
from tests.importers.samples import Patch, chain, complaint, one_op


def _float64_network(layers: int) -> bytes:
    """A chain of layers of float64 with two operators in it that nothing imports."""
    model = ModelBuilder()
    last = first = model.tensor("x", (1, 4), "float64")
    for number in range(layers):
        before, last = last, model.tensor(f"y{number}", (1, 4), "float64")
        model.op({40: "MATRIX_DIAG", 80: "POW"}.get(number, "RELU"), [before], [last])
    model.inputs(first)
    model.outputs(last)
    return model.build()


def test_a_type_of_every_tensor_is_one_message_behind_the_operators_that_are_missing() -> None:
    """A file gave 612 lines, a line a tensor, that hid the two operators without a kernel."""
    assert complaint(_float64_network(300)).split("\n") == [
        'error[E301] op 40 MATRIX_DIAG "y40": operator MATRIX_DIAG is not supported',
        KERNEL_HELP,
        'error[E301] op 80 POW "y80": operator POW is not supported',
        KERNEL_HELP,
        "error[E301] m.tflite: a tensor is float64, supported are int8, int16 and float32 (301 times)",
        '  at graph input 0: tensor 0 "x"; op 0 RELU "y0": tensor 1 "y0"; op 1 RELU "y1": tensor 2 "y1"; '
        "and 298 more",
        "help: build the model with float32 (Keras: set_floatx), and convert it again",
    ]


KERNEL_HELP = (
    "help: `codegen ops` lists the supported operators; a kernel of your own can be declared in codegen.toml "
    "(docs/user_kernels.md)"
)


def test_an_operator_that_is_missing_often_is_one_message() -> None:
    names = ("x", "a", "b", "c", "d", "y")
    data = chain(*(("MATRIX_DIAG", [one], [other]) for one, other in pairwise(names)))
    assert complaint(data).split("\n") == [
        "error[E301] m.tflite: operator MATRIX_DIAG is not supported (5 times)",
        '  at op 0 MATRIX_DIAG "a"; op 1 MATRIX_DIAG "b"; op 2 MATRIX_DIAG "c"; and 2 more',
        KERNEL_HELP,
    ]


def test_every_place_is_there_for_programs() -> None:
    with pytest.raises(CodegenError) as caught:
        import_tflite(_float64_network(300), "m.tflite")
    places = [message.places for message in caught.value.messages]
    assert [len(found) for found in places] == [0, 0, 301]
    assert places[2][-1] == 'op 299 RELU "y299": tensor 300 "y299"'


@pytest.mark.parametrize(
    ("name", "options", "advice"),
    [
        (
            "CUSTOM",
            {"custom": Custom(code="FlexErf")},
            "a TensorFlow operator: convert without SELECT_TF_OPS",
        ),
        (
            "CUSTOM",
            {"custom": Custom(code="SignalMel")},
            "end the model behind it, and compute these features in",
        ),
        (
            "CUSTOM",
            {"custom": Custom(code="Ours")},
            "`codegen ops` lists the supported operators; a kernel of",
        ),
        ("RFFT2D", {}, "leave the Fourier transform outside: give the model real numbers"),
        (
            "MATRIX_DIAG",
            {},
            "`codegen ops` lists the supported operators; a kernel of your own can be declared",
        ),
    ],
)
def test_advice_fits_the_operator(name: str, options: dict[str, Any], advice: str) -> None:
    assert f"\nhelp: {advice}" in complaint(one_op(name, (1, 4), (1, 4), **options))


@pytest.mark.parametrize(("name", "what"), [("UNIQUE", "values"), ("WHERE", "places")])
def test_results_as_large_as_the_data_say_are_told_apart(name: str, what: str) -> None:
    """A kernel of the user's own was advised, which cannot say how much it found."""
    assert complaint(one_op(name, (1, 4), (1, 4))).split(": ", 1)[1] == (
        f"operator {name} is not supported: how many {what} it finds depends on the data, and sizes are "
        "planned before\nhelp: end the model before it, and compute the rest in code of your own"
    )


def test_no_kernel_is_advised_where_none_can_be_declared() -> None:
    """A declared kernel computes one result."""
    data = chain(("TOPK_V2", ["x"], ["y", "z"]), outputs=["y", "z"])
    assert complaint(data).split("\n")[1] == (
        "help: `codegen ops` lists the supported operators; end the model before it, and compute the rest in "
        "code of your own"
    )


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        (("FlexSub", "FlexMul", "FlexSub"), "an operator of TensorFlow itself is not supported"),
        (
            ("XC_pad", "XC_conv2d_v2", "XC_pad"),
            "a custom operator is not supported: it is what XMOS's optimiser for the xcore made of layers",
        ),
    ],
)
def test_operators_that_are_missing_for_one_reason_are_one_message(names: list[str], reason: str) -> None:
    """A text network gave a message for each of TensorFlow's operators, all with the same advice."""
    model = ModelBuilder()
    tensors = [model.tensor(name, (1, 4), "float32") for name in "xaby"]
    for name, (one, other) in zip(names, pairwise(tensors), strict=True):
        model.op("CUSTOM", [one], [other], custom=Custom(code=name))
    model.inputs(tensors[0])
    model.outputs(tensors[-1])
    text, places, advice = complaint(model.build()).split("\n")
    assert text == f"error[E301] m.tflite: {reason} (3 times)"
    shown = "; ".join(
        f'op {i} CUSTOM "{y}": {name}' for i, (y, name) in enumerate(zip("aby", names, strict=True))
    )
    assert places == f"  at {shown}"
    assert advice.startswith("help: ")


def test_nothing_is_said_of_what_follows_from_unknown_extents() -> None:
    """Of a network of any size 1 x 1 pixels were taken, into which no window of 3 x 3 fits."""
    model = ModelBuilder()
    x = model.tensor("x", (1, 1, 1, 2), "float32", shape_signature=(-1, -1, -1, 2))
    shape, y = model.tensor("shape", (4,), "int32"), model.tensor("y", (1, 1, 1, 2), "float32")
    z = model.tensor("z", (1, 1, 1, 2), "float32")
    model.op("SHAPE", [x], [shape], out_type="int32")
    model.op("RESHAPE", [x, shape], [y])
    model.op("MAX_POOL_2D", [y], [z], padding="VALID", filter_width=3, filter_height=3)
    model.inputs(x)
    model.outputs(z)
    [text, advice] = complaint(model.build()).split("\n")
    assert text.startswith(
        'error[E301] graph input 0: tensor 0 "x" has shape [-1, -1, -1, 2]: only the first'
    )
    assert advice == "help: say how large it is: --dim x.1=37 --dim x.2=37, or a range: --dim x.1=10..200"


def test_factors_that_no_kernel_applies_are_one_message() -> None:
    """A network's MUL results had scales of 3e-35: ranges that calibration never saw anything in."""
    model = ModelBuilder()
    tensors = [model.tensor(name, (1, 4), "int8", scale=scale) for name, scale in (("x", 0.5), ("y", 1e-35))]
    z = model.tensor("z", (1, 4), "int8", scale=2e-35)
    model.op("MUL", [tensors[0], tensors[0]], [tensors[1]])
    model.op("MUL", [tensors[0], tensors[0]], [z])
    model.inputs(tensors[0])
    model.outputs(tensors[1], z)
    assert complaint(model.build()).split("\n") == [
        "error[E306] m.tflite: a factor between quantisations is too large for integer kernels (2 times)",
        '  at op 0 MUL "y"; op 1 MUL "z"',
        "help: scales so far apart are of values that calibration never saw: quantise the model again with "
        "data that reach this operator",
    ]


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
    model.op("CUSTOM", [x], [y], custom=Custom(code=name, options=bytes(MAX_OPTION_BYTES + 1)))
    model.op(missing or "RELU", [y], [z])
    model.inputs(x)
    model.outputs(z)
    return model.build()


def test_options_that_are_too_long_do_not_hide_whose_they_are() -> None:
    """An Edge TPU's program lies in the options of its operator: E305 for its length said nothing else."""
    text = complaint(_large_options("edgetpu-custom-op", missing="MATRIX_DIAG"))
    assert 'op 0 CUSTOM "y": custom operator "edgetpu-custom-op" is not supported' in text
    assert 'op 1 MATRIX_DIAG "z": operator MATRIX_DIAG is not supported' in text
    assert "E305" not in text


def test_options_of_a_declared_kernel_are_bounded() -> None:
    kernel = UserKernel(op="Mine", symbol="mine", source="mine.c", text="")
    with pytest.raises(CodegenError) as caught:
        import_tflite(_large_options("Mine", missing="MATRIX_DIAG"), "m.tflite", (kernel,))
    assert [str(message).split("\n")[0] for message in caught.value.messages] == [
        'error[E301] op 1 MATRIX_DIAG "z": operator MATRIX_DIAG is not supported',
        'error[E305] op 0 CUSTOM "y": has 65537 bytes of options, supported are 65536',
    ]


def test_a_tensor_of_too_many_dimensions_does_not_hide_other_reasons() -> None:
    model = ModelBuilder()
    x, y, z = (
        model.tensor(tensor, (1,) * rank, "float32") for tensor, rank in (("x", 9), ("y", 2), ("z", 2))
    )
    model.op("RELU", [x], [y])
    model.op("MATRIX_DIAG", [y], [z])
    model.inputs(x)
    model.outputs(z)
    assert complaint(model.build()).split("\n") == [
        'error[E301] op 1 MATRIX_DIAG "z": operator MATRIX_DIAG is not supported',
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
    """Those with state are not in `OPS`; sequences compare them (tests/e2e)."""
    assert all(find_op(name) for name in imported_ops().values() if name is not None)
    assert {name for name, op in imported_ops().items() if op is None} == {
        "BROADCAST_ARGS",
        "IF",
        "SHAPE",
        "TFLM_DECODE",
        "WHILE",
        "ZEROS_LIKE",
        *STATE_OPS,
    }
    assert all(find_op(name) for name, op in imported_ops().items() if name == op)
