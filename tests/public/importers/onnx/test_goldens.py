"""The shared ONNX models against the outputs of onnxruntime (all optimisations off), case by case."""

from pathlib import Path

import pytest

import codegen
from codegen.errors import CodegenError
from codegen.importers import load
from codegen.ir.verify import verify
from tests.importers.onnx import official
from tests.public.importers.onnx.shared import KEYS, cases
from tests.public.testdata import golden, index, model_path

LARGE_MACS = 5_000_000
"""Evaluated in the long tests only."""


def _is_refused(key: str) -> bool:
    """As the file is: whatever it reads while it runs is an input."""
    try:
        verify(load(model_path(key)))
    except CodegenError as error:
        assert all(message.code in ("E301", "E303", "E305", "E306") for message in error.messages)
        return True
    return False


def _outcomes(keys: list[str]) -> list[official.Outcome]:
    """NumPy's, of every case; shapes, axes and weights are constants where they have to be known."""
    found = [official.outcome(test) for test in cases(*keys)]
    assert [each.test.name for each in found if each.module is None] == []
    return found


def test_every_case_of_small_models_is_right() -> None:
    """113 of 290 models were not compared before their shapes, axes and weights were made constants."""
    found = _outcomes([key for key in KEYS if int(index()[key]["macs"] or 0) <= LARGE_MACS])
    assert [each.test.name for each in found if not each.is_right] == []
    assert len(found) == 333


@pytest.mark.long
def test_every_case_of_every_model_is_right_as_c(tmp_path: Path) -> None:
    found = list(official.on_board(_outcomes(KEYS), tmp_path))
    assert [each.test.name for each in found if not each.is_right] == []
    assert len(found) == 333 + 12


def test_all_networks_run_but_those_that_are_named() -> None:
    refused = {key for key in KEYS if key.startswith(("onnx2c/", "onnx_light/")) and _is_refused(key)}
    assert refused == {
        *(f"onnx2c/{name}" for name in ("lstm_k1_b1_r1", "lstm_k1_b1_r1_relu")),
        "onnx_light/light_zfnet512",  # too large
    }


@pytest.mark.qemu
def test_mnist_on_a_board() -> None:
    """A network of the model zoo: onnx2c takes 60,416 bytes and 6.74 M instructions for it."""
    key = "onnx2c/mnist"
    arrays = golden(key)
    given = [
        codegen.Case(name=case, inputs=(arrays[f"{case}_x0"],), expected=(arrays[f"{case}_y0"],))
        for case in ("a", "repo0")
    ]
    report = codegen.run(model_path(key), codegen.Options(board="mps2-an386"), cases={"mnist": given})
    assert report.run is not None
    assert report.plan is not None
    assert all(output.matches for output in report.run.outputs)
    assert report.plan.peak_bytes <= 9_000
    assert report.run.instructions is not None
    assert report.run.instructions <= 1_700_000
