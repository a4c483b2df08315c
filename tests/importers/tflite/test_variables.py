"""Variables of a file: state of the function; what is refused, with its text."""

from collections.abc import Callable

import numpy as np
import pytest

from codegen.importers.tflite.writing.writer import ModelBuilder
from codegen.ir import StateValue
from codegen.ir.text import parse_module, print_module
from tests.importers.samples import complaint, imported

FIRST = np.array([[3, -3, 7, 1]], np.int8)


def model(
    edit: Callable[[ModelBuilder, int, int], None] | None = None,
    *,
    first: np.ndarray | None = FIRST,
    shape: tuple[int, ...] = (1, 4),
    scale: float = 0.5,
) -> bytes:
    """y = x + past, past = y; `edit` gets the model, the handle and the tensor that is read."""
    made = ModelBuilder()
    x, y = (made.tensor(name, (1, 4), "int8", scale=0.5, zero_point=-3) for name in ("x", "y"))
    past = made.tensor("past", (1, 4), "int8", scale=0.5, zero_point=-3)
    handle = made.tensor("handle", (), "resource")
    if first is not None:
        begin = made.subgraph()
        own = begin.tensor("own", (), "resource")
        data = begin.tensor("first", shape, "int8", scale=scale, zero_point=-3, data=first.reshape(shape))
        begin.op("VAR_HANDLE", [], [own], shared_name="sum/state")
        begin.op("ASSIGN_VARIABLE", [own, data], [])
        made.op("CALL_ONCE", [], [], init_subgraph_index=1)
    made.op("VAR_HANDLE", [], [handle], shared_name="sum/state")
    made.op("READ_VARIABLE", [handle], [past])
    made.op("ADD", [x, past], [y])
    if edit is None:
        made.op("ASSIGN_VARIABLE", [handle, y], [])
    else:
        edit(made, handle, past)
    made.inputs(x)
    made.outputs(y)
    return made.build()


def test_a_variable_is_a_parameter_and_a_result() -> None:
    function = imported(model()).main
    assert [(param.name, param.origin) for param in function.params] == [
        ("x", "x"),
        ("sum_state", "sum/state"),
    ]
    assert [let.call.op.name for let in function.body] == ["ADD"], "reading and assigning are no steps"
    assert function.results == (function.body[0].var, function.body[0].var)
    assert function.states == (StateValue(param=1, result=1, initial=FIRST.tobytes()),)


def test_state_has_a_text_form() -> None:
    made = imported(model())
    assert 'state (1, 1, "A/0HAQ==")' in print_module(made)
    assert parse_module(print_module(made)) == made


def test_without_an_initialiser_it_begins_at_its_zero() -> None:
    """As tflite-micro has it."""
    assert imported(model(first=None)).main.states[0].initial == np.full(4, -3, np.int8).tobytes()


def test_a_variable_that_is_never_assigned_is_a_constant() -> None:
    made = imported(model(lambda made, handle, past: None))
    assert made.main.states == () and len(made.main.params) == 1
    [constant] = made.constants.values()
    assert constant.data.tobytes() == FIRST.tobytes()


def test_what_is_assigned_is_read_by_operators_behind() -> None:
    def again(made: ModelBuilder, handle: int, past: int) -> None:
        del past
        y, seen, twice = 1, *(made.tensor(n, (1, 4), "int8", scale=0.5, zero_point=-3) for n in ("s", "t"))
        made.op("ASSIGN_VARIABLE", [handle, y], [])
        made.op("READ_VARIABLE", [handle], [seen])
        made.op("ADD", [seen, seen], [twice])
        made.op("ASSIGN_VARIABLE", [handle, twice], [])

    function = imported(model(again)).main
    first, second = function.body
    assert second.call.args == (first.var, first.var)
    assert function.results == (first.var, second.var)


def _assigned(value: str) -> Callable[[ModelBuilder, int, int], None]:
    def assign(made: ModelBuilder, handle: int, past: int) -> None:
        if value == "constant":
            data = made.tensor("c", (1, 4), "int8", scale=0.5, zero_point=-3, data=FIRST)
        elif value == "shape":
            data = made.tensor("flat", (4,), "int8", scale=0.5, zero_point=-3)
            made.op("RESHAPE", [past, made.constant("to", [4])], [data])
        elif value == "scale":
            data = made.tensor("other", (1, 4), "int8", scale=0.25, zero_point=-3)
            made.op("QUANTIZE", [past], [data])
        else:
            other, data = made.tensor("h2", (), "resource"), past
            seen = made.tensor("seen", (1, 4), "int8", scale=0.5, zero_point=-3)
            made.op("VAR_HANDLE", [], [other], shared_name="delayed")
            made.op("READ_VARIABLE", [other], [seen])
            made.op("ASSIGN_VARIABLE", [other, past], [])
            made.op("ADD", [seen, seen], [made.tensor("sum", (1, 4), "int8", scale=0.5, zero_point=-3)])
        made.op("ASSIGN_VARIABLE", [handle, data if value != "delay" else 1], [])

    return assign


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("constant", "ASSIGN_VARIABLE: assigns a constant to variable sum/state\nhelp: let the model assign"),
        ("shape", "ASSIGN_VARIABLE: variable sum/state is int8[1,4], here assigned as int8[4]"),
        ("scale", "variable sum/state is assigned with another scale or zero point than it has\nhelp: "),
        ("delay", "m.tflite: variable delayed is assigned what variable sum/state held before\nhelp: let"),
    ],
)
def test_what_cannot_be_assigned(value: str, text: str) -> None:
    assert text in complaint(model(_assigned(value)))


def _behind(made: ModelBuilder, handle: int, past: int) -> None:
    del past
    made.op("ASSIGN_VARIABLE", [handle, 1], [])
    made.op("CALL_ONCE", [], [], init_subgraph_index=1)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (
            model(first=FIRST, scale=0.25),
            'READ_VARIABLE "past": variable sum/state is read with another scale',
        ),
        (model(first=FIRST, shape=(4,)), "variable sum/state is int8[4], here read as int8[1,4]"),
        (
            model(_behind),
            "op 5 CALL_ONCE: runs behind operators that read or assign variables\nhelp: let it run",
        ),
    ],
    ids=["scale", "shape", "late"],
)
def test_initialisers_that_do_not_fit(data: bytes, text: str) -> None:
    assert text in complaint(data)


@pytest.mark.parametrize(
    ("build", "text"),
    [
        ("no subgraph", "there is no subgraph 1"),
        (
            "operator",
            "op 0 CALL_ONCE: the initialiser runs ADD, supported is assigning constants\nhelp: convert",
        ),
        ("no handle", 'READ_VARIABLE "y": tensor 0 is no variable: no VAR_HANDLE gives it'),
        (
            "no options",
            'op 0 CALL_ONCE: the initialiser assigns tensor 1 "a", which is no constant\nhelp: convert',
        ),
    ],
)
def test_files_without_sense(build: str, text: str) -> None:
    made = ModelBuilder()
    x, y = (made.tensor(name, (1, 4), "int8", scale=0.5, zero_point=0) for name in ("x", "y"))
    if build != "no handle":
        made.op("CALL_ONCE", [], [], init_subgraph_index=1)
    if build in ("operator", "no options"):
        begin = made.subgraph()
        handle = begin.tensor("h", (), "resource")
        a = begin.tensor("a", (1, 4), "int8", scale=0.5, zero_point=0)
        if build == "operator":
            begin.op("ADD", [a, a], [a])
        else:
            begin.op("VAR_HANDLE", [], [handle])
            begin.op("ASSIGN_VARIABLE", [handle, a], [])
    made.op("READ_VARIABLE" if build == "no handle" else "RELU", [x], [y])
    made.inputs(x)
    made.outputs(y)
    assert text in complaint(made.build())
