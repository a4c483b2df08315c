"""Costs of the steps as Model Explorer's node data: it colours the nodes of the network by them.

A node is found by the name of its result in the model file. A block's cost is at its last layer.
Source of the format: `GraphNodeData` in model-explorer's node_data_builder.py (google-ai-edge).
"""

from collections.abc import Mapping

import msgspec

from codegen.report_file import typed
from codegen.tools.page.columns import cost_field
from codegen.tools.page.differences import parts

_GRADIENT = (
    {"stop": 0, "bgColor": "#eef4fb", "textColor": "black"},
    {"stop": 1, "bgColor": "#c2410c", "textColor": "white"},
)


def overlay(document: Mapping[str, object]) -> str:
    """JSON of a file that Model Explorer takes as node data: cycles, instructions or multiply-accumulates."""
    results: dict[str, object] = {}
    for _, report in parts(typed(document)):
        steps = report.steps or ()
        field = cost_field(steps)
        costs = ((step.origin, getattr(step, field)) for step in steps)
        results |= {name: {"value": cost} for name, cost in costs if name and cost is not None}
    return (
        msgspec.json.format(msgspec.json.encode({"results": results, "gradient": _GRADIENT})).decode() + "\n"
    )
