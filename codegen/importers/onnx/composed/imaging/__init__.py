"""Images in other sizes, and read between their pixels; the largest of windows: `NODES`, by ONNX's name.

In: a node's site. Out: its value. Start with `sampling`, pixels by computed places.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from codegen.importers.onnx.composed.imaging import computed_weights, deforming, pooling, resizing, sampling
from codegen.importers.onnx.layouts import Value
from codegen.importers.onnx.node_site import Site

NODES: Mapping[str, Callable[[Site], Value | tuple[Value, ...]]] = MappingProxyType(
    {
        "MaxPool": pooling.max_pool,
        **computed_weights.NODES,
        **deforming.NODES,
        **resizing.NODES,
        **sampling.NODES,
    }
)

__all__ = ["NODES"]
