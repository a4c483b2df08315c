"""IF, WHILE and compressed weights that cannot go when the file is read are refused with the reason."""

from functools import partial

import numpy as np
import pytest

from codegen.importers.tflite.writing.writer import Custom, ModelBuilder
from codegen.ir import Var
from codegen.ir.evaluate import evaluate
from tests.importers.samples import complaint, imported
from tests.plan.growth import calls

FIXED = (
    "help: give the loop a fixed number of iterations (Keras: a fixed number of time steps, or unroll=True), "
    "or a largest one (tf.while_loop: maximum_iterations)"
)
SMALLER = "help: make fewer iterations, or keep state between inferences and call the model once for each"


def looped(limit: int | None, *, scale: float | None = None) -> bytes:
    """x is squared `limit` times; None: an input says how often."""
    model = ModelBuilder()
    kind = "float32" if scale is None else "int8"
    x, y = (model.tensor(name, (1, 2), kind, scale=scale and scale / (1 + (name == "y"))) for name in "xy")
    most = model.tensor("most", (), "int32", data=None if limit is None else np.array(limit, np.int32))
    first = model.tensor("first", (), "int32", data=np.array(0, np.int32))
    counts = [model.tensor(f"n{number}", (), "int32") for number in range(2)]
    for number in range(2):
        graph = model.subgraph()
        count, end = graph.tensor("count", (), "int32"), graph.tensor("end", (), "int32")
        value = graph.tensor("value", (1, 2), kind, scale=scale and 0.25)
        graph.inputs(count, end, value)
        if number == 0:
            goes_on = graph.tensor("goes_on", (), "bool")
            graph.op("LESS", [count, end], [goes_on])
            graph.outputs(goes_on)
            continue
        one = graph.tensor("one", (), "int32", data=np.array(1, np.int32))
        after = graph.tensor("after", (), "int32")
        squared = graph.tensor("squared", (1, 2), kind, scale=scale and 0.25)
        graph.op("ADD", [count, one], [after])
        graph.op("MUL", [value, value], [squared])
        graph.outputs(after, end, squared)
    model.op("WHILE", [first, most, x], [*counts, y], cond_subgraph_index=1, body_subgraph_index=2)
    model.inputs(*([x] if limit is not None else [x, most]))
    model.outputs(y)
    return model.build()


def test_a_loop_becomes_its_iterations_without_its_counter() -> None:
    main = imported(looped(3)).main
    assert [let.call.op.name for let in main.body] == ["MUL"] * 3
    assert isinstance(main.results[0], Var) and main.results[0].origin == "y"


def test_unrolling_costs_as_much_as_there_are_iterations() -> None:
    """All tensors so far were copied for each operator more, to ask whether its numbers are known."""
    imported(looped(2))
    few, some, many = (calls(lambda trips=trips: imported(looped(trips))) for trips in (20, 40, 80))
    assert many - some < 2.02 * (some - few)


ROWS, WIDTH = 5, 3


def _held(graph: ModelBuilder, name: str, *values: int, shape: tuple[int, ...] | None = None) -> int:
    data = np.array(values, np.int32).reshape((len(values),) if shape is None else shape)
    return graph.tensor(name, data.shape, "int32", data=data)


def filling(*, reads: int = 0) -> bytes:
    """y is a list that a loop fills: row i is row i of x, squared, as Keras writes it. `reads`: z sums up
    each state of the list."""
    model = ModelBuilder()
    shape = (ROWS, 1, WIDTH)
    x, y, z = (model.tensor(name, shape, "float32") for name in "xyz")
    zeros = model.tensor("zeros", shape, "float32", data=np.zeros(shape, np.float32))
    first = model.tensor("first", (), "int32", data=np.array(0, np.int32))
    counted, passed = model.tensor("n", (), "int32"), model.tensor("p", shape, "float32")
    for number in range(2):
        graph = model.subgraph()

        held = partial(_held, graph)
        count = graph.tensor("count", (), "int32")
        value, images = (graph.tensor(name, shape, "float32") for name in ("list", "images"))
        seen = graph.tensor("seen", shape, "float32")
        graph.inputs(count, value, images, seen)
        if number == 0:
            goes_on = graph.tensor("goes_on", (), "bool")
            graph.op("LESS", [count, held("end", ROWS, shape=())], [goes_on])
            graph.outputs(goes_on)
            continue
        after, before = graph.tensor("after", (), "int32"), graph.tensor("before", (1,), "int32")
        size, begin = graph.tensor("size", (3,), "int32"), graph.tensor("begin", (3,), "int32")
        next_, row = graph.tensor("next", (1,), "int32"), graph.tensor("row", (1, WIDTH), "float32")
        graph.op("ADD", [count, held("one", 1, shape=())], [after])
        graph.op("GATHER", [images, count], [row], axis=0)
        squared, item = (
            graph.tensor("squared", (1, WIDTH), "float32"),
            graph.tensor("item", (1, 1, WIDTH), "float32"),
        )
        graph.op("MUL", [row, row], [squared])
        graph.op("RESHAPE", [squared, held("as_row", 1, 1, WIDTH)], [item])
        graph.op("RESHAPE", [count, held("as_one", 1)], [before])
        graph.op("CONCATENATION", [before, held("rest", -1, -1)], [size], axis=0)
        graph.op("RESHAPE", [after, held("as_one_too", 1)], [next_])
        graph.op("CONCATENATION", [next_, held("none", 0, 0)], [begin], axis=0)
        head = graph.tensor("head", (), "float32", shape_signature=(-1, -1, -1))
        tail = graph.tensor("tail", (1, 1, WIDTH), "float32", shape_signature=(-1, 1, WIDTH))
        graph.op("SLICE", [value, held("start", 0, 0, 0), size], [head])
        graph.op("SLICE", [value, begin, held("to_the_end", -1, -1, -1)], [tail])
        filled = graph.tensor("filled", shape, "float32")
        graph.op("CONCATENATION", [head, item, tail], [filled], axis=0)
        last = seen
        if reads:
            last = graph.tensor("sum", shape, "float32")
            graph.op("ADD", [seen, filled], [last])
        graph.outputs(after, filled, images, last)
    results = [counted, y, passed, z]
    model.op("WHILE", [first, zeros, x, zeros], results, cond_subgraph_index=1, body_subgraph_index=2)
    model.inputs(x)
    model.outputs(*([y, z] if reads else [y]))
    return model.build()


@pytest.mark.parametrize("reads", [0, 1])
def test_a_list_that_a_loop_fills_is_joined_where_it_is_read(reads: int) -> None:
    """Keras's `return_sequences=True` was refused: the rows in front of the first one are none. Nor is the
    list copied for each row."""
    module = imported(filling(reads=reads))
    x = np.arange(ROWS * WIDTH, dtype=np.float32).reshape(ROWS, 1, WIDTH)
    found = evaluate(module, module.main, [x])
    sums = (ROWS - np.arange(ROWS, dtype=np.float32)).reshape(-1, 1, 1) * x * x
    for given, wanted in zip(found, (x * x, sums)[: 1 + reads], strict=True):
        np.testing.assert_array_equal(given, wanted)
    names = [let.call.op.name for let in module.main.body]
    assert names.count("CONCATENATION") == (ROWS if reads else 1)
    assert names.count("MUL") == ROWS


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (
            looped(None),
            f"E301] op 0 WHILE: the number of its iterations is decided while the model runs\n{FIXED}",
        ),
        (
            looped(2, scale=0.5),
            'E301] op 0 WHILE: tensor 2 "value" of a subgraph and tensor 0 "x" have different types or '
            "quantisation\nhelp: convert the model so that both have one type and one quantisation",
        ),
    ],
)
def test_loops_that_are_refused(data: bytes, wanted: str) -> None:
    code, text = wanted.split("] op 0 WHILE: ")
    assert complaint(data) == f'error[{code}] op 0 WHILE "n0": {text}'


def test_a_branch_that_assigns_a_variable() -> None:
    model = ModelBuilder()
    which, x = model.tensor("which", (1,), "bool"), model.tensor("x", (1, 2), "float32")
    y = model.tensor("y", (1, 2), "float32")
    for number in range(2):
        graph = model.subgraph()
        value, handle = graph.tensor("value", (1, 2), "float32"), graph.tensor("handle", (), "resource")
        graph.inputs(value)
        if number == 0:
            graph.op("VAR_HANDLE", [], [handle], shared_name="v")
            graph.op("ASSIGN_VARIABLE", [handle, value], [])
        graph.outputs(value)
    model.op("IF", [which, x], [y], then_subgraph_index=1, else_subgraph_index=2)
    model.inputs(which, x)
    model.outputs(y)
    assert complaint(model.build()) == (
        'error[E301] op 0 IF "y": a branch runs VAR_HANDLE, and both branches run here\n'
        "help: assign variables outside of the branches"
    )


def test_a_subgraph_that_runs_itself() -> None:
    model = ModelBuilder()
    which, x = model.tensor("which", (1,), "bool"), model.tensor("x", (1, 2), "float32")
    y = model.tensor("y", (1, 2), "float32")
    graph = model.subgraph()
    inner, value = graph.tensor("inner", (1,), "bool"), graph.tensor("value", (1, 2), "float32")
    result = graph.tensor("result", (1, 2), "float32")
    graph.op("IF", [inner, inner, value], [result], then_subgraph_index=1, else_subgraph_index=1)
    graph.inputs(inner, value)
    graph.outputs(result)
    model.op("IF", [which, which, x], [y], then_subgraph_index=1, else_subgraph_index=1)
    model.inputs(which, x)
    model.outputs(y)
    assert complaint(model.build()) == 'error[E305] op 0 IF "y": calls subgraphs 8 deep'


@pytest.mark.parametrize(
    ("header", "indices", "wanted"),
    [
        (
            (2, 1, 0, 0, 1, 2, 4),
            1,
            'E301] tensor 2 "w" is compressed in another way than by look-up tables (type 2)\n'
            "help: use the file from before the compression",
        ),
        ((0, 1, 0, 0, 1, 2, 4), 0, 'E303] reads tensor 0 "packed", which is no constant'),
        ((0, 1, 0, 0, 1, 7, 4), 1, 'E303] tensor 2 "w" of shape [4] has 1 bytes of indices'),
        ((0, 1, 0, 0, 1, 2, 4), 2, 'E303] an index of tensor 2 "w" lies beyond its table'),
    ],
)
def test_compressed_weights_that_are_refused(header: tuple[int, ...], indices: int, wanted: str) -> None:
    model = ModelBuilder()
    data = {0: None, 1: np.zeros(1, np.uint8), 2: np.full(1, 255, np.uint8)}[indices]
    packed = model.tensor("packed", (1,), "uint8", data=data)
    tables = np.zeros(19, np.uint8)
    tables[: len(header)] = header
    held = model.tensor("tables", (19,), "uint8", data=tables)
    w = model.tensor("w", (4,), "int8", scale=0.5)
    x, y = model.tensor("x", (1, 4), "int8", scale=0.5), model.tensor("y", (1, 4), "int8", scale=0.5)
    model.op("CUSTOM", [packed, held], [w], custom=Custom(code="TFLM_DECODE"))
    model.op("ADD", [x, w], [y])
    model.inputs(x)
    model.outputs(y)
    code, text = wanted.split("] ", 1)
    assert complaint(model.build()).startswith(f'error[{code}] op 0 CUSTOM "w": {text}')
