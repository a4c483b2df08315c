"""Passes: module in, module out, every surviving value's device left as it was."""

from codegen.passes.attention_parts import AttentionParts
from codegen.passes.averages import LowerAverages
from codegen.passes.device_places import Placed, place_edges, place_values
from codegen.passes.edge_layouts import EdgeLayouts, turned_edges
from codegen.passes.fold import FoldConstants, RemoveDead
from codegen.passes.fuse import FoldPad, FuseActivations
from codegen.passes.io_types import IoTypes
from codegen.passes.legalise import Legalise
from codegen.passes.not_finite import note_not_finite
from codegen.passes.pipeline import Pass, run_passes
from codegen.passes.reduce import Reduce, Reduction, Removal
from codegen.passes.shifted_windows import ShiftWindows
from codegen.passes.smaller_moves import SmallerMoves
from codegen.passes.stored_halves import StoreHalves

__all__ = [
    "AttentionParts",
    "EdgeLayouts",
    "FoldConstants",
    "FoldPad",
    "FuseActivations",
    "IoTypes",
    "Legalise",
    "LowerAverages",
    "Pass",
    "Placed",
    "Reduce",
    "Reduction",
    "Removal",
    "RemoveDead",
    "ShiftWindows",
    "SmallerMoves",
    "StoreHalves",
    "note_not_finite",
    "place_edges",
    "place_values",
    "run_passes",
    "turned_edges",
]
