"""`--dim` and `--at`: every mistake is told, all of one kind at once."""

from pathlib import Path

import pytest

import codegen
from codegen.driver.build import build, plan_model
from codegen.driver.checks.calling import check_sizes
from codegen.driver.inputs.declared_pools import option_board
from codegen.driver.inputs.dims import dims_of, parsed, values_at
from codegen.driver.options import Options
from codegen.driver.plan_export import write_tflm
from codegen.driver.sized_run import check_at
from codegen.errors import CodegenError, ExitCode
from codegen.importers.tflite.writing.writer import ModelBuilder
from codegen.ir.formulas import Symbol
from tests.search.ranges.networks import detector, residual

HELP = (
    "for example --dim T=10..200, --dim T=37 (one size), --dim input_1.1=10..200 (axis 1 of input_1), or "
    "--dim input_1.1=T"
)


def told(error: pytest.ExceptionInfo[CodegenError]) -> list[tuple[str, str | None, str]]:
    return [(each.code, each.where, each.text) for each in error.value.messages]


def test_words_that_say_no_range() -> None:
    with pytest.raises(CodegenError) as caught:
        parsed(
            [
                "T",
                "T=",
                "T=9..2",
                "x.1=0..4",
                "U=T",
                "x.1=2..3",
                "x.1=2..4",
                "a=1..",
                "b=1..",
                "c=1..2147483648",
            ]
        )
    empty = "is an empty range: sizes begin at 1 and the lower end comes first"
    assert told(caught) == [
        ("E281", "--dim T", "says no range of a size"),
        ("E281", "--dim T=", "says no range of a size"),
        ("E281", "--dim T=9..2", f"9..2 {empty}"),
        ("E281", "--dim x.1=0..4", f"0..4 {empty}"),
        ("E281", "--dim U=T", "says no range of a size"),
        ("E281", "--dim x.1=2..4", "--dim x.1=2..3 says it already"),
        (
            "E281",
            "--dim c=1..2147483648",
            "2147483648 does not fit the 32 bits in which firmware computes offsets",
        ),
        ("E281", "--dim b=1..", "a second open range: the sizes that fit are not one largest size then"),
    ]
    assert caught.value.messages[0].help == HELP


def file(folder: Path, data: bytes) -> Path:
    path = folder / "net.tflite"
    path.write_bytes(data)
    return path


def test_a_symbol_is_the_one_size_that_the_file_leaves_open(tmp_path: Path) -> None:
    found = dims_of(file(tmp_path, residual().data), parsed(["T=3..9"]))
    assert found is not None
    assert found.symbols == (Symbol(name="T", low=3, high=9),)
    assert found.axes == {(0, 1): "T"}


def test_two_axes_are_one_symbol_or_two(tmp_path: Path) -> None:
    path = file(tmp_path, detector().data)
    square = dims_of(path, parsed(["x0.1=S", "x0.2=S", "S=8..16"]))
    assert square is not None
    assert square.axes == {(0, 1): "S", (0, 2): "S"}
    two = dims_of(path, parsed(["x0.1=8..9", "x0.2=8..10"]))
    assert two is not None
    assert [str(symbol) for symbol in two.symbols] == ["x0_dim1=8..9", "x0_dim2=8..10"]


def test_names_that_the_model_has_not(tmp_path: Path) -> None:
    path = file(tmp_path, detector().data)
    with pytest.raises(CodegenError) as caught:
        dims_of(path, parsed(["image.1=2..3", "x0.7=2..3", "T=2..9", "x0.0=B"]))
    assert told(caught) == [
        ("E282", "--dim image.1=2..3", "the model has no input image"),
        ("E282", "--dim x0.7=2..3", "x0 has no axis 7"),
        (
            "E282",
            "--dim T=2..9",
            "which size T is does not follow from the file, which leaves open: x0.1, x0.2",
        ),
        ("E282", "axis 0 of x0", "B has no range"),
    ]
    assert caught.value.messages[2].help == "say it: --dim x0.1=T beside this one"


@pytest.mark.parametrize(
    ("shapes", "help_"),
    [
        ([(), (5,)], "say it: --dim b.0=T beside this one"),
        ([(2, 3), (5,)], "say it: --dim a.1=T beside this one"),
        ([()], "leave it out: no input has an axis"),
    ],
)
def test_the_axis_that_help_names_is_there(tmp_path: Path, shapes: list[tuple[int, ...]], help_: str) -> None:
    """`a.1` was advised of a number and of a row of them."""
    model = ModelBuilder()
    inputs = [model.tensor(name, shape, "float32") for name, shape in zip("ab", shapes, strict=False)]
    result = model.tensor("y", shapes[0], "float32")
    model.op("ABS", inputs[:1], [result])
    model.inputs(*inputs)
    model.outputs(result)
    with pytest.raises(CodegenError) as caught:
        dims_of(file(tmp_path, model.build()), parsed(["T=2..9"]))
    assert [each.help for each in caught.value.messages] == [help_]


def test_an_open_end_is_of_one_model(tmp_path: Path) -> None:
    paths = [file(tmp_path, residual().data)]
    paths.append(paths[0].rename(tmp_path / "other.tflite"))
    paths[0] = file(tmp_path, residual().data)
    options = Options(board="host", dims=parsed(["T=20.."]))
    with pytest.raises(CodegenError, match="an open end in a build of several models"):
        build(paths, options, tmp_path / "out")


def test_what_else_is_for_one_size_says_so(tmp_path: Path) -> None:
    """`codegen.run` ended in a ValueError, and TFLM was handed a plan for other shapes than the file's."""
    path = file(tmp_path, residual().data)
    options = Options(board="host", dims=parsed(["T=20..30"]))
    with pytest.raises(CodegenError, match=r"do not go together with codegen\.run"):
        codegen.run(path, options)
    with pytest.raises(CodegenError, match="do not go together with --export tflm"):
        write_tflm(path, tmp_path / "planned.tflite", options)
    assert not (tmp_path / "planned.tflite").exists()


def test_values_that_are_none() -> None:
    symbols = (Symbol(name="H", low=2, high=9), Symbol(name="W", low=2, high=9))
    assert values_at("W=3,H=9", symbols) == {"W": 3, "H": 9}
    with pytest.raises(CodegenError) as caught:
        values_at("H=1,V=3,W", symbols)
    assert told(caught) == [
        ("E285", "--at H=1", "outside H=2..9"),
        ("E285", "--at V=3", "says no value of a size"),
        ("E285", "--at W", "says no value of a size"),
    ]
    with pytest.raises(CodegenError, match="no value of W"):
        values_at("H=2", symbols)


def test_what_does_not_go_together_is_told_at_once() -> None:
    options = Options(dims=parsed(["T=2..3"]), stream_input=True)
    with pytest.raises(CodegenError) as caught:
        check_sizes(options, "codegen validate")
    words = "codegen validate and --stream-input"
    assert told(caught) == [
        ("E284", "--dim T=2..3", f"sizes that are ranges do not go together with {words}")
    ]
    check_sizes(Options(stream_input=True), "codegen validate")
    with pytest.raises(CodegenError, match="needs sizes that are ranges"):
        check_at(Options(), "T=3", models=1, others=[])
    with pytest.raises(CodegenError, match=r"--svg peak\.svg: needs sizes that are ranges"):
        check_at(Options(), None, models=1, others=[], svg=Path("peak.svg"))
    with pytest.raises(CodegenError, match="a picture of 2 models"):
        check_at(Options(dims=parsed(["T=2..3"])), None, models=2, others=[], svg=Path("peak.svg"))
    check_at(Options(dims=parsed(["T=2..3"])), None, models=2, others=[])


def test_a_symbol_is_what_an_onnx_file_calls_so(tmp_path: Path) -> None:
    """Both inputs have frames and a batch, all of them named: `dim_param`."""
    onnx = pytest.importorskip("onnx")
    kind, helper = onnx.TensorProto.FLOAT, onnx.helper
    x, y, z = (helper.make_tensor_value_info(name, kind, ["batch", "frames.in", 4]) for name in "xyz")
    graph = helper.make_graph([helper.make_node("Add", ["x", "y"], ["z"])], "g", [x, y], [z])
    opset = [helper.make_opsetid("", 17)]
    path = tmp_path / "m.onnx"
    path.write_bytes(helper.make_model(graph, opset_imports=opset, ir_version=9).SerializeToString())
    found = dims_of(path, parsed(["frames_in=3..9", "batch=1..2"]))
    assert found is not None
    assert found.axes == {(0, 0): "batch", (1, 0): "batch", (0, 1): "frames_in", (1, 1): "frames_in"}
    options = Options(board="host", dims=parsed(["frames_in=3..9"]))
    program = plan_model(path, option_board("host", ()), options).program
    assert str(program.signature.outputs[0].type) == "float32[1,frames_in,4]"


_COMPUTED = "convert the model with fixed shapes, so that this is a constant"
_END = "end the model before it, and compute the rest in code of your own"


@pytest.mark.parametrize(
    ("name", "where", "text", "help_"),
    [
        ("RESHAPE", 'op 0 RESHAPE "y"', 'the new shape in tensor 1 "n" is computed', _COMPUTED),
        ("TILE", 'op 0 TILE "y"', 'the list of multiples in tensor 1 "n" is computed', _COMPUTED),
        (
            "WHERE",
            'op 1 WHERE "y"',
            "operator WHERE is not supported: how many places it finds depends on the data, and sizes are "
            "planned before",
            _END,
        ),
    ],
)
def test_a_result_as_large_as_the_data_say_has_no_range(
    name: str, where: str, text: str, help_: str, tmp_path: Path
) -> None:
    """The model is refused (exit 3), whatever `--dim` says: a range has to be known before the run."""
    model = ModelBuilder()
    x = model.tensor("x", (4, 3), "float32", shape_signature=(-1, 3))
    if name == "WHERE":
        inputs, asked = [x], model.tensor("c", (4, 3), "bool")
        model.op("GREATER", [x, x], [asked])
        result = model.tensor("y", (4, 2), "int64")
        model.op(name, [asked], [result])
    else:
        inputs, result = [x, model.tensor("n", (2,), "int32")], model.tensor("y", (4, 3), "float32")
        model.op(name, inputs, [result])
        text += " while the model runs"
    model.inputs(*inputs)
    model.outputs(result)
    options = Options(board="host", dims=parsed(["x.0=2..9"]))
    with pytest.raises(CodegenError) as caught:
        plan_model(file(tmp_path, model.build()), option_board("host", ()), options)
    assert told(caught) == [("E301", where, text)]
    assert [each.help for each in caught.value.messages] == [help_]
    assert caught.value.exit_code is ExitCode.MODEL


def test_words_of_the_text_form_are_no_symbols() -> None:
    with pytest.raises(CodegenError) as caught:
        parsed(["none=2..3", "x.1=true"])
    assert [text for _, _, text in told(caught)] == [
        "none is a word of the IR's text form",
        "true is a word of the IR's text form",
    ]
