"""One sentence of what a model takes of its board: RAM, flash, time, energy."""

from collections.abc import Mapping, Sequence
from typing import cast

from codegen.ir.hardware import Board
from codegen.targets.families import cycles_per_instruction


def summary(document: Mapping[str, object], board: Board) -> str:
    """`summary` of report.json, of a report whose other keys are there: `fits: ...`, or `needs ...` without a
    board."""
    return f"{_bytes(document)}; {_times(document, board)}"


def amount(value: float) -> str:
    """Two digits of milliseconds or millijoules, all digits in front of the point."""
    return f"{value:,.0f}" if value >= 9.95 else f"{value:#.2g}"


def percent(part: int, whole: int) -> str:
    """A share in whole percent."""
    return "under 1 %" if 0 < 200 * part < whole else f"{100 * part / whole:.0f} %"


def _bytes(document: Mapping[str, object]) -> str:
    totals, plan = _part(document, "totals"), _part(document, "plan")
    ram, limit = cast("int", plan["peak_bytes"]), cast("int | None", totals["pool_limit_bytes"])
    flash, what = cast("int | None", totals["flash_bytes"]), "flash"
    if flash is None:
        constants = _part(document, "constants")
        flash = 0 if constants["mode"] == "external" else cast("int", constants["total_bytes"])
        what = "flash for constants"
    if limit is None:
        return f"needs {ram:,} bytes of RAM, {flash:,} of {what}"
    room = cast("int", totals["board_flash_bytes"])
    return (
        f"fits: {ram:,} of {limit:,} bytes of RAM ({percent(ram, limit)}), "
        f"{flash:,} of {room:,} of {what} ({percent(flash, room)})"
    )


def _times(document: Mapping[str, object], board: Board) -> str:
    if "models" not in document:
        return _time(document, board)
    models = cast("Sequence[Mapping[str, object]]", document["models"])
    return "; ".join(f"{_part(model, 'model')['name']}: {_time(model, board)}" for model in models)


def _time(document: Mapping[str, object], board: Board) -> str:
    time = cast("Mapping[str, object] | None", document["time"])
    if time is None:
        return f"no time: {_why_no_time(board)}"
    clock = cast("int", time["clock_hz"]) / 1e6
    about = "" if time["counted"] == "cycles" else "about "
    text = f"{about}{amount(cast('float', time['milliseconds']))} ms at {clock:g} MHz"
    energy = cast("float | None", time["microjoules"])
    return text if energy is None else f"{text}, {amount(energy / 1000)} mJ"


def _why_no_time(board: Board) -> str:
    if not board.rated_clock_hz:
        return f"board {board.name} has no clock"
    if cycles_per_instruction(board.target.cpu) is None:
        return f"no cycles of {board.target.cpu} are published"
    return "a kernel has no prediction; `codegen run` counts"


def _part(document: Mapping[str, object], key: str) -> Mapping[str, object]:
    return cast("Mapping[str, object]", document[key])
