"""Quantised networks: DequantizeLinear, operator, QuantizeLinear as one integer step; QLinear nodes alike."""

from codegen.importers.onnx.integer.fusing import fused
from codegen.importers.onnx.integer.groups import Group, groups_of, left_alone
from codegen.importers.onnx.integer.nodes import (
    CHANNELS_SINCE,
    NODES,
    target_of,
    with_quantization,
)
from codegen.importers.onnx.integer.scales import HELD, LeftInFloat

__all__ = [
    "CHANNELS_SINCE",
    "HELD",
    "NODES",
    "Group",
    "LeftInFloat",
    "fused",
    "groups_of",
    "left_alone",
    "target_of",
    "with_quantization",
]
