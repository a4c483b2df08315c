"""Nodes that onnxruntime's optimiser writes, in float32: random ones of each type against onnxruntime."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from codegen.importers.onnx.rewriting.contributed import CONTRIBUTED
from codegen.ir.evaluate import evaluate
from tests.importers.onnx.engine import answers
from tests.importers.onnx.models import complaint, imported

_COUNT = 25
"""Models of a type; 300 were compared once."""


@dataclass(kw_only=True)
class Drawn:
    """A node under construction: `x` is the model's input, other values are constants."""

    rng: np.random.Generator
    names: list[str] = field(default_factory=lambda: ["x"])
    constants: dict[str, np.ndarray] = field(default_factory=dict[str, np.ndarray])
    attributes: dict[str, Any] = field(default_factory=dict[str, Any])
    outputs: list[str] = field(default_factory=lambda: ["y"])
    image: tuple[int, ...] = ()

    def shape(self, rank: int) -> tuple[int, ...]:
        return tuple(int(extent) for extent in self.rng.integers(1, 7, rank))

    def maybe(self) -> bool:
        return bool(self.rng.integers(0, 2))

    def add(self, shape: tuple[int, ...], *, is_given: bool = True) -> None:
        name = f"c{len(self.names)}" if is_given else ""
        self.names.append(name)
        if is_given:
            self.constants[name] = self.rng.standard_normal(shape).astype(np.float32)

    def may_say(self, name: str, *values: Any) -> None:
        if self.maybe():
            self.attributes[name] = values[int(self.rng.integers(0, len(values)))]


def _layer_norm(drawn: Drawn) -> None:
    drawn.image = drawn.shape(3)
    axis = int(drawn.rng.integers(-3, 3))
    drawn.attributes["axis"] = axis
    drawn.add(drawn.image[axis % 3 :])
    drawn.add(drawn.image[axis % 3 :], is_given=drawn.maybe())
    drawn.may_say("epsilon", 1e-3, 1e-6)


def _simplified(drawn: Drawn) -> None:
    drawn.image = drawn.shape(3)
    drawn.attributes["axis"] = -1
    drawn.add(drawn.image[-1:])
    drawn.may_say("epsilon", 1e-3, 1e-6)


def _skip(drawn: Drawn) -> None:
    drawn.image = drawn.shape(3)
    drawn.add(drawn.image)
    drawn.add(drawn.image[-1:])
    drawn.add(drawn.image[-1:], is_given=drawn.maybe())
    drawn.add(drawn.image[-1:], is_given=drawn.maybe())
    drawn.may_say("epsilon", 1e-3, 1e-6)
    if drawn.maybe():
        drawn.outputs = ["y", "", "", "total"]


def _skip_simplified(drawn: Drawn) -> None:
    drawn.image = drawn.shape(3)
    drawn.add(drawn.image)
    drawn.add(drawn.image[-1:])
    drawn.add(drawn.image[-1:], is_given=drawn.maybe())
    drawn.attributes["epsilon"] = 1e-3
    if drawn.maybe():
        drawn.outputs = ["y", "", "", "total"]


def _gelu(drawn: Drawn) -> None:
    drawn.image = drawn.shape(3)


def _quick_gelu(drawn: Drawn) -> None:
    drawn.image = drawn.shape(3)
    drawn.may_say("alpha", 1.0, 2.5)


def _bias_gelu(drawn: Drawn) -> None:
    drawn.image = drawn.shape(3)
    drawn.add(drawn.image[-1:])


def _fast_gelu(drawn: Drawn) -> None:
    drawn.image = drawn.shape(3)
    if drawn.maybe():
        drawn.add(drawn.image[-1:])


def _fused_matmul(drawn: Drawn) -> None:
    batch, rows, inner, columns = drawn.shape(4)
    first, second = drawn.maybe(), drawn.maybe()
    drawn.image = (batch, inner, rows) if first else (batch, rows, inner)
    drawn.add((batch, columns, inner) if second else (batch, inner, columns))
    drawn.attributes |= {"transA": int(first), "transB": int(second)}
    drawn.may_say("alpha", 0.125, 3.0)


_ACTIVATIONS: tuple[tuple[str, tuple[float, ...]], ...] = (
    ("Relu", ()),
    ("Tanh", ()),
    ("Sigmoid", ()),
    ("LeakyRelu", (0.1,)),
    ("HardSigmoid", (0.3, 0.4)),
    ("Clip", (-0.5, 0.75)),
)


def _fused_conv(drawn: Drawn) -> None:
    channels, height, width, filters = drawn.shape(4)
    drawn.image = (1, channels, height + 2, width + 2)
    drawn.add((filters, channels, 3, 3))
    has_sum = drawn.maybe()
    drawn.add((filters,), is_given=drawn.maybe() or has_sum)
    if has_sum:
        drawn.add((1, filters, height + 2, width + 2))
    drawn.attributes |= {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    kind, numbers = _ACTIVATIONS[int(drawn.rng.integers(0, len(_ACTIVATIONS)))]
    drawn.attributes["activation"] = kind
    if numbers:
        drawn.attributes["activation_params"] = list(numbers)


def _fused_gemm(drawn: Drawn) -> None:
    rows, inner, columns = drawn.shape(3)
    drawn.image, turned = (rows, inner), drawn.maybe()
    drawn.add((columns, inner) if turned else (inner, columns))
    drawn.add((columns,))
    kind, numbers = _ACTIVATIONS[int(drawn.rng.integers(0, 4))]
    drawn.attributes |= {"transB": int(turned), "activation": kind}
    if numbers:
        drawn.attributes["activation_alpha"] = numbers[0]


DRAWN: dict[str, Callable[[Drawn], None]] = {
    "LayerNormalization": _layer_norm,
    "SimplifiedLayerNormalization": _simplified,
    "com.microsoft.BiasGelu": _bias_gelu,
    "com.microsoft.FastGelu": _fast_gelu,
    "com.microsoft.FusedConv": _fused_conv,
    "com.microsoft.FusedGemm": _fused_gemm,
    "com.microsoft.FusedMatMul": _fused_matmul,
    "com.microsoft.Gelu": _gelu,
    "com.microsoft.QuickGelu": _quick_gelu,
    "com.microsoft.SkipLayerNormalization": _skip,
    "com.microsoft.SkipSimplifiedLayerNormalization": _skip_simplified,
}


def question(name: str, seed: int) -> tuple[Any, dict[str, np.ndarray]]:
    """A model of one node of type `name`, and its input."""
    drawn = Drawn(rng=np.random.default_rng(seed))
    DRAWN[name](drawn)
    domain, _, op = name.rpartition(".")
    graph = helper.make_graph(
        [helper.make_node(op, drawn.names, drawn.outputs, domain=domain, **drawn.attributes)],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, list(drawn.image))],
        [helper.make_tensor_value_info(each, TensorProto.FLOAT, None) for each in drawn.outputs if each],
        [numpy_helper.from_array(data, each) for each, data in drawn.constants.items()],
    )
    sets = [helper.make_opsetid("", 13), helper.make_opsetid("com.microsoft", 1)]
    made = helper.make_model(graph, opset_imports=sets, ir_version=8)
    return made, {"x": drawn.rng.standard_normal(drawn.image).astype(np.float32)}


def test_every_type_is_drawn() -> None:
    assert set(DRAWN) == set(CONTRIBUTED)


def differences(name: str, seeds: range, folder: Path) -> list[int]:
    """Seeds whose outputs are not onnxruntime's within 1e-5 of the largest, or of the largest argument."""
    questions = [question(name, seed) for seed in seeds]
    wrong: list[int] = []
    for seed, (made, inputs), expected in zip(seeds, questions, answers(questions), strict=True):
        module = imported(folder, made)
        found = evaluate(module, module.main, list(inputs.values()))
        for ours, theirs in zip(found, expected, strict=True):
            scale = max(float(np.abs(theirs).max(initial=0.0)), 1.0)
            if ours.shape != theirs.shape or np.abs(ours - theirs).max(initial=0.0) > 1e-5 * scale:
                wrong.append(seed)
    return wrong


@pytest.mark.parametrize("name", DRAWN)
def test_random_nodes_are_those_of_onnxruntime(name: str, tmp_path: Path) -> None:
    """Files that onnxruntime had optimised were refused by these names."""
    assert differences(name, range(_COUNT), tmp_path) == []


def test_what_a_body_does_not_know_is_refused(tmp_path: Path) -> None:
    made, _ = question("com.microsoft.FusedMatMul", 1)
    made.graph.node[0].attribute.append(helper.make_attribute("beta", 1.0))
    assert "attribute beta is not supported here" in complaint(tmp_path, made)


def test_an_unknown_type_of_another_domain_has_no_opset_of_onnx(tmp_path: Path) -> None:
    """`com.microsoft.Unknown (opset 13)` was said: 13 is the version of another domain."""
    made, _ = question("com.microsoft.Gelu", 1)
    made.graph.node[0].op_type = "NoSuchNode"
    assert "node type com.microsoft.NoSuchNode is not supported" in complaint(tmp_path, made)
