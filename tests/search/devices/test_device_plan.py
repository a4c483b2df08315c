"""Devices over whole functions: against brute force, against the checker of planned programs, and by hand.
Whatever the search makes of a function, values stay on their devices and compute the same.
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen import board as boards
from codegen.errors import CodegenError
from codegen.ir import ANYWHERE, Arg, Call, Function, Let, Module, Var, VirtualDevice
from codegen.ir.evaluate import evaluate
from codegen.ir.operator import Attrs
from codegen.ir.ops import DEVICE_COPY
from codegen.kernels.contract import MemoryDemand, View
from codegen.kernels.portable.inserted import DEVICE_COPY_KERNEL
from codegen.kernels.primfunc import PrimFunc
from codegen.lifetimes.memories import misplaced, misplaced_program
from codegen.problem.problem import Limits
from codegen.problem.shortage import DoesNotFit
from codegen.program.interface import IoMode
from codegen.program.program import Program, core_of
from codegen.search import Choices, PlacedValues, search
from codegen.search.devices.device_plan import plan_devices
from codegen.search.devices.offers import Owners
from tests.plan.build import function, live, prim, var
from tests.sampling import examples
from tests.search.chains import random_chain
from tests.search.devices.scoping import OFFER, POOLS, Given, fewest_copies, given_functions

Planned = tuple[Function, tuple[PrimFunc, ...]]


def _planned(case: Given) -> Planned | None:
    try:
        return plan_devices(case.function, case.prims, OFFER, case.owners)
    except CodegenError as error:
        assert {message.code for message in error.messages} == {"E320"}
        return None


def _copies(prims: tuple[PrimFunc, ...]) -> list[PrimFunc]:
    return [each for each in prims if each.let.call.op is DEVICE_COPY]


@settings(max_examples=examples(150), deadline=None)
@given(given_functions())
def test_as_many_copies_as_brute_force_needs(case: Given) -> None:
    found, least = _planned(case), fewest_copies(case)
    assert (None if found is None else len(_copies(found[1]))) == least


def _faults(found: Planned, owners: Owners) -> list[list[str]]:
    """What the checker says of every choice of pools that is left to a planner; empty if there is none."""
    mode = IoMode.CALLER if owners.owns_results else IoMode.POOL
    try:
        alive = live(found[0].params, found[1], found[0].results, io=mode, pools=POOLS)
    except (CodegenError, ValueError):
        return []
    choices = [buffer.pool_candidates for buffer in alive.buffers]
    faults: list[list[str]] = []
    for chosen in product(*choices):
        pools = {buffer.id: pool for buffer, pool in zip(alive.buffers, chosen, strict=True)}
        values = {name: pools[part.buffer] for name, part in alive.slices.items()}
        faults.append(misplaced(found[0], found[1], values, {}))
    return faults


@settings(max_examples=examples(100), deadline=None)
@given(given_functions())
def test_whatever_the_planner_chooses_suits_every_use(case: Given) -> None:
    found = _planned(case)
    if found is None or case.owners.owns_results:
        return
    faults = _faults(found, case.owners)
    assert faults and not any(faults)


@settings(max_examples=examples(100), deadline=None)
@given(given_functions(copies=False), st.data())
def test_without_one_of_its_copies_nothing_suits(case: Given, data: st.DataObject) -> None:
    found = _planned(case)
    if found is None or case.owners.owns_results or not _copies(found[1]):
        return
    gone = data.draw(st.sampled_from(_copies(found[1])))
    assert all(_faults(_without(found, gone), case.owners))


def _without(found: Planned, gone: PrimFunc) -> Planned:
    """Who read the copy reads what it was a copy of."""
    source = gone.let.call.args[0]

    def arg(old: Arg | None) -> Arg | None:
        return source if old == gone.let.var else old

    kept = [each for each in found[1] if each is not gone]
    prims = [
        replace(p, let=replace(p.let, call=replace(p.let.call, args=tuple(map(arg, p.let.call.args)))))
        for p in kept
    ]
    results = [source if result == gone.let.var else result for result in found[0].results]
    return function(found[0].params, prims, [r for r in results if r is not None]), tuple(prims)


Meaning = tuple[object, ...]


def _meanings(function_: Function, prims: tuple[PrimFunc, ...]) -> Mapping[str, Meaning]:
    """What each value is computed from; a copy is what it copies, a view is one under any name."""
    found: dict[str, Meaning] = {param.name: (param.name,) for param in function_.params}
    for each in prims:
        args = tuple(found[arg.name] for arg in each.let.call.args if isinstance(arg, Var))
        name = each.let.var.name
        if each.let.call.op is DEVICE_COPY:
            found[name] = args[0]
        else:
            found[name] = ("view" if each.view else name, *args)
    return found


@settings(max_examples=examples(100), deadline=None)
@given(given_functions())
def test_what_is_computed_stays_and_devices_that_are_set_too(case: Given) -> None:
    found = _planned(case)
    if found is None:
        return
    before, after = _meanings(case.function, case.prims), _meanings(*found)
    for name in before.keys() & after.keys():
        assert before[name] == after[name]
    calls = [p.name for p in case.prims if p.is_call and p.let.call.op is not DEVICE_COPY]
    assert [p.name for p in found[1] if p.is_call and p.let.call.op is not DEVICE_COPY] == calls
    for one, two in zip(case.function.results, found[0].results, strict=True):
        assert isinstance(one, Var) and isinstance(two, Var)
        assert before[one.name] == after[two.name]
    devices = {value.name: value.device for value in case.function.variables()}
    for value in found[0].variables():
        if value.name in devices:
            assert devices[value.name].unify(value.device) == value.device


@settings(max_examples=examples(100), deadline=None)
@given(given_functions())
def test_planning_devices_again_changes_nothing(case: Given) -> None:
    found = _planned(case)
    if found is not None:
        again = plan_devices(*found, OFFER, case.owners)
        assert again[0] == found[0]
        assert [p.let for p in again[1]] == [p.let for p in found[1]]


# ---- by hand ----------------------------------------------------------------------------


def _kernel_in(scopes: tuple[str, ...], argument: int | None = 0) -> tuple[MemoryDemand, ...]:
    return (MemoryDemand(scopes=scopes, argument=argument),)


def test_a_demand_flows_back_into_the_value() -> None:
    x, y = var("x", 8), var("y", 8)
    prims = [prim(y, x, memory=_kernel_in(("b",)))]
    planned, found = plan_devices(function([x], prims, [y]), prims, OFFER)
    assert planned.params[0].device == VirtualDevice(memory_scope="b")
    assert not _copies(found)


def test_one_copy_serves_all_uses_in_a_memory_and_through_views() -> None:
    x, v, y, z = var("x", 8, scope="a"), var("v", 8), var("y", 8), var("z", 8)
    prims = [
        prim(v, x, view=View(argument=0)),
        prim(y, v, memory=_kernel_in(("b", "c"))),
        prim(z, x, y, memory=_kernel_in(("c",))),
    ]
    planned, found = plan_devices(function([x], prims, [z]), prims, OFFER)
    assert [(p.name, p.let.var.device.memory_scope) for p in found] == [
        ("x_c", "c"),
        ("v_c", "c"),
        ("y", None),
        ("z", None),
    ]
    assert planned.body[1].call.args == (planned.body[0].var,)


def test_round_trips_and_copies_for_nobody_go() -> None:
    x, there, back, idle, y = (var(n, 8, scope=s) for n, s in zip("xtbiy", "abac" + "a", strict=True))
    copies = [_copy(there, x), _copy(back, there), _copy(idle, x)]
    prims = [*copies, prim(y, back)]
    planned, found = plan_devices(function([x], prims, [y]), prims, OFFER)
    assert [p.name for p in found] == ["y"]
    assert planned.body[0].call.args == (x,)


def _copy(result: Var, source: Var) -> PrimFunc:
    let = Let(var=result, call=Call(op=DEVICE_COPY, args=(source,), attrs=Attrs()))
    return DEVICE_COPY_KERNEL.bind(let, {}, result.name)


def test_every_contradiction_is_told_with_its_chain() -> None:
    x, v, w = var("x", 8, scope="a"), var("v", 8), var("w", 8, scope="b")
    y, z = var("y", 8, scope="c"), var("z", 8)
    prims = [
        prim(v, x, view=View(argument=0)),
        prim(w, v, view=View(argument=0)),
        prim(y, w, memory=_kernel_in(("a", "b"), None)),
        prim(z, y, memory=_kernel_in(("a",))),
    ]
    with pytest.raises(CodegenError) as caught:
        plan_devices(function([x], prims, [z]), prims, OFFER, Owners(placed={"x": "codegen.toml, place 2"}))
    assert [message.text for message in caught.value.messages] == [
        "no memory suits w: x is given to a by codegen.toml, place 2; v is a view of x; w is a view of v; "
        "w is given to b by its device in the model",
        "no memory suits y: y is given to c by its device in the model; kernel probe of y wants its result "
        "in a or b",
    ]
    assert {message.code for message in caught.value.messages} == {"E320"}


def test_memories_and_devices_that_the_board_lacks() -> None:
    x, c = var("x", 8), replace(var("c", 8), device=VirtualDevice(target="core", device_id=1))
    y = replace(var("y", 8), device=VirtualDevice(target="npu"))
    npu, dsp = VirtualDevice(target="npu", device_id=0), VirtualDevice(target="dsp")
    prims = [prim(c, x, memory=_kernel_in(("ccm",))), prim(y, c, device=npu)]
    with pytest.raises(CodegenError) as caught:
        plan_devices(function([x], prims, [y]), prims, OFFER)
    assert [str(message) for message in caught.value.messages] == [
        'error[E323] PROBE "c": kernel probe wants argument 0 in ccm, which probe has not\n'
        "help: its pools are a, b, c; DMA reaches b, c",
        'error[E322] PROBE "c": c is given to core device 1 by its device in the model, but probe has only '
        "its core, core device 0, and no kernel of this step drives another device\n"
        "help: leave target and device_id out, or declare a [[kernel]] that has them",
    ]
    npu_2 = replace(y, device=VirtualDevice(target="npu", device_id=1))
    for second, words in (
        (None, "its core, core device 0"),
        (1, "its cores, core device 0 and core device 1"),
    ):
        both = (
            OFFER if second is None else replace(OFFER, second_core=VirtualDevice(target="core", device_id=1))
        )
        with pytest.raises(
            CodegenError, match=f"y is given to npu device 1 .* but probe has only {words}, and"
        ):
            plan_devices(function([x], [prim(npu_2, x)], [npu_2]), [prim(npu_2, x)], both)
    both = replace(OFFER, second_core=VirtualDevice(target="core", device_id=1))
    planned, found = plan_devices(function([x], [prim(c, x)], [c]), [prim(c, x)], both)
    assert (planned.body[0].var.device, core_of(found[0])) == (c.device, 1)
    assert core_of(prim(replace(c, device=ANYWHERE), x)) == core_of(prim(c, x, device=c.device)) == 0
    prims = [prim(replace(c, device=ANYWHERE), x), prim(y, replace(c, device=ANYWHERE), device=dsp)]
    with pytest.raises(
        CodegenError, match=r"E321.*y is given to npu .* kernel probe drives dsp: target is npu"
    ):
        plan_devices(function([x], prims, [y]), prims, OFFER)
    prims[1] = prim(y, replace(c, device=ANYWHERE), device=npu)
    planned, _ = plan_devices(function([x], prims, [y]), prims, OFFER)
    assert planned.body[1].var.device == npu, "flows out of the PrimFunc"


BOARD = boards.load_board("mps3-an547")
MEMORIES = ("dtcm", "sram")
WAYS: tuple[dict[str, Any], ...] = (
    {"optimize": "balanced"},
    {"optimize": "size"},
    {"optimize": "speed"},
    {"optimize": "balanced", "sharing": "in-place"},
    {"optimize": "size", "io": IoMode.CALLER},
    {"optimize": "balanced", "blocks": False, "keep_inputs": True},
)


def _with_devices(module: Module, rng: np.random.Generator) -> Module:
    function = module.main
    choices = (None, None, None, *MEMORIES)
    scopes = {var.name: choices[int(rng.integers(5))] for var in function.variables()}

    def var(old: Var) -> Var:
        return replace(old, device=VirtualDevice(memory_scope=scopes[old.name]))

    def arg(old: Arg | None) -> Arg | None:
        return var(old) if isinstance(old, Var) else old

    def let(old: Let) -> Let:
        call = replace(old.call, args=tuple(arg(each) for each in old.call.args))
        return replace(old, var=var(old.var), call=call)

    made = Function(
        name=function.name,
        params=tuple(var(param) for param in function.params),
        body=tuple(let(each) for each in function.body),
        results=tuple(var(each) if isinstance(each, Var) else each for each in function.results),
    )
    return Module(functions={made.name: made}, constants=module.constants, metadata=module.metadata)


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=pytest.mark.long if seed > 2 else ()) for seed in range(6)]
)
@pytest.mark.sampled()
def test_devices_stay_whatever_the_search_does(seed: int, way: dict[str, Any]) -> None:
    rng = np.random.default_rng(seed)
    module = random_chain(seed, int(rng.integers(4, 9)), joins=True)
    if way.get("io") is not IoMode.CALLER:
        module = _with_devices(module, rng)
    steps = [let.var.name for let in module.main.body]
    reads = {name: (MEMORIES[int(rng.integers(2))], "a test") for name in steps if rng.random() < 0.3}
    choices = Choices(
        planner="greedy_by_size", limits=Limits(effort=200), placed=PlacedValues(reads=reads), **way
    )
    program = search(module, BOARD, choices, name="model")
    _check(module, program, reads)
    used = {name: _peak(program, name) for name in MEMORIES}
    tight = {name: max(1, peak * 9 // 10) for name, peak in used.items()}
    try:
        # Limits make it take blocks, repeated steps and kernels in place that it would not take else.
        program = search(module, BOARD, replace(choices, pool_limits=tight), name="model")
    except DoesNotFit:
        return
    _check(module, program, reads)


def _peak(program: Program, pool: str) -> int:
    plan = program.memory.plan
    return max(
        (
            plan.placements[b.id].offset + b.size_bytes
            for b in program.memory.problem.buffers
            if plan.placements[b.id].pool == pool
        ),
        default=0,
    )


def _check(module: Module, program: Program, reads: dict[str, tuple[str, str]]) -> None:
    assert misplaced_program(program) == []
    devices = {var.name: var.device for var in module.main.variables()}
    where = {
        name: program.memory.plan.placements[part.buffer].pool for name, part in program.memory.slices.items()
    }
    repeated = {let.var.name: let.repeats for let in program.steps.function.body if let.repeats}
    for made in program.steps.function.variables():
        name = repeated.get(made.name, made.name)
        if name in devices and devices[name].memory_scope is not None:
            assert made.device == devices[name]
            assert where[made.name] == devices[name].memory_scope
    for let in program.steps.function.body:
        if let.var.name in reads:
            args = [arg.name for arg in let.call.args if isinstance(arg, Var)]
            assert {where[name] for name in args} == {reads[let.var.name][0]}
    # Blocks swallow only values without a device.
    inside = {name for name in devices if devices[name].memory_scope is not None} - set(where)
    assert not inside
    rng = np.random.default_rng(1)
    [param] = module.main.params
    inputs = [rng.integers(-128, 128, param.type.shape).astype(np.int8)]
    made = Module(functions={"main": program.steps.function}, constants=module.constants)
    for one, two in zip(
        evaluate(module, module.main, inputs), evaluate(made, program.steps.function, inputs), strict=True
    ):
        assert np.array_equal(one, two)
