"""Whatever the search makes of a function, values stay on their devices and compute the same."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from codegen import board as boards
from codegen.ir import Arg, Function, Let, Module, Var, VirtualDevice
from codegen.ir.evaluate import evaluate
from codegen.plan.check.memories import misplaced_program
from codegen.program.interface import IoMode
from codegen.program.problem import Limits
from codegen.program.program import Program
from codegen.program.shortage import DoesNotFit
from codegen.search import Choices, search
from tests.search.chains import random_chain

BOARD = boards.load_board("mps3-an547")
POOLS = ("dtcm", "sram")
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
    choices = (None, None, None, *POOLS)
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
@pytest.mark.parametrize("seed", range(6))
def test_devices_stay_whatever_the_search_does(seed: int, way: dict[str, Any]) -> None:
    rng = np.random.default_rng(seed)
    module = random_chain(seed, int(rng.integers(4, 9)), joins=True)
    if way.get("io") is not IoMode.CALLER:
        module = _with_devices(module, rng)
    steps = [let.var.name for let in module.main.body]
    reads = {name: (POOLS[int(rng.integers(2))], "a test") for name in steps if rng.random() < 0.3}
    choices = Choices(planner="greedy_by_size", limits=Limits(effort=200), reads=reads, **way)
    program = search(module, BOARD, choices, name="model")
    _check(module, program, reads)
    used = {name: _peak(program, name) for name in POOLS}
    tight = {name: max(1, peak * 9 // 10) for name, peak in used.items()}
    try:
        # Limits make it take blocks, repeated steps and kernels in place that it would not take else.
        program = search(module, BOARD, replace(choices, pool_limits=tight), name="model")
    except DoesNotFit:
        return
    _check(module, program, reads)


def _peak(program: Program, pool: str) -> int:
    plan = program.plan
    return max(
        (
            plan.placements[b.id].offset + b.size_bytes
            for b in program.problem.buffers
            if plan.placements[b.id].pool == pool
        ),
        default=0,
    )


def _check(module: Module, program: Program, reads: dict[str, tuple[str, str]]) -> None:
    assert misplaced_program(program) == []
    devices = {var.name: var.device for var in module.main.variables()}
    where = {name: program.plan.placements[part.buffer].pool for name, part in program.slices.items()}
    for var in program.function.variables():
        name = var.name.partition("_again")[0]
        if name in devices and devices[name].memory_scope is not None:
            assert var.device == devices[name]
            assert where[var.name] == devices[name].memory_scope
    for let in program.function.body:
        if let.var.name in reads:
            args = [arg.name for arg in let.call.args if isinstance(arg, Var)]
            assert {where[name] for name in args} == {reads[let.var.name][0]}
    # Blocks swallow only values without a device.
    inside = {name for name in devices if devices[name].memory_scope is not None} - set(where)
    assert not inside
    rng = np.random.default_rng(1)
    [param] = module.main.params
    inputs = [rng.integers(-128, 128, param.type.shape).astype(np.int8)]
    made = Module(functions={"main": program.function}, constants=module.constants)
    for one, two in zip(
        evaluate(module, module.main, inputs), evaluate(made, program.function, inputs), strict=True
    ):
        assert np.array_equal(one, two)
