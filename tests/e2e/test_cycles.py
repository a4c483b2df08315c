"""`run --cycles`: what the plugin counts is what the target's own counter says."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from codegen.cli.main import cli
from codegen.driver.build import build
from codegen.driver.cases import pattern_case
from codegen.driver.cycles import estimate_cycles
from codegen.driver.example import example_model
from codegen.driver.options import Options
from codegen.driver.run import execute
from codegen.plan.image import Trace
from codegen.toolchain import cycles


@pytest.mark.parametrize("board", ["mps2-an386", "microbit"])
def test_counted_executions_are_the_instructions_measured(
    board: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    built = build([example_model()], Options(board=board), tmp_path / "b", emulated=True)
    case = pattern_case([tensor.type for tensor in built.models[0].program.inputs], 0)
    trace = execute(built, [case], trace=Trace.RESULTS).result.trace

    def count(run: list[cycles.Executed], timing: cycles.Timing) -> int:
        del timing
        return sum(each.executions for each in run)

    estimate = estimate_cycles(built, case)
    monkeypatch.setattr(cycles, "cycles", count)
    counted = estimate_cycles(built, case)
    counter = built.board.counter
    assert counter is not None
    # The counter ticks every so many instructions and also sees the hooks around a step.
    around = 2 * counter.instructions_per_tick + 60
    for step, executions in zip(trace, counted, strict=True):
        assert step.instructions is not None
        assert abs(executions - step.instructions) <= around
    assert all(cost >= executions for cost, executions in zip(estimate, counted, strict=True))


def test_a_board_without_timings_says_so():
    answer = CliRunner().invoke(cli, ["run", "--board", "host", "--cycles"], standalone_mode=False)
    assert "E225" in str(answer.exception)
    assert "no estimate for board host" in str(answer.exception)
