"""RAM limits and the instructions that they cost: 20 limits a network, from the smallest to no limit.

python benchmarks/limits.py MODEL... [--board BOARD ...] [--limits 20]

A line a limit: bytes, planned bytes, predicted instructions of the plan. A limit that costs more instructions
than a smaller one is marked and counted; with any of them the run ends with exit 1.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the checkout, not the installed package

from codegen import board as boards  # noqa: E402
from codegen.driver.options import Options  # noqa: E402
from codegen.driver.preparing import prepared  # noqa: E402
from codegen.problem.shortage import DoesNotFit  # noqa: E402
from codegen.program.program import Program  # noqa: E402
from codegen.search import Choices, inference_instructions, search  # noqa: E402

BOARDS = ("microbit", "lm3s6965evb", "netduinoplus2", "mps3-an547")
"""Cores M0, M3, M4 and M55."""


def curve(path: Path, board_name: str, count: int) -> Iterator[tuple[int, Program]]:
    """Limits of the first pool, the smallest first, and their programs."""
    board = boards.load_board(board_name)
    module = prepared(path, Options(board=board_name)).module
    pool = Choices().pools(board)[0].name
    choices = Choices(planner="optimal", only=pool)

    def planned(limit: int | None) -> Program:
        limits = {} if limit is None else {pool: limit}
        return search(module, board, replace(choices, pool_limits=limits), name="model")

    most = least = planned(None).memory.peaks[pool]
    try:
        planned(1)
    except DoesNotFit as missed:
        least = missed.shortages[0].budget_bytes or most
    for limit in sorted({least + (most - least) * index // max(count - 1, 1) for index in range(count)}):
        yield limit, planned(limit)


def main() -> int:
    """Print the curves; the exit code is 1 if one rises."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("models", nargs="+", type=Path)
    words.add_argument("--board", action="append", default=[])
    words.add_argument("--limits", type=int, default=20)
    asked = words.parse_args()
    rises = 0
    for path in asked.models:
        for board_name in asked.board or BOARDS:
            print(f"{path.stem} on {board_name}")
            before: int | None = None
            for limit, program in curve(path, board_name, asked.limits):
                instructions = inference_instructions(program.steps.prim_funcs)
                is_higher = before is not None and instructions > before
                rises += is_higher
                used = sum(program.memory.peaks.values())
                print(f"{limit:>10,} {used:>10,} {instructions:>13,}{'  rises' if is_higher else ''}")
                before = instructions
    print(f"{rises} limits cost more instructions than a smaller one")
    return rises > 0


if __name__ == "__main__":
    sys.exit(main())
