"""Places the shared instances with `--planner optimal` and prints a table: peaks, bounds, proofs, seconds.

    python benchmarks/plan_instances.py [FOLDER] [--only PREFIX] [--fit-only]

FOLDER holds `*.csv` and `index.csv` (default: `instances` beside the shared test data). The second table is
the time to fit the MiniMalloc instances into their stated capacity, the third a random graph.
"""

import argparse
import csv
import random
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from codegen.plan.place.bounds import lower_bound  # noqa: E402
from codegen.plan.place.exact import optimal  # noqa: E402
from codegen.plan.place.exact.conflict_graph import graph  # noqa: E402
from codegen.plan.place.exact.native import library  # noqa: E402
from codegen.plan.place.exact.squeeze import SolverBudget, Squeeze  # noqa: E402
from codegen.plan.place.problem_files import read_problem  # noqa: E402
from codegen.plan.validate import violations  # noqa: E402
from codegen.problem.problem import (  # noqa: E402
    Buffer,
    Pool,
    Problem,
    interval_conflicts,
    peak_bytes,
)
from tests.public.testdata import TESTDATA  # noqa: E402

POOL = Pool(name="sram", region="SRAM", limit_bytes=1 << 40, alignment=1)
CAPACITY = 1_048_576


def random_graph(count: int, seed: int = 1) -> Problem:
    """`count` buffers with lives of very different length."""
    generator = random.Random(seed)
    buffers: list[Buffer] = []
    for index in range(count):
        start = generator.randrange(count)
        stop = start + 1 + int(generator.expovariate(1 / 25))
        size = 16 * generator.randrange(1, 2048)
        buffers.append(
            Buffer(id=f"b{index}", size_bytes=size, start=start, stop=stop, pool_candidates=("sram",))
        )
    return Problem(buffers=tuple(buffers), conflicts=interval_conflicts(buffers), pools=(POOL,))


def row(name: str, problem: Problem, best_known: str) -> float:
    """Plan, check and print one instance; seconds of processor time."""
    wall, begun = time.monotonic(), time.process_time()
    plan = optimal(problem)
    seconds, wall = time.process_time() - begun, time.monotonic() - wall
    if wrong := violations(problem, plan):
        raise SystemExit(f"{name}: {wrong[0]}")
    peak = peak_bytes(problem, plan, "sram")
    bound = plan.lower_bounds["sram"]
    state = "proved" if plan.proved_optimal else f"gap {100 * (peak / bound - 1):.2f} %"
    mark = "" if not best_known or peak <= int(best_known) else "  ABOVE BEST KNOWN"
    print(
        f"{name:42} {len(problem.buffers):5} {peak:9} {bound:9} {best_known:>9} {state:>11} "
        f"{plan.solver:16} {seconds:7.2f} {wall:7.2f}{mark}",
        flush=True,
    )
    return seconds


def fit(folder: Path) -> None:
    """Time to fit each MiniMalloc instance into its stated capacity."""
    print(f"\nfit {CAPACITY} bytes: instance, peak, runs, units of work, seconds (processor)")
    total = 0.0
    for path in sorted(folder.glob("mm.*.csv")):
        problem = read_problem(path, pools=(POOL,))
        begun = time.process_time()
        numbers = graph(problem, [b.id for b in problem.buffers])
        squeeze = Squeeze(numbers, lower_bound(problem).bytes, problem.limits.seed)
        budget = SolverBudget(effort=10**9)
        squeeze.fit(CAPACITY, budget)
        seconds = time.process_time() - begun
        total += seconds
        print(f"{path.stem:8} {squeeze.peak:9} {squeeze.runs:5} {10**9 - budget.effort:10} {seconds:7.2f}")
    print(f"{'total':34} {total:7.2f}", flush=True)


def main() -> None:
    """Parse the arguments and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=TESTDATA.parent / "instances")
    parser.add_argument("--only", default="", help="prefix of instance names, as mm. or syn.")
    parser.add_argument("--fit-only", action="store_true")
    arguments = parser.parse_args()
    if library() is None:
        print("no C compiler: the search runs in Python")
    if not arguments.fit_only:
        print("instance, buffers, peak, bound, best known, state, solver, seconds (processor, wall)")
        totals: dict[str, float] = {}
        with (arguments.folder / "index.csv").open(newline="") as file:
            for line in csv.DictReader(file):
                name = line["instance"]
                if name.startswith(arguments.only):
                    problem = read_problem(arguments.folder / f"{name}.csv", pools=(POOL,))
                    family = name.partition(".")[0]
                    totals[family] = totals.get(family, 0.0) + row(name, problem, line["best_known"])
        # Instances index.csv does not list have no best-known peak.
        for path in sorted(arguments.folder.glob(f"{arguments.only}*.opt.csv")):
            row(path.stem, read_problem(path, pools=(POOL,)), "")
        for family, seconds in totals.items():
            print(f"{family}: {seconds:.2f} s")
    if not arguments.only or arguments.fit_only:
        fit(arguments.folder)
        print()
        row("random, 2,000 buffers", random_graph(2000), "")


if __name__ == "__main__":
    main()
