"""`run --cycles`: what the plugin counts is what the target's own counter says; waits for a part's flash.
No recorded figure gets worse: benchmarks/results/models.csv against what this checkout builds.

Deterministic figures of one compiler version; with another one there is nothing to compare with. Where a
change is meant, `python benchmarks/models.py` records the new figures, and review sees them.
The same model gives the same bytes: from two folders, two hash seeds, two users.
"""

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from elftools.elf.elffile import ELFFile

from codegen.board import load_memory_model
from codegen.cli.main import cli
from codegen.driver.build import Built, build
from codegen.driver.cycle_estimate import estimate_cycles
from codegen.driver.inputs.cases import pattern_case
from codegen.driver.inputs.files import example_model
from codegen.driver.options import Options
from codegen.driver.run import RunConditions, execute
from codegen.errors import CodegenError
from codegen.ir import FlashCache
from codegen.program.image import Trace
from codegen.targets.arm import timing as arm_timing
from codegen.toolchain import cycles
from tests.checkout import ROOT


@pytest.mark.parametrize("board", ["mps2-an386", "microbit"])
@pytest.mark.sampled(1)
def test_counted_executions_are_the_instructions_measured(
    board: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    built = build([example_model()], Options(board=board), tmp_path / "b", emulated=True)
    case = pattern_case([tensor.type for tensor in built.models[0].program.signature.inputs], 0)
    trace = execute(built, [case], RunConditions(trace=Trace.RESULTS)).result.trace

    def count(run: list[cycles.Executed], timing: object) -> int:
        del timing
        return sum(each.executions for each in run)

    estimate = estimate_cycles(built, case)
    monkeypatch.setattr(arm_timing, "cycles", count)
    counted = estimate_cycles(built, case).cycles
    counter = built.board.counter
    assert counter is not None
    # The counter ticks every so many instructions and also sees the hooks around a step.
    around = 2 * counter.instructions_per_tick + 60
    silent = built.models[0].program.silent_steps
    assert silent, "the example has a view"
    for step, executions in zip(trace, counted, strict=True):
        assert step.instructions is not None
        assert (step.instructions == 0) == (executions == 0) == (step.step in silent)
        assert abs(executions - step.instructions) <= around
    assert all(cost >= executions for cost, executions in zip(estimate.cycles, counted, strict=True))


def test_a_board_without_timings_says_so():
    answer = CliRunner().invoke(cli, ["run", "--board", "host", "--cycles"], standalone_mode=False)
    assert "E225" in str(answer.exception)
    assert "no estimate for board host" in str(answer.exception)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("cycles") / "b"
    return build([example_model()], Options(board="mps2-an386"), folder, emulated=True)


def _halfwords(path: Path) -> Callable[[cycles.Executed], int]:
    """Halfwords of an instruction's encoding: Thumb's first one says whether there is a second."""
    with path.open("rb") as file:
        sections = [section for section in ELFFile(file).iter_sections() if section["sh_flags"] & 4]
        images = [(int(section["sh_addr"]), section.data()) for section in sections]

    def count(each: cycles.Executed) -> int:
        at = each.instruction.address
        base, data = next((base, data) for base, data in images if base <= at < base + len(data))
        return 2 if int.from_bytes(data[at - base : at - base + 2], "little") >= 0xE800 else 1

    return count


def _runs(
    built: Built, monkeypatch: pytest.MonkeyPatch, read_bytes: int
) -> tuple[tuple[cycles.Executed, ...], ...]:
    """What ran in each step, and waited for a flash of one wait state without caches."""
    runs: list[tuple[cycles.Executed, ...]] = []

    def keep(run: list[cycles.Executed], timing: object) -> int:
        del timing
        runs.append(tuple(run))
        return 0

    case = pattern_case([tensor.type for tensor in built.models[0].program.signature.inputs], 0)
    part = replace(load_memory_model("stm32l4r5"), instruction_cache=None, data_cache=None)
    monkeypatch.setattr(arm_timing, "cycles", keep)
    estimate_cycles(built, case, memory=replace(part, wait_states=1, read_bytes=read_bytes))
    return tuple(runs)


def test_a_flash_of_halfwords_without_caches_waits_once_a_halfword(
    built: Built, monkeypatch: pytest.MonkeyPatch
):
    halfwords = _halfwords(built.image.path)
    for run in _runs(built, monkeypatch, read_bytes=2):
        assert [each.waits.code for each in run] == [each.executions * halfwords(each) for each in run]


def test_code_in_sequence_waits_once_a_line(built: Built, monkeypatch: pytest.MonkeyPatch):
    """Every instruction that only ever ran behind the one in front of it: it waits for the lines it adds."""
    halfwords = _halfwords(built.image.path)
    across = 0
    for run in _runs(built, monkeypatch, read_bytes=4):
        for before, each in itertools.pairwise(run):
            end = before.instruction.address + 2 * halfwords(before)
            only = before.executions == each.executions and not before.taken
            if not only or end != each.instruction.address or not each.executions:
                continue
            last = each.instruction.address + 2 * halfwords(each) - 1
            added = last // 4 - (end - 1) // 4
            across += added == 1 and end % 4 == 2
            assert each.waits.code == added * each.executions, hex(each.instruction.address)
    assert across  # instructions that begin in a line that is there and end in the next


def test_waits_for_the_flash_of_a_part(built: Built):
    program = built.models[0].program
    case = pattern_case([tensor.type for tensor in program.signature.inputs], 0)
    part = load_memory_model("stm32l4r5")
    plain = estimate_cycles(built, case)
    once = estimate_cycles(built, case, memory=part)
    twice = estimate_cycles(built, case, memory=replace(part, wait_states=2 * part.wait_states))
    large = FlashCache(rows=part.instruction_cache.rows if part.instruction_cache else 0, row_bytes=512)
    roomy = estimate_cycles(built, case, memory=replace(part, instruction_cache=large))
    assert plain.waits is None and plain.total_waits is None
    assert plain.cycles == once.cycles == twice.cycles == roomy.cycles
    assert once.waits and twice.waits and roomy.total_waits and once.total_waits
    # Without a prefetch the caches do not see how long a reading takes.
    assert [(2 * one.code, 2 * one.data) for one in once.waits] == [(o.code, o.data) for o in twice.waits]
    assert roomy.total_waits.code < once.total_waits.code
    assert roomy.total_waits.data == once.total_waits.data
    cache = part.data_cache
    assert cache is not None
    for prim, waits in zip(program.steps.prim_funcs, once.waits, strict=True):
        # All constants of a step are read from flash, but for what the cache may still have.
        lines = (prim.constant_bytes - cache.rows * cache.row_bytes) // part.read_bytes
        assert waits.data >= lines * part.wait_states


def test_both_totals_are_shown_and_reported(tmp_path: Path):
    words = [
        "run",
        str(example_model()),
        "--board",
        "mps2-an386",
        "--cycles",
        "--memory-model",
        "stm32l4r5",
        "-o",
        str(tmp_path / "r"),
    ]
    answer = CliRunner().invoke(cli, words, catch_exceptions=False)
    assert answer.exit_code == 0
    document = json.loads((tmp_path / "r" / "report.json").read_text())
    run, steps = document["run"], document["steps"]
    waits = run["flash_waits_estimate"]
    assert run["memory_model"] == "stm32l4r5"
    assert waits == {
        side: sum(step["flash_waits_estimate"][side] for step in steps) for side in ("code", "data")
    }
    total = run["cycles_estimate"] + waits["code"] + waits["data"]
    assert f"about {run['cycles_estimate']:,} cycles" in answer.stdout
    assert (
        f"about {total:,} cycles, {total / 120_000:.1f} ms at 120 MHz, with the flash of stm32l4r5"
        in answer.stdout
    )


def test_a_memory_model_has_to_exist():
    answer = CliRunner().invoke(cli, ["run", "--cycles", "--memory-model", "l4r"], standalone_mode=False)
    assert "E254" in str(answer.exception) and "known models: stm32l4r5" in str(answer.exception)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (("read_bytes = 8", "read_bytes = 12"), "read_bytes must be a power of two up to 4096, got 12"),
        (
            ("row_bytes = 32", "row_bytes = 4"),
            "instruction_cache.row_bytes must be 1 to 64 readings of 8 bytes",
        ),
        (("rows = 32", "rows = 0"), "rows must be 1 to 65536, got 0"),
        (("wait_states = 5", "wait_states = -1"), "wait_states must be 0 to 255, got -1"),
        (("wait_states", "waits"), "is no known key"),
        (("prefetch = false", "prefetch = 0"), "got 0"),
        (("name =", "name ="), None),
    ],
)
def test_mistakes_in_a_memory_model(tmp_path: Path, change: tuple[str, str], problem: str | None):
    shipped = ROOT / "boards" / "memory" / "stm32l4r5.toml"
    own = tmp_path / "own.toml"
    own.write_text(shipped.read_text().replace(*change))
    if problem is None:
        assert load_memory_model(str(own)) == load_memory_model("stm32l4r5")
        return
    with pytest.raises(CodegenError, match="E252") as caught:
        load_memory_model(str(own))
    assert problem in str(caught.value)


def _build(folder: Path, board: str, seed: str, user: str, **more: str) -> dict[str, bytes]:
    folder.mkdir(parents=True)
    environment = {
        **os.environ,
        **more,
        "PYTHONHASHSEED": seed,
        "PYTHONPATH": str(ROOT),
        "HOME": str(folder),
        "USER": user,
        "LOGNAME": user,
        "TZ": "Asia/Tokyo" if user == "alice" else "UTC",
    }
    words = ["build", str(example_model()), "--board", board, "-o", "made", "--quiet"]
    subprocess.run([sys.executable, "-m", "codegen", *words], cwd=folder, env=environment, check=True)
    made = folder / "made"
    return {
        str(path.relative_to(made)): path.read_bytes() for path in sorted(made.rglob("*")) if path.is_file()
    }


@pytest.mark.parametrize("board", [pytest.param("netduinoplus2", marks=pytest.mark.qemu), "host"])
@pytest.mark.sampled(1)
def test_two_builds_are_equal(board: str, tmp_path: Path) -> None:
    """What the first one takes from ccache was compiled once, somewhere; the second one compiles all."""
    first = _build(tmp_path / "a", board, "1", "alice")
    second = _build(tmp_path / "some" / "other" / "place", board, "2", "bob", CCACHE_DISABLE="1")
    assert list(first) == list(second)
    # The report too: the planner's time was in it, and two builds differed.
    different = [name for name in first if first[name] != second[name]]
    assert different == []
    assert not [name for name, data in first.items() if str(tmp_path).encode() in data]
