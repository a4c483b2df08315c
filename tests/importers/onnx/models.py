"""ONNX files of one or a few nodes, made in the test."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from codegen.errors import CodegenError
from codegen.importers import load
from codegen.ir import Module

FLOAT: int = onnx.TensorProto.FLOAT


def node(op: str, inputs: str, outputs: str, **attributes: Any) -> Any:
    """A node; names of values are apart by blanks."""
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


def model(
    *nodes: Any,
    x: tuple[int | str, ...] = (1, 2, 4, 4),
    constants: dict[str, np.ndarray] | None = None,
    output: str = "y",
    opset: int = 13,
) -> Any:
    """A model of one float32 input `x`. Names of outputs are apart by blanks; their shapes are unstated."""
    graph = helper.make_graph(
        list(nodes),
        "g",
        [helper.make_tensor_value_info("x", FLOAT, list(x))],
        [helper.make_tensor_value_info(name, FLOAT, None) for name in output.split()],
        [numpy_helper.from_array(data, name) for name, data in (constants or {}).items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def imported(folder: Path, made: Any) -> Module:
    """The model, written to a file and read again."""
    path = folder / "m.onnx"
    path.write_bytes(made if isinstance(made, bytes) else made.SerializeToString())
    return load(path)


def complaint(folder: Path, made: Any) -> str:
    """What is said of a model that is refused."""
    try:
        imported(folder, made)
    except CodegenError as error:
        return str(error)
    raise AssertionError("the model was imported")
