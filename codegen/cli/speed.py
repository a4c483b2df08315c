"""Instructions or cycles of an inference, in all and step by step, as the target counted them."""

import click

from codegen.board import boards
from codegen.command.console import table_with_tail
from codegen.driver.report.single import Measured
from codegen.errors import CodegenError, Message
from codegen.ir import Board, Runner
from codegen.ir.ops.user import operator_name
from codegen.program.image import StepTrace
from codegen.program.program import Program


def check_counted(board: Board, *, sandboxed: bool) -> None:
    """Raise CodegenError E229 where no step can be counted."""
    reasons = {
        f"nothing counts instructions or cycles on board {board.name}": board.counter is None,
        "nothing is counted with --sandbox": sandboxed,
    }
    broken = [reason for reason, holds in reasons.items() if holds]
    if broken:
        alike = next(one.name for one in boards() if one.runner is Runner.QEMU and one.counter is not None)
        help_ = f"leave {'--sandbox' if sandboxed else '--steps'} out, or take a board such as {alike}"
        raise CodegenError(Message(code="E229", where="--steps", text=broken[0], help=help_))


def show_speed(program: Program, measured: Measured, clock_hz: int) -> None:
    """The line about one inference: instructions on QEMU, cycles of a real board's counter."""
    first = measured.result.cases[0]
    macs = program.steps.macs  # of the line `work`, not the file's: what ran is what took them
    for count, unit in ((first.instructions, "instructions"), (first.cycles, "cycles")):
        if count is None:
            continue
        per_mac = f" ({count / macs:.2f} per multiply-accumulate)" if macs else ""
        milliseconds = f", {count / clock_hz * 1000:.1f} ms at {clock_hz / 1e6:g} MHz" if clock_hz else ""
        time_ = milliseconds if unit == "cycles" else ""
        click.echo(f"speed     {count:,} {unit} an inference{per_mac}{time_}")


def show_costs(program: Program, measured: Measured) -> None:
    """A table with one row a step, as `steps` of report.json has it."""
    trace, estimate = measured.result.trace, measured.estimate
    counts = [_count(step) for step in trace]
    total = sum(count for count in counts if count is not None)
    unit = "cycles" if any(step.cycles is not None for step in trace) else "instructions"
    columns = ["step", "operator", "MACs", unit, "%", "per MAC"]
    rows: list[list[str]] = []
    for step, count in zip(trace, counts, strict=True):
        prim = program.steps.prim_funcs[step.step]
        share = "" if count is None else f"{100 * count / max(total, 1):.1f}"
        per_mac = "" if count is None or not prim.macs else f"{count / prim.macs:.2f}"
        row = [str(step.step), operator_name(prim.let.call), f"{prim.macs:,}"]
        row += ["" if count is None else f"{count:,}", share, per_mac]
        rows.append([*row, *([f"{estimate.cycles[step.step]:,}"] if estimate else []), prim.kernel])
    last = ["", "all steps", f"{program.steps.macs:,}", f"{total:,}", "100.0", ""]
    rows.append([*last, *([f"{estimate.total:,}"] if estimate else []), ""])
    click.echo()
    table_with_tail([*columns, *(["est. cycles"] if estimate else []), "kernel"], rows)
    resolution = measured.result.cases[0].counter_resolution
    if resolution is not None and resolution > 1:
        click.echo(f"the counter of this board ticks every {resolution:g} instructions")
    click.echo()


def _count(step: StepTrace) -> int | None:
    return step.instructions if step.cycles is None else step.cycles
