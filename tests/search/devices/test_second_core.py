"""What is placed on the second core runs there, or the build says why nothing can."""

from dataclasses import replace
from itertools import pairwise

import pytest

from codegen.errors import CodegenError
from codegen.ir import Module, Var, VirtualDevice
from codegen.ir.hardware import SecondCore
from codegen.kernels.contract import View
from codegen.problem.problem import Limits
from codegen.program.program import core_of
from codegen.search.devices.device_plan import plan_devices
from codegen.search.devices.offers import Owners
from codegen.search.memory.attempt import Choices
from codegen.search.search import search
from tests.plan.build import function, prim, var
from tests.search.devices.scoping import OFFER
from tests.search.kernels.test_selection import ROOMY as BOARD
from tests.search.rows import Net

CORE_1 = VirtualDevice(device_id=1)
TWO_CORES = replace(OFFER, second_core=VirtualDevice(target="core", device_id=1))


def _on_core_1(name: str) -> Var:
    return replace(var(name, 8), device=CORE_1)


def test_inputs_and_views_are_no_steps_that_a_core_could_run() -> None:
    """`device_id = 1` on an input or on a RESHAPE was taken, and nothing came of it."""
    x, other = _on_core_1("x"), _on_core_1("other")
    v, w = _on_core_1("v"), _on_core_1("w")
    y, z, end = var("y", 8), var("z", 8), _on_core_1("end")
    prims = [
        prim(v, x, view=View(argument=0)),
        prim(y, v, other),
        prim(w, y, view=View(argument=0)),
        prim(z, w),
        prim(end, w, view=View(argument=0)),
    ]
    given: dict[str, str] = dict.fromkeys(("x", "other"), "codegen.toml, place 1")
    given |= dict.fromkeys(("v", "w", "end"), "codegen.toml, place 2")
    called = function([x, other], prims, [z, end])
    with pytest.raises(CodegenError) as caught:
        plan_devices(called, prims, TWO_CORES, Owners(placed=given))
    assert [str(message) for message in caught.value.messages] == [
        "error[E325] codegen.toml, place 1: x, other: given to core device 1, but no step computes an input: "
        "the caller writes it\n"
        'help: place what reads it instead (tensor = "y"), or leave device_id out',
        "error[E325] codegen.toml, place 2: v (a view of x), w (a view of y), end (a view of y): given to "
        "core device 1, but no code runs for a view: its bytes are there already\n"
        'help: place what computes these bytes instead (tensor = "y"), or leave device_id out',
    ]


def test_an_input_that_is_a_view_s_too_has_nothing_to_be_placed_instead() -> None:
    x, v = var("x", 8), _on_core_1("v")
    prims = [prim(v, x, view=View(argument=0))]
    with pytest.raises(CodegenError) as caught:
        plan_devices(function([x], prims, [v]), prims, TWO_CORES)
    [message] = caught.value.messages
    assert (message.code, message.where) == ("E325", "its device in the model")
    assert message.help == "leave device_id out"


def test_device_0_is_where_everything_is_anyway() -> None:
    x, v, y = (replace(var(name, 8), device=VirtualDevice(device_id=0)) for name in "xvy")
    prims = [prim(v, x, view=View(argument=0)), prim(y, v)]
    planned, _ = plan_devices(function([x], prims, [y]), prims, TWO_CORES)
    assert [let.var.name for let in planned.body] == ["v", "y"]


def test_one_message_for_all_steps_of_a_place_on_a_device_that_is_not_there() -> None:
    """`op = "CONV_2D"` with a wrong target gave the same text once a step, 30 times for one mistake."""
    npu = VirtualDevice(target="npu", device_id=0)
    x, lone = var("x", 8), replace(var("lone", 8), device=CORE_1)
    values = [replace(var(f"v{index}", 8), device=npu) for index in range(22)]
    chain = [x, *values, lone]
    prims = [prim(after, before) for before, after in pairwise(chain)]
    placed = {value.name: "codegen.toml, place 3" for value in values}
    with pytest.raises(CodegenError) as caught:
        plan_devices(function([x], prims, [lone]), prims, OFFER, Owners(placed=placed))
    names = ", ".join(f"v{index}" for index in range(20))
    has = "but probe has only its core, core device 0, and no kernel of"
    help_ = "help: leave target and device_id out, or declare a [[kernel]] that has them"
    assert [str(message) for message in caught.value.messages] == [
        f"error[E322] codegen.toml, place 3: {names} and 2 more are given to npu device 0, {has} these steps "
        f"drives another device\n{help_}",
        f'error[E322] PROBE "lone": lone is given to device 1 by its device in the model, {has} this step '
        f"drives another device\n{help_}",
    ]


def _sliced_and_joined(device: VirtualDevice) -> Module:
    net = Net()
    x = net.param("x", 40)
    parts = [net.slice(x, start, 20) for start in (0, 20)]
    module = net.module(net.relu(net.concat(*(net.relu(part) for part in parts))))
    moves = {"STRIDED_SLICE", "CONCATENATION"}
    main = module.main
    named = {let.var.name: let.var for let in main.body if let.call.op.name in moves}

    def placed(arg: object) -> object:
        return replace(arg, device=device) if isinstance(arg, Var) and arg.name in named else arg

    body = tuple(
        replace(
            let,
            var=placed(let.var),  # type: ignore[arg-type]
            call=replace(let.call, args=tuple(placed(arg) for arg in let.call.args)),  # type: ignore[arg-type]
        )
        for let in main.body
    )
    return replace(module, functions={**module.functions, main.name: replace(main, body=body)})


@pytest.mark.parametrize("device_id", [0, 1])
def test_a_move_that_was_placed_on_core_1_runs_there(device_id: int) -> None:
    """A slice could become a view, a CONCATENATION be joined: then nothing was left for core 1 to run."""
    second = SecondCore(driver="sse200", address=0x50021000, stack_bytes=1024)
    board = replace(BOARD, second_core=second)
    module = _sliced_and_joined(VirtualDevice(device_id=device_id))
    choices = Choices(planner="hill_climb", limits=Limits(effort=200))
    program = search(module, board, choices, name="moves")
    moves = [p for p in program.steps.prim_funcs if p.let.call.op.name in ("STRIDED_SLICE", "CONCATENATION")]
    assert len(moves) == 3
    assert [(p.is_call, core_of(p)) for p in moves] == [(bool(device_id), device_id)] * 3
