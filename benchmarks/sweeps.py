"""A sweep of many combinations that are built and run, two workers killed: complete, equal, resumable.

`python benchmarks/sweeps.py [COMBINATIONS]`, 1,000 by default, which takes half an hour of processor time.
Two models on the host and one on an emulated micro:bit, for speed and for size, each under many limits of
RAM; below some of them a model does not fit, which is a result too. First one after the other in this
process, then by two workers, then again with the results known. Memory is what is resident of a process.
"""

import multiprocessing
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import ceil
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from codegen.board import load_board
from codegen.driver.options import Options
from codegen.tools.sweep.combination_results import Result
from codegen.tools.sweep.jobs import Combination, combinations
from codegen.tools.sweep.sweeping import sweep
from codegen.tools.sweep.work import result_of
from tests.public.testdata import model_path
from tests.tools.sweep.killing import Killing

_HELLO, _ADD = (model_path(f"tflm/{name}") for name in ("hello_world_int8", "simple_add_model"))
_ADD_BYTES, _HELLO_BYTES = 32_768, 24
"""RAM that the larger model needs on the host, the smaller one on the micro:bit."""


def _asked(count: int) -> tuple[Combination, ...]:
    """A fifth of them emulated; one in twenty does not fit."""
    on_host, emulated = count // 5, count // 10
    limits = {"sram": _around(_ADD_BYTES, on_host)}
    found = combinations([_HELLO, _ADD], ["host"], ["speed", "size"], limits, Options(), "run")
    limits = {"sram": _around(_HELLO_BYTES, emulated)}
    return found + combinations([_HELLO], ["microbit"], ["speed", "size"], limits, Options(), "run")


def _around(least_bytes: int, count: int) -> range:
    """So many limits, of which one in twenty is below `least_bytes`."""
    first = least_bytes - max(count // 20, 1)
    return range(first, first + count)


def _are_equal(one: Result, other: Result) -> bool:
    """In everything, but for a step of the board's counter in instructions: they start anywhere in one."""
    if one.instructions is None or other.instructions is None:
        return one == other
    counter = load_board(one.board).counter
    step = 0 if counter is None else ceil(counter.instructions_per_tick)
    close = abs(one.instructions - other.instructions) <= step
    return close and one == replace(other, instructions=one.instructions)


def _resident_bytes(process: int | str = "self") -> int:
    """Of a process; 0 once it is gone."""
    try:
        lines = Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return 1024 * next((int(line.split()[1]) for line in lines if line.startswith("VmRSS:")), 0)


class _Watched:
    """A `Progress`: resident memory at each result, of this process and of its workers."""

    def __init__(self, progress: Callable[..., None]) -> None:
        self._progress = progress
        self.own: list[int] = []
        self.of_workers: list[int] = []

    def __call__(self, stage: str, done: int = 0, total: int | None = None) -> None:
        self._progress(stage, done, total)
        self.own.append(_resident_bytes())
        workers = multiprocessing.active_children()
        self.of_workers.append(max((_resident_bytes(each.pid or 0) for each in workers), default=0))


def _mib(size_bytes: int) -> str:
    return f"{size_bytes / (1 << 20):.1f} MiB"


def _one_by_one(every: Sequence[Combination]) -> Iterator[tuple[Result, int]]:
    """Results of this process, and its resident memory behind each."""
    for one in every:
        yield result_of(one, one.key), _resident_bytes()


def _growth(resident: Sequence[int]) -> str:
    tenth = len(resident) // 10
    return f"{_mib(resident[tenth - 1])} after {tenth:,}, {_mib(resident[-1])} at the end"


def _compare(found: Sequence[Result], serial: Sequence[Result]) -> None:
    pairs = list(zip(found, serial, strict=True))
    different = sum(not _are_equal(one, other) for one, other in pairs)
    steps = sum(one != other for one, other in pairs) - different
    print(f"  different   {different:,} of {len(pairs):,} from those of one process")
    print(f"              ({steps:,} by a step of the board's counter)")


def main() -> None:
    """Print the table."""
    every = _asked(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
    began = time.monotonic()
    serial, resident = zip(*_one_by_one(every), strict=True)
    codes = Counter(each.code for each in serial)
    print(f"combinations  {len(every):,}: {', '.join(f'{count:,} {code}' for code, count in codes.items())}")
    print(f"one process   {time.monotonic() - began:,.0f} s")
    print(f"  resident    {_growth(resident)}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        killing = Killing((len(every) // 3, 2 * len(every) // 3))
        watched = _Watched(killing)
        began = time.monotonic()
        swept = sweep(every, Path(folder), jobs=2, progress=watched)
        took = time.monotonic() - began
        print(f"two workers   {took:,.0f} s, {swept.executed:,} done, {killing.killed} killed")
        _compare(swept.results, serial)
        print(f"  resident    {_growth(watched.own)}")
        half = len(every) // 2
        first, second = max(watched.of_workers[:half]), max(watched.of_workers[half:])
        print(f"  a worker    at most {_mib(first)} in the first half, {_mib(second)} in the second")
        print(f"resumed       {sweep(every, Path(folder), jobs=2).executed:,} done")


if __name__ == "__main__":
    main()
