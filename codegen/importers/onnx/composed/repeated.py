"""Loop and Scan of a fixed number of turns: their body again and again, each turn with its own values.

Behind the importer nobody knows of loops (decision 066 says why): a value that goes on from turn to turn
lives in the plan as any other, weights are there once, an index that is the loop's counter is a constant.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from codegen.importers.onnx.arranging import part
from codegen.importers.onnx.composed.choosing import flipped, stacked
from codegen.importers.onnx.file.records import FileBody
from codegen.importers.onnx.layouts import Given, Known, Listed, Stored, Value
from codegen.importers.onnx.node_site import SEQUENCE_ADVICE, Site
from codegen.importers.reporting import Refused

MAX_TURNS = 1024

Run = Callable[[FileBody, Sequence[Given]], tuple[Given, ...]]
"""Puts the nodes of a body into the model, reading these values; what it gives."""


def _loop(site: Site, run: Run) -> tuple[Given, ...]:
    """Loop: up to M turns, as long as the condition holds."""
    body = site.branch("body")
    carried = [site.operand(position) for position in range(2, len(site.node.inputs))]
    most = site.whole(0, "the number of turns") if site.has(0) else None
    goes = bool(site.known(1, "the condition").all()) if site.has(1) else True
    _need(body, 2 + len(carried), 1 + len(carried))
    gathered: list[list[Value]] = [[] for _ in body.outputs[1 + len(carried) :]]
    turn = 0
    while goes and (most is None or turn < most):
        if turn == MAX_TURNS:
            raise Refused("E305", f"runs more than {MAX_TURNS} turns")
        results = run(body, [Known(data=np.array(turn, np.int64)), Known(data=np.array(True)), *carried])
        if not isinstance(results[0], Known):
            text = "the condition is computed while the model runs, so the number of turns is not known"
            raise Refused("E301", text, "export the loop with a fixed number of turns")
        goes = bool(results[0].data.all())
        carried = list(results[1 : 1 + len(carried)])
        _gather(site, gathered, results[1 + len(carried) :])
        turn += 1
    return (*carried, *(_joined(site, values, 0) for values in gathered if values))


def _scan(site: Site, run: Run) -> tuple[Given, ...]:
    """Scan: a turn for each slice of its last inputs."""
    if site.opset < 9:
        return _scan_batch(site, run)
    body, count = site.branch("body"), site.integer("num_scan_inputs")
    inputs = len(site.node.inputs)
    if not 0 < count <= inputs:
        raise Refused("E303", f"attribute num_scan_inputs is {count} of {inputs} inputs")
    carried = [site.operand(position) for position in range(inputs - count)]
    outputs = len(body.outputs) - len(carried)
    _need(body, inputs, len(carried))
    read = [site.value(position) for position in range(inputs - count, inputs)]
    axes = [
        site.axis(axis, len(value.shape))
        for axis, value in zip(_listed(site, "scan_input_axes", count), read, strict=True)
    ]
    read = _directed(site, read, axes, "scan_input_directions")
    carried, gathered = _turns(site, run, carried, list(zip(read, axes, strict=True)))
    places = _listed(site, "scan_output_axes", outputs)
    turned = _listed(site, "scan_output_directions", outputs)
    made: list[Given] = []
    for values, place, is_turned in zip(gathered, places, turned, strict=True):
        axis = site.axis(place, len(values[0].shape) + 1)
        made.append(_joined(site, values[::-1] if is_turned else values, axis))
    return (*carried, *made)


def _scan_batch(site: Site, run: Run) -> tuple[Given, ...]:
    """Scan of opset 8: its first input are lengths, every other has a first axis of sequences."""
    body, count = site.branch("body"), site.integer("num_scan_inputs")
    inputs = len(site.node.inputs) - 1
    if not 0 < count <= inputs:
        raise Refused("E303", f"attribute num_scan_inputs is {count} of {inputs} inputs")
    if site.has(0):
        raise Refused(
            "E301", "lengths of sequences are not supported", "export the model with opset 9 or newer"
        )
    values = [site.value(1 + position) for position in range(inputs)]
    batches = {value.shape[0] if len(value.shape) > 1 else 0 for value in values[inputs - count :]}
    batches |= {value.shape[0] if value.shape else 0 for value in values[: inputs - count]}
    if len(batches) != 1 or 0 in batches:
        raise Refused("E303", f"its inputs have {sorted(batches)} sequences, one number is needed")
    _need(body, inputs, inputs - count)
    read = _directed(site, values[inputs - count :], [1] * count, "directions")
    made: list[list[Value]] = [[] for _ in body.outputs]
    for batch in range(max(batches)):
        slices = [(_slice(site, value, 0, batch), 0) for value in read]
        carried, gathered = _turns(
            site, run, [_slice(site, value, 0, batch) for value in values[: inputs - count]], slices
        )
        _gather(site, made, [*carried, *(_joined(site, slices_, 0) for slices_ in gathered)])
    return tuple(_joined(site, tensors, 0) for tensors in made)


def _directed(site: Site, values: Sequence[Value], axes: Sequence[int], name: str) -> list[Value]:
    """Values that are read from their end are turned round."""
    backward = _listed(site, name, len(values))
    return [
        flipped(site, value, axis) if is_turned else value
        for value, axis, is_turned in zip(values, axes, backward, strict=True)
    ]


def _turns(
    site: Site, run: Run, carried: Sequence[Given], read: Sequence[tuple[Value, int]]
) -> tuple[list[Given], list[list[Value]]]:
    """A turn for each slice: the values that went on, and what each turn gave beside them."""
    body = site.branch("body")
    turns = {value.shape[axis] for value, axis in read}
    if len(turns) != 1 or max(turns) > MAX_TURNS:
        raise Refused("E305", f"runs over {sorted(turns)} slices: one number is needed, up to {MAX_TURNS}")
    carried_now = list(carried)
    gathered: list[list[Value]] = [[] for _ in body.outputs[len(carried_now) :]]
    for turn in range(max(turns)):
        results = run(body, [*carried_now, *(_slice(site, value, axis, turn) for value, axis in read)])
        carried_now = list(results[: len(carried_now)])
        _gather(site, gathered, results[len(carried_now) :])
    return carried_now, gathered


def _need(body: FileBody, inputs: int, outputs: int) -> None:
    if len(body.inputs) != inputs or len(body.outputs) < outputs:
        text = f"its body has {len(body.inputs)} inputs and {len(body.outputs)} outputs"
        raise Refused("E303", f"{text}, it needs {inputs} and at least {outputs}")


def _listed(site: Site, name: str, count: int) -> tuple[int, ...]:
    """The numbers of an attribute, zeros where it is left out."""
    numbers = site.integers(name, (0,) * count)
    if len(numbers) != count:
        raise Refused("E303", f"attribute {name} has {len(numbers)} numbers for {count} values")
    return numbers


def _slice(site: Site, value: Value, axis: int, turn: int) -> Value:
    whole = [slice(0, extent) for extent in value.shape]
    whole[axis] = slice(turn, turn + 1)
    shape = (*value.shape[:axis], *value.shape[axis + 1 :])
    return site.steps.reshape(part(site, value, whole), shape)


def _gather(site: Site, gathered: Sequence[list[Value]], results: Sequence[Given]) -> None:
    for values, result in zip(gathered, results, strict=True):
        if isinstance(result, Listed):
            text = "gathers a sequence of tensors of each turn, supported are tensors"
            raise Refused("E301", text, SEQUENCE_ADVICE)
        values.append(site.steps.real(result) if isinstance(result, Stored) else result)


def _joined(site: Site, values: Sequence[Value], axis: int) -> Value:
    """One slice a turn, along a new axis."""
    shapes = {value.shape for value in values}
    if len(shapes) != 1:
        raise Refused("E301", f"gives results of several shapes, {sorted(shapes)}, one a turn")
    [shape] = shapes
    apart = [site.steps.reshape(value, (*shape[:axis], 1, *shape[axis:])) for value in values]
    return stacked(site, apart, axis)


REPEATED: Mapping[str, Callable[[Site, Run], tuple[Given, ...]]] = MappingProxyType(
    {"Loop": _loop, "Scan": _scan}
)
"""By ONNX's name."""
