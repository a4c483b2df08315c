"""The text of every message about a model, and that all problems come at once."""

import numpy as np
import pytest

from codegen.errors import CodegenError
from codegen.importers.limits import MAX_MESSAGES
from codegen.importers.reporting import ImportProblem, ImportReport
from codegen.importers.tflite.writing.writer import Custom, ModelBuilder
from tests.importers.samples import Patch, chain, complaint, everything, imported, one_op, quantised, typed

OPS_HELP = "help: `codegen ops` lists the supported operators"
KERNEL_HELP = f"{OPS_HELP}; a kernel of your own can be declared in codegen.toml (docs/user_kernels.md)"
CONV = ("CONV_2D", (1, 4, 4, 2), (1, 4, 4, 3), (np.zeros((3, 1, 1, 2), np.float32),))
POOL = ("MAX_POOL_2D", (1, 4, 4, 2), (1, 4, 4, 2))


def test_custom_operator() -> None:
    assert complaint(one_op("CUSTOM", (1, 4), (1, 4), custom=Custom(code="My\x1bOp"))) == (
        f'error[E301] op 0 CUSTOM "y": custom operator "My?Op" is not supported\n{KERNEL_HELP}'
    )


def test_all_problems_come_at_once() -> None:
    data = chain(
        ("SIGN", ["x"], ["a"]), ("RELU", ["a"], ["b"]), ("MATRIX_DIAG", ["b"], ["c"]), ("POW", ["c"], ["y"])
    )
    assert complaint(data).split("\n") == [
        'error[E301] op 0 SIGN "a": operator SIGN is not supported',
        KERNEL_HELP,
        'error[E301] op 2 MATRIX_DIAG "c": operator MATRIX_DIAG is not supported',
        KERNEL_HELP,
        'error[E301] op 3 POW "y": operator POW is not supported',
        KERNEL_HELP,
    ]


def test_unknown_operator_code() -> None:
    data = one_op("EXP", (1, 4), (1, 4))
    patch = Patch(data)
    code = patch.model.OperatorCodes(0)
    patch.scalar(code, 0, "<b", 127).scalar(code, 3, "<i", 5000)
    assert 'op 0 operator code 5000 "y": operator operator code 5000 is not supported' in complaint(
        patch.build()
    )


@pytest.mark.parametrize(
    ("dtype", "text"),
    [
        (
            "float64",
            'graph input 0: tensor 0 "x" is float64, supported are int8, int16 and float32\n'
            "help: build the model with float32 (Keras: set_floatx), and convert it again",
        ),
        (
            "float16",
            'graph input 0: tensor 0 "x" is float16, supported are int8, int16 and float32\n'
            "help: convert it again without float16 in target_spec.supported_types: as int8 or float32",
        ),
    ],
)
def test_types(dtype: str, text: str) -> None:
    assert complaint(typed(dtype)) == f"error[E301] {text}"


def test_unknown_type_number() -> None:
    patch = Patch(typed("int8", scale=1.0))
    patch.scalar(patch.tensor("x"), 1, "<b", 99)
    assert 'tensor 0 "x" is of type number 99, supported are int8, int16 and float32' in complaint(
        patch.build()
    )


def test_hybrid_depthwise_weights_of_one_scale() -> None:
    """TFLite reads a scale for each channel, wherever it lies."""
    model = ModelBuilder()
    x, y = model.tensor("x", (1, 2, 2, 2), "float32"), model.tensor("y", (1, 1, 1, 2), "float32")
    w = model.tensor("w", (1, 2, 2, 2), "int8", scale=0.5, data=np.zeros((1, 2, 2, 2), np.int8))
    model.op("DEPTHWISE_CONV_2D", [x, w], [y], padding="VALID")
    model.inputs(x)
    model.outputs(y)
    assert complaint(model.build()) == (
        'error[E301] op 0 DEPTHWISE_CONV_2D "y": hybrid operator: its weights have one scale for all '
        "channels\n"
        "help: convert it again with weights quantised by channel"
    )


def test_hybrid_weights_of_uint8() -> None:
    model = ModelBuilder()
    x, y = model.tensor("x", (1, 4), "float32"), model.tensor("y", (1, 2), "float32")
    w = model.tensor("w", (2, 4), "uint8", scale=0.5, zero_point=128, data=np.zeros((2, 4), np.uint8))
    model.op("FULLY_CONNECTED", [x, w], [y])
    model.inputs(x)
    model.outputs(y)
    assert complaint(model.build()) == (
        'error[E301] op 0 FULLY_CONNECTED "y": hybrid operator: the image is float32, the weights are uint8, '
        "supported is int8\nhelp: convert it again with weights of int8, or without quantisation"
    )


def test_variable_tensor() -> None:
    assert complaint(typed("int8", scale=1.0, variable=True)) == (
        'error[E301] graph input 0: tensor 0 "x" is a variable: '
        "state kept between inferences is not supported\n"
        "help: make the state an input and an output of the model"
    )


def test_unknown_extent_beside_the_batch() -> None:
    data = typed("int8", scale=1.0, shape_signature=(-1, -1))
    expected = (
        'error[E301] graph input 0: tensor 0 "x" has shape [-1, -1]: '
        "only the first extent may be unknown (-1)\n"
        "help: say how large it is: --dim x.1=37, or a range: --dim x.1=10..200"
    )
    assert complaint(data) == expected
    patch = Patch(typed("int8", scale=1.0))
    patch.element(patch.tensor("x"), 0, 1, "<i", -1)
    assert "has shape [1, -1]: only the first extent may be unknown (-1)" in complaint(patch.build())


@pytest.mark.parametrize(("code", "name"), [("tanh", "TANH"), ("sign_bit", "SIGN_BIT")])
def test_fused_activation(code: str, name: str) -> None:
    data = one_op(*CONV, padding="SAME", activation=code)
    assert complaint(data) == f'error[E301] op 0 CONV_2D "y": fused activation {name} is not supported'


def test_fused_activation_that_does_not_exist() -> None:
    patch = Patch(one_op(*POOL, padding="SAME", activation="tanh"))
    offset = int(patch.operator(0).BuiltinOptions().Offset(4 + 2 * 5))
    patch.data[patch.operator(0).BuiltinOptions().Pos + offset] = 77
    expected = 'error[E303] op 0 MAX_POOL_2D "y": fused activation number 77 does not exist'
    assert complaint(patch.build()) == expected


def test_options_of_a_slice() -> None:
    data = one_op(
        "STRIDED_SLICE",
        (4, 2),
        (4, 2),
        ([0], [0], [1]),
        ellipsis_mask=1,
        new_axis_mask=1,
        end_mask=1,
        offset=True,
    )
    assert complaint(data).split("\n") == [
        'error[E301] op 0 STRIDED_SLICE "y": option ellipsis_mask is not supported',
        "help: slice every axis by begin, end and stride",
        'error[E301] op 0 STRIDED_SLICE "y": option new_axis_mask is not supported',
        "help: slice every axis by begin, end and stride",
        'error[E301] op 0 STRIDED_SLICE "y": option offset (ends counted from the begins) is not supported',
    ]


def test_activation_fused_into_concatenation() -> None:
    data = one_op("CONCATENATION", (1, 4), (1, 4), axis=1, activation="relu")
    assert "an activation fused into CONCATENATION is not supported" in complaint(data)


def test_shape_operand_computed_at_run_time() -> None:
    model = ModelBuilder()
    x, shape = model.tensor("x", (1, 4), "float32"), model.tensor("shape", (2,), "int32")
    y = model.tensor("y", (4, 1), "float32")
    model.op("RESHAPE", [x, shape], [y])
    model.inputs(x, shape)
    model.outputs(y)
    assert complaint(model.build()).split("\n") == [
        'error[E301] op 0 RESHAPE "y": the new shape in tensor 1 "shape" is computed while the model runs',
        "help: convert the model with fixed shapes, so that this is a constant",
    ]


@pytest.mark.parametrize(("count", "is_input"), [(100, False), (2, True)])
def test_shapes_of_many_numbers_or_of_none_that_are_known(count: int, is_input: bool) -> None:
    """A mutated BROADCAST_ARGS of 2,000 numbers failed an assertion, and so did one of a model's input."""
    model = ModelBuilder()
    x = model.tensor("x", (count,), "int32")
    stored = model.constant("k", np.ones(count, np.int32), "int32")
    y, z = (model.tensor(name, (count,), "int32") for name in "yz")
    model.op("BROADCAST_ARGS", [x if is_input else stored, stored], [y])
    model.op("ADD", [x, y], [z])
    model.inputs(x)
    model.outputs(z)
    assert 'op 0 BROADCAST_ARGS "y": works on shapes here that are not known, or have more' in complaint(
        model.build()
    )


def test_weights_computed_at_run_time() -> None:
    model = ModelBuilder()
    x, w, y = (model.tensor(name, (4, 1, 1, 4), "float32") for name in "xwy")
    model.op("RELU", [x], [w])
    model.op("CONV_2D", [x, w], [y], padding="VALID")
    model.inputs(x)
    model.outputs(y)
    assert complaint(model.build()) == (
        'error[E301] op 1 CONV_2D "y": '
        "the weights are computed from the model's inputs, supported are constants"
    )


@pytest.mark.parametrize(
    ("dtypes", "bias", "text"),
    [
        (
            ("int8", "int8"),
            1,
            "beside weights computed from the model's inputs only a bias of zeros",
        ),
        (
            ("int16", "int8"),
            0,
            "image int16, weights int8 computed from the model's inputs, supported:",
        ),
    ],
)
def test_rows_of_computed_weights(dtypes: tuple[str, str], bias: int, text: str) -> None:
    """FULLY_CONNECTED of two values is a product of matrices, where that says the same."""
    model = ModelBuilder()
    x, w = (model.tensor(n, (4, 4), each, scale=0.5) for n, each in zip("xw", dtypes, strict=True))
    b = model.tensor("b", (4,), "int32", scale=0.25, data=np.full(4, bias, np.int32))
    y = model.tensor("y", (4, 4), dtypes[0], scale=0.5)
    model.op("FULLY_CONNECTED", [x, w, b], [y])
    model.inputs(x, w)
    model.outputs(y)
    assert f'error[E301] op 0 FULLY_CONNECTED "y": {text}' in complaint(model.build())


def _int16_sum(*scales: float, by_shifts: bool = True) -> bytes:
    """An ADD of int16 tensors with these scales."""
    model = ModelBuilder()
    x, y, z = (model.tensor(n, (1, 4), "int16", scale=s) for n, s in zip("xyz", scales, strict=True))
    model.op("ADD", [x, y], [z], pot_scale_int16=by_shifts)
    model.inputs(x, y)
    model.outputs(z)
    return model.build()


def test_int16_sums_of_powers_of_two() -> None:
    """TFLite's shifting kernel rounds before it adds, tflite-micro's does not: neither is right for both."""
    assert complaint(_int16_sum(0.25, 0.5, 0.5)) == (
        'error[E301] op 0 ADD "z": int16 scales that are all powers of two are not supported '
        "with the option pot_scale_int16\n"
        "help: convert with a TensorFlow that leaves pot_scale_int16 off (2.4 and later, 16x8 quantisation)"
    )
    for data in (_int16_sum(0.25, 0.5, 0.5, by_shifts=False), _int16_sum(0.25, 0.3, 0.5)):
        imported(data)


def test_schema_version() -> None:
    patch = Patch(everything())
    patch.scalar(patch.model, 0, "<I", 2)
    assert complaint(patch.build()) == "error[E302] m.tflite: schema version is 2, supported is 3"


DAMAGED = "help: the file is damaged or cut short: export or download it again"


def test_header_only() -> None:
    assert complaint(b"\x08\0\0\0TFL") == (
        f"error[E302] m.tflite: the header would lie at bytes 0 to 7, the file has 7 bytes\n{DAMAGED}"
    )


def test_offset_out_of_bounds() -> None:
    patch = Patch(everything())
    size = len(patch.data)
    patch.scalar(patch.tensor("q"), 3, "<I", 2**31)
    assert "the length of Tensor.name would lie at bytes" in complaint(patch.build())
    assert f"the file has {size} bytes\n{DAMAGED}" in complaint(patch.build())


def test_vector_longer_than_the_file() -> None:
    patch = Patch(everything())
    patch.element(patch.operator(1), 1, -1, "<I", 2**30)
    assert f"Operator.inputs ({2**30} elements) would lie at bytes" in complaint(patch.build())


def test_field_list_of_no_length() -> None:
    data = bytearray(everything())
    root = int.from_bytes(data[:4], "little")
    vtable = root - int.from_bytes(data[root : root + 4], "little", signed=True)
    data[vtable : vtable + 2] = (3).to_bytes(2, "little")
    assert f"the field list of table Model at byte {vtable} has length 3" in complaint(bytes(data))


def test_number_of_messages_is_bounded() -> None:
    report = ImportReport("m")
    for number in range(MAX_MESSAGES + 7):
        report.add(ImportProblem(code="E301", text=f"problem {number}"))
        report.add(ImportProblem(code="E301", text="problem 0"))
    with pytest.raises(CodegenError) as caught:
        report.raise_if_any()
    assert len(caught.value.messages) == MAX_MESSAGES + 1
    assert str(caught.value.messages[-1]) == "error[E301] m: and 7 more problems"


def test_names_in_messages_cannot_steer_a_terminal() -> None:
    model = ModelBuilder()
    x, y = model.tensor("x", (1, 2), "float32"), model.tensor("\x1b[2Jy", (1, 3), "float32")
    model.op("RELU", [x], [y])
    model.inputs(x)
    model.outputs(y)
    assert 'op 0 RELU "?[2Jy"' in complaint(model.build())


def test_a_good_model_has_no_messages() -> None:
    assert len(imported(quantised()).main.body) == 1
