"""Made-up inputs stay in the domain of the operators that read them.

TFLite refuses to run with indices beyond the axis, so that nothing was compared; roots and logarithms of
negative numbers were NaN.
"""

from pathlib import Path

import numpy as np
import pytest

from codegen.driver.inputs.cases import made_up_case
from codegen.driver.options import Options
from codegen.driver.planning import plan_only
from codegen.importers.tflite.writing.writer import ModelBuilder


def made_up(data: bytes, folder: Path) -> np.ndarray:
    path = folder / "m.tflite"
    path.write_bytes(data)
    [values] = made_up_case(plan_only(path, Options(board="host")).program, 0).inputs
    return values


def function(op: str) -> bytes:
    model = ModelBuilder()
    x, y = (model.tensor(name, (1, 40), "float32") for name in ("x", "y"))
    model.op(op, [x], [y])
    model.inputs(x)
    model.outputs(y)
    return model.build()


def test_indices_are_those_of_the_axis(tmp_path: Path) -> None:
    model = ModelBuilder()
    x = model.tensor("x", (40,), "int32")
    y = model.tensor("y", (40, 2), "float32")
    table = model.constant("table", np.arange(14, dtype=np.float32).reshape(7, 2), "float32")
    model.op("GATHER", [table, x], [y], axis=0)
    model.inputs(x)
    model.outputs(y)
    assert set(made_up(model.build(), tmp_path).tolist()) == set(range(7))


@pytest.mark.parametrize(
    ("op", "has_negative"), [("LOG", False), ("SQRT", False), ("RSQRT", False), ("SIN", True)]
)
def test_roots_and_logarithms_take_no_negative_numbers(op: str, has_negative: bool, tmp_path: Path) -> None:
    values = made_up(function(op), tmp_path)
    assert bool((values < 0).any()) == has_negative
    assert len(np.unique(values)) == 40
