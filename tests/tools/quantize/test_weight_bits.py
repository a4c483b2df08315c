"""`codegen quantize --bits auto`: a budget is met by int4 weights that lose least, equal to onnxruntime."""

from pathlib import Path

import numpy as np
import pytest

import codegen
from codegen.errors import CodegenError
from codegen.importers import load
from codegen.ir import DType
from codegen.ir.evaluate import evaluate
from codegen.tools.quantize.quantizer import Quantized, Scheme, quantize
from codegen.tools.quantize.weight_bits import BitChoice
from tests.importers.onnx.models import model, node
from tests.tools.quantize.onnxruntime_rows import outputs_of_rows
from tests.tools.quantize.test_quantize import run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two convolutions, one of them depthwise, which keeps 8 bits, and ten classes; 24 samples."""
    rng = np.random.default_rng(3)
    shapes = {"w": (8, 2, 3, 3), "b": (8,), "d": (8, 1, 3, 3), "m": (128, 10)}
    weights = {name: (rng.standard_normal(shape) * 0.2).astype(np.float32) for name, shape in shapes.items()}
    nodes = (
        node("Conv", "x w b", "c", pads=[1, 1, 1, 1]),
        node("Relu", "c", "r"),
        node("Conv", "r d", "e", pads=[1, 1, 1, 1], group=8),
        node("Flatten", "e", "f"),
        node("MatMul", "f m", "y"),
    )
    (tmp_path / "m.onnx").write_bytes(model(*nodes, constants=weights).SerializeToString())
    np.savez(tmp_path / "c.npz", x=rng.standard_normal((24, 2, 4, 4)).astype(np.float32))
    return tmp_path


def _quantised(folder: Path, budget: int) -> tuple[Quantized, BitChoice]:
    scheme = Scheme(budget_bytes=budget)
    done = quantize(folder / "m.onnx", folder / "c.npz", folder / "q.onnx", scheme=scheme)
    assert done.bits is not None
    return done, done.bits


def _weight_bytes(path: Path) -> int:
    return sum(constant.type.size_bytes for constant in load(path).constants.values())


def test_a_budget_is_met_and_the_result_equals_onnxruntime(folder: Path) -> None:
    """Each point of the table takes less than the one above it; the int4 layers lie as such."""
    _, free = _quantised(folder, 1_000_000)
    assert (free.chosen, len(free.points)) == (0, 3)
    sizes = [point.weight_bytes for point in free.points]
    assert sizes == sorted(set(sizes), reverse=True) and sizes[0] == _weight_bytes(folder / "q.onnx")
    losses = [point.loss for point in free.points]
    assert losses == sorted(losses)
    for count, size in enumerate(sizes):
        _, choice = _quantised(folder, size)
        assert (choice.chosen, _weight_bytes(folder / "q.onnx")) == (count, size)
        module = load(folder / "q.onnx")
        is_int4 = [constant.type.dtype is DType.INT4 for constant in module.constants.values()]
        assert is_int4.count(True) == count
        rows = np.random.default_rng(7).standard_normal((6, 2, 4, 4)).astype(np.float32)
        ours = np.stack([evaluate(module, module.main, [row[None]])[0] for row in rows])
        np.testing.assert_array_equal(ours, outputs_of_rows(folder / "q.onnx", rows[:, None]))


@pytest.mark.qemu
def test_on_a_board_int4_weights_take_half_and_equal_onnxruntime(folder: Path) -> None:
    """By the tiles that round as ONNX does; `run` compares with onnxruntime."""
    options = codegen.Options(board="mps2-an386")
    _quantised(folder, 1_000_000)
    wide = codegen.build(folder / "q.onnx", folder / "wide", options)
    done, choice = _quantised(folder, _smallest(folder))
    assert done.bits is not None and choice.chosen == 2
    report = codegen.run(folder / "q.onnx", options, reference="engine")
    kernels = {step.kernel for step in report.steps or ()}
    assert {"qlinear_conv2d_s4_dsp", "qlinear_fully_connected_s4_dsp"} <= kernels
    saved = choice.points[0].weight_bytes - choice.points[-1].weight_bytes
    assert report.constants is not None and wide.constants is not None
    assert wide.constants.total_bytes - report.constants.total_bytes == pytest.approx(saved, abs=16)


def _smallest(folder: Path) -> int:
    with pytest.raises(CodegenError) as caught:
        _quantised(folder, 10)
    [message] = caught.value.messages
    assert message.code == "E408" and "with 4 bits in all 2 layers that can" in message.text
    assert message.help is not None
    return int(message.help.partition("flash=")[2].partition(";")[0])


def test_a_budget_that_cannot_be_met_tells_the_smallest(folder: Path) -> None:
    _, choice = _quantised(folder, _smallest(folder))
    assert choice.chosen == 2


def test_people_see_loss_against_bytes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = (folder / "m.onnx", "--calibration", folder / "c.npz", "--bits", "auto", "--budget")
    code, out, err = run(capsys, *words, f"flash={_smallest(folder)}")
    assert (code, err) == (0, "")
    assert "weights in 4 bits" in out and "loss %" in out
    assert "bits      4 in 2 layers of 2: " in out
    code, _, err = run(capsys, *words, "flash=lots")
    assert code == 2 and "E223" in err and '"flash=lots" is no number of bytes of flash' in err


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--bits", "auto"), "--bits auto has no --budget"),
        (("--budget", "flash=1"), "--budget is for --bits auto"),
    ],
)
def test_one_option_without_the_other_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], text: str
) -> None:
    code, _, err = run(capsys, folder / "m.onnx", "--calibration", folder / "c.npz", *words)
    assert code == 2 and text in err
