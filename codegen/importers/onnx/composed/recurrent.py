"""Recurrent layers: RNN, GRU and LSTM, each direction by itself.

A GRU or RNN is one step, whatever its attributes; so is an LSTM as most exporters write it. States are a
constant or come from the graph. Other LSTMs are unrolled: the steps of one moment of the sequence, again and
again, with one copy of the weights. Source: the ONNX operator schemas, with their orders of gates and
equations.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from codegen.importers.onnx.arithmetic import number_like
from codegen.importers.onnx.arranging import part
from codegen.importers.onnx.composed.choosing import from_ends, stacked
from codegen.importers.onnx.composed.element_functions import Real, choice
from codegen.importers.onnx.composed.recurrent_nodes import CellKind, Direction, layers_of
from codegen.importers.onnx.layouts import Computed, Known, Value
from codegen.importers.onnx.matrices import multiplied
from codegen.importers.onnx.node_site import Site
from codegen.importers.reporting import Refused
from codegen.ir.ops import GatedAttrs, LstmAttrs
from codegen.ir.ops.gated import FUNCTIONS

MAX_MOMENTS = 256
"""Moments of a sequence that is unrolled, at most."""

_DIRECTIONS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}
_LSTM_ORDER = (0, 2, 3, 1)
"""ONNX has the gates input, output, forget, cell; the operator input, forget, cell, output."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Ran:
    """Results of one direction, forward in time: [moments, batch, units] if asked for, the last states."""

    every: Value | None
    hidden: Value
    cell: Value | None = None


def _turned(value: Value) -> Value:
    """The first two axes the other way round."""
    return _reordered(value, (1, 0, *range(2, len(value.shape))))


def _reordered(value: Value, order: tuple[int, ...]) -> Value:
    """Axis i is axis order[i] of the value; nothing moves yet."""
    if isinstance(value, Known):
        return Known(data=np.transpose(value.data, order))
    return Computed(var=value.var, axes=tuple(value.axes[axis] for axis in order))


def _start(site: Site, position: int, index: int, shape: tuple[int, int], is_batch_first: bool) -> Value:
    """[batch, units]: the state that direction `index` starts from."""
    if not site.has(position):
        return Known(data=np.zeros(shape, np.float32))
    state = site.value(position)
    site.need_float(state)
    state = _turned(state) if is_batch_first and len(state.shape) == 3 else state
    if len(state.shape) != 3 or state.shape[1:] != shape or not index < state.shape[0]:
        raise Refused(
            "E303", f"an initial state has shape {list(state.shape)}, needs {list(shape)} a direction"
        )
    whole = [slice(index, index + 1), slice(0, shape[0]), slice(0, shape[1])]
    return site.steps.reshape(part(site, state, whole), shape)


def _columns(site: Site, value: Value, units: int, gate: int) -> Real:
    """One gate of [batch, gates * units]."""
    rows = slice(0, value.shape[0])
    return Real(site, part(site, value, [rows, slice(gate * units, (gate + 1) * units)]))


def _product(site: Site, value: Value, weights: np.ndarray, bias: np.ndarray | None) -> Value:
    product = multiplied(site, value, Known(data=np.ascontiguousarray(weights.T)))
    if bias is None or not bias.any():
        return product
    if isinstance(product, Computed) and site.steps.scaled(product, None, bias):
        return product
    return (Real(site, product) + Real(site, Known(data=bias.reshape(1, -1)))).value


def _bounded(layer: Direction, x: Real) -> Real:
    return x.at_least(-layer.clip).at_most(layer.clip) if layer.clip > 0 else x


States = tuple[Value, Value | None]
"""Hidden and cell state, each [batch, units]."""


def _lstm(site: Site, layer: Direction, x: Value, states: States) -> States:
    """Gates: input, output, forget, cell; peepholes: input, output, forget."""
    hidden, cell_value = states
    assert cell_value is not None, "an LSTM has a cell state"
    units, cell = layer.units, Real(site, cell_value)
    input_sums = _product(site, x, layer.weights, layer.bias + layer.recurrent_bias)
    sums = (Real(site, input_sums) + Real(site, _product(site, hidden, layer.recurrent, None))).value
    gates = [_columns(site, sums, units, gate) for gate in range(4)]

    def peeped(gate: int, state: Real) -> Real:
        if layer.peepholes is None:
            return _bounded(layer, gates[gate])
        weights = Known(data=layer.peepholes[gate * units : (gate + 1) * units].reshape(1, -1))
        return _bounded(layer, gates[gate] + state * Real(site, weights))

    first, second, third = layer.functions
    taken = first(peeped(0, cell))
    kept = 1.0 - taken if site.integer("input_forget", 0) else first(peeped(2, cell))
    now = kept * cell + taken * second(_bounded(layer, gates[3]))
    shown = first(peeped(1, now))
    return (shown * third(now)).value, now.value


def _unrolled(site: Site, layer: Direction, sequence: Value, start: States, *, all_: bool) -> _Ran:
    moments, batch = sequence.shape[:2]
    if moments > MAX_MOMENTS:
        text = f"is unrolled, and its sequence has {moments} moments: up to {MAX_MOMENTS} are supported"
        raise Refused(
            "E305", text, "run it over shorter parts, its states as inputs and outputs of the model"
        )
    states, every, before = start, list[Value](), len(site.steps.body)
    for moment in range(moments):
        whole = [slice(moment, moment + 1), slice(0, batch), slice(0, sequence.shape[2])]
        x = site.steps.reshape(part(site, sequence, whole), (batch, sequence.shape[2]))
        new = _lstm(site, layer, x, states)
        shown = new[0]
        if layer.lengths is not None:
            runs = Known(data=(layer.lengths > moment).reshape(batch, 1))
            shown = choice(site, runs, new[0], number_like(0.0, new[0]))
            old = states
            cells = None if new[1] is None or old[1] is None else choice(site, runs, new[1], old[1])
            new = choice(site, runs, new[0], old[0]), cells
        states = new
        every.append(site.steps.reshape(shown, (1, *shown.shape)))
        before = site.steps.count_unrolled(before)
    return _Ran(every=stacked(site, every, 0) if all_ else None, hidden=states[0], cell=states[1])


def _whole_lstm(site: Site, layer: Direction, sequence: Value, start: States) -> _Ran:
    """One step for all moments."""
    steps, units = site.steps, layer.units
    moments, batch, inputs = sequence.shape
    assert start[1] is not None, "an LSTM has a cell state"
    count = batch * units
    parts = [steps.reshape(state, (count,)) for state in (start[1], start[0])]
    held = stacked(site, parts, 0)
    order = list(_LSTM_ORDER)
    bias = (layer.bias + layer.recurrent_bias).reshape(4, units)[order]
    args = [
        steps.dense(sequence),
        steps.constant(layer.weights.reshape(4, units, inputs)[order]),
        steps.constant(layer.recurrent.reshape(4, units, units)[order]),
        steps.constant(bias),
        steps.dense(held),
    ]
    attrs = LstmAttrs(input_scales=(), recurrent_scales=(), cell_scale=1.0, time_major=True)
    states = steps.step("UNIDIRECTIONAL_SEQUENCE_LSTM", args, attrs)
    ends = (0, count, 2 * count, states.shape[0])
    shapes = ((batch, units), (batch, units), (moments, batch, units))

    def of(place: int) -> Value:
        return steps.reshape(part(site, states, [slice(ends[place], ends[place + 1])]), shapes[place])

    return _Ran(
        every=of(2) if site.is_used(0) else None, hidden=of(1), cell=of(0) if site.is_used(2) else None
    )


def _gated(
    site: Site, kind: CellKind, layer: Direction, sequence: Value, start: Value, *, is_reverse: bool
) -> _Ran:
    """A GRU or RNN of one direction: one step for all moments."""
    steps, units, gates = site.steps, layer.units, kind.gates
    moments, batch, inputs = sequence.shape
    bias, recurrent_bias = (part.reshape(gates, units) for part in (layer.bias, layer.recurrent_bias))
    whole = bias + recurrent_bias
    if gates > 1:
        whole = np.concatenate([whole[:2], bias[2:], recurrent_bias[2:]])
    attrs = GatedAttrs(
        functions=tuple(list(FUNCTIONS).index(one.name.lower()) for one in layer.named),
        alphas=tuple(one.number(0) for one in layer.named),
        betas=tuple(one.number(1) for one in layer.named),
        clip=layer.clip,
        linear_before_reset=gates > 1 and bool(site.integer("linear_before_reset", 0)),
        reverse=is_reverse,
    )
    lengths = np.full(batch, moments) if layer.lengths is None else layer.lengths
    count = batch * units
    args = [
        steps.dense(sequence),
        steps.constant(layer.weights.reshape(gates, units, inputs)),
        steps.constant(layer.recurrent.reshape(gates, units, units)),
        steps.constant(whole.astype(np.float32)),
        steps.dense(steps.reshape(start, (count,))),
        steps.constant(lengths.astype(np.int32)),
    ]
    result = steps.step(kind.op, args, attrs)

    def of(begin: int, end: int, shape: tuple[int, ...]) -> Value:
        return steps.reshape(part(site, result, [slice(begin, end)]), shape)

    every = of(count, (moments + 1) * count, (moments, batch, units)) if site.is_used(0) else None
    return _Ran(every=every, hidden=of(0, count, (batch, units)))


def _recurrent(kind: CellKind) -> Callable[[Site], tuple[Value, ...]]:
    def translate(site: Site) -> tuple[Value, ...]:
        sequence, word = site.value(0), site.word("direction", "forward")
        site.need_float(sequence)
        if len(sequence.shape) != 3 or word not in _DIRECTIONS:
            raise Refused("E303", f"direction {word} of a sequence of shape {list(sequence.shape)}")
        is_batch_first = bool(site.integer("layout", 0))
        sequence = _turned(sequence) if is_batch_first else sequence
        directions = _DIRECTIONS[word]
        layers, usual = layers_of(site, kind, sequence, len(directions))
        is_whole = usual and kind.has_cell and not site.integer("input_forget", 0)
        ran: list[_Ran] = []
        for index, (layer, is_reverse) in enumerate(zip(layers, directions, strict=True)):
            start = _starts(site, kind, index, (sequence.shape[1], layer.units), is_batch_first)
            if not kind.has_cell:
                ran.append(_gated(site, kind, layer, sequence, start[0], is_reverse=is_reverse))
                continue
            read = from_ends(site, sequence, layer.lengths) if is_reverse else sequence
            if is_whole:
                one = _whole_lstm(site, layer, read, start)
            else:
                one = _unrolled(site, layer, read, start, all_=site.is_used(0))
            if is_reverse and one.every is not None:
                every = from_ends(site, one.every, layer.lengths)
                one = _Ran(every=every, hidden=one.hidden, cell=one.cell)
            ran.append(one)
        return _results(site, ran, is_batch_first)

    return translate


def _starts(site: Site, kind: CellKind, index: int, shape: tuple[int, int], is_batch_first: bool) -> States:
    hidden = _start(site, 5, index, shape, is_batch_first)
    return hidden, _start(site, 6, index, shape, is_batch_first) if kind.has_cell else None


def _results(site: Site, ran: list[_Ran], is_batch_first: bool) -> tuple[Value, ...]:
    """The sequence [moments, directions, batch, units] and the states [directions, batch, units], or with the
    batch in front. Nobody reads the sequence where it is left out."""
    units = ran[0].hidden.shape[1]

    def states(values: list[Value]) -> Value:
        stack = stacked(site, [site.steps.reshape(state, (1, *state.shape)) for state in values], 0)
        return _turned(stack) if is_batch_first else stack

    hidden = states([one.hidden for one in ran])
    cells = [one.cell for one in ran if one.cell is not None]
    every = [one.every for one in ran if one.every is not None]
    sequence = hidden
    if every:
        moments, batch = every[0].shape[:2]
        apart = [site.steps.reshape(sequence_, (moments, 1, batch, units)) for sequence_ in every]
        sequence = stacked(site, apart, 1)
        if is_batch_first:
            sequence = _reordered(sequence, (2, 0, 1, 3))
    return (sequence, hidden, states(cells)) if cells else (sequence, hidden)


NODES: Mapping[str, Callable[[Site], tuple[Value, ...]]] = MappingProxyType(
    {
        "GRU": _recurrent(CellKind(gates=3, functions=("Sigmoid", "Tanh"), op="GRU")),
        "LSTM": _recurrent(CellKind(gates=4, functions=("Sigmoid", "Tanh", "Tanh"))),
        "RNN": _recurrent(CellKind(gates=1, functions=("Tanh",), op="RNN")),
    }
)
