"""Images keep the order they are stored in; what has to move moves once."""

from pathlib import Path

import numpy as np

from codegen.ir import Module
from codegen.ir.evaluate import evaluate
from tests.importers.onnx.models import imported, model, node

W = np.arange(2 * 2 * 3 * 3, dtype=np.float32).reshape(2, 2, 3, 3) / 8
SAME = {"pads": [1, 1, 1, 1], "kernel_shape": [3, 3]}


def _ops(module: Module) -> list[str]:
    return [let.call.op.name for let in module.main.body]


def test_between_convolutions_nothing_moves(tmp_path: Path) -> None:
    module = imported(
        tmp_path,
        model(
            node("Conv", "x w", "a", **SAME),
            node("Sigmoid", "a", "b"),
            node("Mul", "a b", "c"),
            node("Conv", "c w", "d", **SAME),
            node("Concat", "c d", "e", axis=1),
            node("GlobalAveragePool", "e", "f"),
            node("Mul", "f e", "y"),
            constants={"w": W},
        ),
    )
    ops = _ops(module)
    assert ops.count("TRANSPOSE") == 2
    assert (ops[0], ops[-1]) == ("TRANSPOSE", "TRANSPOSE")


def test_moves_that_undo_each_other_are_none(tmp_path: Path) -> None:
    """Keras networks turn NHWC to NCHW before each convolution."""
    module = imported(
        tmp_path,
        model(
            node("Transpose", "x", "a", perm=[0, 3, 1, 2]),
            node("Conv", "a w", "b", **SAME),
            node("Transpose", "b", "y", perm=[0, 2, 3, 1]),
            x=(1, 4, 4, 2),
            constants={"w": W},
        ),
    )
    assert _ops(module) == ["CONV_2D"]


def test_one_move_serves_all_readers(tmp_path: Path) -> None:
    module = imported(
        tmp_path,
        model(
            node("Conv", "x w", "a", **SAME),
            node("Conv", "x w", "b", **SAME),
            node("Flatten", "a", "c"),
            node("Reshape", "a s", "d"),
            node("Flatten", "b", "e"),
            node("Sum", "c d e", "y"),
            constants={"w": W, "s": np.array([1, -1])},
        ),
    )
    assert _ops(module).count("TRANSPOSE") == 3  # of x, a and b


def test_statistics_and_sums_go_into_the_weights(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    rows = {name: rng.uniform(0.5, 2, 2).astype(np.float32) for name in ("s", "o", "m", "v")}
    nodes = (
        node("Conv", "x w", "a", **SAME),
        node("Add", "a k", "b"),
        node("BatchNormalization", "b s o m v", "y"),
    )
    extra = node("Relu", "b", "z")
    constants = {"w": W, "k": rng.normal(size=(2, 1, 1)).astype(np.float32), **rows}
    folded = imported(tmp_path, model(*nodes, constants=constants))
    apart = imported(tmp_path, model(*nodes, extra, node("Add", "y z", "q"), constants=constants, output="q"))
    assert _ops(folded) == ["TRANSPOSE", "CONV_2D", "TRANSPOSE"]
    assert _ops(apart)[1:5] == ["CONV_2D", "MUL", "ADD", "RELU"]
    x = rng.normal(size=(1, 2, 4, 4)).astype(np.float32)
    conv = imported(tmp_path, model(nodes[0], constants=constants, output="a"))
    [a] = evaluate(conv, conv.main, [x])
    column = {name: row.reshape(2, 1, 1) for name, row in rows.items()}
    b = a + constants["k"]
    wanted = (b - column["m"]) / np.sqrt(column["v"] + 1e-5) * column["s"] + column["o"]
    [found] = evaluate(folded, folded.main, [x])
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-5 * np.abs(wanted).max())
    [both] = evaluate(apart, apart.main, [x])
    np.testing.assert_allclose(both, wanted + np.maximum(b, 0), rtol=0, atol=2e-5 * np.abs(wanted).max())


def test_a_second_name_keeps_a_value_as_it_is(tmp_path: Path) -> None:
    """What BatchNormalization reads is read under another name as well: the weights must stay."""
    rows = {name: np.full(2, 2, np.float32) for name in ("s", "o", "m", "v")}
    module = imported(
        tmp_path,
        model(
            node("Conv", "x w", "a", **SAME),
            node("Identity", "a", "b"),
            node("BatchNormalization", "b s o m v", "c"),
            node("Relu", "a", "d"),
            node("Add", "c d", "y"),
            constants={"w": W, **rows},
        ),
    )
    assert "MUL" in _ops(module)
