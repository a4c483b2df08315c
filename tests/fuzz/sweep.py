"""The whole sweep: operator by operator, all kernels on all boards, several processes."""

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path

from codegen.board import load_board
from codegen.kernels import kernels_for, supported_ops
from tests.fuzz.running import Runner
from tests.fuzz.trials import Wanted, trials

BOARDS = ("microbit", "mps2-an385", "mps2-an386", "mps2-an500", "mps2-an505", "mps3-an547")
"""A board of each core: Cortex-M0, M3, M4, M7, M33, M55."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What was run: layers by (kernel, board), and what went wrong, as lines by (kernel, board)."""

    counts: Mapping[tuple[str, str], int]
    wrong: Mapping[tuple[str, str], Sequence[str]]
    too_large: int
    """Layers that their board has no room for."""

    def lines(self) -> Iterator[str]:
        """A line for each kernel and board, the failures, a summary."""
        for (kernel, board), count in sorted(self.counts.items()):
            failed = len(self.wrong.get((kernel, board), ()))
            yield f"{kernel:36} {board:16} {count:6} layers, {failed} failures"
        failures = [text for texts in self.wrong.values() for text in texts]
        yield from failures[:50]
        yield (
            f"{sum(self.counts.values())} layers, {self.too_large} too large for their board, "
            f"{len(failures)} failures"
        )


def fuzz(wanted: Wanted, boards: Sequence[str], *, level: str = "-O3", jobs: int = 2) -> Outcome:
    """Run what is wanted, operator by operator, `jobs` at a time; progress goes to standard error."""
    ops = sorted(wanted.ops or supported_ops(), key=lambda op: -len(kernels_for(op)))
    start = time.monotonic()
    counts: dict[tuple[str, str], int] = {}
    wrong: dict[tuple[str, str], list[str]] = {}
    too_large = 0
    with (
        tempfile.TemporaryDirectory(prefix="fuzz-objects-") as objects,
        ProcessPoolExecutor(max_workers=jobs, mp_context=get_context("spawn")) as pool,
    ):
        tasks = {
            pool.submit(_operator, replace(wanted, ops=frozenset({op})), boards, level, Path(objects)): op
            for op in ops
        }
        for task in as_completed(tasks):
            found = task.result()
            counts |= found.counts
            wrong |= {key: list(texts) for key, texts in found.wrong.items()}
            too_large += found.too_large
            seconds, layers = time.monotonic() - start, sum(counts.values())
            sys.stderr.write(f"{seconds:6.0f} s {layers:8} layers, {tasks[task]} done\n")
    return Outcome(counts=counts, wrong=wrong, too_large=too_large)


def _operator(wanted: Wanted, names: Sequence[str], level: str, objects: Path) -> Outcome:
    boards = {name: load_board(name) for name in names}
    counts: Counter[tuple[str, str]] = Counter()
    with Runner(level=level, objects=objects) as runner:
        for trial in trials(wanted, list(boards.values())):
            counts[trial.kernel, trial.board] += runner.add(trial, boards[trial.board])
        failures = runner.finish()
        too_large = runner.too_large
    wrong: dict[tuple[str, str], list[str]] = {}
    for failure in failures:
        wrong.setdefault((failure.trial.kernel, failure.trial.board), []).append(str(failure))
    return Outcome(counts=counts, wrong=wrong, too_large=too_large)
