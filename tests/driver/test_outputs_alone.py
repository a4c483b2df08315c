"""E401 of a model whose outputs or inputs alone are larger than the memory: no plan could ever fit."""

from pathlib import Path

import pytest

from codegen.driver.options import Options
from codegen.driver.planning import plan_only
from codegen.errors import CodegenError
from codegen.importers.tflite.writing.writer import ModelBuilder


def _model(path: Path, rows: int, copies: int) -> Path:
    """`copies` of [1, rows, 100], one behind the other."""
    model = ModelBuilder()
    x = model.tensor("x", (1, rows, 100), "float32")
    y = model.tensor("y", (1, rows * copies, 100), "float32")
    model.op("CONCATENATION", [x] * copies, [y], axis=1)
    model.inputs(x)
    model.outputs(y)
    path.write_bytes(model.build())
    return path


def _message(path: Path) -> str:
    with pytest.raises(CodegenError) as caught:
        plan_only(path, Options(board="microbit"))
    [message] = caught.value.messages
    assert message.code == "E401"
    return str(message)


@pytest.mark.parametrize(
    ("rows", "copies", "said"), [(10, 4, "outputs alone take 16000"), (40, 2, "outputs")]
)
def test_outputs_that_fit_no_plan_are_told(tmp_path: Path, rows: int, copies: int, said: str) -> None:
    text = _message(_model(tmp_path / "m.tflite", rows, copies))
    assert f"no plan can fit: the {said}" in text
    assert text.endswith("--io caller (the application's bytes hold inputs and outputs)")


def test_what_only_this_plan_cannot_is_not_said_of_all(tmp_path: Path) -> None:
    """8,000 bytes of results beside 8,000 of the argument: `microbit` has 14,080."""
    text = _message(_model(tmp_path / "m.tflite", 10, 3))
    assert "no plan can fit" not in text
