"""The reduction through the whole chain: real models against goldens, random networks compiled and run."""

from pathlib import Path

import numpy as np
import pytest

from codegen import board as boards
from codegen import emit, toolchain
from codegen.driver.build import Planned, plan_model
from codegen.driver.inputs.cases import Case
from codegen.driver.options import Options
from codegen.driver.run import check_steps, complaints, execute, measure, request
from codegen.errors import CodegenError
from codegen.ir import Board, Module
from codegen.ir.evaluate import evaluate, steps
from codegen.passes import FoldConstants, RemoveDead, run_passes
from codegen.passes.reduce import reduce
from codegen.plan.models.bundling import together
from codegen.program.image import Trace
from codegen.program.problem import peak_bytes
from codegen.search import Choices, search
from tests.e2e.models import build_model, golden_cases
from tests.joining import joined
from tests.passes.networks import inputs_of, random_network
from tests.testdata import model_path

VWW = "mlperf_tiny/vww_96_int8"
HOST = boards.load_board("host")
WANTED = 40
"""Reduced networks that one program holds."""


def _peak(planned: Planned) -> int:
    program = planned.program
    return sum(peak_bytes(program.problem, program.plan, pool.name) for pool in program.problem.pools)


def test_vww_shrinks_as_far_as_is_known() -> None:
    """Its 971 rows of zero weights alone leave 3,733,073 multiply-accumulates and 29,286 bytes of weights."""
    whole = plan_model(model_path(VWW), HOST, Options(board="host", reduce=False))
    planned = plan_model(model_path(VWW), HOST, Options(board="host"))
    assert whole.reduction is None
    assert planned.reduction is not None
    before, after = planned.reduction.before, planned.reduction.after
    assert (before.macs, before.weight_bytes) == (7_489_664, 208_112)
    assert after.macs == sum(prim.macs for prim in planned.program.prim_funcs) <= 3_733_073
    assert after.weight_bytes <= 29_286
    assert planned.macs == whole.macs == 7_489_664
    assert _peak(planned) <= _peak(whole)
    module = planned.module
    for case in golden_cases(VWW)[:3]:
        assert case.known_outputs is not None
        for got, wanted in zip(evaluate(module, module.main, case.inputs), case.known_outputs, strict=True):
            assert np.array_equal(got, wanted)


def test_constant_neurons_are_those_that_all_inputs_show() -> None:
    """hello_world has one int8 input: its first layer is known from 256 inferences."""
    planned = plan_model(model_path("tflm/hello_world_int8"), HOST, Options(board="host"))
    whole = planned.reference
    first = [next(steps(whole, whole.main, [np.full((1, 1), x, np.int8)])) for x in range(-128, 128)]
    values = np.concatenate([value for _, value in first])
    assert planned.reduction is not None
    left = planned.reduction.surviving[first[0][0].var.name]
    assert left == tuple(np.flatnonzero(values.min(axis=0) != values.max(axis=0)))


@pytest.mark.parametrize("shrunk", ["tflm/hello_world_int8", "tflm/person_detect"])
def test_validated_steps_are_those_of_the_whole_network(shrunk: str, tmp_path: Path) -> None:
    built = build_model(shrunk, Options(board="host"), tmp_path / "build")
    (planned,) = built.models
    case = golden_cases(shrunk)[0]
    checks = check_steps(planned, case, execute(built, [case], trace=Trace.RESULTS))
    assert all(check.comparison is None or check.comparison.matches for check in checks)
    cut = [check.channels for check in checks if check.channels is not None]
    assert cut
    assert all(left < every for left, every in cut)


def _searched(module: Module, name: str, board: Board) -> Planned | None:
    """The reduced network, planned; None if the search refuses the network as it was."""
    reduction = reduce(module)
    try:
        search(module, board, Choices(planner="greedy_by_size"), name=name)
    except CodegenError:
        return None
    program = search(reduction.module, board, Choices(planner="greedy_by_size"), name=name)
    return Planned(module=reduction.module, program=program, macs=0, reduction=reduction)


def test_random_networks_run_as_before(tmp_path: Path) -> None:
    """What can be built can be built reduced (E312 and kernels that refuse included), with equal outputs."""
    models: list[Planned] = []
    seeds: list[int] = []
    for seed in range(10_000):
        module = run_passes(random_network(seed), (FoldConstants(), RemoveDead()))
        planned = _searched(module, f"net{seed}", HOST) if reduce(module).removed else None
        if planned is not None:
            models.append(planned)
            seeds.append(seed)
        if len(models) == WANTED:
            break
    sources = joined(emit.render(together([model.program for model in models])))
    emit.write(sources, tmp_path / "build")
    image = toolchain.build(sources, tmp_path / "build", HOST, optimize="size")
    wrong: list[str] = []
    with boards.session(image, HOST) as target:
        for number, (seed, model) in enumerate(zip(seeds, models, strict=True)):
            assert model.reduction is not None
            cases = [
                Case(name=f"net{seed} {index}", inputs=tuple(inputs))
                for index, inputs in enumerate(inputs_of(model.reduction.original, seed))
            ]
            measured = measure(model, cases, target.run(request(model.program, cases, model=number)))
            wrong += [str(message) for message in complaints(model, cases, measured, None)]
    assert not wrong, "\n".join(wrong[:20])
