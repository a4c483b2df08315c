"""Products with a bias behind them, as PyTorch exports a Linear of three dimensions, as one Gemm each.

The quantiser takes a MatMul and an Add for two layers: two roundings, and a sum of real numbers an element.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np


def join_biases(onnx: Any, path: Path) -> int:
    """Rewrite each MatMul by a constant matrix whose only reader adds a constant row; the number of them."""
    model = onnx.load_model(str(path))
    graph = model.graph
    shapes = {value.name: _shape(value) for value in (*graph.input, *graph.value_info)}
    constants = {tensor.name: tuple(tensor.dims) for tensor in graph.initializer}
    uses = Counter(name for node in graph.node for name in node.input)
    uses.update(value.name for value in graph.output)
    readers = {name: node for node in graph.node for name in node.input}
    nodes: list[Any] = []
    joined: set[str] = set()
    for node in graph.node:
        total = readers.get(node.output[0]) if node.output and uses[node.output[0]] == 1 else None
        bias = None if total is None else _bias(node, total, constants)
        shape = shapes.get(node.input[0]) if node.input else None
        if total is None or bias is None or not shape:
            nodes += [node] if not joined.intersection(node.output) else []
            continue
        joined.add(total.output[0])
        nodes += _gemm(onnx, graph, (node, total), bias, (shape, constants[node.input[1]][1]))
    if joined:
        del graph.node[:]
        graph.node.extend(nodes)
        onnx.save_model(onnx.shape_inference.infer_shapes(model), str(path))
    return len(joined)


def _shape(value: Any) -> tuple[int, ...]:
    """Extents of a value; none unless all are known."""
    extents = tuple(int(extent.dim_value) for extent in value.type.tensor_type.shape.dim)
    return extents if all(extents) else ()


def _bias(node: Any, total: Any, constants: Mapping[str, tuple[int, ...]]) -> str | None:
    """The constant row that `total` adds to the product of `node`; None for other nodes."""
    if (node.op_type, total.op_type) != ("MatMul", "Add") or len(constants.get(node.input[1], ())) != 2:
        return None
    [bias] = [name for name in total.input if name != node.output[0]] or [""]
    columns = constants[node.input[1]][1]
    return bias if node.input[0] not in constants and constants.get(bias) == (columns,) else None


def _gemm(
    onnx: Any, graph: Any, pair: tuple[Any, Any], bias: str, sizes: tuple[Sequence[int], int]
) -> list[Any]:
    """Rows of the image as a matrix, their product, and its rows as the image has them."""
    (node, total), (shape, columns) = pair, sizes
    make, [result] = onnx.helper.make_node, total.output
    if len(shape) == 2:
        return [make("Gemm", [node.input[0], node.input[1], bias], [result], name=total.name)]
    names = [f"{result}_{what}" for what in ("rows", "sums", "rows_shape", "shape")]
    for name, extents in ((names[2], (-1, shape[-1])), (names[3], (*shape[:-1], columns))):
        graph.initializer.append(onnx.numpy_helper.from_array(np.array(extents, np.int64), name))
    return [
        make("Reshape", [node.input[0], names[2]], [names[0]], name=names[0]),
        make("Gemm", [names[0], node.input[1], bias], [names[1]], name=total.name or names[1]),
        make("Reshape", [names[1], names[3]], [result], name=names[3]),
    ]
