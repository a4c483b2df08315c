"""Conv by weights that are computed while the model runs, or given: products of matrices, a tap each.

They were refused; two of onnx2c's benchmarks are such models, and the official node tests of Conv.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from tests.importers.onnx import official
from tests.importers.onnx.engine import answers
from tests.importers.onnx.models import complaint, model, node
from tests.importers.onnx.official import NodeTest


def _drawn(seed: int) -> NodeTest:
    """Any window of one or two axes; of two of three the bias is a value too."""
    rng = np.random.default_rng(seed)
    axes = 1 if seed % 5 == 4 else 2
    inputs = int(rng.integers(1, 6))
    is_depthwise = seed % 4 == 3 and inputs > 1
    outputs = inputs if is_depthwise else int(rng.integers(1, 6))
    window = [int(each) for each in rng.integers(1, 4, axes)]
    attributes: dict[str, Any] = {
        "group": inputs if is_depthwise else 1,
        "strides": [int(each) for each in rng.integers(1, 3, axes)],
        "kernel_shape": window,
    }
    if seed % 3 == 2:
        attributes["auto_pad"] = str(rng.choice(["SAME_UPPER", "SAME_LOWER", "VALID"]))
    else:
        attributes |= {
            "dilations": [int(each) for each in rng.integers(1, 3, axes)],
            "pads": [int(each) for each in rng.integers(0, 3, 2 * axes)],
        }
    shapes: dict[str, tuple[int, ...]] = {
        "x": (int(rng.integers(1, 3)), inputs, *(int(each) for each in rng.integers(5, 9, axes))),
        "w": (outputs, 1 if is_depthwise else inputs, *window),
    }
    if seed % 3:
        shapes["b"] = (outputs,)
    given = {name: rng.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
    made = _model([node("Conv", " ".join(shapes), "y", **attributes)], shapes)
    [wanted] = answers([(made, given)])
    return _test(f"drawn {seed}", made, given, wanted)


def _model(nodes: list[Any], shapes: dict[str, tuple[int, ...]]) -> Any:
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    graph = helper.make_graph(nodes, "g", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def _test(name: str, made: Any, given: dict[str, np.ndarray], wanted: list[np.ndarray]) -> NodeTest:
    return NodeTest(
        name=name,
        operator="Conv",
        model=made,
        inputs=given,
        outputs=tuple(wanted),
        relative=0.0,
        absolute=np.inf,  # what is allowed for all holds: 1e-5 of the largest
    )


def _computed() -> NodeTest:
    """Weights that a layer computes, as dynamic filters have them; the value is an image elsewhere."""
    shapes = {"x": (1, 3, 6, 6), "w": (2, 3, 3, 3), "s": (2, 1, 1, 1)}
    rng = np.random.default_rng(1)
    given = {name: rng.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
    nodes = [
        node("Mul", "w s", "scaled"),
        node("Tanh", "scaled", "filter"),
        node("Conv", "x filter", "c", pads=[1, 1, 1, 1]),
        node("Relu", "c", "y"),
    ]
    made = _model(nodes, shapes)
    [wanted] = answers([(made, given)])
    return _test("computed", made, given, wanted)


@pytest.mark.qemu
@pytest.mark.parametrize("board", ["host", "mps2-an386"])
@pytest.mark.sampled(1)
def test_what_is_drawn_is_what_onnxruntime_computes(
    board: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    drawn = 24 if request.config.getoption("--long") else 7
    tests = [_computed(), *map(_drawn, range(drawn))]
    outcomes = [official.outcome(test) for test in tests]
    assert [each.test.name for each in outcomes if not each.is_right or each.test.bound] == []
    found = official.on_board(outcomes, tmp_path, board)
    assert [each.test.name for each in found if not each.is_right] == []


def test_official_tests_of_it_need_no_constants() -> None:
    found = [official.outcome(each) for each in official.collected("conv") if each.operator == "Conv"]
    assert len(found) == 6
    assert all(each.is_right and not each.test.bound for each in found)


def _complaint(folder: Path, weights: tuple[int, ...], **attributes: Any) -> str:
    shapes = {"x": (1, 4, 9, 9), "w": weights}
    return complaint(folder, _model([node("Conv", "x w", "y", **attributes)], shapes))


def test_what_is_refused(tmp_path: Path) -> None:
    assert _complaint(tmp_path, (4, 2, 3, 3), group=2) == (
        'error[E301] op 0 Conv "y": computed weights in 2 groups are not supported, one group is, and one a '
        "channel"
    )
    assert _complaint(tmp_path, (4, 4, 9, 9)) == (
        'error[E301] op 0 Conv "y": a window of 9x9 computed weights is not supported'
    )
    assert _complaint(tmp_path, (4, 3, 3, 3)) == (
        'error[E303] op 0 Conv "y": weights [4, 3, 3, 3] in 1 groups do not fit 4 channels'
    )
    own = model(node("Conv", "x x", "y"), x=(1, 1, 4, 4, 4))
    assert '"x" (the weights) is computed while the model runs' in complaint(tmp_path, own)
