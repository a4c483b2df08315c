"""IF and WHILE: branches, loops of a fixed number of iterations, and the loops of Keras' LSTM and GRU."""

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from codegen.importers.tflite.writing.writer import ModelBuilder
from tests.opgen.dice import Dice
from tests.opgen.sketch import Drawn, Plain, Sketch

Body = Callable[[ModelBuilder, int], int]
_TRUTH = Plain(dtype="bool", low=0, high=1)
_UNARY = ("TANH", "LOGISTIC", "RELU", "RELU6", "ABS")
_PAIRS = ("ADD", "MUL", "SUB", "MAXIMUM", "MINIMUM")


def _some_steps(dice: Dice, shape: tuple[int, ...]) -> Body:
    """Element-wise steps, drawn once, as often as the subgraph is written."""
    steps = [
        (dice.pick(_PAIRS), dice.pick(_UNARY), dice.sixteenths(shape, -24, 24))
        for _ in range(dice.integer(1, 3))
    ]

    def write(graph: ModelBuilder, value: int) -> int:
        for pair, unary, data in steps:
            constant = graph.tensor(f"c{graph.tensors}", shape, "float32", data=data)
            for name, inputs in ((pair, [value, constant]), (unary, [])):
                result = graph.tensor(f"t{graph.tensors}", shape, "float32")
                graph.op(name, inputs or [value], [result])
                value = result
        return value

    return write


def branch(dice: Dice) -> Drawn:
    """IF on an input, or on a constant; a branch may give its argument as it is."""
    sketch, shape = Sketch(dice), (1, dice.integer(1, 12))
    chosen = sketch.input((1,), _TRUTH).index
    if dice.chance(20):
        chosen = sketch.model.constant("which", np.array([dice.chance(50)]), "bool")
    x = sketch.input(shape, None)
    for number in range(2):
        graph = sketch.model.subgraph()
        value = graph.tensor("x", shape, "float32")
        graph.inputs(value)
        is_plain = number == 1 and dice.chance(20)
        graph.outputs(value if is_plain else _some_steps(dice, shape)(graph, value))
    y, z = sketch.tensor(shape, None), sketch.tensor(shape, None)
    sketch.op("IF", [chosen, x], y, then_subgraph_index=1, else_subgraph_index=2)
    sketch.op("ADD", [y, x], z)
    return sketch.finish(z)


def _counting(
    sketch: Sketch, trips: int, carried: list[tuple[tuple[int, ...], int]], body: Callable[..., list[int]]
) -> list[int]:
    """A WHILE that counts to `trips`; `carried`: shape and tensor of what else it carries. Their results."""
    model, names = sketch.model, [f"v{number}" for number in range(len(carried))]
    first = model.tensor("first", (), "int32", data=np.array(0, np.int32))
    cond, loop = model.subgraph(), model.subgraph()
    for graph in (cond, loop):
        own = [graph.tensor("count", (), "int32")]
        own += [graph.tensor(name, shape, "float32") for name, (shape, _) in zip(names, carried, strict=True)]
        graph.inputs(*own)
        if graph is cond:
            limit = graph.tensor("limit", (), "int32", data=np.array(trips, np.int32))
            goes_on = graph.tensor("goes_on", (), "bool")
            graph.op("LESS", [own[0], limit], [goes_on])
            graph.outputs(goes_on)
        else:
            one = graph.tensor("one", (), "int32", data=np.array(1, np.int32))
            after = graph.tensor("after", (), "int32")
            graph.op("ADD", [own[0], one], [after])
            graph.outputs(after, *body(graph, *own))
    results = [model.tensor(f"r{number}", shape, "float32") for number, (shape, _) in enumerate(carried)]
    count = model.tensor("counted", (), "int32")
    inputs = [first, *(tensor for _, tensor in carried)]
    model.op("WHILE", inputs, [count, *results], cond_subgraph_index=1, body_subgraph_index=2)
    return results


def loop(dice: Dice) -> Drawn:
    """WHILE over element-wise steps, one value kept as it is."""
    sketch, shape = Sketch(dice), (1, dice.integer(1, 12))
    x, kept = sketch.input(shape, None), sketch.input(shape, None)
    steps = _some_steps(dice, shape)

    def body(graph: ModelBuilder, count: int, value: int, other: int) -> list[int]:
        del count
        total = graph.tensor("total", shape, "float32")
        graph.op("ADD", [steps(graph, value), other], [total])
        return [total, other]

    found = _counting(sketch, dice.integer(1, 6), [(shape, x.index), (shape, kept.index)], body)
    y = sketch.tensor(shape, None)
    sketch.op("TANH", [found[0]], y)
    return sketch.finish(y)


def recurrent(dice: Dice, gates: int) -> Drawn:
    """A layer over time as Keras writes it: GATHER of a step, gates, state; LSTM (4 gates) or GRU (3)."""
    sketch, steps, inputs, units = Sketch(dice), dice.integer(1, 3), dice.integer(1, 5), dice.integer(1, 5)
    x = sketch.input((steps, 1, inputs), None)
    row, all_gates = (1, units), (1, gates * units)
    data = {
        "kernel": dice.sixteenths((gates * units, inputs), -4, 4),
        "recurrent": dice.sixteenths((gates * units, units), -8, 8),
        "bias": dice.sixteenths((gates * units,), -8, 8),
    }
    zero = sketch.model.tensor("zero", row, "float32", data=np.zeros(row, np.float32))

    def body(graph: ModelBuilder, count: int, hidden: int, cell: int, sequence: int) -> list[int]:
        def op(name: str, inputs: list[int], shape: tuple[int, ...] = row) -> int:
            result = graph.tensor(f"t{graph.tensors}", shape, "float32")
            graph.op(name, inputs, [result])
            return result

        held = {name: graph.tensor(name, each.shape, "float32", data=each) for name, each in data.items()}
        step = op("GATHER", [sequence, count], (1, inputs))
        left = op("FULLY_CONNECTED", [step, held["kernel"], held["bias"]], all_gates)
        right = op("FULLY_CONNECTED", [hidden, held["recurrent"]], all_gates)
        axis = graph.tensor("axis", (), "int32", data=np.array(1, np.int32))

        def split(value: int) -> list[int]:
            parts = [graph.tensor(f"g{graph.tensors}", row, "float32") for _ in range(gates)]
            graph.op("SPLIT", [axis, value], parts, num_splits=gates)
            return parts

        if gates == 4:
            i, f, c, o = split(op("ADD", [left, right], all_gates))
            i, f, o = (op("LOGISTIC", [each]) for each in (i, f, o))
            added = op("MUL", [i, op("TANH", [c])])
            cell = op("ADD", [op("MUL", [f, cell]), added])
            return [op("MUL", [o, op("TANH", [cell])]), cell, sequence]
        (xz, xr, xh), (hz, hr, hh) = split(left), split(right)
        z = op("LOGISTIC", [op("ADD", [xz, hz])])
        r = op("LOGISTIC", [op("ADD", [xr, hr])])
        new = op("TANH", [op("ADD", [xh, op("MUL", [r, hh])])])
        kept = op("MUL", [z, op("SUB", [hidden, new])])
        return [op("ADD", [new, kept]), cell, sequence]

    carried = [(row, zero), (row, zero), ((steps, 1, inputs), x.index)]
    found = _counting(sketch, steps, carried, body)
    y = sketch.tensor(row, None)
    sketch.op("RELU", [found[0]], y)
    return sketch.finish(y)


DRAWN: Mapping[str, Mapping[str, Callable[[Dice], Drawn]]] = {
    "IF": {"float32": branch},
    "WHILE": {
        "float32": loop,
        "float32 LSTM": partial(recurrent, gates=4),
        "float32 GRU": partial(recurrent, gates=3),
    },
}
"""By operator and type."""
