"""Loop and Scan of a fixed number of turns: their body again and again, each turn with its own values.

Behind the importer nobody knows of loops (decision 066 says why): a value that goes on from turn to turn
lives in the plan as any other, weights are there once, an index that is the loop's counter is a constant.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from codegen.importers.onnx.arranging import part
from codegen.importers.onnx.composed.choosing import flipped, stacked
from codegen.importers.onnx.file.reader import FileBody
from codegen.importers.onnx.layouts import Known, Stored, Value
from codegen.importers.onnx.node_site import Site
from codegen.importers.reporting import Refused

MAX_TURNS = 1024

Given = Value | Stored
Run = Callable[[FileBody, Sequence[Given]], tuple[Given, ...]]
"""Puts the nodes of a body into the model, reading these values; what it gives."""


def _loop(site: Site, run: Run) -> tuple[Given, ...]:
    """Loop: up to M turns, as long as the condition holds."""
    body = site.branch("body")
    carried = [site.given(position) for position in range(2, len(site.node.inputs))]
    most = int(site.known(0, "the number of turns").reshape(-1)[0]) if site.has(0) else None
    goes = bool(site.known(1, "the condition").all()) if site.has(1) else True
    _need(body, 2 + len(carried), 1 + len(carried))
    gathered: list[list[Value]] = [[] for _ in body.outputs[1 + len(carried) :]]
    turn = 0
    while goes and (most is None or turn < most):
        if turn == MAX_TURNS:
            raise Refused("E305", f"runs more than {MAX_TURNS} turns")
        found = run(body, [Known(data=np.array(turn, np.int64)), Known(data=np.array(True)), *carried])
        if not isinstance(found[0], Known):
            text = "the condition is computed while the model runs, so the number of turns is not known"
            raise Refused("E301", text, "export the loop with a fixed number of turns")
        goes = bool(found[0].data.all())
        carried = list(found[1 : 1 + len(carried)])
        _gather(site, gathered, found[1 + len(carried) :])
        turn += 1
    return (*carried, *(_joined(site, values, 0) for values in gathered if values))


def _scan(site: Site, run: Run) -> tuple[Given, ...]:
    """Scan: a turn for each slice of its last inputs."""
    if site.opset < 9:
        raise Refused("E301", "Scan of opset 8 is not supported", "export the model with opset 9 or newer")
    body, count = site.branch("body"), site.integer("num_scan_inputs")
    inputs = len(site.node.inputs)
    if not 0 < count <= inputs:
        raise Refused("E303", f"attribute num_scan_inputs is {count} of {inputs} inputs")
    carried = [site.given(position) for position in range(inputs - count)]
    outputs = len(body.outputs) - len(carried)
    _need(body, inputs, len(carried))
    none = (0,) * max(count, outputs)
    read = [site.value(position) for position in range(inputs - count, inputs)]
    axes = _axes(site, "scan_input_axes", none[:count], read)
    backward = site.integers("scan_input_directions", none[:count])
    for place, (axis, is_turned) in enumerate(zip(axes, backward, strict=True)):
        read[place] = flipped(site, read[place], axis) if is_turned else read[place]
    turns = {value.shape[axis] for value, axis in zip(read, axes, strict=True)}
    if len(turns) != 1 or max(turns) > MAX_TURNS:
        raise Refused("E305", f"runs over {sorted(turns)} slices: one number is needed, up to {MAX_TURNS}")
    gathered: list[list[Value]] = [[] for _ in range(outputs)]
    for turn in range(max(turns)):
        slices = [_slice(site, value, axis, turn) for value, axis in zip(read, axes, strict=True)]
        found = run(body, [*carried, *slices])
        carried = list(found[: len(carried)])
        _gather(site, gathered, found[len(carried) :])
    places = site.integers("scan_output_axes", none[:outputs])
    turned = site.integers("scan_output_directions", none[:outputs])
    made: list[Given] = []
    for values, place, is_turned in zip(gathered, places, turned, strict=True):
        axis = site.axis(place, len(values[0].shape) + 1)
        made.append(_joined(site, values[::-1] if is_turned else values, axis))
    return (*carried, *made)


def _need(body: FileBody, inputs: int, outputs: int) -> None:
    if len(body.inputs) != inputs or len(body.outputs) < outputs:
        text = f"its body has {len(body.inputs)} inputs and {len(body.outputs)} outputs"
        raise Refused("E303", f"{text}, it needs {inputs} and at least {outputs}")


def _axes(site: Site, name: str, default: tuple[int, ...], values: Sequence[Value]) -> list[int]:
    stated = site.integers(name, default)
    if len(stated) != len(values):
        raise Refused("E303", f"attribute {name} has {len(stated)} numbers for {len(values)} values")
    return [site.axis(axis, len(value.shape)) for axis, value in zip(stated, values, strict=True)]


def _slice(site: Site, value: Value, axis: int, turn: int) -> Value:
    whole = [slice(0, extent) for extent in value.shape]
    whole[axis] = slice(turn, turn + 1)
    shape = (*value.shape[:axis], *value.shape[axis + 1 :])
    return site.steps.reshape(part(site, value, whole), shape)


def _gather(site: Site, gathered: Sequence[list[Value]], found: Sequence[Given]) -> None:
    for values, each in zip(gathered, found, strict=True):
        values.append(site.steps.real(each) if isinstance(each, Stored) else each)


def _joined(site: Site, values: Sequence[Value], axis: int) -> Value:
    """One slice a turn, along a new axis."""
    shapes = {value.shape for value in values}
    if len(shapes) != 1:
        raise Refused("E301", f"gives results of several shapes, {sorted(shapes)}, one a turn")
    [shape] = shapes
    apart = [site.steps.reshape(each, (*shape[:axis], 1, *shape[axis:])) for each in values]
    return stacked(site, apart, axis)


REPEATED: Mapping[str, Callable[[Site, Run], tuple[Given, ...]]] = MappingProxyType(
    {"Loop": _loop, "Scan": _scan}
)
"""By ONNX's name."""
