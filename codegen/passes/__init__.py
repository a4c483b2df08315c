"""Passes: module in, module out, every surviving value's device left as it was."""

from codegen.passes.averages import LowerAverages
from codegen.passes.device_places import Placed, place_edges, place_values
from codegen.passes.fold import FoldConstants, RemoveDead
from codegen.passes.fuse import FoldPad, FuseActivations
from codegen.passes.io_types import IoTypesInt8
from codegen.passes.legalise import Legalise
from codegen.passes.pipeline import Pass, run_passes
from codegen.passes.reduce import Reduce, Reduction, Removal
from codegen.passes.shifted_windows import ShiftWindows

__all__ = [
    "FoldConstants",
    "FoldPad",
    "FuseActivations",
    "IoTypesInt8",
    "Legalise",
    "LowerAverages",
    "Pass",
    "Placed",
    "Reduce",
    "Reduction",
    "Removal",
    "RemoveDead",
    "ShiftWindows",
    "place_edges",
    "place_values",
    "run_passes",
]
