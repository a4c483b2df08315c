"""The public instances of memory planning: read and written, and planned at their bounds."""

import csv

import pytest

from codegen.plan.place import planners
from codegen.plan.place.bounds import lower_bound
from codegen.plan.place.exact import optimal
from codegen.plan.place.problem_files import read_problem, to_csv
from codegen.plan.validate import violations
from codegen.problem.problem import MemoryPlan, peak_bytes
from tests.plan.build import POOL
from tests.plan.place.exact.instances import POOL as WIDE_POOL
from tests.plan.place.exact.instances import needs_c, peak
from tests.plan.place.test_planners import NAMES
from tests.public.testdata import TESTDATA

INSTANCES = TESTDATA.parent / "instances"


def test_public_instances_round_trip() -> None:
    for name in ("model.kws_ref_model.ws.a16", "mm.D"):
        path = INSTANCES / f"{name}.csv"
        assert to_csv(read_problem(path)) == path.read_text()


def test_public_instances() -> None:
    """The 52 real models: bounds as published beside them, and the hill climb reaches at least 50."""
    with (INSTANCES / "index.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["instance"].startswith("model.")]
    assert len(rows) == 52
    reached = 0
    for row in rows:
        found = read_problem(INSTANCES / f"{row['instance']}.csv", [POOL])
        plans: list[MemoryPlan] = [planners.find(name)(found) for name in NAMES]
        for plan in plans:
            assert violations(found, plan) == []
            assert plan.lower_bounds["sram"] == int(row["lower_bound"])
        peak = peak_bytes(found, plans[-1], "sram")
        assert peak <= int(row["tflm_greedy"])
        reached += peak == int(row["lower_bound"])
    assert reached >= 50


@needs_c
@pytest.mark.parametrize("name", ["mm.A", "mm.C", "mm.G", "syn.nas6.rand", "syn.inc9.rand", "syn.nas36.opt"])
def test_shared_instances_are_placed_at_their_bound(name: str) -> None:
    problem = read_problem(INSTANCES / f"{name}.csv", pools=(WIDE_POOL,))
    plan = optimal(problem)
    assert violations(problem, plan) == []
    assert plan.proved_optimal
    assert peak(problem, plan) == lower_bound(problem).bytes
