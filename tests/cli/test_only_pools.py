"""A limit on one pool of a board with several: `--pool sram=256` sent values to PSRAM without a word."""

import json
from pathlib import Path

import pytest

from codegen.driver.options import Options
from codegen.driver.planning import plan_problem
from codegen.plan.place import planners
from codegen.problem.problem import MemoryPlan, Problem
from tests.cli.test_verbs import call

BOARD = ("--board", "mps2-an386")


def test_values_that_a_limit_sends_elsewhere_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("plan", *BOARD, "--pool", "sram=256", "--json") == 0
    told = capsys.readouterr()
    peaks = {pool["name"]: pool["peak_bytes"] for pool in json.loads(told.out)["plan"]["pools"]}
    assert peaks["psram"] > 0
    assert told.err == (
        f"note: sram is limited to 256 bytes; the plan takes {peaks['psram']:,} bytes of psram too. "
        "`--only sram` keeps values out of other memories.\n"
    )
    assert call("plan", *BOARD, "--pool", "sram=256", "--quiet") == 0
    assert call("plan", *BOARD, "--pool", "sram=100K") == 0
    assert capsys.readouterr().err == ""


def test_only_the_pools_that_are_named_are_used(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("plan", *BOARD, "--pool", "sram=256", "--only", "sram") == 4
    assert "try --pool sram=" in capsys.readouterr().err
    assert call("plan", *BOARD, "--only", "psram", "--json") == 0
    told = capsys.readouterr()
    assert [pool["name"] for pool in json.loads(told.out)["plan"]["pools"]] == ["psram"]
    assert told.err == ""


def test_a_pool_that_holds_no_values_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert call("plan", *BOARD, "--only", "sram,flash,ccm") == 2
    assert capsys.readouterr().err == (
        "error[E215] --only sram,flash,ccm: mps2-an386 has no pool of values that is called 'flash', 'ccm'\n"
        "help: its pools of values are sram, psram\n"
    )
    Path("p.csv").write_text("id,lower,upper,size\na,0,1,4\n")
    assert call("plan", "p.csv", "--only", "ram") == 2
    assert "error[E219] --only: p.csv is a bare problem, of no board" in capsys.readouterr().err


def test_all_questions_about_a_problem_share_one_deadline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each question for the smallest limit had the whole deadline again."""
    now = [0.0]
    asked: list[float | None] = []
    greedy = planners.find("greedy_by_size")

    def slow(problem: Problem) -> MemoryPlan:
        asked.append(problem.limits.deadline_seconds)
        now[0] += problem.limits.deadline_seconds or 0.0
        return greedy(problem)

    monkeypatch.setattr("time.monotonic", lambda: now[0])

    def find(name: str) -> planners.Planner:
        del name
        return slow

    monkeypatch.setattr(planners, "find", find)
    rows = [f"b{i},{i % 3},{i % 3 + 2},{100 + i}" for i in range(9)]
    (tmp_path / "p.csv").write_text("\n".join(["id,lower,upper,size", *rows]) + "\n")
    with pytest.raises(Exception, match="E401"):
        plan_problem(tmp_path / "p.csv", Options(pool_limits={"ram": 300}, deadline_seconds=30))
    assert len(asked) > 1
    assert sum(seconds or 0.0 for seconds in asked) <= 30
