"""Values with an extent of 0: nothing of them is computed, stored, given or taken; all others are as ever.

They were refused (E303), and with them four of the shared models and 40 official node tests.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import codegen
from codegen.cli.main import main
from codegen.errors import CodegenError
from codegen.importers.onnx import import_onnx
from codegen.ir import Module
from codegen.ir.evaluate import evaluate
from codegen.ir.verify import verify
from tests.importers.onnx import official
from tests.importers.onnx.engine import answers, each_answer
from tests.importers.onnx.models import complaint, node
from tests.importers.onnx.official import NodeTest, onnx

OFFICIAL = (
    "reduce_max_empty_set",
    "reduce_sum_square_empty_set",
    "slice_start_out_of_bounds",
    "split_zero_size_splits_opset13",
)
SLOW = frozenset({"averagepool", "lppool", "maxpool"})


def _model(nodes: list[Any], inputs: dict[str, tuple[int, ...]], outputs: str, **known: list[int]) -> Any:
    """Inputs of float32 by shape, outputs of whatever the nodes give, lists of int64."""
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs.split()],
        [numpy_helper.from_array(np.array(data, np.int64), name) for name, data in known.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def _mixed() -> Any:
    """An input and an output without elements among others; sums, joins and products of nothing."""
    nodes = [
        node("Slice", "x from to axis", "none"),  # [2, 0]
        node("Add", "none one", "y1"),
        node("Concat", "none x e", "joined", axis=1),
        node("ReduceSum", "e axis", "sums"),  # zeros, [2, 1]
        node("ReduceMin", "e axis", "least"),
        node("Mul", "joined sums", "zeros"),
        node("Min", "x least", "same"),
        node("Add", "zeros same", "y0"),
        node("Transpose", "e", "turned"),
        node("MatMul", "none turned_", "product"),
        node("Reshape", "turned two", "turned_", allowzero=1),
        node("Add", "product sums", "y2"),
    ]
    nodes[9], nodes[10] = nodes[10], nodes[9]
    given = {"x": (2, 3), "e": (2, 0), "one": (1,)}
    return _model(nodes, given, "y0 y1 y2", **{"from": [3], "to": [9], "axis": [1], "two": [0, 2]})


def _inputs() -> dict[str, np.ndarray]:
    x = np.array([[1, -2, 3], [0.5, 6, -7]], np.float32)
    return {"x": x, "e": np.zeros((2, 0), np.float32), "one": np.ones(1, np.float32)}


def _module(made: Any) -> Module:
    return verify(import_onnx(made.SerializeToString(), "m.onnx"))


def test_a_network_with_some_is_what_onnxruntime_computes() -> None:
    module, given = _module(_mixed()), _inputs()
    [wanted] = answers([(_mixed(), given)])
    found = evaluate(module, module.main, [given["x"], given["one"]])
    assert [each.tolist() for each in found] == [wanted[0].tolist(), wanted[2].tolist()]
    assert wanted[1].shape == (2, 0)
    assert module.metadata["without_elements"].splitlines() == [
        'input 1 "e": float32[2,0]',
        'output 1 "y1": float32[2,0]',
    ]


@pytest.mark.qemu
@pytest.mark.parametrize("board", ["host", "mps2-an386"])
@pytest.mark.sampled(1)
def test_it_runs(board: str, tmp_path: Path) -> None:
    path, given = tmp_path / "m.onnx", _inputs()
    path.write_bytes(_mixed().SerializeToString())
    [wanted] = answers([(_mixed(), given)])
    case = codegen.Case(name="a", inputs=(given["x"], given["one"]), expected=(wanted[0], wanted[2]))
    report = codegen.run(path, codegen.Options(board=board), cases={"m": [case]})
    assert report.run is not None
    assert report.plan is not None
    assert report.model is not None
    assert all(output.matches for output in report.run.outputs)
    assert {pool.peak_bytes for pool in report.plan.pools} == {pool.peak_bytes for pool in report.run.pools}
    assert report.model.without_elements == ('input 1 "e": float32[2,0]', 'output 1 "y1": float32[2,0]')


@pytest.mark.qemu
@pytest.mark.parametrize("board", ["host", "mps2-an386"])
def test_official_tests_of_them_run(board: str, tmp_path: Path) -> None:
    """Reductions of nothing; a slice beyond the end and a split of nothing, which leave no output at all."""
    tests = {test.name: test for test in official.all_collected()}
    found = [official.outcome(tests[f"test_{name}"]) for name in OFFICIAL]
    right = [each.test.name for each in official.on_board(found, tmp_path, board) if each.is_right]
    assert right == [f"test_{name}" for name in OFFICIAL]
    assert [len(each.test.taken) for each in found] == [1, 1, 0, 0]


def _ended(*words: str) -> object:
    with pytest.raises(SystemExit) as ended:
        main([*words])
    return ended.value.code


def _nothing() -> Any:
    return _model([node("Relu", "x", "y")], {"x": (0, 3)}, "y")


def test_a_network_of_nothing_has_a_function_that_does_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """C has no struct without members, no empty list of names and no loop over no steps."""
    monkeypatch.chdir(tmp_path)
    Path("m.onnx").write_bytes(_nothing().SerializeToString())
    assert _ended("build", "m.onnx", "--board", "host", "-o", "out") == 0
    assert (
        'empty     output 0 "y": float32[0,3] has no elements, so no member in C\n' in capsys.readouterr().out
    )
    header = Path("out/m.h").read_text()
    assert ' * Empty      input 0 "x": float32[0,3] has no elements, so no member in C\n' in header
    assert (
        "uint8_t none; /* no output of the model has elements, and C no struct without members */" in header
    )
    assert '#define M_STEP_NAMES ""\n' in header
    assert _ended("export", "out", "--as", "mlf", "-o", "mlf", "--name", "nothing") == 0
    assert "out.none = 0;" in next(Path("mlf").rglob("tvmgen_m.h")).read_text()
    assert _ended("run", "m.onnx", "--board", "host", "--io", "caller", "--report", "-o", "page") == 0
    assert Path("page/report.html").exists()
    assert _ended("build", "m.onnx", "--board", "host", "--entry", "steps", "-o", "out") == 2
    assert "error[E269] m: has no steps to call\nhelp: leave out --entry steps" in capsys.readouterr().err


def test_what_is_refused_of_them(tmp_path: Path) -> None:
    """What C would have to compute from nothing, or has no statistics; joins that do not fit."""
    taken = _model([node("Gather", "x at", "y")], {"x": (0, 3)}, "y", at=[0])
    assert complaint(tmp_path, taken) == 'error[E303] op 0 Gather "y": an index is outside an axis of 0'
    joined = _model([node("Concat", "x e", "y", axis=1)], {"x": (2, 3), "e": (0, 3)}, "y")
    assert complaint(tmp_path, joined) == (
        'error[E303] op 0 Concat "y": joins [2, 3] and [0, 3] along axis 1'
    )
    padded = _model([node("Pad", "x pads", "y", mode="edge")], {"x": (0, 3)}, "y", pads=[1, 0, 1, 0])
    assert complaint(tmp_path, padded) == (
        'error[E301] op 0 Pad "y": is not supported of a value without elements'
    )
    large = _model([node("Relu", "x", "y")], {"x": (0, 2**40, 2**40)}, "y")
    assert "error[E305] graph input 0" in complaint(tmp_path, large)


def _emptied() -> Iterator[tuple[NodeTest, Any]]:
    """Official node tests with an extent of their first input 0, alone or of all inputs of its shape."""
    seen: set[tuple[object, ...]] = set()
    for test in official.collected(*(name for name in official.all_modules() if name not in SLOW)):
        if not test.is_static:  # a sequence of tensors among others
            continue
        shapes = tuple(np.shape(data) for data in test.inputs.values())
        key = test.operator, len(test.model.graph.node) > 1, tuple(map(len, shapes))
        if not shapes or key in seen:
            continue
        outcome = official.outcome(test)
        if not outcome.is_right or not outcome.test.inputs:
            continue
        seen.add(key)
        for axis in range(len(shapes[0])):
            for alike in (False, True):
                yield _with_none(outcome.test, axis, alike)


def _with_none(test: NodeTest, axis: int, alike: bool) -> tuple[NodeTest, Any]:
    model: Any = onnx.ModelProto()
    model.CopyFrom(test.model)
    first, inputs = next(iter(test.inputs.values())), dict(test.inputs)
    for value in model.graph.input:
        data = inputs[value.name]
        if data is first or (alike and data.shape == first.shape):
            value.type.tensor_type.shape.dim[axis].dim_value = 0
            inputs[value.name] = np.take(data, range(0), axis)
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    return replace(test, model=model, inputs=inputs), model


@pytest.mark.long
def test_an_extent_of_0_gives_what_onnxruntime_gives_or_is_refused() -> None:
    """No traceback, and nothing wrong; onnxruntime itself refuses or dies of some."""
    imported: list[tuple[NodeTest, Module]] = []
    for test, model in _emptied():
        try:
            imported.append((test, _module(model)))
        except CodegenError as error:
            assert {each.code for each in error.messages} <= {"E301", "E303", "E304", "E305", "E306"}
    wanted = each_answer([(test.model, test.inputs) for test, _ in imported])
    compared = 0
    for (test, module), outputs in zip(imported, wanted, strict=True):
        if outputs is not None:
            known = replace(test, outputs=tuple(outputs), relative=0.0, absolute=np.inf)
            told = module.metadata.get("without_elements", "").splitlines()
            assert told == known.without_elements(), test.name
            assert official.is_right(known, evaluate(module, module.main, known.given)), test.name
            compared += 1
    assert compared > 900
