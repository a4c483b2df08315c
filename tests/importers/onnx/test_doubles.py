"""float64 of ONNX files: sums, comparisons, conversions and moves are onnxruntime's, others are refused."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from codegen.cli.main import main
from codegen.ir.text import parse_module, print_module
from tests.importers.onnx import official
from tests.importers.onnx.engine import answers
from tests.importers.onnx.models import complaint, imported, node

DOUBLE: int = TensorProto.DOUBLE

SPECIAL = np.array(
    [
        *(0.0, -0.0, 1.0, -1.0, 1 / 3, np.pi, 1e16 + 2, 5e-324, -2.5e-310, 1.7976931348623157e308, -1e200),
        *(np.inf, -np.inf, np.nan, 1 + 2.0**-52, 16777217.0),
    ]
)
"""Zeros of both signs, numbers that float32 does not hold, the smallest, the largest, none."""

PAIRS = (
    "Add",
    "Sub",
    "Mul",
    "Div",
    "Max",
    "Min",
    "Equal",
    "Less",
    "LessOrEqual",
    "Greater",
    "GreaterOrEqual",
)

TYPES = ("BOOL", "INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32", "INT64", "UINT64", "FLOAT")


def _model(
    nodes: Sequence[Any],
    inputs: Mapping[str, np.ndarray],
    outputs: Mapping[str, int],
    constants: Mapping[str, np.ndarray] | None = None,
) -> Any:
    """A model of these inputs and outputs (by name, with their element types)."""
    graph = helper.make_graph(
        list(nodes),
        "g",
        [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(data.dtype), list(data.shape))
            for name, data in inputs.items()
        ],
        [helper.make_tensor_value_info(name, kind, None) for name, kind in outputs.items()],
        [numpy_helper.from_array(data, name) for name, data in (constants or {}).items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=8)


def _test(name: str, made: Any, inputs: Mapping[str, np.ndarray], outputs: Sequence[np.ndarray]) -> Any:
    return official.NodeTest(
        name=name, operator=name, model=made, inputs=inputs, outputs=tuple(outputs), relative=0, absolute=0
    )


def _pairs() -> Any:
    """Every two of `SPECIAL`, and a constant on either side. Reciprocals of results tell zeros apart, but of
    Max and Min: onnxruntime gives the first or the second zero, as they broadcast."""
    inputs = {"a": SPECIAL.reshape(-1, 1), "b": SPECIAL}
    nodes = [node(op, "a b", f"y{number}") for number, op in enumerate(PAIRS)]
    nodes += [node("Div", f"one y{number}", f"z{number}") for number in range(4)]
    nodes += [node("Sub", "b row", "r0"), node("Sub", "row a", "r1"), node("Max", "a row b", "r2")]
    kinds = {f"y{number}": DOUBLE if number < 6 else TensorProto.BOOL for number in range(len(PAIRS))}
    kinds |= {**{f"z{number}": DOUBLE for number in range(4)}, "r0": DOUBLE, "r1": DOUBLE, "r2": DOUBLE}
    made = _model(nodes, inputs, kinds, {"one": np.array(1.0), "row": SPECIAL[::-1].copy()})
    return _test("pairs", made, inputs, answers([(made, inputs)])[0])


def _moves() -> Any:
    """Operators that give elements as they are, of computed values and of constants."""
    inputs = {"a": np.resize(SPECIAL, (2, 3, 4)), "b": np.resize(SPECIAL[5:], (2, 3, 4))}
    constants = {"k": np.resize(SPECIAL[::-1], (2, 1, 4)), "shape": np.array([4, 6]), "i": np.array([2, 0])}
    constants |= {
        "from": np.array([1]),
        "to": np.array([3]),
        "axis": np.array([2]),
        "two": np.array([2, 2, 3, 4]),
    }
    constants |= {"pads": np.array([0, 1, 0, 0, 0, 2]), "first": np.array(0)}
    nodes = [
        node("Transpose", "a", "y0", perm=[2, 0, 1]),
        node("Reshape", "a shape", "y1"),
        node("Concat", "a k b", "y2", axis=1),
        node("Slice", "a from to axis", "y3"),
        node("Gather", "a i", "y4", axis=2),
        node("Expand", "b two", "y5"),
        node("Pad", "a pads", "y6"),
        node("Unsqueeze", "b axis", "y7"),
        node("Identity", "k", "y8"),
        node("CumSum", "b first", "y9"),
    ]
    made = _model(nodes, inputs, {f"y{number}": DOUBLE for number in range(10)}, constants)
    return _test("moves", made, inputs, answers([(made, inputs)])[0])


def _from_doubles() -> Any:
    """Where a type has room for the number, as onnxruntime; it leaves open what else becomes."""
    numbers = np.array([0.0, 0.5, 1.0, 1.9999999999999998, 100.7, 126.999999999, 1e-300])
    inputs = {"a": numbers, "n": SPECIAL}
    nodes = [node("Cast", "a", f"y{to}", to=getattr(TensorProto, to)) for to in TYPES]
    nodes += [
        node("Cast", "n", "single", to=TensorProto.FLOAT),
        node("Cast", "n", "truth", to=TensorProto.BOOL),
    ]
    kinds = {f"y{to}": getattr(TensorProto, to) for to in TYPES}
    made = _model(nodes, inputs, {**kinds, "single": TensorProto.FLOAT, "truth": TensorProto.BOOL})
    return _test("from", made, inputs, answers([(made, inputs)])[0])


def _to_doubles() -> Any:
    """The ends of every type, and integers between which float64 has to choose."""
    inputs: dict[str, np.ndarray] = {}
    for name in TYPES:
        kind = helper.tensor_dtype_to_np_dtype(getattr(TensorProto, name))
        if kind.kind in "iu":
            ends = np.iinfo(kind)
            odd = [(1 << 53) + 1, (1 << 62) + 257] if kind.itemsize == 8 else [1, 2]
            inputs[name] = np.array([ends.min, ends.max, 0, *odd], kind)
        else:
            inputs[name] = SPECIAL.astype(kind)
    nodes = [node("Cast", name, f"y{name}", to=DOUBLE) for name in inputs]
    made = _model(nodes, inputs, {f"y{name}": DOUBLE for name in inputs})
    return _test("to", made, inputs, answers([(made, inputs)])[0])


def _beyond() -> Any:
    """What no type has room for: the nearest of 64 bits, 0 for no number; of that what there is room for."""
    numbers = np.array([np.nan, np.inf, -np.inf, 2.0**63, -(2.0**63), 2.0**64, -1.5, 3e9, 300.5])
    most, least = (1 << 63) - 1, -(1 << 63)
    wide = [0, most, least, most, least, most, -1, 3_000_000_000, 300]
    unsigned = [0, 2**64 - 1, 1 << 63, 1 << 63, 1 << 63, 2**64 - 1, 2**64 - 1, 3_000_000_000, 300]
    inputs, kinds = {"a": numbers}, ("INT64", "UINT64", "INT32", "UINT8")
    nodes = [node("Cast", "a", f"y{to}", to=getattr(TensorProto, to)) for to in kinds]
    made = _model(nodes, inputs, {f"y{to}": getattr(TensorProto, to) for to in kinds})
    exact = np.array(wide, np.int64)
    outputs = [exact, np.array(unsigned, np.uint64), exact.astype(np.int32), exact.astype(np.uint8)]
    return _test("beyond", made, inputs, outputs)


@pytest.mark.parametrize("board", ["host", pytest.param("mps2-an386", marks=pytest.mark.qemu)])
@pytest.mark.sampled(1)
def test_results_are_those_of_onnxruntime(tmp_path: Path, board: str) -> None:
    with np.errstate(all="ignore"):
        tests = [_pairs(), _moves(), _from_doubles(), _to_doubles(), _beyond()]
    outcomes = [official.outcome(test) for test in tests]
    assert [each.reason for each in outcomes if each.reason] == []
    assert [each.test.name for each in outcomes if not each.is_right] == []
    found = official.on_board(outcomes, tmp_path, board)
    assert [(each.test.name, each.reason) for each in found if not each.is_right] == []


def test_arrays_go_in_and_come_out_as_float64(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A constant is written into C so that it reads back; float32 on the way would show."""
    monkeypatch.chdir(tmp_path)
    given = {"a": np.array([[1 / 3, 5e-324, 1e300]])}
    step = np.array([[2.0**-54, 5e-324, np.inf]])
    made = _model([node("Add", "a k", "y")], given, {"y": DOUBLE}, {"k": step})
    Path("m.onnx").write_bytes(made.SerializeToString())
    np.savez("x.npz", x0=given["a"])
    np.savez("y.npz", y0=given["a"] + step)
    for words in (["run", "--input", "x.npz", "--expect", "y.npz"], ["build", "-o", "out"]):
        with pytest.raises(SystemExit) as ended:
            main([*words, "m.onnx", "--board", "host"])
        assert ended.value.code == 0
    header = Path("out/m.h").read_text()
    assert "const double *a;" in header
    assert "double *y;" in header
    np.savez("y.npz", y0=(given["a"] + step).astype(np.float32).astype(np.float64))
    with pytest.raises(SystemExit) as ended:
        main(["run", "m.onnx", "--board", "host", "--input", "x.npz", "--expect", "y.npz"])
    assert ended.value.code != 0


def test_the_text_of_a_module_keeps_every_bit(tmp_path: Path) -> None:
    given = {"a": SPECIAL}
    made = _model([node("Add", "a k", "y")], given, {"y": DOUBLE}, {"k": SPECIAL[::-1].copy()})
    module = imported(tmp_path, made)
    text = print_module(module)
    assert "float64[16]" in text
    assert print_module(parse_module(text)) == text


@pytest.mark.parametrize(
    ("nodes", "constants", "what"),
    [
        ([node("Relu", "a", "y")], {}, "works on float64, supported is float32"),
        ([node("MatMul", "a a", "y")], {}, "works on float64, supported is float32"),
        ([node("Mod", "a a", "y", fmod=1)], {}, "works on float64, supported is float32"),
        ([node("ReduceMax", "a", "y")], {}, "works on float64, supported is float32"),
        (
            [node("Where", "b a a", "y")],
            {"b": np.eye(2, dtype=np.bool_)},
            "works on float64, supported is float32",
        ),
        (
            [node("Pad", "a p v", "y")],
            {"p": np.array([1, 0, 0, 0]), "v": np.array(1.5)},
            "pads float64 with 1.5, supported is 0",
        ),
    ],
    ids=("Relu", "MatMul", "Mod", "ReduceMax", "Where", "Pad"),
)
def test_other_operators_are_refused(
    tmp_path: Path, nodes: list[Any], constants: dict[str, np.ndarray], what: str
) -> None:
    """Once, at the node, with what to do."""
    made = _model(nodes, {"a": np.ones((2, 2))}, {"y": DOUBLE}, constants)
    said = complaint(tmp_path, made).split("\n")
    assert said[0].startswith("error[E301]")
    assert said[0].endswith(what)
    assert said[-1] == "help: export the model with float32 values"
    assert len(said) == 2
