"""Recomputation: variants compute the same, peaks fall as arithmetic says, only who asked pays for it."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from codegen import board as boards
from codegen.driver.build import plan_model
from codegen.driver.options import Options
from codegen.ir import Module, Var
from codegen.ir.evaluate import evaluate
from codegen.lifetimes import replay
from codegen.plan import validate
from codegen.plan.place import planners
from codegen.problem.problem import Pool, limited
from codegen.problem.shortage import DoesNotFit
from codegen.program.interface import Edge
from codegen.program.program import Program, Steps
from codegen.search import Choices
from codegen.search.blocks.row_blocks import row_steps
from codegen.search.kernels.binding import Binder
from codegen.search.kernels.selection import select
from codegen.search.memory.attempt import Attempt, Grouping, Planning
from codegen.search.memory.frontier import Frontier
from codegen.search.steps.recompute import Need, Variant, variants
from codegen.search.steps.schedule import schedule
from codegen.settings import Optimize
from tests.networks import model_path
from tests.plan.growth import calls
from tests.roomy import roomy_board
from tests.search.chains import random_chain

HOST = boards.load_board("host")
POOL = Pool(name="ram", region="RAM", limit_bytes=1 << 28, alignment=1)
RESNET = "resnet8"
MACS = 12_501_632
"""Of the file's graph."""
FIRST_CONV_MACS = 32 * 32 * 16 * 3 * 3 * 3


def first_variant(module: Module) -> Variant:
    data = {id_: constant.data for id_, constant in module.constants.items()}
    binder = Binder(data, HOST.target)
    prims = select(module.main, binder)
    return Variant(function=module.main, prim_funcs=prims, steps=row_steps(prims, binder))


def planning(variant: Variant, module: Module, **choices: object) -> Planning:
    made = replace(Choices(planner="greedy_by_size"), **choices)  # pyright: ignore[reportArgumentType]
    data = {id_: constant.data for id_, constant in module.constants.items()}
    planner = planners.find("greedy_by_size")
    ordered = schedule(
        variant.function, variant.prim_funcs, mode="file", edge=Edge(io=made.io, kept=made.keep_inputs)
    )
    return Planning(
        ordered=ordered,
        variant=variant,
        binder=Binder(data, HOST.target),
        board=HOST,
        pools=(POOL,),
        planner=planner,
        choices=made,
    )


def check(module: Module, attempt: Attempt) -> None:
    """Both checkers accept the plan, and the function computes what the module's does."""
    assert validate.violations(attempt.problem, attempt.plan) == []
    steps = Steps(function=attempt.function, prim_funcs=attempt.prim_funcs, times=attempt.live.times)
    assert replay.replay(steps, attempt.live.layout(attempt.problem, attempt.plan), edge=Edge()) == []
    image = np.random.default_rng(1).integers(-128, 128, module.main.params[0].type.shape, np.int8)
    [expected] = evaluate(module, module.main, [image])
    [actual] = evaluate(module, attempt.function, [image])
    np.testing.assert_array_equal(actual, expected)


def dice_variants(variant: Variant, seed: int) -> list[Variant]:
    """Variants by made-up needs, the same in all steps: longer functions mostly need less."""
    rng = np.random.default_rng(seed)

    def profile(each: Variant, limit_bytes: int | None) -> Sequence[Need]:
        del limit_bytes
        steps = len(each.prim_funcs)
        return (Need(start=0, stop=steps, bytes=10_000 - 50 * steps - int(rng.integers(100))),)

    return list(variants(variant, profile, effort=500))


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.sampled(14)
def test_any_variant_computes_the_same(seed: int) -> None:
    module = random_chain(seed, 6 + seed % 7, joins=True)
    first = first_variant(module)
    for variant in dice_variants(first, seed)[-3:]:
        check(module, planning(variant, module).attempt(()))
        tiling = planning(variant, module).tiler().smallest(recompute=True)
        check(module, planning(variant, module).attempt(tiling.segments))
        macs = sum(prim.macs for prim in variant.prim_funcs)
        assert macs - sum(prim.macs for prim in first.prim_funcs) == variant.extra_macs
        again = [let for let in variant.function.body if let.repeats]
        assert len(variant.prim_funcs) > len(first.prim_funcs)
        assert again and all(let not in first.function.body for let in again)
        assert list(variant.function.results) == list(first.function.results)


def test_the_dice_find_variants() -> None:
    """Or the test above would test nothing."""
    made = [
        dice_variants(first_variant(random_chain(seed, 6 + seed % 7, joins=True)), seed) for seed in range(60)
    ]
    assert sum(map(len, made)) > 60
    longest = [max(sum(bool(let.repeats) for let in v.function.body) for v in each) for each in made if each]
    assert max(longest) > 4


def _single(variant: Variant, step: int, late: int) -> Variant:
    """`variant` with the result of `step` computed a second time in front of step `late`, written plainly."""
    prim = variant.prim_funcs[step]
    old = prim.let.var
    new = replace(old, name="twin")
    prims = list(variant.prim_funcs)
    for index in range(late, len(prims)):
        call = prims[index].let.call
        args = tuple(new if isinstance(arg, Var) and arg == old else arg for arg in call.args)
        prims[index] = replace(prims[index], let=replace(prims[index].let, call=replace(call, args=args)))
    prims.insert(late, replace(prim, name="twin", let=replace(prim.let, var=new)))
    function = replace(variant.function, body=tuple(prim.let for prim in prims))
    return Variant(function=function, prim_funcs=tuple(prims), steps=(None,) * len(prims))


@pytest.mark.parametrize("seed", range(60))
def test_no_single_recomputation_does_better(seed: int) -> None:
    """Against every step computed again in front of every later reader."""
    module = random_chain(seed, 5 + seed % 6, joins=True)
    first = first_variant(module)

    def need(variant: Variant) -> int:
        return planning(variant, module).bound_bytes(variant.function, variant.prim_funcs)

    results = {result.name for result in module.main.results if isinstance(result, Var)}
    singles = [
        need(_single(first, step, late))
        for step, let in enumerate(module.main.body)
        for late in module.main.uses()[let.var.name][1:]
        if let.var.name not in results
    ]
    found = list(planning(first, module).recomputing("whole"))
    needs = [max(each.bytes for each in again.needs("whole")) for again in found]
    least = min([need(first), *singles])
    assert min([need(first), *needs]) <= least
    assert needs == sorted(set(needs), reverse=True)
    extra = [again.extra_macs for again in found]
    assert extra == sorted(extra)


@pytest.mark.parametrize("grouping", ["whole", "blocks"])
def test_variants_need_less_and_less(grouping: Grouping) -> None:
    falls = 0
    for seed in range(15):
        module = random_chain(seed, 9, joins=True)
        first = planning(first_variant(module), module)
        before = max(need.bytes for need in first.needs(grouping))
        for again in first.recomputing(grouping):
            now = max(need.bytes for need in again.needs(grouping))
            assert now < before
            before, falls = now, falls + 1
    assert falls


def test_blocks_are_found_once_for_all_limits() -> None:
    """A limit that nothing keeps is followed by dozens of others. Each looked for all blocks anew, in the
    function and its variants: a network of 70 steps that fitted nowhere took minutes to say so."""
    module = random_chain(3, 12, joins=True)
    first = planning(first_variant(module), module)
    frontier = Frontier([first], list, None)
    once = calls(lambda: frontier.fastest(limited(first.pools, {POOL.name: 100})))
    again = calls(lambda: frontier.fastest(limited(first.pools, {POOL.name: 90})))
    assert again < once / 10, (once, again)


def test_a_streamed_input_is_read_once() -> None:
    """Its rows arrive one time: no step that reads them runs again."""
    made = 0
    for seed in range(80):
        module = random_chain(seed, 9, joins=True)
        first = planning(first_variant(module), module, stream_input=True)
        if not first.tiler().can_stream:
            continue
        readers = len(module.main.uses()["image"])
        for again in first.recomputing("blocks"):
            attempt = again.attempt(again.tiler().smallest(recompute=False).segments)
            streams = [prim for prim in attempt.prim_funcs if prim.block and prim.block.streamed]
            assert len(streams) == 1
            inner = streams[0].let.call.attrs.function  # pyright: ignore
            assert sum(any(arg == inner.params[0] for arg in let.call.args) for let in inner.body) == readers  # pyright: ignore
            made += 1
    assert made


# ---- what each --optimize does with it -----------------------------------------------------------------

BOARD = roomy_board("SRAM", cpu=HOST.target.cpu)


def resnet(optimize: Optimize, *, limit: int | None = None, blocks: bool = False) -> Program:
    options = Options(
        optimize=optimize,
        blocks=blocks,
        sharing="overlap" if blocks else "in-place",
        pool_limits={} if limit is None else {"sram": limit},
    )
    return plan_model(model_path(RESNET), BOARD, options).program


def facts(program: Program) -> tuple[int, int]:
    """Peak in bytes, multiply-accumulates executed."""
    peak = program.memory.peak_bytes("sram")
    return peak, sum(prim.macs for prim in program.steps.prim_funcs)


@pytest.mark.parametrize("optimize", ["speed", "balanced"])
def test_nothing_runs_twice_unless_a_budget_is_missed(optimize: Optimize) -> None:
    """Three images of 32 x 32 x 16 bytes stand side by side while the last of them is computed."""
    assert facts(resnet(optimize)) == (3 * 16_384, MACS)
    assert facts(resnet(optimize, limit=3 * 16_384)) == (3 * 16_384, MACS)


@pytest.mark.parametrize("optimize", ["speed", "balanced"])
def test_a_missed_budget_is_met_by_running_a_step_twice(optimize: Optimize) -> None:
    """Two images and the input of 32 x 32 x 3 bytes, from which the first image is computed again."""
    program = resnet(optimize, limit=40_000)
    assert facts(program) == (2 * 16_384 + 3_072, MACS + FIRST_CONV_MACS)
    names = [prim.name for prim in program.steps.prim_funcs]
    assert names[:5] == ["conv0", "conv1", "conv2", "conv0_again", "add3"]
    assert program.steps.prim_funcs[3].let.where.startswith("op 0 CONV_2D again")


def test_size_runs_a_step_twice() -> None:
    program = resnet("size")
    assert facts(program) == (35_840, MACS + FIRST_CONV_MACS)
    assert FIRST_CONV_MACS / MACS < 0.036


def test_constants_are_not_doubled() -> None:
    once, twice = resnet("balanced"), resnet("size")
    assert [pool.size_bytes for pool in twice.constants.pools] == [
        pool.size_bytes for pool in once.constants.pools
    ]


def test_no_variant_fits() -> None:
    with pytest.raises(DoesNotFit) as caught:
        resnet("balanced", limit=35_839)
    assert len(caught.value.shortages) == 1


def test_a_missed_budget_is_met_by_blocks_and_steps_that_run_twice() -> None:
    """What `size` finds a budget finds too, whatever was to be preferred, and no plan beyond the budget."""
    least, macs = facts(resnet("size", blocks=True))
    for optimize in ("speed", "balanced"):
        peak, executed = facts(resnet(optimize, blocks=True, limit=least))
        assert peak <= least
        assert MACS < executed <= macs


def test_balanced_with_blocks_runs_nothing_twice() -> None:
    peak, macs = facts(resnet("balanced", blocks=True))
    assert peak <= 20_400
    assert macs <= MACS


def test_size_with_blocks_never_needs_more() -> None:
    assert facts(resnet("size", blocks=True))[0] <= facts(resnet("balanced", blocks=True))[0]


def test_programs_are_the_same_every_time() -> None:
    one, other = resnet("size"), resnet("size")
    assert one.steps.function == other.steps.function
    assert replace(one.memory.plan, seconds=0.0) == replace(other.memory.plan, seconds=0.0)
