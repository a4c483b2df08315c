"""A WHILE that is too long to unroll, or ends when a value says so, is one step over one iteration."""

import numpy as np
import pytest

from codegen.importers.tflite.writing.writer import ModelBuilder
from codegen.ir import DType, Var
from codegen.ir.evaluate import evaluate
from codegen.ir.ops import LoopAttrs
from codegen.ir.text import parse_module, print_module
from tests.importers.loops import adding, carrying, choosing, number
from tests.importers.samples import complaint, imported


def _given(data: bytes, x: int) -> int:
    module = imported(data)
    return int(evaluate(module, module.main, [np.array(x, np.int32)])[0])


def _loop(data: bytes) -> LoopAttrs:
    found = [let.call.attrs for let in imported(data).main.body if isinstance(let.call.attrs, LoopAttrs)]
    assert len(found) == 1
    return found[0]


def test_a_long_loop_is_one_step_without_its_condition() -> None:
    module = imported(adding(400))
    [attrs] = [let.call.attrs for let in module.main.body if isinstance(let.call.attrs, LoopAttrs)]
    assert (attrs.trips, attrs.decided) == (400, False)
    assert [let.call.op.name for let in attrs.function.body] == ["ADD", "ADD"]
    assert evaluate(module, module.main, [np.array(7, np.int32)]) == [7 + sum(range(400))]


@pytest.mark.parametrize(("x", "wanted"), [(0, 10), (8, 11), (10, 10), (-40, -4)])
def test_a_loop_ends_when_its_value_says_so_or_its_counter(x: int, wanted: int) -> None:
    """From 0: 0 1 3 6 10; from 8: 8 9 11; from -40 all nine numbers, 36, are not enough."""
    data = adding(9, below=10)
    assert (_loop(data).trips, _loop(data).decided) == (9, True)
    assert _given(data, x) == wanted


def test_a_value_that_no_iteration_reads_is_no_argument() -> None:
    """A function with a parameter that it does not use did not compile."""
    module = imported(carrying([4, 1, 6, 3]))
    [let] = [each for each in module.main.body if isinstance(each.call.attrs, LoopAttrs)]
    assert [arg.name for arg in let.call.args if isinstance(arg, Var)] == ["x", "most"]


def test_a_loop_in_a_loop() -> None:
    data = adding(40, below=100_000, inner=3)
    assert _given(data, 1) == 1 + 3 * sum(range(40))


def test_the_text_form_reads_back() -> None:
    module = imported(adding(9, below=10))
    assert parse_module(print_module(module)) == module


def test_values_that_change_places() -> None:
    """What one becomes is what the other was before, whatever is copied first."""
    module = imported(carrying([4, 1, 3, 2], read=1))
    x, z = np.array([[1, 2]], np.float32), np.array([[3, 4]], np.float32)
    for most, wanted in ((0, x), (1, z), (2, x), (9, z)):
        found = evaluate(module, module.main, [np.array(most, np.int32), x, z])
        np.testing.assert_array_equal(found[0], wanted)


@pytest.mark.parametrize("plain", [False, True])
def test_a_branch_of_layers_is_a_loop_of_one_iteration(plain: bool) -> None:
    """Only the chosen branch runs; a branch may give its argument as it is."""
    module = imported(choosing(plain=plain))
    loops = [let.call.attrs for let in module.main.body if isinstance(let.call.attrs, LoopAttrs)]
    assert [(attrs.trips, attrs.decided) for attrs in loops] == [(1, True)] * 2
    x = np.array([[5, -7]], np.float32)
    for which, wanted in ((True, x * 2), (False, x if plain else x * 3 + 1)):
        np.testing.assert_array_equal(evaluate(module, module.main, [np.array(which), x])[0], wanted)


SHAPES = "help: convert the model so that what the loop carries keeps its shape, type and quantisation"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (
            carrying([4, 1, 6, 7], dtypes=("float32", "int32"), read=2),
            "gives values of several element types or quantisations (float32[1,2], int32[1,2])\n"
            "help: let one value leave the loop, or several of one element type and quantisation",
        ),
        (
            carrying([4, 1, 5, 3]),
            "an iteration sets a value that the loop carries to a constant\n"
            "help: let an operator in the loop compute it from a value that the loop carries",
        ),
        (
            carrying([4, 1, 3, 2], dtypes=("float32", "int32")),
            f"carries a value (input 2) that is float32[1,2] and int32[1,2]\n{SHAPES}",
        ),
        (
            carrying([4, 1, 6, 3], holds=True),
            "subgraph 2, m.tflite: reads or assigns variables in a loop that is not unrolled\n"
            "help: assign variables outside of the loop",
        ),
        (carrying([4, 1, 6]), "its subgraphs take or give other numbers of values than it carries"),
    ],
)
def test_loops_that_are_refused(data: bytes, text: str) -> None:
    code = "E303" if "other numbers" in text else "E301"
    assert complaint(data) == f'error[{code}] op 0 WHILE "counted": {text}'


def test_a_loop_of_too_many_steps() -> None:
    assert complaint(adding(200_000, below=1)).split("\n") == [
        'error[E305] op 0 WHILE "counted": runs up to 1,000,000 steps in all its iterations, up to 262,144 '
        "are imported",
        "help: make fewer iterations, or keep state between inferences and call the model once for each",
    ]


def test_a_loop_that_runs_itself() -> None:
    model = ModelBuilder()
    x, y = number(model, "x"), number(model, "y")
    condition, body = model.subgraph(), model.subgraph()
    for graph in (condition, body):
        graph.inputs(number(graph, "value"))
    goes_on = condition.tensor("goes_on", (), "bool")
    condition.op("LESS", [0, number(condition, "end", 3)], [goes_on])
    condition.outputs(goes_on)
    body.op("WHILE", [0], [number(body, "result")], cond_subgraph_index=1, body_subgraph_index=2)
    body.outputs(1)
    model.op("WHILE", [x], [y], cond_subgraph_index=1, body_subgraph_index=2)
    model.inputs(x)
    model.outputs(y)
    assert "subgraph 2 runs itself" in complaint(model.build())


def test_a_loop_gives_elements_of_one_type() -> None:
    [let] = [
        each for each in imported(carrying([4, 1, 6, 2], read=2)).main.body if each.var.type.shape == (4,)
    ]
    assert let.var.type.dtype is DType.FLOAT32 and let.call.op.name == "WHILE"
