"""Passes: module in, module out, every surviving value's device left as it was."""

from codegen.passes.dead import RemoveDead
from codegen.passes.fold import FoldConstants
from codegen.passes.fuse import FuseActivations
from codegen.passes.io_types import IoTypesInt8
from codegen.passes.legalise import Legalise
from codegen.passes.pad import FoldPad
from codegen.passes.pipeline import Pass, run_passes
from codegen.passes.place import Placed, place_edges, place_values
from codegen.passes.reduce import Reduce, Reduction, Removal

__all__ = [
    "FoldConstants",
    "FoldPad",
    "FuseActivations",
    "IoTypesInt8",
    "Legalise",
    "Pass",
    "Placed",
    "Reduce",
    "Reduction",
    "Removal",
    "RemoveDead",
    "place_edges",
    "place_values",
    "run_passes",
]
