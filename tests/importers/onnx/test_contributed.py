"""Nodes that onnxruntime's optimiser writes, in float32: random ones of each type against onnxruntime."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from onnx import helper

from codegen.importers.onnx.rewriting.contributed import CONTRIBUTED
from tests.importers.onnx.drawn_attention import ATTENTION
from tests.importers.onnx.drawn_nodes import Drawn, differences, question
from tests.importers.onnx.models import complaint

_COUNT = 25
"""Models of a type; 300 were compared once."""


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


def test_every_type_is_drawn() -> None:
    assert {*DRAWN, *ATTENTION} == set(CONTRIBUTED)


@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.sampled(5)
def test_random_nodes_are_those_of_onnxruntime(name: str, tmp_path: Path) -> None:
    """Files that onnxruntime had optimised were refused by these names."""
    assert differences(name, DRAWN[name], range(_COUNT), tmp_path) == []


def test_what_a_body_does_not_know_is_refused(tmp_path: Path) -> None:
    made, _ = question("com.microsoft.FusedMatMul", _fused_matmul, 1)
    made.graph.node[0].attribute.append(helper.make_attribute("beta", 1.0))
    assert "attribute beta is not supported here" in complaint(tmp_path, made)


def test_an_unknown_type_of_another_domain_has_no_opset_of_onnx(tmp_path: Path) -> None:
    """`com.microsoft.Unknown (opset 13)` was said: 13 is the version of another domain."""
    made, _ = question("com.microsoft.Gelu", _gelu, 1)
    made.graph.node[0].op_type = "NoSuchNode"
    assert "node type com.microsoft.NoSuchNode is not supported" in complaint(tmp_path, made)


@pytest.mark.parametrize("name", ATTENTION)
@pytest.mark.sampled(2)
def test_random_attention_is_that_of_onnxruntime(name: str, tmp_path: Path) -> None:
    """Transformers that onnxruntime had optimised were refused by these names."""
    assert differences(name, ATTENTION[name], range(_COUNT), tmp_path) == []


@pytest.mark.parametrize(
    ("name", "attribute", "text"),
    [
        ("Attention", ("do_rotary", 1), "attribute do_rotary is not supported"),
        ("MultiHeadAttention", ("num_heads", 0), "attribute num_heads is 0"),
        ("RotaryEmbedding", ("scale", 2.0), "attribute scale is not supported"),
    ],
)
def test_forms_of_attention_that_are_not_taken_are_told(
    name: str, attribute: tuple[str, float], text: str, tmp_path: Path
) -> None:
    kind = f"com.microsoft.{name}"
    made, _ = question(kind, ATTENTION[kind], 1)
    [node] = made.graph.node
    kept = [each for each in node.attribute if each.name != attribute[0]]
    del node.attribute[:]
    node.attribute.extend([*kept, helper.make_attribute(*attribute)])
    assert text in complaint(tmp_path, made)


def test_masks_of_other_shapes_are_told_with_those_that_are_taken(tmp_path: Path) -> None:
    """Four dimensions of mask come from training code of one framework."""

    def draw(drawn: Drawn) -> None:
        drawn.image = (1, 4, 6)
        drawn.attributes["num_heads"] = 2
        drawn.give(drawn.normal(6, 18))
        drawn.give(drawn.normal(18))
        drawn.give(np.ones((1, 1, 8, 8), np.int32))

    made, _ = question("com.microsoft.Attention", draw, 1)
    text = complaint(tmp_path, made)
    assert "a mask of shape [1, 1, 8, 8] is not supported for 4 queries and 4 keys of 1 batches" in text
    assert "export with a mask [batch, keys] of 0 and 1" in text
