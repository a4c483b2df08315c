"""All jobs: a thread a board, one job at a time; a board in trouble keeps no other from its work.

A board that hung or answered garbage is power-cycled and goes on with its next job. If that goes the same
way, the board is given up and its other jobs are results that say so.
"""

import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Protocol

from codegen.api import CodegenError, ExitCode, Progress, load_board
from codegen.tools.lab.inventory import LabBoard
from codegen.tools.lab.results import POWER_CYCLED, JobResult, State, state_of

MOST_TROUBLE = 2
"""So many jobs on end that hang or bring garbage, and the board is given up."""
_MOST_TEXT = 2000
_POLL_SECONDS = 0.5


class Worker(Protocol):
    """Does jobs and brings boards back (`Bench`)."""

    def run(self, model: Path, place: LabBoard, progress: Progress) -> JobResult:
        """A job. Raises CodegenError."""
        ...

    def recover(self, place: LabBoard) -> str:
        """Bring the board back; return in words what was done."""
        ...


class Told(Protocol):
    """Hears of boards as they work, from their threads."""

    def at(self, place: LabBoard, what: str) -> None:
        """Hear what the board does now."""
        ...

    def done(self, result: JobResult) -> None:
        """A job is over."""
        ...


class _Silent:
    def at(self, place: LabBoard, what: str) -> None:
        """Nobody is told."""

    def done(self, result: JobResult) -> None:
        """Nobody is told."""


def run_lab(
    models: Sequence[Path], places: Sequence[LabBoard], worker: Worker, told: Told | None = None
) -> tuple[JobResult, ...]:
    """Every model on every board; results by board, then by model. One that is interrupted ends behind the
    jobs that run."""
    hears = told or _Silent()
    finished: SimpleQueue[JobResult] = SimpleQueue()
    stop = threading.Event()

    def work(place: LabBoard) -> None:
        for result in _jobs(models, place, worker, hears, stop):
            finished.put(result)

    threads = [threading.Thread(target=work, args=(place,), name=place.name, daemon=True) for place in places]
    for thread in threads:
        thread.start()
    results: dict[tuple[str, str], JobResult] = {}
    try:
        while len(results) < len(models) * len(places):
            try:
                result = finished.get(timeout=_POLL_SECONDS)
            except Empty:
                continue
            results[result.board, result.model] = result
            hears.done(result)
        for thread in threads:
            thread.join()  # each has told all its results
    finally:
        stop.set()
    return tuple(results[place.name, str(model)] for place in places for model in models)


def _jobs(
    models: Sequence[Path], place: LabBoard, worker: Worker, told: Told, stop: threading.Event
) -> Iterator[JobResult]:
    """Results of one board, in order."""
    trouble = 0
    for model in models:
        if stop.is_set():
            return
        if trouble == MOST_TROUBLE:
            yield _given_up(model, place)
            continue
        result = _job(model, place, worker, told)
        if not result.state.is_board_trouble:
            trouble = 0
            yield result
            continue
        trouble += 1
        told.at(place, "power cycle")
        recovery = _recovered(place, worker)
        yield replace(result, recovery=recovery, power_cycled=recovery == POWER_CYCLED)
    told.at(place, "given up" if trouble == MOST_TROUBLE else "done")


def _recovered(place: LabBoard, worker: Worker) -> str:
    try:
        return worker.recover(place)
    except Exception as error:  # a bug there must not end the other boards' work
        return f"{type(error).__name__}: {error}"


def _job(model: Path, place: LabBoard, worker: Worker, told: Told) -> JobResult:
    empty = JobResult(
        model=str(model), board=place.name, kind=load_board(place.board).name, state=State.FAILED
    )
    began = time.monotonic()

    def progress(stage: str, done: int = 0, total: int | None = None) -> None:
        del done, total
        told.at(place, f"{stage} {model.stem}")

    try:
        result = worker.run(model, place, progress)
    except CodegenError as error:
        text = "\n".join(map(str, error.messages))[:_MOST_TEXT]
        result = replace(
            empty,
            state=state_of(error),
            code=error.messages[0].code,
            exit_code=int(error.exit_code),
            message=text,
        )
    except Exception:  # one job's bug must not end all others
        text = traceback.format_exc()[-_MOST_TEXT:]
        result = replace(empty, code="bug", exit_code=int(ExitCode.BUG), message=text)
    return replace(result, seconds=round(time.monotonic() - began, 2))


def _given_up(model: Path, place: LabBoard) -> JobResult:
    text = f"board {place.name} was given up: {MOST_TROUBLE} jobs on end hung or brought garbage"
    return JobResult(
        model=str(model),
        board=place.name,
        kind=load_board(place.board).name,
        state=State.NOT_RUN,
        code="given up",
        exit_code=int(ExitCode.TARGET),
        message=text,
    )
