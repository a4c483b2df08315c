"""IF, WHILE and compressed weights that cannot go when the file is read are refused with the reason."""

import numpy as np
import pytest

from codegen.importers.tflite.writing.writer import ModelBuilder
from codegen.ir import Var
from tests.importers.samples import complaint, imported

FIXED = (
    "help: give the loop a fixed number of iterations (Keras: a fixed number of time steps, or unroll=True)"
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


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (
            looped(None),
            f"E301] op 0 WHILE: the number of its iterations is decided while the model runs\n{FIXED}",
        ),
        (looped(5000), f"E305] op 0 WHILE: makes more than 1024 iterations\n{SMALLER}"),
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
    model.op("CUSTOM", [packed, held], [w], custom_code="TFLM_DECODE")
    model.op("ADD", [x, w], [y])
    model.inputs(x)
    model.outputs(y)
    code, text = wanted.split("] ", 1)
    assert complaint(model.build()).startswith(f'error[{code}] op 0 CUSTOM "w": {text}')
