"""Time and energy at the board's rated clock, of an inference and of each step, from one count of cycles.

Cycles are those of a real board's counter, else estimated ones (`--cycles`), else instructions times what an
instruction of the core takes on average: measured instructions, or those that the kernels' models predict.
"""

from collections.abc import Mapping
from typing import cast

from codegen.ir.hardware import Board
from codegen.targets.families import cycles_per_instruction

_COUNTED = ("cycles", "cycles_estimate", "instructions", "instructions_predicted")
"""Counts that time follows from, the best first."""


def add_time(document: dict[str, object], board: Board) -> None:
    """Set `time` of a report and both figures of each step; None where clock or counts are unknown."""
    run = cast("Mapping[str, object]", document.get("run") or {})
    counts = {**run, "instructions_predicted": document["instructions_predicted"]}
    counted = next((count for count in _COUNTED if counts.get(count)), None)
    rate = _rate(counted, board)
    for step in cast("list[dict[str, object]]", document["steps"]):
        cycles = None if counted is None or rate is None else _cycles(step, counted, rate)
        step["microseconds"] = None if cycles is None else _digits(1e6 * cycles / board.rated_clock_hz)
        step["microjoules"] = None if cycles is None else _microjoules(cycles, board)
    document["time"] = None
    if counted is not None and rate is not None:
        cycles = _cycles(counts, counted, rate)
        assert cycles is not None, "the count is there"
        document["time"] = {
            "milliseconds": _digits(1000 * cycles / board.rated_clock_hz),
            "clock_hz": board.rated_clock_hz,
            "counted": counted,
            "cycles": round(cycles),
            "microjoules": _microjoules(cycles, board),
        }


def _rate(counted: str | None, board: Board) -> float | None:
    """Cycles of one of what is counted; None where the board has no clock, or its core no cycle model."""
    if counted is None or not board.rated_clock_hz:
        return None
    return 1.0 if counted.startswith("cycles") else cycles_per_instruction(board.target.cpu)


def _cycles(counts: Mapping[str, object], counted: str, rate: float) -> float | None:
    """Cycles of an inference or of a step, waits for a modelled flash included."""
    count = cast("int | None", counts.get(counted))
    waits = cast("Mapping[str, int] | None", counts.get("flash_waits_estimate"))
    more = sum(waits.values()) if waits and counted == "cycles_estimate" else 0
    return None if count is None else count * rate + more


def _microjoules(cycles: float, board: Board) -> float | None:
    return None if board.power is None else _digits(1e-6 * cycles * board.power.picojoules_per_cycle)


def _digits(value: float) -> float:
    return float(f"{value:.3g}")
