"""`--io-types int8`: float edges that only meet conversions become int8; others are told."""

from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import codegen
from codegen.driver.inputs.cases import Case
from codegen.driver.inputs.files import example_model
from codegen.driver.options import Options
from codegen.driver.planning import plan_only
from codegen.driver.references import numpy_outputs
from codegen.program.program import Program
from tests.cli.test_verbs import call
from tests.importers.onnx.models import model, node

SCALE, ZERO = 0.5, 3


def qdq_conv(output: str = "logits", *, is_flat: bool = False) -> ModelProto:
    """A convolution of NCHW images between QuantizeLinear and DequantizeLinear, as quantizers write it.

    One weight of 1 a channel, at the middle of the window: the right output is the quantised image.
    """
    weights = np.zeros((2, 2, 3, 3), np.int8)
    weights[0, 0, 1, 1] = weights[1, 1, 1, 1] = 1
    held = {
        "s": np.float32(SCALE),
        "z": np.int8(ZERO),
        "one": np.float32(1),
        "none": np.int8(0),
        "w": weights,
    }
    last = "y" if is_flat else output
    nodes = [
        helper.make_node("QuantizeLinear", ["image", "s", "z"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["x"]),
        helper.make_node("DequantizeLinear", ["w", "one", "none"], ["wf"]),
        helper.make_node("Conv", ["x", "wf"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("QuantizeLinear", ["c", "s", "z"], ["cq"]),
        helper.make_node("DequantizeLinear", ["cq", "s", "z"], [last]),
    ]
    if is_flat:
        nodes.append(helper.make_node("Flatten", [last], [output]))
    shape = [1, 2, 4, 5]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, [1, 40] if is_flat else shape)],
        [numpy_helper.from_array(np.asarray(data), name) for name, data in held.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def planned_int8(made: ModelProto, folder: Path) -> Program:
    path = folder / "net.onnx"
    path.write_bytes(made.SerializeToString())
    return plan_only(path, Options(board="host", io_types="int8")).program


@pytest.mark.parametrize("is_flat", [False, True])
def test_int8_edges_of_nchw_images(is_flat: bool, tmp_path: Path) -> None:
    """The option did nothing and said nothing: ONNX files have a conversion of their own, and a TRANSPOSE to
    NCHW stood behind the one to floats."""
    made = qdq_conv(is_flat=is_flat)
    program = planned_int8(made, tmp_path)
    [image], [logits] = program.signature.inputs, program.signature.outputs
    assert [image.type.dtype.value, logits.type.dtype.value] == ["int8", "int8"]
    assert (image.field, image.type.shape) == ("image", (1, 2, 4, 5))
    assert (logits.field, logits.type.shape) == ("logits", (1, 40) if is_flat else (1, 2, 4, 5))
    assert (logits.type.scale, logits.type.zero_point) == (SCALE, ZERO)
    edges = ["input image"] if is_flat else ["input image", "output logits"]
    text = (
        "has its channels first, as in the file: --layout nhwc saves the step that turns it, and a copy of 40"
    )
    assert list(program.notes) == [f"{edge} {text} bytes" for edge in edges]
    planned = plan_only(tmp_path / "net.onnx", Options(board="host", io_types="int8"))
    data = np.random.default_rng(1).integers(-128, 128, image.type.shape).astype(np.int8)
    [found] = numpy_outputs(planned, Case(name="a", inputs=(data,)))
    assert np.array_equal(found.ravel(), data.ravel())


def test_an_output_keeps_its_name(tmp_path: Path) -> None:
    """`logits` became `logits_quantizelinear_output`: firmware for the float build did not compile."""
    weight = numpy_helper.from_array(np.eye(4, dtype=np.int8), "w")
    scale, zero = (
        numpy_helper.from_array(np.asarray(v), n) for v, n in ((np.float32(1), "s"), (np.int8(0), "z"))
    )
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["r"]),
        helper.make_node("DequantizeLinear", ["w", "s", "z"], ["wf"]),
        helper.make_node("Gemm", ["r", "wf"], ["g"]),
        helper.make_node("QuantizeLinear", ["g", "s", "z"], ["logits_QuantizeLinear_Output"]),
        helper.make_node("DequantizeLinear", ["logits_QuantizeLinear_Output", "s", "z"], ["logits"]),
    ]
    edges = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4]) for name in ("x", "logits")]
    graph = helper.make_graph(nodes, "g", edges[:1], edges[1:], [weight, scale, zero])
    opsets = [helper.make_opsetid("", 13)]
    program = planned_int8(helper.make_model(graph, opset_imports=opsets, ir_version=8), tmp_path)
    [logits] = program.signature.outputs
    assert (logits.field, logits.origin, logits.type.dtype.value) == ("logits", "logits", "int8")


def test_edges_that_stay_float_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    made = model(node("Relu", "x", "y"), x=(1, 4))
    Path("net.onnx").write_bytes(made.SerializeToString())
    assert call("plan", "net.onnx", "--io-types", "int8") == 0
    notes = [line for line in capsys.readouterr().out.splitlines() if line.startswith("note ")]
    assert notes == [
        "note      --io-types int8: input x stays float32: RELU reads it, no conversion to int8",
        "note      --io-types int8: output y stays float32: RELU makes it, no conversion from int8",
    ]


def test_a_model_without_float_edges_is_told() -> None:
    [note] = plan_only(example_model(), Options(board="host", io_types="int8")).program.notes
    assert note == "--io-types int8 changes nothing: no input or output of the model is float32 or uint8"


def test_a_streamed_image_is_told_of_no_layout_that_nobody_asked_for() -> None:
    """`--stream-input` of an image with its channels last said that `--layout nhwc` changes nothing there."""
    assert plan_only(example_model(), Options(board="host", stream_input=True)).program.notes == ()


def test_planes_are_streamed_by_pixels(tmp_path: Path) -> None:
    """`--stream-input` was refused for an NCHW image, and advised `--io-types int8`, which changes nothing
    there; of floats it was refused as well."""
    path = tmp_path / "net.onnx"
    path.write_bytes(qdq_conv().SerializeToString())
    edges: dict[Literal["file", "int8", "uint8"], str] = {"int8": "int8", "uint8": "uint8", "file": "float32"}
    for io_types, dtype in edges.items():
        program = plan_only(path, Options(board="host", io_types=io_types, stream_input=True)).program
        [image] = program.signature.inputs
        assert (image.field, image.type.dtype.value, image.type.shape) == ("image", dtype, (1, 4, 5, 2))
        assert program.notes[0] == "--stream-input: rows of image have their channels last"


@pytest.mark.parametrize("layout", ["file", "nhwc"])
@pytest.mark.parametrize("is_flat", [False, True])
def test_uint8_edges(layout: Literal["file", "nhwc"], is_flat: bool, tmp_path: Path) -> None:
    """Cameras give uint8: the same meaning, 128 more."""
    path = tmp_path / "net.onnx"
    path.write_bytes(qdq_conv(is_flat=is_flat).SerializeToString())
    planned = plan_only(path, Options(board="host", io_types="uint8", layout=layout))
    [image], [logits] = planned.program.signature.inputs, planned.program.signature.outputs
    shape = (1, 2, 4, 5) if layout == "file" else (1, 4, 5, 2)
    for edge in (image, logits):
        assert (edge.type.dtype.value, edge.type.scale, edge.type.zero_point) == ("uint8", SCALE, ZERO + 128)
    assert image.type.shape == shape and logits.type.shape == ((1, 40) if is_flat else shape)
    data = np.random.default_rng(1).integers(0, 256, shape).astype(np.uint8)
    [found] = numpy_outputs(planned, Case(name="a", inputs=(data,)))
    expected = data.transpose(0, 3, 1, 2).ravel() if is_flat and layout == "nhwc" else data.ravel()
    assert np.array_equal(found.ravel(), expected)


@pytest.mark.parametrize("io_types", ["file", "int8", "uint8"])
@pytest.mark.parametrize("layout", ["file", "nhwc"])
@pytest.mark.sampled()
def test_every_edge_runs_and_is_as_onnxruntime_has_it(
    io_types: Literal["file", "int8", "uint8"], layout: Literal["file", "nhwc"], tmp_path: Path
) -> None:
    """The engine takes the file's floats in the file's layout, and gives such."""
    path = tmp_path / "net.onnx"
    path.write_bytes(qdq_conv().SerializeToString())
    report = codegen.run(path, codegen.Options(board="host", io_types=io_types, layout=layout))
    assert report.run is not None and report.run.reference is not None
    assert all(output.matches for output in report.run.outputs)
    assert str(report.run.reference["engine"]).startswith("onnxruntime")


def test_an_integer_input_that_is_turned_first_has_its_scale(tmp_path: Path) -> None:
    """An int8 image in NHWC behind a Transpose had no scale in the header, and a table gave it one,
    element by element."""
    made = qdq_conv()
    del made.graph.input[:]
    made.graph.input.append(helper.make_tensor_value_info("nhwc", TensorProto.INT8, [1, 4, 5, 2]))
    made.graph.node[0].CopyFrom(helper.make_node("Transpose", ["nhwc"], ["q"], perm=[0, 3, 1, 2]))
    path = tmp_path / "net.onnx"
    path.write_bytes(made.SerializeToString())
    program = plan_only(path, Options(board="host")).program
    [image] = program.signature.inputs
    assert (image.type.scale, image.type.zero_point) == (SCALE, ZERO)
    steps = [let.call.op.name for let in program.steps.function.body]
    assert steps == ["CONV_2D", "TRANSPOSE", "DEQUANTIZE"]
