"""References of a run: an independent engine where one answers, else our own evaluation, and which is said.

What `run` compares with shared the importer: a file that was imported wrongly gave "equal".
"""

import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

import codegen
from codegen.cli import main
from codegen.driver.inputs.cases import made_up_case
from codegen.driver.options import Options
from codegen.driver.planning import plan_only
from codegen.driver.references import Judged, ask, judge, numpy_outputs
from codegen.engines import (
    AI_EDGE_LITERT,
    NPU_MODEL,
    ONNXRUNTIME,
    TFLITE_MICRO,
    TFLITE_RUNTIME,
    interpreters,
    processes,
    ruling_of,
)
from codegen.engines.ruling import NPU_RULES, RULING_ENGINE, STATEFUL_RULES
from codegen.errors import CodegenError
from codegen.importers import CONTROL_OPS, STATE_OPS, imported_ops
from codegen.importers.onnx import graph as onnx_graph
from codegen.importers.tflite.writing.writer import ModelBuilder
from codegen.settings import ReferenceChoice
from tests.engines import available
from tests.ethos_u.files import pooled_by_npu
from tests.importers.onnx.models import model, node

needs_tflite = pytest.mark.skipif(TFLITE_RUNTIME not in available(), reason="tflite-runtime is not installed")
AUTO = ReferenceChoice(mode="auto")


def call(*words: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    return int(ended.value.code or 0)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("CODEGEN_REFERENCE", "CODEGEN_ENGINE_PYTHON"):
        monkeypatch.delenv(name, raising=False)


def difference_of_halves() -> bytes:
    """y = Sub(Relu(x), Mul(x, x)): a step whose arguments may not be confused."""
    made = model(node("Relu", "x", "r"), node("Mul", "x x", "m"), node("Sub", "r m", "y"), x=(1, 6))
    return bytes(made.SerializeToString())


def written(data: bytes, name: str) -> str:
    Path(name).write_bytes(data)
    return name


def break_subtraction(monkeypatch: pytest.MonkeyPatch) -> None:
    """An importer that reads Sub as Add."""
    broken = {**onnx_graph.TRANSLATORS, "Sub": onnx_graph.TRANSLATORS["Add"]}
    monkeypatch.setattr(onnx_graph, "TRANSLATORS", MappingProxyType(broken))


def judged(
    path: str, choice: ReferenceChoice = AUTO, *, options: Options | None = None, validated: bool = False
) -> Judged:
    """What is said of a model whose board computes exactly what was imported."""
    planned = plan_only(Path(path), options or Options(board="host"))
    case = made_up_case(planned.program, 0)
    asked = ask(planned, [case], replace(choice, every_step=validated))
    return judge(planned, [case], [numpy_outputs(planned, case)], asked)


def test_a_wrong_import_is_no_equal_output(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(difference_of_halves(), "halves.onnx")
    assert call("run", path, "--board", "host") == 0
    assert "1 of 1 cases equal to onnxruntime " in capsys.readouterr().out
    break_subtraction(monkeypatch)
    assert call("run", path, "--board", "host") == 7
    captured = capsys.readouterr()
    assert 'error[E704] case seed 0, op 2 Sub "y": ' in captured.err
    assert "from the same arguments" in captured.err and "the file is imported wrongly" in captured.err
    assert call("validate", path, "--board", "host") == 7
    assert 'error[E704] case seed 0, op 2 Sub "y": ' in capsys.readouterr().err
    # With our own evaluation nobody sees it: that is what the option is told to mean.
    assert call("run", path, "--board", "host", "--reference", "numpy") == 0
    out = capsys.readouterr().out
    assert "1 of 1 cases equal to the NumPy reference" in out
    assert "\nreference " not in out  # who says so needs no reason


def test_a_wrong_shape_of_an_output_is_a_wrong_import(monkeypatch: pytest.MonkeyPatch) -> None:
    def squashed(site: Any) -> Any:
        return site.steps.reshape(site.value(0), (6, 1))

    broken = {**onnx_graph.TRANSLATORS, "Sub": squashed}
    monkeypatch.setattr(onnx_graph, "TRANSLATORS", MappingProxyType(broken))
    found = judged(written(difference_of_halves(), "halves.onnx"))
    [fault] = found.reference.faults
    assert 'gives output "y" as float32[1, 6], the import as float32[6,1]' in fault.text


def test_validate_says_how_many_values_it_compared(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("validate", written(difference_of_halves(), "halves.onnx"), "--board", "host") == 0
    out = capsys.readouterr().out
    assert "import    3 values compared with those of onnxruntime " in out


def test_without_an_engine_ours_is_said_to_be_ours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def none_installed(python: Path) -> dict[str, str]:
        return {}

    monkeypatch.setattr(interpreters, "installed_engines", none_installed)
    path = written(difference_of_halves(), "halves.onnx")
    assert call("run", path, "--board", "host", "--json") == 0
    reference = json.loads(capsys.readouterr().out)["run"]["reference"]
    reason = "no engine for .onnx files is installed"
    advice = "`pip install onnxruntime`, or name a Python that has one: --engine-python DIR/bin/python"
    assert reference["kind"] == "numpy" and reference["engine"] is None
    assert (reference["reason"], reference["advice"]) == (reason, advice)
    assert call("run", path, "--board", "host") == 0
    said = f"reference ours, which cannot see a wrong import: {reason}\n          {advice}\n"
    assert said in capsys.readouterr().out
    assert call("run", path, "--board", "host", "--reference", "engine") == 2
    assert f"error[E239] halves, --reference engine: {reason}\nhelp: {advice}; " in capsys.readouterr().err


STAND_IN = """
import os, signal, sys, time
sys.stdin.buffer.read(8)
{}
"""


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", "gives no answer: the engine crashed with signal 11"),
        ("sys.exit(3)", "gives no answer: the engine ended with code 3"),
        ("time.sleep(60)", "gives no answer: no answer in 0.5 s"),
    ],
)
def test_an_engine_that_fails_is_told_and_ours_decides(
    end: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "child.py"
    program.write_text(STAND_IN.format(end))
    monkeypatch.setattr(processes, "CHILD", program)
    monkeypatch.setattr(processes, "ANSWER_LIMIT_SECONDS", 0.5)
    found = judged(written(difference_of_halves(), "halves.onnx"))
    assert found.reference.kind == "numpy" and said in found.reference.reason
    assert all(one.matches for case in found.comparisons for one in case)


def test_an_engine_that_refuses_the_file_is_told() -> None:
    """A node of a domain that onnxruntime does not have cannot be imported either; an opset that is too new
    for it can."""
    made = model(node("Relu", "x", "y"), x=(1, 4))
    made.opset_import[0].version = 22
    made.ir_version = 200
    found = judged(written(bytes(made.SerializeToString()), "new.onnx"))
    assert found.reference.kind == "numpy" and "onnxruntime" in found.reference.reason
    assert "gives no answer: " in found.reference.reason


def test_a_python_without_engines_is_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = written(difference_of_halves(), "halves.onnx")
    assert call("run", path, "--board", "host", "--engine-python", "nowhere/python") == 2
    assert "error[E238] --engine-python nowhere/python: there is no such file" in capsys.readouterr().err
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\nexit 4\n")
    program.chmod(0o755)
    assert call("run", path, "--board", "host", "--engine-python", str(program)) == 2
    err = capsys.readouterr().err
    assert "cannot be run: the engine ended with code 4; it needs NumPy" in err


def test_a_named_python_is_the_only_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine may need a NumPy of its own, so it may live in another environment."""
    seen: list[Path] = []

    def asked(python: Path) -> dict[str, str]:
        seen.append(python)
        return {}

    monkeypatch.setattr(interpreters, "installed_engines", asked)
    found = judged(
        written(difference_of_halves(), "halves.onnx"), ReferenceChoice(mode="auto", python=sys.executable)
    )
    assert seen == [Path(sys.executable)]
    assert found.reference.reason == f"no engine for .onnx files is installed in {sys.executable}"


def test_expected_outputs_win(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(difference_of_halves(), "halves.onnx")
    x = np.array([[-2.0, -1.0, -0.5, 0.5, 1.0, 2.0]], np.float32)
    y = np.maximum(x, 0) - x * x
    np.savez("io.npz", x0=x, y0=y)
    monkeypatch.setattr(processes, "CHILD", Path("no engine is asked"))
    assert call("run", path, "--board", "host", "--input", "io.npz", "--expect", "io.npz", "--json") == 0
    assert json.loads(capsys.readouterr().out)["run"]["reference"]["kind"] == "expected"


@pytest.mark.parametrize(
    ("data", "name", "words"),
    [
        ("sums", "sums.tflite", "of tflite-runtime's reference kernels, of SUM those of tflite-micro; "),
        ("edges", "edges.tflite", "of tflite-runtime's reference kernels; "),
        ("halves", "halves.onnx", "of onnxruntime without graph optimisations; "),
    ],
)
def test_outputs_that_are_not_the_expected_ones_name_the_engine_that_rules(
    data: str, name: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Goldens of tflite-runtime were wrong by 2 where tflite-micro rules (an LSTM), and nothing said so."""
    files = {"sums": two_sums, "edges": float_edges, "halves": difference_of_halves}
    path = written(files[data](), name)
    outputs = {"sums": np.zeros((1, 1), np.int8), "edges": np.zeros((1, 8), np.float32)}
    np.savez("wrong.npz", y0=outputs.get(data, np.zeros((1, 6), np.float32)) + 1)
    assert call("run", path, "--board", "host", "--expect", "wrong.npz") == 7
    err = capsys.readouterr().err
    assert f"help: this network's results are those {words}`codegen validate` names" in err


def float_edges() -> bytes:
    """QUANTIZE, RELU, DEQUANTIZE: what `--io-types int8` takes the floats from."""
    built = ModelBuilder()
    x = built.tensor("x", (1, 8), "float32")
    q = built.tensor("q", (1, 8), "int8", scale=0.03, zero_point=-5)
    r = built.tensor("r", (1, 8), "int8", scale=0.03, zero_point=-5)
    y = built.tensor("y", (1, 8), "float32")
    built.op("QUANTIZE", [x], [q])
    built.op("RELU", [q], [r])
    built.op("DEQUANTIZE", [r], [y])
    built.inputs(x)
    built.outputs(y)
    return built.build()


@needs_tflite
@pytest.mark.parametrize("io_types", ["file", "int8"])
def test_int8_edges_are_the_engines_floats(io_types: Any) -> None:
    path = written(float_edges(), "edges.tflite")
    found = judged(path, options=Options(board="host", io_types=io_types), validated=True)
    assert found.reference.kind == "engine" and found.reference.engine.startswith(TFLITE_RUNTIME)
    assert found.reference.values_compared and not found.reference.faults
    assert all(one.matches for case in found.comparisons for one in case)


def running_sum() -> bytes:
    """y = x + s, and s of the next inference is y."""
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "s"], ["y"]), helper.make_node("Neg", ["x"], ["n"])],
        "g",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4]) for name in ("s", "x")],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4]) for name in ("n", "y")],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    return bytes(made.SerializeToString())


def test_a_sequence_hands_the_engine_its_own_state(capsys: pytest.CaptureFixture[str]) -> None:
    path = written(running_sum(), "sums.onnx")
    Path("codegen.toml").write_text('[[state]]\ninput = "s"\noutput = "y"\n')
    assert call("run", path, "--board", "host", "--sequence") == 0
    assert "8 of 8 inferences of one sequence equal to onnxruntime " in capsys.readouterr().out


def test_sizes_that_are_ranges_are_asked_at_each(capsys: pytest.CaptureFixture[str]) -> None:
    made = model(node("Relu", "x", "r"), node("Mul", "r r", "y"), x=(1, "T", 3))
    path = written(bytes(made.SerializeToString()), "ranges.onnx")
    assert call("run", path, "--board", "host", "--dim", "T=2..5", "--reference", "engine", "--json") == 0
    runs = json.loads(capsys.readouterr().out)["runs_at_sizes"]
    assert len(runs) > 1
    assert all(run["reference"]["engine"].startswith(ONNXRUNTIME) for run in runs)


def test_two_models_are_each_compared_with_their_engine(capsys: pytest.CaptureFixture[str]) -> None:
    first = written(difference_of_halves(), "halves.onnx")
    second = written(bytes(model(node("Neg", "x", "y"), x=(1, 4)).SerializeToString()), "minus.onnx")
    assert call("run", first, second, "--board", "host") == 0
    assert capsys.readouterr().out.count("1 of 1 cases equal to onnxruntime ") == 2


def test_python_asks_as_the_command_does() -> None:
    path = written(difference_of_halves(), "halves.onnx")
    report = codegen.run(path, codegen.Options(board="host"))
    assert report.run is not None and report.run.reference is not None
    assert report.run.reference["kind"] == "engine"
    with pytest.raises(CodegenError, match="reference is one of 'auto', 'engine', 'numpy', not str 'other'"):
        codegen.run(path, codegen.Options(board="host"), reference="other")  # pyright: ignore


# Which engine rules.


def test_every_operator_that_is_imported_has_a_rule() -> None:
    names = {*imported_ops(), *CONTROL_OPS, *STATE_OPS}
    assert names <= {*RULING_ENGINE, *STATEFUL_RULES, *NPU_RULES}


def test_the_ruling_engine_of_a_network_is_that_of_its_operators() -> None:
    plain = ruling_of(float_edges())
    assert plain.engines == dict.fromkeys(("QUANTIZE", "RELU", "DEQUANTIZE"), TFLITE_RUNTIME)
    assert plain.preferred == (TFLITE_RUNTIME, AI_EDGE_LITERT, TFLITE_MICRO)
    assert not plain.others(TFLITE_RUNTIME) and plain.others(TFLITE_MICRO)
    summed = ruling_of(two_sums())
    assert summed.engines == {"RELU": TFLITE_RUNTIME, "SUM": TFLITE_MICRO}
    assert summed.preferred[0] == TFLITE_MICRO
    assert summed.others(TFLITE_RUNTIME) == {"SUM": TFLITE_MICRO} == summed.others(AI_EDGE_LITERT)


def test_layers_that_vela_compiled_are_ruled_by_no_engine(capsys: pytest.CaptureFixture[str]) -> None:
    """Outputs that were not the expected ones were said to be right where they are tflite-runtime's."""
    path = written(pooled_by_npu(), "pooled_vela.tflite")
    assert ruling_of(Path(path).read_bytes()).engines == {"ethos-u": NPU_MODEL, "NEG int8": TFLITE_RUNTIME}
    run = judged(path)
    assert run.reference.kind == "numpy"
    assert run.reference.reason == f"no engine runs what Vela compiled: {NPU_MODEL} computes the reference"
    np.savez("wrong.npz", y0=np.full((1, 2, 2, 16), 77, np.int8))
    assert call("run", path, "--board", "host", "--expect", "wrong.npz") == 7
    words = "tflite-runtime's reference kernels, of ethos-u those of the functional model of the NPU; "
    assert f"help: this network's results are those of {words}" in capsys.readouterr().err


def two_sums() -> bytes:
    built = ModelBuilder()
    x = built.tensor("x", (1, 8), "int8", scale=0.03, zero_point=-5)
    r = built.tensor("r", (1, 8), "int8", scale=0.03, zero_point=-5)
    y = built.tensor("y", (1, 1), "int8", scale=0.1, zero_point=0)
    axes = built.constant("axes", [1])
    built.op("RELU", [x], [r])
    built.op("SUM", [r, axes], [y], keep_dims=True)
    built.inputs(x)
    built.outputs(y)
    return built.build()


@pytest.mark.skipif(TFLITE_MICRO not in available(), reason="tflite-micro is not installed")
def test_a_network_of_two_engines_is_compared_with_the_one_that_rules_more_rarely() -> None:
    found = judged(written(two_sums(), "sums.tflite"))
    assert found.reference.engine.startswith(TFLITE_MICRO)
    assert all(one.matches for case in found.comparisons for one in case)


def test_scalars_are_scalars_for_the_engine() -> None:
    """An input of rank 0 was sent with rank 1, and its output was said to have a wrong shape."""
    found = judged(written(bytes(model(node("Neg", "x", "y"), x=()).SerializeToString()), "scalar.onnx"))
    assert found.reference.kind == "engine" and not found.reference.faults


def test_inputs_without_elements_are_the_engines_own() -> None:
    """Nobody gives them, and the engine wants them all the same, in their type."""
    made = model(node("ReduceSum", "x axes", "y", keepdims=1), x=(1, 4), opset=18)
    made.graph.input.append(helper.make_tensor_value_info("axes", TensorProto.INT64, [0]))
    found = judged(written(bytes(made.SerializeToString()), "empty.onnx"))
    assert found.reference.kind == "engine", found.reference.reason
    assert not found.reference.faults


def averaged_halves() -> bytes:
    """DequantizeLinear, AveragePool of 2x2, QuantizeLinear at one scale: a quarter of the sums are halves."""
    scale, zero = np.float32(0.013), np.int8(3)
    made = model(
        node("QuantizeLinear", "x s z", "q"),
        node("DequantizeLinear", "q s z", "d"),
        node("AveragePool", "d", "a", kernel_shape=[2, 2], strides=[2, 2]),
        node("QuantizeLinear", "a s z", "r"),
        node("DequantizeLinear", "r s z", "y"),
        x=(1, 8, 16, 16),
        constants={"s": np.array(scale), "z": np.array(zero)},
    )
    return bytes(made.SerializeToString())


def test_stated_rounding_is_no_wrong_import(capsys: pytest.CaptureFixture[str]) -> None:
    """The certificate names averages at halves: they make no run fail, and are said."""
    assert call("run", written(averaged_halves(), "halves.onnx"), "--board", "host") == 0
    out = capsys.readouterr().out
    assert "1 of 1 cases equal to the NumPy reference" in out
    assert re.search(r"the outputs of onnxruntime \S+ differ by up to 0\.013\d*, by rounding", out)
