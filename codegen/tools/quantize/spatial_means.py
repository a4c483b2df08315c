"""Nodes of a float model that the quantiser would leave in float32, as nodes that it knows.

ReduceMean over an image's rows and columns, as PyTorch's adaptive pools are exported, is a GlobalAveragePool.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

MORE_TYPES = (
    *(
        "Abs",
        "Cos",
        "Elu",
        "Erf",
        "Exp",
        "Gelu",
        "HardSigmoid",
        "HardSwish",
        "Log",
        "Neg",
        "Reciprocal",
        "Sin",
    ),
    *("Softplus", "Softsign", "Sqrt", "Sub", "Tanh"),
)
"""Node types that the quantiser leaves alone unless it is told, and that are integer steps here."""


def rewrite_means(onnx: Any, path: Path) -> int:
    """Rewrite each ReduceMean over the image of [N, C, H, W]; the number of them."""
    model = onnx.load_model(str(path))
    ranks = _ranks(model.graph)
    constants = {tensor.name: tensor for tensor in model.graph.initializer}
    nodes: list[Any] = []
    count = 0
    for node in model.graph.node:
        axes, is_kept = _reduced(onnx, node, constants)
        rank = ranks.get(node.input[0]) if node.input else None
        if rank is None or rank < 3 or sorted(axis % rank for axis in axes) != list(range(2, rank)):
            nodes.append(node)
            continue
        count += 1
        nodes.extend(_average(onnx, node, is_kept=is_kept))
    if count:
        del model.graph.node[:]
        model.graph.node.extend(nodes)
        onnx.save_model(model, str(path))
    return count


def _average(onnx: Any, node: Any, *, is_kept: bool) -> Iterator[Any]:
    """The mean of each channel; without the axes of extent 1 unless they are kept."""
    [result] = node.output
    pooled = result if is_kept else f"{result}_pooled"
    yield onnx.helper.make_node("GlobalAveragePool", [node.input[0]], [pooled], name=node.name)
    if not is_kept:
        yield onnx.helper.make_node("Flatten", [pooled], [result], name=f"{node.name or result}_flat")


def _reduced(onnx: Any, node: Any, constants: Mapping[str, Any]) -> tuple[tuple[int, ...], bool]:
    """The axes of a ReduceMean that are known, and whether they stay as 1; none for another node."""
    if node.op_type != "ReduceMean" or node.domain not in ("", "ai.onnx"):
        return (), True
    attributes = {attribute.name: onnx.helper.get_attribute_value(attribute) for attribute in node.attribute}
    axes = attributes.get("axes", ())
    if len(node.input) > 1 and node.input[1] in constants:
        axes = np.asarray(onnx.numpy_helper.to_array(constants[node.input[1]])).reshape(-1).tolist()
    return tuple(int(axis) for axis in axes), bool(attributes.get("keepdims", 1))


def _ranks(graph: Any) -> dict[str, int]:
    values = (*graph.input, *graph.value_info, *graph.output)
    return {value.name: len(value.type.tensor_type.shape.dim) for value in values}
