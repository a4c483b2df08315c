"""Places become devices of values; what cannot be is said at once."""

import pytest

from codegen.errors import CodegenError
from codegen.ir import Module, VirtualDevice
from codegen.ir.rules import Place
from codegen.ir.text import parse_module
from codegen.passes import FuseActivations, RemoveDead, place_edges, place_values, run_passes

_TYPE = "int8[1,4] q(0.5; 0)"
_SUM = 'activation="none" unbounded=false'


def _module() -> Module:
    """x -> ADD -> RELU; an ADD that nobody reads."""
    return parse_module(f"""module
fn main(%x: {_TYPE} origin "file/x") {{
  %sum: {_TYPE} origin "file/sum" = ADD(%x, %x) {_SUM} at (0, "ADD", "file/sum")
  %dead: {_TYPE} origin "file/dead" = ADD(%x, %x) {_SUM} at (2, "ADD", "file/dead")
  %relu: {_TYPE} origin "file/relu" = RELU(%sum) at (1, "RELU", "file/relu")
}} -> (%relu)
""")


def _place(number: int, scope: str | None = "a", reads: str | None = None, **what: object) -> Place:
    device = VirtualDevice(memory_scope=scope)
    return Place(who=f"place {number}", device=device, reads=reads, **what)  # pyright: ignore[reportArgumentType]


def _scopes(module: Module) -> dict[str, str | None]:
    return {var.name: var.device.memory_scope for var in module.main.variables()}


def test_tensors_operators_and_edges() -> None:
    places = (
        _place(1, tensor="file/x"),
        _place(2, "b", op=0),
        _place(3, None, reads="a", op="RELU"),
        _place(4, "b", outputs=True),
    )
    placed = place_values(_module(), places, ["a", "b"])
    assert _scopes(placed.module) == {"x": "a", "sum": "b", "dead": None, "relu": None}
    assert placed.reads == {"relu": ("a", "place 3")}
    placed = place_edges(placed, placed.module, places)
    assert _scopes(placed.module)["relu"] == "b"
    assert placed.who == {"x": "place 1", "sum": "place 2", "relu": "place 4"}


def test_a_placed_value_is_not_merged_with_one_elsewhere() -> None:
    passes = (FuseActivations(), RemoveDead())
    for scope, left in ((None, ["sum"]), ("a", ["sum", "relu"])):
        places = () if scope is None else (_place(1, scope, tensor="sum"),)
        placed = place_values(_module(), places, ["a"])
        module = run_passes(placed.module, passes)
        assert [let.var.name for let in module.main.body] == left
        assert place_edges(placed, module, places).module == module


def test_everything_that_is_wrong_at_once() -> None:
    places = (
        _place(1, tensor="file/y"),
        _place(2, "c", op=7),
        _place(3, op="CONV_2D"),
        _place(4, op=0),
        _place(5, "b", tensor="sum"),
        _place(6, None, reads="a", op=0),
        _place(7, None, reads="b", op=0),
    )
    with pytest.raises(CodegenError) as caught:
        place_values(_module(), places, ["a", "b"])
    assert [str(message) for message in caught.value.messages] == [
        "error[E242] place 2: there is no pool c to plan in\nhelp: pools of this board are a, b",
        "error[E240] place 1: no value of the model is called 'file/y'\n"
        "help: its values are file/x, file/sum, file/dead, file/relu",
        "error[E241] place 2: the model has no operator 7 with a result\n"
        "help: it has ADD (2), RELU (1), numbered from 0 to 2",
        "error[E241] place 3: the model has no operator CONV_2D\n"
        "help: it has ADD (2), RELU (1), numbered from 0 to 2",
        "error[E320] value file/sum: sum is given a device by place 4 and by place 5: "
        "memory scope is a here and b there\nhelp: take it out of one of these",
        "error[E320] value file/sum: what computes sum is to read from a by place 6, and from b by place 7\n"
        "help: take it out of one of these",
    ]


def test_a_place_of_which_nothing_is_left() -> None:
    places = (_place(1, tensor="dead"), _place(2, op="ADD"))
    placed = place_values(_module(), places, ["a"])
    with pytest.raises(CodegenError) as caught:
        place_edges(placed, run_passes(placed.module, (RemoveDead(),)), places)
    [message] = caught.value.messages
    assert str(message).startswith("error[E243] place 1: nothing of it is there at run time: dead became")


def test_weights_are_not_placed() -> None:
    module = parse_module(f"""module
const $c0: {_TYPE} align 1 origin "file/w" = base64 "AAAAAA=="
fn main(%x: {_TYPE}) {{
  %sum: {_TYPE} = ADD(%x, $c0: {_TYPE}) {_SUM}
}} -> (%sum)
""")
    with pytest.raises(CodegenError, match=r"E240.*'file/w' is a constant, which is linked, not placed"):
        place_values(module, (_place(1, tensor="file/w"),), ["a"])
