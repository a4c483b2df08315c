"""`.onnx` files by the verbs and the API: plan, export, validate, one firmware with a `.tflite` beside."""

import json
from pathlib import Path

import numpy as np
import onnx
import pytest

import codegen
from codegen.importers.onnx import import_onnx
from codegen.ir.evaluate import evaluate
from codegen.ir.verify import verify
from codegen.plan.place import problem_files
from tests.cli.test_verbs import call
from tests.e2e.models import golden_cases
from tests.importers.onnx.drawn import chain
from tests.importers.onnx.engine import answers
from tests.importers.onnx.integers import RECORD
from tests.importers.onnx.twins import plain
from tests.networks import model_path

SPEECH = "speech"


@pytest.fixture
def chain_file(tmp_path: Path) -> Path:
    path = tmp_path / "chain.onnx"
    path.write_bytes(chain().qdq)
    return path


@pytest.mark.qemu
def test_models_of_both_formats_in_one_firmware(chain_file: Path, tmp_path: Path) -> None:
    """Integers of `.tflite` and `.onnx`, and floats of `.onnx`, in shared pools and one boot. The chain has
    every kernel of integer networks; onnxruntime gives its real numbers, TFLite the words, bit by bit."""
    net, wanted = chain(), np.load(RECORD)["chain"]
    module = verify(import_onnx(net.qdq, "chain.onnx"))
    ours = [evaluate(module, module.main, [given["x"]])[0] for given in net.inputs]
    np.testing.assert_array_equal(np.stack(ours), wanted)
    reals = tmp_path / "reals.onnx"
    reals.write_bytes(plain("float32")[1])
    image = np.random.default_rng(2).random((2, 1, 24, 24, 1)).astype(np.float32)
    engine = answers([(onnx.load_model(str(reals)), {"image": data}) for data in image])
    cases = {SPEECH: golden_cases(SPEECH)[:2]}
    cases["reals"] = tuple(
        codegen.Case(name=f"r{number}", inputs=(data,), expected=(outputs[0],))
        for number, (data, outputs) in enumerate(zip(image, engine, strict=True))
    )
    cases["chain"] = tuple(
        codegen.Case(name=f"c{number}", inputs=(given["x"],), expected=(wanted[number],))
        for number, given in enumerate(net.inputs)
    )
    paths = [chain_file, model_path(SPEECH), reals]
    report = codegen.run(paths, codegen.Options(board="mps2-an386"), cases=cases)
    assert report.plan is not None and report.models is not None
    [pool] = report.plan.pools
    measured = [each.run for each in report.models]
    assert [run.cases for run in measured if run is not None] == [2, 2, 2]
    outputs = [run.outputs[0] for run in measured if run is not None]
    assert all(output.matches for output in outputs)
    assert [output.max_abs_difference for output in outputs][:2] == [0, 0]
    assert pool.separate_bytes is not None
    assert pool.peak_bytes < pool.separate_bytes  # they take turns
    rounding = report.models[0].rounding
    assert rounding is not None
    assert rounding["channels"] == 8 + 8 + 12 + 1 + 10  # the average is one channel
    assert rounding["proved"] + rounding["exact"] == rounding["channels"]
    assert rounding["proved"] == 0  # an FPU is as fast
    assert rounding["left_in_float"] == []
    ops = {let.call.op.name for let in module.main.body}
    assert ops >= {"CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "LOOKUP"}
    assert ops >= {"ADD", "MUL", "TABLE_RESIZE", "QUANTIZE", "MAX_POOL_2D", "DEQUANTIZE"}
    assert "left_in_float" not in module.metadata


def test_a_plan_without_an_fpu_proves_what_it_can(chain_file: Path) -> None:
    without = codegen.plan(chain_file, codegen.Options(board="mps2-an385")).rounding
    assert without is not None
    assert without["channels"] == 8 + 8 + 12 + 1 + 10
    assert min(without["proved"], without["exact"]) > 0


def test_a_plan_is_exported_and_planned_again(
    chain_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exported problem has every buffer of the plan, and needs more: overlaps are left out."""
    target, again = tmp_path / "chain.csv", tmp_path / "again.csv"
    assert call("plan", str(chain_file), "--export", "minimalloc", "-o", str(target)) == 0
    assert "18 buffers, permitted overlaps left out" in capsys.readouterr().out
    names = {buffer.id for buffer in problem_files.read_problem(target).buffers}
    assert {"x", "tresize0", "maxpool0.conv0", "conv1.pixels", "dequantize0"} <= names
    found = codegen.plan(chain_file).plan
    assert found is not None
    assert call("plan", str(target), "--json", "--export", "minimalloc", "-o", str(again)) == 0
    assert json.loads(capsys.readouterr().out)["plan"]["peak_bytes"] >= found.peak_bytes
    assert again.read_text() == target.read_text()


def test_every_step_is_validated(chain_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """12 of 15: the others are views, which no code computes."""
    assert call("validate", str(chain_file), "--board", "host") == 0
    out = capsys.readouterr().out
    assert out.count("equal") == 12
    assert 'op 19 Resize "x6"' in out
