"""Node types that become several steps: `COMPOSED`, by ONNX's name; `REPEATED`, loops; `SEQUENCES`,
which become none.

In: a node's site. Out: its value. Start with `element_functions`, functions of one element.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from codegen.importers.onnx.composed import (
    choosing,
    element_functions,
    imaging,
    integers,
    ordering,
    recurrent,
    scattering,
    spectra,
    summing,
    windows,
)
from codegen.importers.onnx.composed.repeated import REPEATED, Run
from codegen.importers.onnx.composed.sequences import SEQUENCES
from codegen.importers.onnx.layouts import Value
from codegen.importers.onnx.node_site import Site

COMPOSED: Mapping[str, Callable[[Site], Value | tuple[Value, ...]]] = MappingProxyType(
    {
        **element_functions.NODES,
        **integers.NODES,
        **choosing.NODES,
        **ordering.NODES,
        **scattering.NODES,
        **recurrent.NODES,
        **imaging.NODES,
        **spectra.NODES,
        **summing.NODES,
        **windows.NODES,
    }
)

__all__ = ["COMPOSED", "REPEATED", "SEQUENCES", "Run"]
