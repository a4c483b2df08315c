"""`codegen quantize`: what it writes is imported and equals onnxruntime's outputs; what cannot be is told."""

import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from codegen.cli import main
from codegen.importers import load
from codegen.ir.evaluate import evaluate
from codegen.tools.quantize.quantizer import Scheme, quantize
from tests.importers.onnx import twins
from tests.importers.onnx.models import model, node
from tests.tools.quantize.onnxruntime_rows import outputs_of_rows


def small() -> Any:
    """A network of two layers: convolution and a class of three."""
    rng = np.random.default_rng(3)
    weights = {
        "w": rng.standard_normal((4, 2, 3, 3)).astype(np.float32),
        "m": rng.standard_normal((64, 3)).astype(np.float32),
    }
    nodes = (
        node("Conv", "x w", "c", pads=[1, 1, 1, 1]),
        node("Relu", "c", "r"),
        node("Flatten", "r", "f"),
        node("MatMul", "f m", "y"),
    )
    return model(*nodes, constants=weights)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "m.onnx").write_bytes(small().SerializeToString())
    rng = np.random.default_rng(5)
    samples = rng.standard_normal((20, 2, 4, 4)).astype(np.float32)
    np.savez(tmp_path / "c.npz", x=samples, labels=rng.integers(0, 3, 20))
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["quantize", *map(str, words)])
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, said.err


@pytest.mark.parametrize("shape", [twins.plain, twins.mobile, twins.residual, twins.branches])
@pytest.mark.sampled(2)
def test_networks_equal_onnxruntime(tmp_path: Path, shape: Callable[[str], tuple[bytes, bytes]]) -> None:
    """Every element of the output of float networks that are quantised here, in every bit."""
    (tmp_path / "m.onnx").write_bytes(shape("float32")[1])
    [image] = onnx.load_model(str(tmp_path / "m.onnx")).graph.input
    extents = [each.dim_value for each in image.type.tensor_type.shape.dim]
    rows = np.random.default_rng(1).random((24, *extents)).astype(np.float32)
    np.savez(tmp_path / "c.npz", **{image.name: rows[:16]})  # pyright: ignore[reportArgumentType]
    quantize(tmp_path / "m.onnx", tmp_path / "c.npz", tmp_path / "q.onnx")
    engine = outputs_of_rows(tmp_path / "q.onnx", rows)
    module = load(tmp_path / "q.onnx")
    ours = np.stack([evaluate(module, module.main, [row])[0] for row in rows])
    assert len(np.unique(engine)) > 3
    np.testing.assert_array_equal(ours, engine)


def test_what_people_see(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = (folder / "m.onnx", "--calibration", folder / "c.npz", "--evaluate", folder / "c.npz")
    code, out, err = run(capsys, *words, "--method", "percentile")
    assert (code, err) == (0, "")
    assert out.startswith("calibrated  20 samples, percentile")
    assert "of the samples have the same largest output" in out
    assert "layers that lose most" in out and "Relu" in out
    assert f"written   {folder / 'm_int8.onnx'}" in out and "codegen imports it" in out


def test_json_has_all_layers(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Agreement and errors are counted again from the two models' outputs."""
    words = (folder / "m.onnx", "--calibration", folder / "c.npz", "--evaluate", folder / "c.npz")
    code, out, err = run(capsys, *words, "-o", folder / "q.onnx", "--json", "--per-tensor")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert (found["method"], found["per_channel"], found["samples"]) == ("minmax", False, 20)
    with np.load(folder / "c.npz") as arrays:
        rows, labels = arrays["x"][:, None], arrays["labels"]
    real, quantised = (outputs_of_rows(folder / name, rows).reshape(20, 3) for name in ("m.onnx", "q.onnx"))
    evaluation = found["evaluation"]
    classes, others = real.argmax(axis=1), quantised.argmax(axis=1)
    assert evaluation["agreement"] == np.count_nonzero(classes == others) / 20
    assert evaluation["float_accuracy"] == np.count_nonzero(classes == labels) / 20
    assert evaluation["quantised_accuracy"] == np.count_nonzero(others == labels) / 20
    [output] = evaluation["outputs"]
    assert output["largest"] == pytest.approx(np.abs(real - quantised).max(), rel=1e-4)
    assert output["mean"] == pytest.approx(np.abs(real - quantised).mean(), rel=1e-4)
    assert {each["op"] for each in evaluation["layers"]} >= {"Relu", "MatMul"}
    assert all(0 < each["error"] < 0.1 for each in evaluation["layers"])


def test_one_channel_scale_each_unless_per_tensor(folder: Path) -> None:
    for per_channel, count in ((True, 4), (False, 1)):
        quantize(
            folder / "m.onnx", folder / "c.npz", folder / "q.onnx", scheme=Scheme(per_channel=per_channel)
        )
        graph = onnx.load_model(str(folder / "q.onnx")).graph
        [scale] = [each for each in graph.initializer if each.name == "w_scale"]
        assert int(np.prod(scale.dims)) == count


def test_an_open_batch_becomes_one(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = small()
    made.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "batch"
    (folder / "m.onnx").write_bytes(made.SerializeToString())
    code, out, _ = run(capsys, folder / "m.onnx", "--calibration", folder / "c.npz")
    assert code == 0 and "the first extent of x was open and is 1" in out


REFUSED: dict[str, tuple[dict[str, np.ndarray], str]] = {
    "another name": (
        {"image": np.ones((2, 2, 4, 4), np.float32)},
        'array "image" is no input of the model',
    ),
    "no array": ({"labels": np.zeros(2, np.int64)}, 'no array for input "x", float32[1, 2, 4, 4]'),
    "shape": (
        {"x": np.ones((2, 4, 4, 2), np.float32)},
        'array "x" is float32[2, 4, 4, 2], the input float32[1, 2, 4, 4]',
    ),
    "layout": (
        {"x": np.ones((5, 4, 4, 2), np.float32)},
        "it looks like NHWC, the model takes NCHW: x.transpose(0, 3, 1, 2)",
    ),
    "type": ({"x": np.ones((2, 2, 4, 4))}, "help: it is [samples, 2, 4, 4] of float32"),
    "empty": ({"x": np.ones((0, 2, 4, 4), np.float32)}, 'array "x" is empty'),
    "not finite": ({"x": np.full((2, 2, 4, 4), np.nan, np.float32)}, "holds values that are not finite"),
    "labels": (
        {"x": np.ones((2, 2, 4, 4), np.float32), "labels": np.zeros(3, np.int64)},
        'array "labels" is int64[3], there are 2 samples',
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_samples_that_do_not_fit_are_told(
    case: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arrays, text = REFUSED[case]
    np.savez(folder / "c.npz", **arrays)  # pyright: ignore[reportArgumentType]
    code, _, err = run(capsys, folder / "m.onnx", "--calibration", folder / "c.npz")
    assert code == 2 and text in err and "Traceback" not in err
    assert not (folder / "m_int8.onnx").exists()


def test_models_that_are_not_quantised(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    calibration = ("--calibration", folder / "c.npz")
    assert run(capsys, folder / "m.onnx", *calibration, "-o", folder / "q.onnx")[0] == 0
    code, _, err = run(capsys, folder / "q.onnx", *calibration)
    assert (
        code == 2 and "error[E297] q.onnx: the model is quantised already: node 0 is DequantizeLinear" in err
    )
    (folder / "m.tflite").write_bytes(b"\0\0\0\0TFL3")
    code, _, err = run(capsys, folder / "m.tflite", *calibration)
    assert code == 2 and "error[E296] m.tflite: only .onnx files are quantised" in err
    (folder / "bad.onnx").write_bytes(b"\xff" * 9)
    code, _, err = run(capsys, folder / "bad.onnx", *calibration)
    assert code == 3 and "error[E302] bad.onnx: this is not an ONNX file" in err
    code, _, err = run(capsys, folder / "m.onnx", *calibration, "-o", folder / "m.onnx")
    assert code == 2 and "is the model, which would be lost" in err
    made = small()
    made.graph.input[0].type.tensor_type.shape.dim[2].dim_param = "height"
    (folder / "open.onnx").write_bytes(made.SerializeToString())
    code, _, err = run(capsys, folder / "open.onnx", *calibration)
    assert code == 2 and 'error[E298] open.onnx: input "x" has no fixed shape' in err


def test_a_failing_quantiser_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = small()
    made.graph.node[1].op_type = "NoSuchNode"
    (folder / "m.onnx").write_bytes(made.SerializeToString())
    code, _, err = run(capsys, folder / "m.onnx", "--calibration", folder / "c.npz")
    assert code == 2 and "error[E299] m.onnx: onnxruntime's quantiser fails: " in err


def test_without_onnxruntime_the_command_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = importlib.import_module

    def without(name: str) -> object:
        if name.startswith("onnxruntime"):
            raise ImportError(name)
        return found(name)

    monkeypatch.setattr("codegen.tools.quantize.quantizer.importlib.import_module", without)
    code, _, err = run(capsys, folder / "m.onnx", "--calibration", folder / "c.npz")
    assert code == 3
    assert "error[E313] m.onnx: the package `onnxruntime` is not installed" in err
    assert f'help: {sys.executable} -m pip install "onnx>=1.17" "onnxruntime>=1.20"' in err
