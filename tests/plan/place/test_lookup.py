"""Planners by name: the table, entry points of other packages, and what is said about broken ones."""

import sys
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from codegen.errors import CodegenError
from codegen.plan.place import planners
from codegen.plan.validate import violations
from codegen.problem.problem import Conflict, Limits, Pool, Problem, interval_conflicts, peak_bytes
from codegen.problem.shortage import DoesNotFit
from tests.checkout import ROOT
from tests.plan.build import POOL, buffer, problem
from tests.plan.place.test_planners import best_peak

EXAMPLE = ROOT / "examples" / "planner_mip"


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator["Install"]:
    known = set(sys.modules)
    yield Install(tmp_path, monkeypatch)
    for name in set(sys.modules) - known:
        if name.startswith("planner_"):
            del sys.modules[name]


class Install:
    """Puts a distribution (metadata and, if given, a module) on sys.path, as an installer would."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        self._monkeypatch = monkeypatch

    def __call__(
        self, name: str, entry_points: str, source: str | None = None, path: Path | None = None
    ) -> None:
        site = self._folder / name
        info = site / f"{name}-0.1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1.0\n")
        (info / "entry_points.txt").write_text(f"[{planners.GROUP}]\n{entry_points}\n")
        if source is not None:
            (site / f"{name}.py").write_text(source)
        self._monkeypatch.syspath_prepend(str(site))
        if path is not None:
            self._monkeypatch.syspath_prepend(str(path))


SMALL = problem(buffer("a", 4, 0, 2), buffer("b", 6, 1, 3))


def message(caught: pytest.ExceptionInfo[CodegenError]) -> str:
    (found,) = caught.value.messages
    assert caught.value.exit_code == 2
    return str(found)


def test_ours_come_from_the_table() -> None:
    assert planners.names()[:3] == ("greedy_by_size", "greedy_by_conflicts", "hill_climb")
    for name in planners.BUILTIN:
        assert planners.find(name) is planners.BUILTIN[name]


def test_the_table_and_pyproject_agree() -> None:
    with (EXAMPLE.parents[1] / "pyproject.toml").open("rb") as file:
        declared = tomllib.load(file)["project"]["entry-points"][planners.GROUP]
    assert declared == {
        name: f"{planner.__module__}:{planner.__name__}" for name, planner in planners.BUILTIN.items()
    }


def test_unknown_names() -> None:
    with pytest.raises(CodegenError) as caught:
        planners.find("hillclimb")
    assert message(caught) == (
        "error[E210] planner hillclimb: there is no such planner; known are "
        f"{', '.join(planners.names())}\nhelp: did you mean hill_climb?"
    )
    with pytest.raises(
        CodegenError,
        match=r"help: take one of these, or install a package with an entry point in group codegen\.planners",
    ):
        planners.find("xyzzy")


def test_a_planner_from_outside(install: Install) -> None:
    source = "from codegen.plan.place.placing import greedy_by_size as plan\n"
    install("planner_other", "other = planner_other:plan", source)
    assert planners.names()[-1] == "other"
    plan = planners.find("other")(SMALL)
    assert violations(SMALL, plan) == []


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("raise OSError('no licence')", "planner_bad:plan cannot be loaded: OSError: no licence"),
        ("", "planner_bad:plan cannot be loaded: AttributeError: "),
        ("plan = 3", "planner_bad:plan is not a function"),
        ("def plan(problem):\n    return 1 / 0", "it failed: ZeroDivisionError: division by zero"),
        ("def plan(problem):\n    return {}", "it returned dict, not a MemoryPlan"),
        (
            "from codegen.problem.problem import MemoryPlan, Placement\n"
            "def plan(problem):\n"
            "    return MemoryPlan(placements={'a': Placement(pool='sram', offset=0)}, planner='bad',"
            " solver='', lower_bounds={}, proved_optimal=True)",
            "its plan does not hold: b: not placed",
        ),
        (
            "from codegen.problem.problem import MemoryPlan, Placement\n"
            "def plan(problem):\n"
            "    return MemoryPlan(placements={b.id: Placement(pool='x', offset=0) for b in problem.buffers},"
            " planner='bad', solver='', lower_bounds={}, proved_optimal=True)",
            "its plan does not hold: a: in pool x, allowed are sram; b: in pool x, allowed are sram; "
            "a at 0 and b at 0 of pool x: neither 4 bytes below nor 6 bytes above",
        ),
    ],
)
def test_broken_planners_are_named(install: Install, source: str, text: str) -> None:
    install("planner_bad", "bad = planner_bad:plan", source)
    with pytest.raises(CodegenError) as caught:
        planners.find("bad")(SMALL)
    assert message(caught).startswith(f"error[E216] planner bad: {text}")
    assert message(caught).endswith(
        "help: this planner comes from another package; report it there, or use --planner optimal"
    )


def test_errors_for_users_pass_through(install: Install) -> None:
    source = "from codegen.plan.place.placing import greedy_by_size as plan\n"
    install("planner_other", "other = planner_other:plan", source)
    tight = replace(SMALL, pools=(replace(POOL, limit_bytes=9),))
    with pytest.raises(DoesNotFit):
        planners.find("other")(tight)


def test_one_name_two_packages(install: Install) -> None:
    install("planner_one", "same = planner_one:plan\nhill_climb = planner_one:plan", "plan = None")
    install("planner_two", "same = planner_two:plan", "plan = None")
    with pytest.raises(CodegenError) as caught:
        planners.find("same")
    assert message(caught) == (
        "error[E210] planner same: several packages offer it: planner_one:plan, planner_two:plan\n"
        "help: uninstall one, or rename its entry point"
    )
    with pytest.raises(CodegenError, match="offer it: codegen itself and planner_one:plan"):
        planners.find("hill_climb")


@pytest.fixture
def mip(install: Install) -> planners.Planner:
    """The example planner, through its own entry point."""
    pytest.importorskip("highspy", reason="the example planner needs HiGHS (extra `test`)")
    install("planner_mip_installed", "mip = planner_mip:plan", path=EXAMPLE)
    return planners.find("mip")


SMALL_PROBLEMS = [
    SMALL,
    problem(),
    problem(buffer("a", 0, 0, 2), buffer("b", 6, 1, 3)),
    problem(buffer("a", 5, 0, 2, 4), buffer("b", 6, 1, 3, 8), buffer("c", 3, 0, 3)),
    problem(*(buffer(f"b{i}", 2 + 3 * i % 5, i % 3, i % 3 + 2, 1 << i % 3) for i in range(5))),
    # Two that overlap by up to 4 bytes on one side, and one below whose third may even start 2 bytes early.
    Problem(
        buffers=(buffer("a", 8, 0, 2), buffer("b", 8, 1, 3), buffer("c", 4, 1, 2)),
        conflicts=(
            Conflict(first="a", second="b", first_below=4, second_below=8),
            Conflict(first="a", second="c", first_below=8, second_below=-2),
            Conflict(first="b", second="c", first_below=8, second_below=4),
        ),
        pools=(POOL,),
    ),
]


@pytest.mark.parametrize("index", range(len(SMALL_PROBLEMS)))
def test_the_example_planner_is_optimal(mip: planners.Planner, index: int) -> None:
    found = SMALL_PROBLEMS[index]
    plan = mip(found)
    assert violations(found, plan) == []
    assert plan.proved_optimal
    assert peak_bytes(found, plan, "sram") == best_peak(found) == plan.lower_bounds["sram"]


def test_the_example_planner_with_pools(mip: planners.Planner) -> None:
    pools = (Pool(name="fast", region="A", limit_bytes=20), Pool(name="slow", region="B", limit_bytes=100))
    buffers = (
        buffer("a", 12, 0, 2, pools=("fast", "slow")),
        buffer("b", 8, 1, 3, pools=("fast",)),
        buffer("c", 50, 0, 3, pools=("slow",)),
    )
    found = Problem(buffers=buffers, conflicts=interval_conflicts(buffers), pools=pools, limits=Limits())
    plan = mip(found)
    assert [peak_bytes(found, plan, name) for name in ("fast", "slow")] == [20, 50]
    with pytest.raises(CodegenError, match=r"E401.*planner mip: no plan with every buffer in its first pool"):
        mip(replace(found, pools=(replace(pools[0], limit_bytes=19), pools[1])))
