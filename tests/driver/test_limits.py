"""Hard limits hold for what is emitted, not for the plan alone.
`--deadline` ends every search of a planning, not only that for places.

It was given to the planner alone, anew in each of its calls: a random-wired network of 1,000 nodes went on
for minutes in the search for an order and in blocks of hundreds of joins. Calls are counted, not seconds.
A measured stack is held against the bound of its own model (E803).
What planning a chain of layers costs grows with its length.

A chain of 600 ADDs (94 KB) took 60 s of processor time, one of 150 took 11 s: every run of steps was looked
at as a block, each from its first step to its last.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from codegen.board import load_board
from codegen.cli import main
from codegen.draw.memory_map import program_map
from codegen.driver.build import Built, Share, build, plan_model
from codegen.driver.inputs.cases import Case
from codegen.driver.inputs.planned import Planned
from codegen.driver.options import Options
from codegen.driver.planning import plan_only
from codegen.driver.report.certificate import proof_text
from codegen.driver.report.several import used_pools
from codegen.driver.report.single import report
from codegen.driver.run import all_complaints, measure
from codegen.emit import render
from codegen.joint import together
from codegen.program.image import CaseResult, ElfSizes, Image, RunResult
from tests.networks import model_path
from tests.plan.growth import calls, chain, wired
from tests.products import NO_PRODUCT

KWS = model_path("ds_cnn")
SPEECH = model_path("speech")


def test_no_array_is_larger_than_the_limit(tmp_path: Path) -> None:
    """`--pool sram=134` gave an array of 144 bytes: sizes were rounded up to the pool's alignment."""
    peak = (
        build([SPEECH], Options(board="host", optimize="size"), tmp_path / "free").bundle.pools[0].size_bytes
    )
    assert peak % 16
    options = Options(board="host", optimize="size", pool_limits={"sram": peak})
    built = build([SPEECH], options, tmp_path / "tight")
    [pool] = built.bundle.pools
    assert pool.size_bytes == peak
    [told] = json.loads((built.folder / "report.json").read_text())["plan"]["pools"]
    assert (told["size_bytes"], told["peak_bytes"]) == (peak, peak)
    header = (built.folder / "speech.h").read_text()
    assert f"#define SPEECH_SRAM_POOL_SIZE  {peak}u" in header


def test_no_shared_array_is_larger_than_the_limit(tmp_path: Path) -> None:
    """The last of concurrent models ends where its bytes do."""
    names = ("ds_cnn", "speech")
    options = Options(board="host", optimize="size", concurrent=(names,))
    [free] = build([KWS, SPEECH], options, tmp_path / "free").bundle.pools
    assert free.size_bytes % 16
    tight = Options(board="host", optimize="size", concurrent=(names,), pool_limits={"sram": free.size_bytes})
    [pool] = build([KWS, SPEECH], tight, tmp_path / "tight").bundle.pools
    assert pool.size_bytes <= free.size_bytes


def test_a_random_wired_network_is_planned_by_its_deadline(tmp_path: Path) -> None:
    warm = tmp_path / "warm.tflite"
    warm.write_bytes(chain("twice", 2))
    plan_only(warm, Options())
    path = tmp_path / "wired.tflite"
    path.write_bytes(wired(120))
    made: list[Planned] = []
    count = calls(lambda: made.append(plan_only(path, Options(deadline_seconds=1e-6))))
    program = made[0].program
    # 3,000,000 calls are what two seconds of search take; without a deadline it is twenty times that.
    assert count < 3_000_000
    assert not program.memory.plan.reproducible
    assert "--deadline cut the search short" in proof_text(program)
    planned = report(made[0], "stm32")["plan"]
    assert isinstance(planned, dict) and planned["reproducible"] is False
    peak = sum(program.memory.peaks.values())
    assert sum(program.memory.plan.lower_bounds.values()) <= peak


def test_without_a_need_for_more_time_nothing_is_cut_short(tmp_path: Path) -> None:
    path = tmp_path / "chain.tflite"
    path.write_bytes(chain("skip", 6))
    free = plan_only(path, Options()).program
    timed = plan_only(path, Options(deadline_seconds=3600)).program
    assert timed.memory.plan.reproducible
    assert timed.memory.plan.placements == free.memory.plan.placements


def test_a_bare_problem_says_that_it_was_cut_short(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"b{i},{i % 50},{i % 50 + 7 + i % 11},{16 + i * 37 % 1000}" for i in range(1000)]
    Path("problem.csv").write_text("\n".join(["id,lower,upper,size", *rows]) + "\n")
    with pytest.raises(SystemExit) as ended:
        main(["plan", "problem.csv", "--deadline", "0.000001"])
    assert not ended.value.code
    last = capsys.readouterr().out.splitlines()[-1]
    assert "bytes above the bound; --deadline cut the search short" in last


BOUNDS = {"one": 100, "two": 200}
ZERO = np.zeros((1, 1), np.int8)
CASE = Case(name="zero", inputs=(ZERO,), expected=(ZERO,))


@pytest.fixture(scope="module")
def models() -> tuple[Planned, ...]:
    options = Options(board="mps2-an386", planner="greedy_by_size")
    board, path = load_board(options.board), model_path("dense_chain")
    return tuple(plan_model(path, board, options, share=Share(name=name)) for name in BOUNDS)


def _told(models: tuple[Planned, ...], stacks: tuple[int, int], core1: int | None = None) -> list[str]:
    """What is told of a run in which the models took so much stack."""
    sizes = ElfSizes(
        text_bytes=0,
        rodata_bytes=0,
        data_bytes=0,
        bss_bytes=0,
        model_code_bytes=0,
        stack_bound_bytes=max(BOUNDS.values()),
        core1_stack_bound_bytes=None if core1 is None else 50,
        stack_bounds={f"{name}_run": bound for name, bound in BOUNDS.items()},
    )
    image = Image(path=Path("x.elf"), sizes=sizes, symbols={}, sections={}, build_sha256="")
    bundle = together([each.program for each in models])
    board = load_board("mps2-an386")
    folder = Path("x")
    built = Built(models=models, bundle=bundle, board=board, image=image, folder=folder, product=NO_PRODUCT)
    measured = [
        measure(planned, [CASE], RunResult(runner="qemu", cases=(_case(planned, stack, core1),)))
        for planned, stack in zip(models, stacks, strict=True)
    ]
    found = all_complaints(built, [[CASE]] * len(models), measured)
    return [f"{each.code} {each.where}: {each.text}" for each in found]


def _case(planned: Planned, stack: int, core1: int | None) -> CaseResult:
    program = planned.program
    peaks = {name: program.memory.peak_bytes(name) for name in used_pools(program)}
    return CaseResult(
        outputs=(bytes(1),),
        paints_agree=True,
        pool_peaks=peaks,
        guards_intact=True,
        stack_peak_bytes=stack,
        instructions=None,
        counter_resolution=None,
        core1_stack_peak_bytes=core1,
    )


def test_each_model_has_its_own_bound(models: tuple[Planned, ...]) -> None:
    """Below the largest bound of the image, above its own: nothing had tested that this is told."""
    assert _told(models, (100, 200)) == []
    assert _told(models, (101, 200)) == ["E803 one, case zero: stack peak 101 bytes, static bound 100"]
    assert _told(models, (100, 201)) == ["E803 two, case zero: stack peak 201 bytes, static bound 200"]


def test_core_1_has_a_bound_of_its_own(models: tuple[Planned, ...]) -> None:
    assert _told(models, (1, 1), core1=51) == [
        f"E803 {name}, case zero: core 1: stack peak 51 bytes, static bound 50" for name in BOUNDS
    ]


@pytest.mark.parametrize("kind", ["twice", "skip", "conv"])
@pytest.mark.sampled(2)
def test_a_chain_twice_as_long_takes_twice_the_work(kind: str, tmp_path: Path) -> None:
    def work(length: int) -> int:
        path = tmp_path / f"chain{length}.tflite"
        path.write_bytes(chain(kind, length, (8, 8, 4)))
        # A planner that is no search: how long that goes on is up to its own count.
        return calls(lambda: plan_only(path, Options(planner="greedy_by_size")))

    work(2)  # what is read and compiled once
    short, middle, long = (work(length) for length in (10, 20, 40))
    # What does not depend on the length (board, kernels) is in all three.
    assert long - middle < 2.3 * (middle - short)


def test_the_map_and_the_c_of_a_chain_twice_as_long_take_twice_the_work(tmp_path: Path) -> None:
    """A chain of 4,000 layers was planned in seconds, but written in 20: each row of the map, each step's
    comment and each row of the test link looked at all buffers again."""

    def work(length: int) -> tuple[int, int]:
        path = tmp_path / f"chain{length}.tflite"
        path.write_bytes(chain("twice", length, (8, 8, 4)))
        options = Options(board="host", planner="greedy_by_size")
        planned = plan_only(path, options)
        bundle = together([planned.program])
        return calls(lambda: program_map(planned.program)), calls(lambda: render(bundle, "-O2"))

    work(2)  # templates are compiled once
    short, middle, long = (work(length) for length in (20, 40, 80))
    for few, more, most in zip(short, middle, long, strict=True):
        assert most - more < 2.3 * (more - few)
