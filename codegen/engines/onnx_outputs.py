"""An ONNX file whose outputs are all its values: how onnxruntime is asked for what lies between."""

import importlib
from typing import Any


def with_all_values(model: bytes) -> bytes:
    """The file with the result of every node as an output behind its own, which the metadata count."""
    onnx: Any = importlib.import_module("onnx")
    loaded = onnx.load_from_string(model)
    graph = loaded.graph
    count = len(graph.output)
    taken = {output.name for output in graph.output}
    for node in graph.node:
        for name in node.output:
            if name and name not in taken:
                taken.add(name)
                graph.output.append(onnx.ValueInfoProto(name=name))
    loaded.metadata_props.append(onnx.StringStringEntryProto(key="codegen.outputs", value=str(count)))
    return bytes(loaded.SerializeToString())
