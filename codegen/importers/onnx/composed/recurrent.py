"""Recurrent layers: RNN, GRU and LSTM, each direction by itself.

An LSTM as most exporters write it is one step, UNIDIRECTIONAL_SEQUENCE_LSTM; its states are a constant or
come from the graph. Others are unrolled: the steps of one moment of the sequence, again and again, with one
copy of the weights. Source: the ONNX operator schemas, with their orders of gates and equations.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from codegen.importers.onnx.arithmetic import each_element, number_like
from codegen.importers.onnx.arranging import part
from codegen.importers.onnx.composed.choosing import from_ends, stacked
from codegen.importers.onnx.composed.element_functions import Real, choice
from codegen.importers.onnx.layouts import Computed, Known, Value
from codegen.importers.onnx.matrices import multiplied
from codegen.importers.onnx.node_site import Site
from codegen.importers.reporting import Refused
from codegen.ir.ops import LeakyReluAttrs, LstmAttrs

MAX_MOMENTS = 256
"""Moments of a sequence that is unrolled, at most."""

_DIRECTIONS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}
_LSTM_ORDER = (0, 2, 3, 1)
"""ONNX has the gates input, output, forget, cell; the operator input, forget, cell, output."""

Function = Callable[[Real], Real]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Direction:
    """One direction: weights by gate (`units` rows each), biases of the input's and of the hidden part."""

    units: int
    weights: np.ndarray
    recurrent: np.ndarray
    bias: np.ndarray
    recurrent_bias: np.ndarray
    peepholes: np.ndarray | None
    functions: tuple[Function, ...]
    clip: float
    lengths: np.ndarray | None
    """Moments of each sequence of the batch, where they are not all."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _CellKind:
    """A kind of recurrent cell: gates of its weights, its usual functions, whether there is a cell state."""

    gates: int
    functions: tuple[str, ...]
    has_cell: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class _Ran:
    """Results of one direction, forward in time: [moments, batch, units] if asked for, the last states."""

    every: Value | None
    hidden: Value
    cell: Value | None = None


def _function(site: Site, name: str, alpha: float | None, beta: float | None) -> Function:
    """An activation by its name, any case, with its numbers or their defaults."""

    def or_else(number: float | None, usual: float) -> float:
        return usual if number is None else number

    def leaky(x: Real) -> Real:
        return Real(
            site, each_element(site, "LEAKY_RELU", x.value, LeakyReluAttrs(alpha=or_else(alpha, 0.01)))
        )

    known: Mapping[str, Function] = {
        "affine": lambda x: x * or_else(alpha, 1.0) + or_else(beta, 0.0),
        "elu": lambda x: x.at_least(0.0) + x.at_most(0.0).of("ELU") * or_else(alpha, 1.0),
        "hardsigmoid": lambda x: (x * or_else(alpha, 0.2) + or_else(beta, 0.5)).at_least(0.0).at_most(1.0),
        "leakyrelu": leaky,
        "relu": lambda x: x.of("RELU"),
        "scaledtanh": lambda x: (x * or_else(beta, 1.0)).of("TANH") * or_else(alpha, 1.0),
        "sigmoid": lambda x: x.of("LOGISTIC"),
        "softsign": lambda x: x / (x.of("ABS") + 1.0),
        "tanh": lambda x: x.of("TANH"),
    }
    found = known.get(name.lower())
    if found is None:
        raise Refused("E301", f"activation {name} is not supported, supported are {', '.join(known)}")
    return found


def _functions(site: Site, kind: _CellKind, directions: int) -> tuple[list[tuple[Function, ...]], bool]:
    """Activations by direction, and whether they are the usual ones."""
    names = site.words("activations", kind.functions * directions)
    if len(names) != len(kind.functions) * directions:
        raise Refused("E303", f"has {len(names)} activations for {directions} directions")
    numbers: list[Sequence[float]] = [
        site.array(name).reshape(-1).tolist() if site.has_attribute(name) else []
        for name in ("activation_alpha", "activation_beta")
    ]
    alphas, betas = (_by_function(names, given, which) for which, given in enumerate(numbers))
    every = [
        _function(site, name, alpha, beta) for name, alpha, beta in zip(names, alphas, betas, strict=True)
    ]
    each = len(kind.functions)
    usual = [name.lower() for name in names] == [name.lower() for name in kind.functions * directions]
    return [tuple(every[start : start + each]) for start in range(0, len(every), each)], usual


_NUMBERS = {"affine": 2, "elu": 1, "hardsigmoid": 2, "leakyrelu": 1, "scaledtanh": 2, "thresholdedrelu": 1}
"""How many numbers a function has: alpha, then beta."""


def _by_function(names: Sequence[str], given: Sequence[float], which: int) -> list[float | None]:
    """Numbers go to the functions that have one, in order."""
    rest = iter(given)
    return [next(rest, None) if _NUMBERS.get(name.lower(), 0) > which else None for name in names]


def _turned(value: Value) -> Value:
    """The first two axes the other way round."""
    return _reordered(value, (1, 0, *range(2, len(value.shape))))


def _reordered(value: Value, order: tuple[int, ...]) -> Value:
    """Axis i is axis order[i] of the value; nothing moves yet."""
    if isinstance(value, Known):
        return Known(data=np.transpose(value.data, order))
    return Computed(var=value.var, axes=tuple(value.axes[axis] for axis in order))


def _lengths(site: Site, sequence: Value) -> np.ndarray | None:
    """Moments of each sequence, None where all are as long as the longest may be."""
    if not site.has(4):
        return None
    moments, batch = sequence.shape[:2]
    found = site.known(4, "the lengths of the sequences").reshape(-1)
    if found.size != batch or found.min() < 0 or found.max() > moments:
        raise Refused("E303", f"lengths of sequences {found.tolist()} do not fit {list(sequence.shape)}")
    return None if bool(np.all(found == moments)) else found


def _layers(site: Site, kind: _CellKind, sequence: Value, count: int) -> tuple[list[_Direction], bool]:
    """The layers of all directions, and whether an LSTM's are what its operator computes."""
    weights, recurrent = site.known(1, "the weights"), site.known(2, "the recurrent weights")
    if recurrent.ndim != 3 or recurrent.shape[0] != count:
        raise Refused("E303", f"recurrent weights of shape {list(recurrent.shape)} for {count} directions")
    units = recurrent.shape[2]
    rows = kind.gates * units
    bias = site.known(3, "the biases") if site.has(3) else np.zeros((count, 2 * rows), np.float32)
    peepholes = site.known(7, "the peepholes") if kind.has_cell and site.has(7) else None
    stated = site.integer("hidden_size", units)
    found, inputs = (weights, recurrent, bias), sequence.shape[2]
    shapes = [(count, rows, inputs), (count, rows, units), (count, 2 * rows)]
    fits = [each.shape for each in found] == shapes and {str(each.dtype) for each in found} == {"float32"}
    if not fits or stated != units or (peepholes is not None and peepholes.shape != (count, 3 * units)):
        raise Refused("E303", "weights, biases or hidden_size do not fit each other, or are not float32")
    functions, usual = _functions(site, kind, count)
    clip = site.real("clip", 0.0)
    lengths = _lengths(site, sequence)
    layers = [
        _Direction(
            units=units,
            weights=weights[index],
            recurrent=recurrent[index],
            bias=bias[index, :rows],
            recurrent_bias=bias[index, rows:],
            peepholes=None if peepholes is None else peepholes[index],
            functions=functions[index],
            clip=clip,
            lengths=lengths,
        )
        for index in range(count)
    ]
    return layers, usual and clip == 0.0 and peepholes is None and lengths is None


def _start(site: Site, position: int, index: int, shape: tuple[int, int], is_batch_first: bool) -> Value:
    """[batch, units]: the state that direction `index` starts from."""
    if not site.has(position):
        return Known(data=np.zeros(shape, np.float32))
    given = site.value(position)
    site.need_float(given)
    given = _turned(given) if is_batch_first and len(given.shape) == 3 else given
    if len(given.shape) != 3 or given.shape[1:] != shape or not index < given.shape[0]:
        raise Refused(
            "E303", f"an initial state has shape {list(given.shape)}, needs {list(shape)} a direction"
        )
    whole = [slice(index, index + 1), slice(0, shape[0]), slice(0, shape[1])]
    return site.steps.reshape(part(site, given, whole), shape)


def _columns(site: Site, value: Value, units: int, gate: int) -> Real:
    """One gate of [batch, gates * units]."""
    rows = slice(0, value.shape[0])
    return Real(site, part(site, value, [rows, slice(gate * units, (gate + 1) * units)]))


def _product(site: Site, value: Value, weights: np.ndarray, bias: np.ndarray | None) -> Value:
    found = multiplied(site, value, Known(data=np.ascontiguousarray(weights.T)))
    if bias is None or not bias.any():
        return found
    if isinstance(found, Computed) and site.steps.scaled(found, None, bias):
        return found
    return (Real(site, found) + Real(site, Known(data=bias.reshape(1, -1)))).value


def _bounded(layer: _Direction, x: Real) -> Real:
    return x.at_least(-layer.clip).at_most(layer.clip) if layer.clip > 0 else x


States = tuple[Value, Value | None]
"""Hidden and cell state, each [batch, units]."""


def _rnn(site: Site, layer: _Direction, x: Value, states: States) -> States:
    bias = layer.bias + layer.recurrent_bias
    sums = Real(site, _product(site, x, layer.weights, bias))
    sums += Real(site, _product(site, states[0], layer.recurrent, None))
    return layer.functions[0](_bounded(layer, sums)).value, None


def _gru(site: Site, layer: _Direction, x: Value, states: States) -> States:
    """Gates: update, reset, hidden."""
    units, hidden = layer.units, Real(site, states[0])
    two = 2 * units
    is_linear = bool(site.integer("linear_before_reset", 0))
    bias, recurrent_bias = layer.bias.copy(), layer.recurrent_bias
    bias[:two] += recurrent_bias[:two]
    first, second = layer.functions
    inner = np.concatenate([np.zeros(two, np.float32), recurrent_bias[two:]])
    if not is_linear:
        bias[two:] += recurrent_bias[two:]
    given = _product(site, x, layer.weights, bias)
    rows = layer.recurrent if is_linear else layer.recurrent[:two]
    held = _product(site, states[0], rows, inner if is_linear else None)
    sums = [_columns(site, given, units, gate) for gate in range(3)]
    update, reset = (
        first(_bounded(layer, sums[gate] + _columns(site, held, units, gate))) for gate in range(2)
    )
    if is_linear:
        more = reset * _columns(site, held, units, 2)
    else:
        more = Real(site, _product(site, (reset * hidden).value, layer.recurrent[two:], None))
    fresh = second(_bounded(layer, sums[2] + more))
    return ((1.0 - update) * fresh + update * hidden).value, None


def _lstm(site: Site, layer: _Direction, x: Value, states: States) -> States:
    """Gates: input, output, forget, cell; peepholes: input, output, forget."""
    hidden, cell_value = states
    assert cell_value is not None, "an LSTM has a cell state"
    units, cell = layer.units, Real(site, cell_value)
    given = _product(site, x, layer.weights, layer.bias + layer.recurrent_bias)
    sums = (Real(site, given) + Real(site, _product(site, hidden, layer.recurrent, None))).value
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


Cell = Callable[[Site, _Direction, Value, States], States]


def _unrolled(
    site: Site, cell: Cell, layer: _Direction, sequence: Value, start: States, *, all_: bool
) -> _Ran:
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
        new = cell(site, layer, x, states)
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


def _whole_lstm(site: Site, layer: _Direction, sequence: Value, start: States) -> _Ran:
    """One step for all moments."""
    steps, units = site.steps, layer.units
    moments, batch, inputs = sequence.shape
    assert start[1] is not None, "an LSTM has a cell state"
    count = batch * units
    parts = [steps.reshape(each, (count,)) for each in (start[1], start[0])]
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
    found = steps.step("UNIDIRECTIONAL_SEQUENCE_LSTM", args, attrs)
    ends = (0, count, 2 * count, found.shape[0])
    shapes = ((batch, units), (batch, units), (moments, batch, units))

    def of(place: int) -> Value:
        return steps.reshape(part(site, found, [slice(ends[place], ends[place + 1])]), shapes[place])

    return _Ran(
        every=of(2) if site.is_used(0) else None, hidden=of(1), cell=of(0) if site.is_used(2) else None
    )


def _recurrent(kind: _CellKind, cell: Cell) -> Callable[[Site], tuple[Value, ...]]:
    def translate(site: Site) -> tuple[Value, ...]:
        sequence, word = site.value(0), site.word("direction", "forward")
        site.need_float(sequence)
        if len(sequence.shape) != 3 or word not in _DIRECTIONS:
            raise Refused("E303", f"direction {word} of a sequence of shape {list(sequence.shape)}")
        is_batch_first = bool(site.integer("layout", 0))
        sequence = _turned(sequence) if is_batch_first else sequence
        directions = _DIRECTIONS[word]
        layers, usual = _layers(site, kind, sequence, len(directions))
        is_whole = kind.has_cell and usual and not site.integer("input_forget", 0)
        ran: list[_Ran] = []
        for index, (layer, is_reverse) in enumerate(zip(layers, directions, strict=True)):
            start = _starts(site, kind, index, (sequence.shape[1], layer.units), is_batch_first)
            read = from_ends(site, sequence, layer.lengths) if is_reverse else sequence
            if is_whole:
                one = _whole_lstm(site, layer, read, start)
            else:
                one = _unrolled(site, cell, layer, read, start, all_=site.is_used(0))
            if is_reverse and one.every is not None:
                every = from_ends(site, one.every, layer.lengths)
                one = _Ran(every=every, hidden=one.hidden, cell=one.cell)
            ran.append(one)
        return _results(site, ran, is_batch_first)

    return translate


def _starts(site: Site, kind: _CellKind, index: int, shape: tuple[int, int], is_batch_first: bool) -> States:
    hidden = _start(site, 5, index, shape, is_batch_first)
    return hidden, _start(site, 6, index, shape, is_batch_first) if kind.has_cell else None


def _results(site: Site, ran: list[_Ran], is_batch_first: bool) -> tuple[Value, ...]:
    """The sequence [moments, directions, batch, units] and the states [directions, batch, units], or with the
    batch in front. Nobody reads the sequence where it is left out."""
    units = ran[0].hidden.shape[1]

    def states(values: list[Value]) -> Value:
        found = stacked(site, [site.steps.reshape(each, (1, *each.shape)) for each in values], 0)
        return _turned(found) if is_batch_first else found

    hidden = states([one.hidden for one in ran])
    cells = [one.cell for one in ran if one.cell is not None]
    every = [one.every for one in ran if one.every is not None]
    sequence = hidden
    if every:
        moments, batch = every[0].shape[:2]
        apart = [site.steps.reshape(each, (moments, 1, batch, units)) for each in every]
        sequence = stacked(site, apart, 1)
        if is_batch_first:
            sequence = _reordered(sequence, (2, 0, 1, 3))
    return (sequence, hidden, states(cells)) if cells else (sequence, hidden)


NODES: Mapping[str, Callable[[Site], tuple[Value, ...]]] = MappingProxyType(
    {
        "GRU": _recurrent(_CellKind(gates=3, functions=("Sigmoid", "Tanh")), _gru),
        "LSTM": _recurrent(_CellKind(gates=4, functions=("Sigmoid", "Tanh", "Tanh"), has_cell=True), _lstm),
        "RNN": _recurrent(_CellKind(gates=1, functions=("Tanh",)), _rnn),
    }
)
