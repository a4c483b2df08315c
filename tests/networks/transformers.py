"""Small transformers as PyTorch exports them: keyword spotting over frames (KWT), images in patches (CCT).

Weights are drawn: widths, heads and nodes are those of the published networks, results mean nothing.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper


class _Graph:
    """Nodes of a float network, one behind the other."""

    def __init__(self, seed: int) -> None:
        self.nodes: list[Any] = []
        self.constants: dict[str, np.ndarray] = {}
        self._rng = np.random.default_rng(seed)

    def node(self, op: str, *inputs: str, **attributes: Any) -> str:
        """The result of a new node."""
        name = f"v{len(self.nodes)}"
        self.nodes.append(
            helper.make_node(op, list(inputs), [name], name=f"n{len(self.nodes)}", **attributes)
        )
        return name

    def constant(self, data: np.ndarray | Sequence[int]) -> str:
        """The name of a constant; integers are int64."""
        array = np.asarray(data)
        name = f"c{len(self.constants)}"
        self.constants[name] = array.astype(np.float32 if array.dtype.kind == "f" else np.int64)
        return name

    def drawn(self, *shape: int, fan_in: int) -> str:
        """A constant of random weights that keep the size of what they multiply."""
        return self.constant(self._rng.standard_normal(shape) / fan_in**0.5)

    def linear(self, value: str, inputs: int, outputs: int) -> str:
        """torch.nn.Linear of three dimensions: a product and a sum."""
        product = self.node("MatMul", value, self.drawn(inputs, outputs, fan_in=inputs))
        return self.node("Add", product, self.constant(self._rng.standard_normal(outputs) * 0.1))

    def norm(self, value: str, width: int) -> str:
        """torch.nn.LayerNorm."""
        gains = self.constant(self._rng.uniform(0.7, 1.3, width))
        biases = self.constant(self._rng.standard_normal(width) * 0.1)
        return self.node("LayerNormalization", value, gains, biases, axis=-1, epsilon=1e-5)

    def heads(self, value: str, tokens: int, heads: int, size: int, order: Sequence[int]) -> str:
        """[1, tokens, width] as heads, axes in this order."""
        split = self.node("Reshape", value, self.constant([1, tokens, heads, size]))
        return self.node("Transpose", split, perm=list(order))

    def attention(self, value: str, tokens: int, heads: int, size: int) -> str:
        """Attention over all tokens."""
        width = heads * size
        query, key, read = (self.linear(value, width, width) for _ in range(3))
        scores = self.node(
            "MatMul",
            self.heads(query, tokens, heads, size, (0, 2, 1, 3)),
            self.heads(key, tokens, heads, size, (0, 2, 3, 1)),
        )
        scaled = self.node("Mul", scores, self.constant(np.array(size**-0.5)))
        shares = self.node("Softmax", scaled, axis=-1)
        mixed = self.node("MatMul", shares, self.heads(read, tokens, heads, size, (0, 2, 1, 3)))
        turned = self.node("Transpose", mixed, perm=[0, 2, 1, 3])
        return self.linear(self.node("Reshape", turned, self.constant([1, tokens, width])), width, width)

    def block(self, value: str, tokens: int, heads: int, size: int, hidden: int) -> str:
        """One encoder block, normalised behind each sum."""
        width = heads * size
        value = self.norm(self.node("Add", value, self.attention(value, tokens, heads, size)), width)
        inner = self.node("Gelu", self.linear(value, width, hidden))
        return self.norm(self.node("Add", value, self.linear(inner, hidden, width)), width)

    def finish(self, shape: Sequence[int], result: str, classes: int) -> Any:
        """The model of an input `x` of `shape` and of `classes` results."""
        graph = helper.make_graph(
            self.nodes,
            "transformer",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, list(shape))],
            [helper.make_tensor_value_info(result, TensorProto.FLOAT, [1, classes])],
            [numpy_helper.from_array(data, name) for name, data in self.constants.items()],
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def kwt(*, depth: int, heads: int = 8, frames: int = 98, width: int = 64, hidden: int = 128) -> Any:
    """Keyword transformer: frames of 40 features, a class token, learned positions, 12 classes."""
    made, tokens = _Graph(1), frames + 1
    value = made.node("Concat", made.drawn(1, 1, width, fan_in=1), made.linear("x", 40, width), axis=1)
    value = made.node("Add", value, made.drawn(1, tokens, width, fan_in=9))
    for _ in range(depth):
        value = made.block(value, tokens, heads, width // heads, hidden)
    first = made.node("Gather", value, made.constant(np.array(0)), axis=1)
    weights, biases = made.drawn(12, width, fan_in=width), made.drawn(12, fan_in=99)
    return made.finish((1, frames, 40), made.node("Gemm", first, weights, biases, transB=1), 12)


def cct(*, depth: int, side: int = 32, heads: int = 2, width: int = 64, hidden: int = 128) -> Any:
    """Compact convolutional transformer: two convolutions and pools, blocks, attention over the tokens as
    the last pool, 10 classes."""
    made = _Graph(2)
    value, channels = "x", 3
    for outputs in (width // 2, width):
        filters = made.drawn(outputs, channels, 3, 3, fan_in=9 * channels)
        value = made.node("Conv", value, filters, kernel_shape=[3, 3], pads=[1] * 4)
        value = made.node("Relu", value)
        value = made.node("MaxPool", value, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
        channels, side = outputs, -(-side // 2)
    tokens = side * side
    value = made.node("Reshape", value, made.constant([1, width, tokens]))
    value = made.node("Transpose", value, perm=[0, 2, 1])
    value = made.node("Add", value, made.drawn(1, tokens, width, fan_in=9))
    for _ in range(depth):
        value = made.block(value, tokens, heads, width // heads, hidden)
    shares = made.node("Softmax", made.linear(value, width, 1), axis=1)
    pooled = made.node("MatMul", made.node("Transpose", shares, perm=[0, 2, 1]), value)
    flat = made.node("Reshape", pooled, made.constant([1, width]))
    weights, biases = made.drawn(10, width, fan_in=width), made.drawn(10, fan_in=99)
    return made.finish((1, 3, side * 4, side * 4), made.node("Gemm", flat, weights, biases, transB=1), 10)
