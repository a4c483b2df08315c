"""Files with a WHILE that is not unrolled."""

from collections.abc import Sequence

import numpy as np

from codegen.importers.tflite.writing.writer import ModelBuilder


def number(graph: ModelBuilder, name: str, value: int | None = None) -> int:
    """An int32 of one element; with `value` a constant."""
    return graph.tensor(name, (), "int32", data=None if value is None else np.array(value, np.int32))


def adding(trips: int, *, below: int | None = None, inner: int = 0) -> bytes:
    """y = x + 0 + 1 + .. for so many numbers, while x is `below`. With `inner` each of them is added as
    often, in a loop of its own."""
    model = ModelBuilder()
    x, y, counted = number(model, "x"), number(model, "y"), number(model, "counted")
    first = number(model, "first", 0)
    condition, body = model.subgraph(), model.subgraph()
    for graph in (condition, body):
        graph.inputs(number(graph, "count"), number(graph, "value"))
    goes_on = condition.tensor("goes_on", (), "bool")
    condition.op("LESS", [0, number(condition, "trips", trips)], [goes_on])
    if below is not None:
        less, both = condition.tensor("less", (), "bool"), condition.tensor("both", (), "bool")
        condition.op("GREATER", [number(condition, "below", below), 1], [less])
        condition.op("LOGICAL_AND", [goes_on, less], [both])
        goes_on = both
    condition.outputs(goes_on)
    after, value = number(body, "after"), number(body, "sum")
    if inner:
        _added_often(model, body, value, inner)
    else:
        body.op("ADD", [1, 0], [value])
    body.op("ADD", [0, number(body, "one", 1)], [after])
    body.outputs(after, value)
    model.op("WHILE", [first, x], [counted, y], cond_subgraph_index=1, body_subgraph_index=2)
    model.inputs(x)
    model.outputs(y)
    return model.build()


def _added_often(model: ModelBuilder, body: ModelBuilder, result: int, often: int) -> None:
    """Tensor 1 of `body` plus `often` times tensor 0, down to 0."""
    condition, inner = model.subgraph(), model.subgraph()
    for graph in (condition, inner):
        graph.inputs(*(number(graph, name) for name in ("left", "sum", "added")))
    goes_on = condition.tensor("goes_on", (), "bool")
    condition.op("GREATER", [0, number(condition, "none", 0)], [goes_on])
    condition.outputs(goes_on)
    left, value = number(inner, "less"), number(inner, "more")
    inner.op("SUB", [0, number(inner, "one", 1)], [left])
    inner.op("ADD", [1, 2], [value])
    inner.outputs(left, value, 2)
    rest = [number(body, name) for name in ("no_more", "same")]
    body.op(
        "WHILE",
        [number(body, "often", often), 1, 0],
        [rest[0], result, rest[1]],
        cond_subgraph_index=3,
        body_subgraph_index=4,
    )


def choosing(*, plain: bool = False) -> bytes:
    """y = x * 2 where `which` holds, else x * 3 + 1, of two float32; `plain`: else x itself."""
    model = ModelBuilder()
    which, x, y = model.tensor("which", (), "bool"), *(model.tensor(n, (1, 2), "float32") for n in "xy")
    for factor, more in ((2, 0), (3, 1)):
        graph = model.subgraph()
        value, result = graph.tensor("value", (1, 2), "float32"), graph.tensor("result", (1, 2), "float32")
        weights = graph.tensor("weights", (2, 2), "float32", data=np.eye(2, dtype=np.float32) * factor)
        bias = graph.tensor("bias", (2,), "float32", data=np.full(2, more, np.float32))
        graph.inputs(value)
        graph.op("FULLY_CONNECTED", [value, weights, bias], [result])
        graph.outputs(value if plain and more else result)
    model.op("IF", [which, x], [y], then_subgraph_index=1, else_subgraph_index=2)
    model.inputs(which, x)
    model.outputs(y)
    return model.build()


def carrying(
    body_outputs: Sequence[int],
    *,
    dtypes: Sequence[str] = ("float32", "float32"),
    read: int = 1,
    holds: bool = False,
) -> bytes:
    """A loop of two values beside its counter, bounded by 5 and an input; the iteration gives tensors
    `body_outputs` of: count, end, a, b, count + 1, a constant, a + a, b once more;
    `holds`: it assigns a variable too."""
    model = ModelBuilder()
    most = number(model, "most")
    values = [model.tensor(name, (1, 2), dtype) for name, dtype in zip("xz", dtypes, strict=True)]
    first = number(model, "first", 0)
    ends = [number(model, "counted"), number(model, "end")]
    results = [model.tensor(f"y{at}", (1, 2), dtype) for at, dtype in enumerate(dtypes)]
    condition, body = model.subgraph(), model.subgraph()
    for graph in (condition, body):
        own = [number(graph, "count"), number(graph, "end")]
        own += [graph.tensor(name, (1, 2), dtype) for name, dtype in zip("ab", dtypes, strict=True)]
        graph.inputs(*own)
    truths = [condition.tensor(f"truth{at}", (), "bool") for at in range(3)]
    condition.op("LESS", [0, number(condition, "five", 5)], [truths[0]])
    condition.op("LESS", [0, 1], [truths[1]])
    condition.op("LOGICAL_AND", truths[:2], [truths[2]])
    condition.outputs(truths[2])
    after = number(body, "after")
    held = body.tensor("held", (1, 2), dtypes[0], data=np.ones((1, 2), dtypes[0]))
    twice, same = (body.tensor(f"like{at}", (1, 2), dtype) for at, dtype in enumerate(dtypes))
    body.op("ADD", [0, number(body, "one", 1)], [after])
    body.op("ADD", [2, 2], [twice])
    if holds:
        handle = body.tensor("handle", (), "resource")
        body.op("VAR_HANDLE", [], [handle], shared_name="v")
        body.op("ASSIGN_VARIABLE", [handle, 2], [])
    body.op("MAXIMUM", [3, 3], [same])
    assert (after, held, twice, same) == (4, 5, 6, 7)
    body.outputs(*body_outputs)
    model.op(
        "WHILE",
        [first, most, *values],
        [*ends, *results],
        cond_subgraph_index=1,
        body_subgraph_index=2,
    )
    model.inputs(most, *values)
    model.outputs(*results[:read])
    return model.build()
