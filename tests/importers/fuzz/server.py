"""Many mutants a process: a fork works through a batch and reports each; one that dies costs one mutant."""

import gc
import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tests.importers.fuzz.beside import furnish
from tests.importers.fuzz.examine import CPU_SECONDS, Examiner, Verdict, limit
from tests.importers.fuzz.mutants import Mutant

_BATCH = 250

Draw = Callable[[int], Mutant]
"""The file of a number."""


def verdicts(draw: Draw, numbers: Sequence[int], suffix: str = ".tflite") -> Iterator[tuple[int, Verdict]]:
    """The number of every file and its verdict, in order; files are called by `suffix`."""
    gc.collect()
    gc.freeze()
    left = list(numbers)
    with tempfile.TemporaryDirectory(prefix="codegen-mutants-") as folder:
        furnish(Path(folder))
        while left:
            batch, left = left[:_BATCH], left[_BATCH:]
            while batch:
                answered = 0
                for number, verdict in _forked(draw, batch, Path(folder), suffix):
                    answered += 1
                    yield number, verdict
                batch = batch[answered:]


def _forked(draw: Draw, batch: Sequence[int], folder: Path, suffix: str) -> Iterator[tuple[int, Verdict]]:
    """Verdicts of a child on the first mutants of `batch`, at least one of them."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _work(draw, batch, Examiner(folder, suffix), writing)
    os.close(writing)
    answered = 0
    with os.fdopen(reading) as answers:
        for line in answers:
            what, detail, runs = json.loads(line)
            yield batch[answered], Verdict(what=what, detail=detail, runs=runs)
            answered += 1
    _, status = os.waitpid(child, 0)
    if answered < len(batch):
        yield batch[answered], _ended(status)


def _ended(status: int) -> Verdict:
    ended = os.waitstatus_to_exitcode(status)
    if ended == -signal.SIGPROF:
        return Verdict(what="time", detail=f"more than {CPU_SECONDS:g} s of processor time")
    return Verdict(what="killed", detail=f"ended with {ended}")


def _work(draw: Draw, batch: Sequence[int], examiner: Examiner, writing: int) -> None:
    """In the child: examine mutant after mutant; never returns."""
    try:
        limit()
        with os.fdopen(writing, "w", buffering=1) as answers:
            for number in batch:
                mutant = draw(number)
                verdict = examiner.verdict(mutant.data, mutant.board)
                answers.write(json.dumps([verdict.what, verdict.detail, mutant.runs]) + "\n")
    finally:
        sys.stdout.flush()
        os._exit(0)
