"""IF and WHILE: branches, loops of a fixed or a limited number of iterations, the loops of Keras' LSTM and
GRU."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from codegen.importers.tflite.writing.writer import ModelBuilder
from tests.opgen.dice import Dice
from tests.opgen.families.rearranged import drawn_kind
from tests.opgen.sketch import Affine, Drawn, Kind, Plain, Sketch, Value

Body = Callable[[ModelBuilder, int], int]
_TRUTH = Plain(dtype="bool", low=0, high=1)
_ARITHMETIC = ("ADD", "MUL", "SUB", "MAXIMUM", "MINIMUM")
_STEPS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "float32": (_ARITHMETIC, ("TANH", "LOGISTIC", "RELU", "RELU6", "ABS")),
    "int8": (_ARITHMETIC, ("ABS",)),
    "int16": (_ARITHMETIC, ("ABS",)),
    "int32": (("ADD", "SUB", "MAXIMUM", "MINIMUM"), ()),
    "int64": (("MAXIMUM", "MINIMUM"), ()),
    "bool": (("LOGICAL_AND", "LOGICAL_OR"), ("LOGICAL_NOT",)),
    "uint8": (("MAXIMUM", "MINIMUM"), ()),
    "uint32": (("MAXIMUM", "MINIMUM"), ()),
}
"""By element type: steps of two values, and of one."""


def _tensor(
    graph: ModelBuilder, name: str, shape: tuple[int, ...], kind: Kind, *, data: np.ndarray | None = None
) -> int:
    """A value of a subgraph, or a constant."""
    if not isinstance(kind, Affine):
        return graph.tensor(name, shape, "float32" if kind is None else kind.dtype, data=data)
    scale, zero_point = kind.scale, kind.zero_point
    return graph.tensor(name, shape, kind.dtype, scale=scale, zero_point=zero_point, data=data)


def _pair(graph: ModelBuilder, name: str, both: list[int], shape: tuple[int, ...], kind: Kind) -> int:
    """The operator's result; of plain unsigned numbers, which it does not take, by way of int32."""
    is_plain = isinstance(kind, Plain) and kind.dtype.startswith("uint")
    wide = Plain(dtype="int32", low=0, high=1) if is_plain else kind
    if is_plain:
        both = [_cast(graph, value, shape, wide) for value in both]
    result = _tensor(graph, f"p{graph.tensors}", shape, wide)
    is_free = name in ("ADD", "SUB") and isinstance(kind, Affine) and kind.dtype == "int16"
    options: dict[str, Any] = {"pot_scale_int16": False} if is_free else {}
    graph.op(name, both, [result], **options)
    return _cast(graph, result, shape, kind) if is_plain else result


def _cast(graph: ModelBuilder, value: int, shape: tuple[int, ...], kind: Kind) -> int:
    result = _tensor(graph, f"w{graph.tensors}", shape, kind)
    graph.op("CAST", [value], [result])
    return result


def _some_steps(sketch: Sketch, shape: tuple[int, ...], kind: Kind) -> Body:
    """Element-wise steps, drawn once, as often as the subgraph is written."""
    dice, dtype = sketch.dice, "float32" if kind is None else kind.dtype
    pairs, alone = _STEPS[dtype]
    steps = [
        (
            dice.pick(pairs),
            dice.pick(alone) if alone else "",
            dice.sixteenths(shape, -24, 24) if kind is None else sketch.values(shape, kind),
        )
        for _ in range(dice.integer(1, 3))
    ]

    def write(graph: ModelBuilder, value: int) -> int:
        for pair, unary, data in steps:
            constant = _tensor(graph, f"c{graph.tensors}", shape, kind, data=data)
            value = _pair(graph, pair, [value, constant], shape, kind)
            if unary:
                result = _tensor(graph, f"t{graph.tensors}", shape, kind)
                graph.op(unary, [value], [result])
                value = result
        return value

    return write


def branch(dice: Dice, dtype: str = "float32") -> Drawn:
    """IF on an input, or on a constant; a branch may give its argument as it is."""
    sketch, shape = Sketch(dice), (1, dice.integer(1, 12))
    kind = _kind(dice, dtype)
    chosen = sketch.input((1,), _TRUTH).index
    if dice.chance(20):
        chosen = sketch.model.constant("which", np.array([dice.chance(50)]), "bool")
    x = sketch.input(shape, kind)
    for number in range(2):
        graph = sketch.model.subgraph()
        value = _tensor(graph, "x", shape, kind)
        graph.inputs(value)
        is_plain = number == 1 and dice.chance(20)
        graph.outputs(value if is_plain else _some_steps(sketch, shape, kind)(graph, value))
    y = sketch.tensor(shape, kind)
    sketch.op("IF", [chosen, x], y, then_subgraph_index=1, else_subgraph_index=2)
    name = "LOGICAL_OR" if dtype == "bool" else "MAXIMUM" if kind else "ADD"
    return sketch.finish(_joined(sketch, name, [y, x], kind))


def layers(dice: Dice) -> Drawn:
    """IF of branches with weights, of which one runs; they give one value or two."""
    sketch, inputs, units, count = Sketch(dice), dice.integer(1, 9), dice.integer(1, 9), dice.integer(1, 2)
    chosen = sketch.input((1,), _TRUTH).index
    x, row = sketch.input((1, inputs), None), (1, units)
    for _ in range(2):
        graph, found = sketch.model.subgraph(), list[int]()
        value = graph.tensor("x", (1, inputs), "float32")
        graph.inputs(value)
        for number in range(count):
            weights = graph.tensor(
                f"w{number}", (units, inputs), "float32", data=dice.sixteenths((units, inputs), -9, 9)
            )
            bias = graph.tensor(f"b{number}", (units,), "float32", data=dice.sixteenths((units,), -9, 9))
            sums, made = (graph.tensor(f"{name}{number}", row, "float32") for name in ("sums", "made"))
            graph.op("FULLY_CONNECTED", [value, weights, bias], [sums])
            graph.op(dice.pick(("TANH", "RELU", "ABS")), [sums], [made])
            found.append(made)
        graph.outputs(*found)
    results = [sketch.tensor(row, None) for _ in range(count)]
    sketch.model.op(
        "IF",
        [chosen, x.index],
        [each.index for each in results],
        then_subgraph_index=1,
        else_subgraph_index=2,
    )
    return sketch.finish(sketch.op("ADD", [results[0], results[-1]], sketch.tensor(row, None)))


def _kind(dice: Dice, dtype: str) -> Kind:
    """As `drawn_kind`, plain integers small, so that no sum overflows."""
    kind = drawn_kind(dice, dtype)
    return Plain(dtype=dtype, low=-1000, high=1000) if dtype in ("int32", "int64") else kind


def decided(dice: Dice, dtype: str) -> Drawn:
    """WHILE that ends at a constant number of iterations, or before: where an input says so, or, for float32,
    at times the value. Counters go up or down."""
    sketch, shape, limit = Sketch(dice), (1, dice.integer(1, 12)), dice.integer(1, 7)
    kind, is_down, by_value = _kind(dice, dtype), dice.chance(40), dtype == "float32" and dice.chance(50)
    first = sketch.model.tensor("first", (), "int32", data=np.array(limit if is_down else 0, np.int32))
    most = sketch.input((), Plain(dtype="int32", low=0, high=8))
    x, kept = sketch.input(shape, kind), sketch.input(shape, kind)
    steps = _some_steps(sketch, shape, kind)
    swaps = dice.chance(50)
    for number in range(2):
        graph = sketch.model.subgraph()
        count, end = graph.tensor("count", (), "int32"), graph.tensor("end", (), "int32")
        value, other = _tensor(graph, "value", shape, kind), _tensor(graph, "other", shape, kind)
        graph.inputs(count, value, other, end)
        if number == 1:
            one = graph.tensor("one", (), "int32", data=np.array(1, np.int32))
            after = graph.tensor("after", (), "int32")
            graph.op("SUB" if is_down else "ADD", [count, one], [after])
            joint = "LOGICAL_OR" if dtype == "bool" else dice.pick(("MAXIMUM", "MINIMUM"))
            last = _pair(graph, joint, [steps(graph, value), other], shape, kind)
            # Values change places: what one becomes is what the other was.
            graph.outputs(after, *((other, last) if swaps else (last, other)), end)
            continue
        data = np.array(0 if is_down else limit, np.int32)
        bound = graph.tensor("bound", (), "int32", data=data)
        truths = [graph.tensor(f"truth{each}", (), "bool") for each in range(3)]
        graph.op("GREATER" if is_down else "LESS", [count, bound], [truths[0]])
        if by_value:
            axes = graph.tensor("axes", (2,), "int32", data=np.array([0, 1], np.int32))
            largest = graph.tensor("largest", (), "float32")
            enough = graph.tensor("enough", (), "float32", data=np.array(dice.integer(0, 3), np.float32))
            graph.op("REDUCE_MAX", [value, axes], [largest], keep_dims=False)
            graph.op("LESS", [largest, enough], [truths[1]])
        else:
            graph.op("LESS_EQUAL", [count, end] if dice.chance(50) else [end, count], [truths[1]])
        graph.op("LOGICAL_AND", truths[:2] if dice.chance(50) else truths[1::-1], [truths[2]])
        graph.outputs(truths[2])
    counted, end = (sketch.model.tensor(name, (), "int32") for name in ("counted", "last_end"))
    results = [sketch.tensor(shape, kind) for _ in range(2)]
    sketch.model.op(
        "WHILE",
        [first, x.index, kept.index, most.index],
        [counted, *(result.index for result in results), end],
        cond_subgraph_index=1,
        body_subgraph_index=2,
    )
    return sketch.finish(_joined(sketch, "LOGICAL_AND" if dtype == "bool" else "MINIMUM", results, kind))


def _joined(sketch: Sketch, name: str, both: list[Value], kind: Kind) -> Value:
    """What the model gives of two values."""
    first = both[0]
    result = _pair(sketch.model, name, [each.index for each in both], first.shape, kind)
    return Value(index=result, shape=first.shape, affine=first.affine)


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
    steps = _some_steps(sketch, shape, None)

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
    "IF": {
        "float32": branch,
        "float32 layers": layers,
        **{f"{dtype} branch": partial(branch, dtype=dtype) for dtype in _STEPS if dtype != "float32"},
    },
    "WHILE": {
        **{f"{dtype} decided": partial(decided, dtype=dtype) for dtype in _STEPS},
        "float32": loop,
        "float32 LSTM": partial(recurrent, gates=4),
        "float32 GRU": partial(recurrent, gates=3),
    },
}
"""By operator and type."""
LABELS = frozenset(
    label
    for by_label in DRAWN.values()
    for label in by_label
    if " " in label and label.split()[0] not in ("float32", "int8")
)
"""Kinds that differ from those of float32 and int8 by the kernels of their steps alone."""
