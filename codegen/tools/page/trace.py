"""Chrome's trace format, which Perfetto reads: steps one after the other, and the bytes that are alive.

A unit of time is an instruction (a cycle, a multiply-accumulate), shown as a nanosecond.
"""

from collections.abc import Iterator, Mapping

import msgspec

from codegen.report_file import Report, Step, typed
from codegen.tools.page.columns import cost_field
from codegen.tools.page.differences import parts
from codegen.tools.page.words import name_of


def trace(document: Mapping[str, object]) -> str:
    """JSON that Perfetto opens: a process a model, a track of its steps, a counter a pool."""
    report = typed(document)
    events = [event for pid, (_, part) in enumerate(parts(report), 1) for event in _events(pid, part)]
    contents = {
        "displayTimeUnit": "ns",
        "otherData": {"unit": "1 ns is one unit of cost"},
        "traceEvents": events,
    }
    return msgspec.json.encode(contents).decode() + "\n"


def _events(pid: int, report: Report) -> Iterator[dict[str, object]]:
    steps = report.steps or ()
    cost = cost_field(steps)
    name = f"{report.model.name if report.model else 'model'} ({cost})"
    yield {"ph": "M", "pid": pid, "tid": 0, "name": "process_name", "args": {"name": name}}
    for core in sorted({step.core for step in steps}):
        yield {"ph": "M", "pid": pid, "tid": core, "name": "thread_name", "args": {"name": f"core {core}"}}
    starts: dict[int, int] = {}
    at = 0
    for step in steps:
        taken = getattr(step, cost) or 0
        starts[step.step] = at
        args = {"step": step.step, "kernel": step.kernel, "macs": step.macs, cost: taken}
        yield {
            "ph": "X",
            "pid": pid,
            "tid": step.core,
            "name": step.name,
            "cat": step.op,
            "ts": at / 1000,
            "dur": taken / 1000,
            "args": args,
        }
        at += taken
    yield from _counters(pid, report, starts, steps)


def _counters(
    pid: int, report: Report, starts: Mapping[int, int], steps: tuple[Step, ...]
) -> Iterator[dict[str, object]]:
    """Bytes of the buffers that are alive in each step, by pool: a byte that two share counts once."""
    plan = report.plan
    for pool in plan.pools if plan else ():
        here = [buffer for buffer in ((plan and plan.buffers) or ()) if buffer.pool == pool.name]
        for step in steps:
            alive = [
                buffer
                for buffer in here
                if buffer.first_step is not None
                and buffer.last_step is not None
                and buffer.first_step <= step.step <= buffer.last_step
            ]
            ranges = sorted((buffer.offset, buffer.offset + buffer.size_bytes) for buffer in alive)
            yield {
                "ph": "C",
                "pid": pid,
                "name": f"pool {pool.name}, in use",  # Perfetto adds the name of the value
                "ts": starts[step.step] / 1000,
                "args": {"bytes": _covered(ranges)},
            }
            yield {
                "ph": "i",
                "pid": pid,
                "tid": step.core,
                "s": "t",
                "name": f"in use in {pool.name}",
                "ts": starts[step.step] / 1000,
                "args": {name_of(buffer): buffer.size_bytes for buffer in alive},
            }


def _covered(ranges: list[tuple[int, int]]) -> int:
    total = end = 0
    for start, stop in ranges:
        total += max(stop - max(start, end), 0)
        end = max(end, stop)
    return total
