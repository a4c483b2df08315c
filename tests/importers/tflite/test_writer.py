"""The writer, read back with the schema's own generated reader."""

from typing import Any, cast

import numpy as np
import pytest
import tflite

from codegen.importers.tflite.file.option_tables import BY_OPERATOR, OptionStorage
from codegen.importers.tflite.writing.writer import Custom, ModelBuilder
from codegen.importers.tflite.writing.writer_options import builtin_code
from tests.importers.samples import schema_word

SCHEMA: Any = cast(Any, tflite)


def read(data: bytes) -> Any:
    assert SCHEMA.Model.ModelBufferHasIdentifier(data, 0)
    return SCHEMA.Model.GetRootAs(data, 0)


def conv_model() -> ModelBuilder:
    model = ModelBuilder(description="a test", metadata={"origin": b"\x01\x02\x03"})
    x = model.tensor("x", (1, 5, 4, 2), scale=0.5, zero_point=-7, shape_signature=(-1, 5, 4, 2))
    weights = np.arange(3 * 3 * 1 * 2, dtype=np.int8).reshape(3, 3, 1, 2)
    w = model.tensor("w", weights.shape, scale=(0.25, 0.5, 0.125), data=weights)
    b = model.tensor("b", (3,), "int32", scale=(0.125, 0.25, 0.0625), data=[1, -2, 2**30])
    y = model.tensor("y", (1, 2, 4, 3), scale=2.0, zero_point=127)
    model.op("CONV_2D", [x, w, b], [y], padding="VALID", stride_h=2, activation="relu6", dilation_w=3)
    model.inputs(x)
    model.outputs(y)
    return model


def test_a_convolution_reads_back_as_described() -> None:
    model = read(conv_model().build())
    assert (model.Version(), model.Description(), model.SubgraphsLength()) == (3, b"a test", 1)
    graph = model.Subgraphs(0)
    assert (list(graph.InputsAsNumpy()), list(graph.OutputsAsNumpy())) == ([0], [3])
    x, w, b = (graph.Tensors(index) for index in range(3))
    assert (x.Name(), x.Type(), list(x.ShapeAsNumpy())) == (b"x", SCHEMA.TensorType.INT8, [1, 5, 4, 2])
    assert list(x.ShapeSignatureAsNumpy()) == [-1, 5, 4, 2]
    assert (x.Quantization().Scale(0), x.Quantization().ZeroPoint(0), x.Buffer()) == (0.5, -7, 0)
    assert list(w.Quantization().ScaleAsNumpy()) == [0.25, 0.5, 0.125]
    assert list(w.Quantization().ZeroPointAsNumpy()) == [0, 0, 0]
    assert bytes(model.Buffers(w.Buffer()).DataAsNumpy()) == bytes(range(18))
    assert model.Buffers(b.Buffer()).DataAsNumpy().tobytes() == np.array([1, -2, 2**30], "<i4").tobytes()
    operator = graph.Operators(0)
    assert list(operator.InputsAsNumpy()) == [0, 1, 2]
    code = model.OperatorCodes(operator.OpcodeIndex())
    assert (code.BuiltinCode(), code.DeprecatedBuiltinCode(), code.Version()) == (3, 3, 3)
    assert operator.BuiltinOptionsType() == SCHEMA.BuiltinOptions.Conv2DOptions
    options = SCHEMA.Conv2DOptions()
    options.Init(operator.BuiltinOptions().Bytes, operator.BuiltinOptions().Pos)
    assert (options.Padding(), options.StrideH(), options.StrideW()) == (SCHEMA.Padding.VALID, 2, 1)
    assert options.FusedActivationFunction() == SCHEMA.ActivationFunctionType.RELU6
    assert (options.DilationHFactor(), options.DilationWFactor()) == (1, 3)
    metadata = model.Metadata(0)
    assert metadata.Name() == b"origin"
    assert bytes(model.Buffers(metadata.Buffer()).DataAsNumpy()) == b"\x01\x02\x03"


def test_tensor_data_is_aligned_to_16_bytes() -> None:
    data = conv_model().build()
    assert data.index(bytes(range(18))) % 16 == 0


def test_the_same_description_gives_the_same_bytes() -> None:
    model = conv_model()
    assert model.build() == model.build() == conv_model().build()


@pytest.mark.parametrize("name", sorted(BY_OPERATOR))
def test_every_option_of_every_operator_lands_in_its_schema_field(name: str) -> None:
    """Distinct values in, read back by the schema's accessor of that name: field numbers and types fit."""
    table = BY_OPERATOR[name]
    given: dict[str, Any] = {}
    expected: dict[str, Any] = {}
    for number, (option, field) in enumerate(table.fields.items()):
        values = {
            OptionStorage.INT: (number + 2, number + 2),
            OptionStorage.BYTE: (number + 2, number + 2),
            OptionStorage.BOOL: (field.default == 0, field.default == 0),
            OptionStorage.FLOAT: (0.5 + number, 0.5 + number),
            OptionStorage.INTS: ((4, 5, 6), [4, 5, 6]),
            OptionStorage.PADDING: ("VALID", 1),
            OptionStorage.ACTIVATION: ("relu6", 3),
            OptionStorage.TYPE: ("int64", 4),
            OptionStorage.TEXT: (f"name{number}", f"name{number}".encode()),
        }
        given[option], expected[option] = values[field.kind]
    model = ModelBuilder()
    x = model.tensor("x", (1,), "float32")
    model.op(name, [x], [x], **given)
    operator = read(model.build()).Subgraphs(0).Operators(0)
    assert operator.BuiltinOptionsType() == getattr(SCHEMA.BuiltinOptions, table.union)
    options = getattr(SCHEMA, table.union)()
    options.Init(operator.BuiltinOptions().Bytes, operator.BuiltinOptions().Pos)
    for option, value in expected.items():
        word = schema_word(option)
        if table.fields[option].kind is OptionStorage.INTS:
            assert list(getattr(options, f"{word}AsNumpy")()) == value
        else:
            assert getattr(options, word)() == value


def test_operators_beyond_one_byte_and_custom_ones() -> None:
    model = ModelBuilder()
    x = model.tensor("x", (), "float32")
    model.op("GELU", [x, None], [x])
    model.op("CUSTOM", [x], [x], custom=Custom(code="mine"))
    built = read(model.build())
    assert built.OperatorCodes(0).BuiltinCode() == builtin_code("GELU") > 127
    assert built.OperatorCodes(0).DeprecatedBuiltinCode() == 127
    assert built.OperatorCodes(1).CustomCode() == b"mine"
    assert list(built.Subgraphs(0).Operators(0).InputsAsNumpy()) == [0, -1]


def refuse_operator(name: str, **options: Any) -> str:
    model = ModelBuilder()
    x = model.tensor("x", (1,), "int8")
    with pytest.raises(ValueError) as caught:
        model.op(name, [x], [x], **options)
    return str(caught.value)


def test_unknown_operators_and_options_are_refused() -> None:
    assert "'CONV_9D' is not an operator" in refuse_operator("CONV_9D")
    assert "'__doc__' is not an operator" in refuse_operator("__doc__")
    assert "MUL has no option stride; it has activation" in refuse_operator("MUL", stride=2)
    assert "RELU has no option alpha; it has none" in refuse_operator("RELU", alpha=0.5)
    assert "padding cannot be 'HALF'" in refuse_operator("CONV_2D", padding="HALF")
    assert "stride_w cannot be 1.5" in refuse_operator("CONV_2D", stride_w=1.5)
    assert "CUSTOM needs one" in refuse_operator("CUSTOM")


def test_tensors_that_do_not_fit_their_data_or_scales_are_refused() -> None:
    model = ModelBuilder()
    with pytest.raises(ValueError, match="'int3' is not one of"):
        model.tensor("x", (1,), "int3")
    with pytest.raises(ValueError, match=r"data is int64\[2\], tensor int8\[2\]"):
        model.tensor("x", (2,), "int8", data=np.array([1, 2], np.int64))
    with pytest.raises(ValueError, match=r"data is int8\[2\], tensor int8\[3\]"):
        model.tensor("x", (3,), "int8", data=[1, 2])
    with pytest.raises(ValueError, match="2 scales along axis 0 do not fit shape"):
        model.tensor("x", (3,), scale=(0.5, 0.5))
    with pytest.raises(ValueError, match="1 scales, 2 zero points"):
        model.tensor("x", (3,), scale=0.5, zero_point=(1, 2))
    with pytest.raises(ValueError, match="there is no tensor 0"):
        model.inputs(0)
