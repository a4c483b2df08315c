"""Plans the shared int8 models over two memories of a board, the first one too small, and prints a table.

    python benchmarks/pools.py [--board mps3-an547]

Columns: bytes of the first pool, buffers, least access cost without limits, access cost, its proved bound,
whether the whole objective is proved, seconds of the planner alone and of the whole search.
"""

import argparse
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from codegen import board as boards  # noqa: E402
from codegen.driver.build import plan_model  # noqa: E402
from codegen.driver.options import Options  # noqa: E402
from codegen.plan.place.access import access_cost, least_access_cost  # noqa: E402
from codegen.plan.place.exact import optimal  # noqa: E402
from tests.public.e2e.models import INTEGER_MODELS  # noqa: E402
from tests.public.testdata import model_path  # noqa: E402

SHARES = (0.8, 0.5)


def row(name: str, key: str, limit: int | None) -> int:
    """Plan one model, the first pool limited to `limit` bytes; print a line if it was; its peak there."""
    board = boards.load_board(name)
    first = board.region(board.data_region).pool_name
    limits = {} if limit is None else {first: limit}
    begun = time.monotonic()
    options = Options(board=name, planner="optimal", pool_limits=limits)
    program = plan_model(model_path(key), board, options, emulated=True).program
    search = time.monotonic() - begun
    if limit is not None:
        begun = time.monotonic()
        problem = program.memory.problem
        plan = optimal(problem)
        alone = time.monotonic() - begun
        print(
            f"{key:42} {limit:6} {len(problem.buffers):3} {least_access_cost(problem):10} "
            f"{access_cost(problem, plan):10} {plan.access_cost_bound:10} "
            f"{'proved' if plan.proved_optimal else 'open':6} {alone:6.2f} {search:6.2f}",
            flush=True,
        )
    return program.memory.peak_bytes(first)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--board", default="mps3-an547")
    arguments = parser.parse_args()
    for key in INTEGER_MODELS:
        needed = row(arguments.board, key, None)
        for share in SHARES:
            row(arguments.board, key, int(needed * share))


if __name__ == "__main__":
    main()
