"""SVDF with scales that are missing or extreme: imported or refused, where a division ended the import."""

from itertools import combinations, product

import numpy as np
import pytest

from codegen import importers
from codegen.errors import CodegenError
from codegen.importers.tflite.writing.writer import ModelBuilder

OPERANDS = ("input", "features", "time", "state", "result")
EXTREMES = (None, 1e-45, 1e-38, 3e38, 1e-20, 1e20)


def _model(state: str, scales: dict[str, float | None]) -> bytes:
    model = ModelBuilder()

    def tensor(name: str, shape: tuple[int, ...], dtype: str, data: np.ndarray | None = None) -> int:
        return model.tensor(
            name, shape, dtype, scale=scales.get(name, 0.02), data=data, variable=name == "state"
        )

    x = tensor("input", (1, 4), "int8")
    features = tensor("features", (4, 4), "int8", np.ones((4, 4), np.int8))
    time = tensor("time", (4, 3), state, np.ones((4, 3), state))
    bias = model.tensor("bias", (2,), "int32", data=np.ones(2, np.int32))
    held = tensor("state", (1, 12), state)
    y = tensor("result", (1, 2), "int8")
    model.op("SVDF", [x, features, time, bias, held], [y], rank=2, activation="none")
    model.inputs(x)
    model.outputs(y)
    return model.build()


@pytest.mark.parametrize("state", ["int8", "int16"])
@pytest.mark.sampled(1)
def test_no_scale_ends_with_a_traceback(tmp_path_factory: pytest.TempPathFactory, state: str) -> None:
    path, codes = tmp_path_factory.mktemp("svdf") / "m.tflite", set[str]()
    for one, other in combinations(OPERANDS, 2):
        for low, high in product(EXTREMES, EXTREMES):
            path.write_bytes(_model(state, {one: low, other: high}))
            try:
                importers.load(path)
            except CodegenError as error:
                codes.update(message.code for message in error.messages)
    assert codes == {"E304", "E306"}


def test_a_missing_scale_is_told(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("svdf") / "m.tflite"
    path.write_bytes(_model("int8", {"state": None}))
    with pytest.raises(CodegenError) as caught:
        importers.load(path)
    assert caught.value.messages[0].text == "an operand or the result has no scale"
