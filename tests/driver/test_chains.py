"""What planning a chain of layers costs grows with its length.

A chain of 600 ADDs (94 KB) took 60 s of processor time, one of 150 took 11 s: every run of steps was looked
at as a block, each from its first step to its last.
"""

from pathlib import Path

import pytest

from codegen.driver.options import Options
from codegen.driver.planning import plan_only
from tests.plan.growth import calls, chain


@pytest.mark.parametrize("kind", ["twice", "skip", "conv"])
def test_a_chain_twice_as_long_takes_twice_the_work(kind: str, tmp_path: Path) -> None:
    def work(length: int) -> int:
        path = tmp_path / f"chain{length}.tflite"
        path.write_bytes(chain(kind, length, (8, 8, 4)))
        # A planner that is no search: how long that goes on is up to its own count.
        return calls(lambda: plan_only(path, Options(planner="greedy_by_size")))

    work(2)  # what is read and compiled once
    short, middle, long = (work(length) for length in (20, 40, 80))
    # What does not depend on the length (board, kernels) is in all three.
    assert long - middle < 2.3 * (middle - short)
