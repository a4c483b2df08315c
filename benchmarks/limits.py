"""RAM limits and the instructions that they cost: 20 limits a network, from the smallest to no limit.

python benchmarks/limits.py MODEL... [--board BOARD ...] [--limits 20]
python benchmarks/limits.py --against-all 10 --layers 4   # random networks, every way to run them tried

A line a limit: bytes, planned bytes, predicted instructions of the plan. A limit that costs more instructions
than a smaller one is marked and counted; with any of them the run ends with exit 1. `--against-all` prints,
for limits of so many random networks, the instructions beside those of the best of all ways. It plans with
`--optimize speed`: the others weigh flash as well.
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
from codegen.program.program import Program  # noqa: E402
from codegen.search import Choices, inference_instructions, search  # noqa: E402
from tests.search.chains import random_chain  # noqa: E402
from tests.search.exhaustive import Exhaustive, limits_of  # noqa: E402

BOARDS = ("microbit", "lm3s6965evb", "netduinoplus2", "mps3-an547")
"""Cores M0, M3, M4 and M55."""


def curve(path: Path, board_name: str, count: int) -> Iterator[tuple[int, Program]]:
    """Limits of the first pool, the smallest first, and their programs."""
    board = boards.load_board(board_name)
    module = prepared(path, Options(board=board_name)).module
    pool = Choices().pools(board)[0].name
    choices = Choices(planner="optimal", only=pool)
    for limit in limits_of(module, board, choices, count):
        yield limit, search(module, board, replace(choices, pool_limits={pool: limit}), name="model")


def against_all(networks: int, layers: int, count: int) -> int:
    """Print the limits of random networks beside the best of all ways; return how many are 2 % over it."""
    board = boards.load_board("mps2-an386")
    choices = Choices(planner="optimal", optimize="speed", only="sram")
    ratios: list[float] = []
    for seed in range(networks):
        module = random_chain(seed, layers)
        ways = Exhaustive(module, board, choices.pools(board)[0])
        for limit in limits_of(module, board, choices, count)[:-1]:
            tight = replace(choices, pool_limits={"sram": limit})
            taken = inference_instructions(search(module, board, tight, name="model").steps.prim_funcs)
            best = ways.fewest_instructions(limit, taken) or taken
            ratios.append(taken / best)
            steps = len(module.main.body)
            print(
                f"{seed:>4} {steps} steps {limit:>8,} {taken:>10,} {best:>10,} {ratios[-1]:.3f}", flush=True
            )
    over = sum(ratio > 1.02 for ratio in ratios)
    print(f"{len(ratios)} limits, {over} of them more than 2 % over the best")
    return over


def main() -> int:
    """Print the curves; the exit code is 1 if one rises."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("models", nargs="*", type=Path)
    words.add_argument("--board", action="append", default=[])
    words.add_argument("--limits", type=int, default=20)
    words.add_argument("--against-all", type=int, metavar="NETWORKS")
    words.add_argument("--layers", type=int, default=4)
    asked = words.parse_args()
    if asked.against_all:
        return against_all(asked.against_all, asked.layers, asked.limits) > 0
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
