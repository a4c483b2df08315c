"""`--deadline` ends every search of a planning, not only that for places.

It was given to the planner alone, anew in each of its calls: a random-wired network of 1,000 nodes went on
for minutes in the search for an order and in blocks of hundreds of joins. Calls are counted, not seconds.
"""

from pathlib import Path

import pytest

from codegen.cli import main
from codegen.driver.options import Options
from codegen.driver.planning import plan_only
from codegen.driver.report.certificate import proof_text
from codegen.driver.report.single import report
from codegen.program.problem import peak_bytes
from codegen.program.program import Program
from tests.plan.growth import calls, chain, wired


def test_a_random_wired_network_is_planned_by_its_deadline(tmp_path: Path) -> None:
    warm = tmp_path / "warm.tflite"
    warm.write_bytes(chain("twice", 2))
    plan_only(warm, Options())
    path = tmp_path / "wired.tflite"
    path.write_bytes(wired(120))
    found: list[Program] = []
    count = calls(lambda: found.append(plan_only(path, Options(deadline_seconds=1e-6)).program))
    [program] = found
    # 3,000,000 calls are what two seconds of search take; without a deadline it is twenty times that.
    assert count < 3_000_000
    assert not program.plan.reproducible
    assert "--deadline cut the search short" in proof_text(program)
    planned = report(program, "stm32", 0)["plan"]
    assert isinstance(planned, dict) and planned["reproducible"] is False
    peak = sum(peak_bytes(program.problem, program.plan, pool.name) for pool in program.problem.pools)
    assert sum(program.plan.lower_bounds.values()) <= peak


def test_without_a_need_for_more_time_nothing_is_cut_short(tmp_path: Path) -> None:
    path = tmp_path / "chain.tflite"
    path.write_bytes(chain("skip", 6))
    free = plan_only(path, Options()).program
    timed = plan_only(path, Options(deadline_seconds=3600)).program
    assert timed.plan.reproducible
    assert timed.plan.placements == free.plan.placements


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
