"""Many combinations on several workers; what is known already is not done again.

A worker that is killed takes nothing with it: what it was at is done again. After the third time it is a
result of its own, so that one combination that kills its workers does not keep the others from being done.
"""

import importlib
from collections import Counter, deque
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from codegen.api import CodegenError, ExitCode, Message, Progress, install_extra, silent
from codegen.tools.sweep.combination_results import Result, Store
from codegen.tools.sweep.jobs import Combination
from codegen.tools.sweep.work import result_of

_MOST_DEATHS = 3
_TASKS_A_WORKER = 100
"""A local worker ends behind so many, and what it may have leaked with it."""

MakeExecutor = Callable[[], Executor]


@dataclass(frozen=True, kw_only=True, slots=True)
class Swept:
    """All results, in the order of the combinations, and how many of them were done now."""

    results: tuple[Result, ...]
    executed: int


def sweep(
    combinations: Sequence[Combination],
    folder: Path,
    *,
    jobs: int = 2,
    scheduler: str | None = None,
    progress: Progress = silent,
) -> Swept:
    """Do what `folder` has no result of yet, by `jobs` local processes or by the workers of the Dask
    `scheduler` (an address). Raises CodegenError E230 for a folder that cannot be made, E287 without Dask or
    for a scheduler that nobody reaches."""
    store = Store(folder)
    by_key = {one.key: one for one in combinations}
    known = {key: stored for key in by_key if (stored := store.read(key)) is not None}
    open_ = {key: one for key, one in by_key.items() if key not in known}
    done = len(known)
    progress("sweep", done, len(by_key))
    with _executors(jobs, scheduler) as (make, at_once):
        for result in _results(open_, make, at_once):
            store.write(result)
            known[result.key] = result
            done += 1
            progress("sweep", done, len(by_key))
    return Swept(results=tuple(known[key] for key in by_key), executed=len(open_))


@contextmanager
def _executors(jobs: int, scheduler: str | None) -> Generator[tuple[MakeExecutor, int]]:
    """Maker of workers, and how many combinations they take at a time."""
    if scheduler is None:
        # Not forked: a thread of the parent may hold a lock.
        context = get_context("spawn")
        yield lambda: ProcessPoolExecutor(jobs, context, max_tasks_per_child=_TASKS_A_WORKER), jobs
        return
    with _client(scheduler) as client:
        yield client.get_executor, 2 * max(1, sum(client.nthreads().values()))


def _client(scheduler: str) -> Any:
    try:
        distributed = importlib.import_module("distributed")
    except ImportError as error:
        help_ = f"{install_extra('sweep')}, or leave --scheduler out"
        raise CodegenError(
            Message(code="E287", text="--scheduler needs Dask, which is not installed", help=help_)
        ) from error
    try:
        return distributed.Client(scheduler, timeout="10s")
    except (OSError, ValueError) as error:
        text = f"no Dask scheduler answers at {scheduler}: {error}"
        raise CodegenError(Message(code="E287", text=text, help="start one: dask scheduler")) from error


def _results(open_: Mapping[str, Combination], make: MakeExecutor, at_once: int) -> Generator[Result]:
    """Results of combinations, as they come."""
    waiting = deque(open_)
    deaths: Counter[str] = Counter()
    while waiting:
        with make() as executor:
            running: dict[Future[Result], str] = {}
            while waiting or running:
                try:
                    while waiting and len(running) < at_once:
                        running[executor.submit(result_of, open_[waiting[0]], waiting[0])] = waiting[0]
                        waiting.popleft()
                except BrokenExecutor:
                    pass  # told by those that run
                if not running:
                    break
                finished, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    yield from _finished(future, running.pop(future), open_, waiting, deaths)


def _finished(
    future: Future[Result],
    key: str,
    open_: Mapping[str, Combination],
    waiting: deque[str],
    deaths: Counter[str],
) -> Generator[Result]:
    """The result; nothing of one whose worker died, which waits again."""
    try:
        yield future.result()
        return
    except BrokenExecutor:
        deaths[key] += 1
    except Exception as error:
        if type(error).__name__ != "KilledWorker":  # Dask's, which has tried again itself
            raise
        deaths[key] = _MOST_DEATHS
    if deaths[key] < _MOST_DEATHS:
        waiting.append(key)
        return
    one = open_[key]
    yield Result(
        key=key,
        model=one.model,
        board=one.options.board,
        optimize=one.options.optimize,
        limits=one.limits,
        until=one.until,
        code="killed",
        exit_code=ExitCode.BUG,
        message=f"its worker was killed {_MOST_DEATHS} times",
    )
