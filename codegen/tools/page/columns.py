"""Columns of the page's tables: which field of the document stands in which, and under what name."""

from collections.abc import Sequence
from dataclasses import dataclass

from codegen.report_file import Step


@dataclass(frozen=True, kw_only=True, slots=True)
class Column:
    """A column of numbers or words: `field` of each row's object in the document."""

    field: str
    title: str
    is_number: bool = True
    told: str = ""
    """Explanation for readers who do not know the column."""


_STEPS = (
    Column(field="microseconds", title="us", told="microseconds at the board's rated clock"),
    Column(field="microjoules", title="uJ", told="microjoules at the published current of the core"),
    Column(field="cycles", title="cycles", told="as a real board's counter has them"),
    Column(field="cycles_estimate", title="cycles, estimate", told="QEMU's counts times published timings"),
    Column(field="instructions", title="instructions", told="measured in one inference"),
    Column(field="instructions_predicted", title="predicted", told="instructions by the kernel's own model"),
    Column(field="macs", title="MACs", told="multiply-accumulates"),
    Column(field="workspace_bytes", title="workspace", told="bytes that the kernel works in"),
    Column(field="constant_bytes", title="constants", told="bytes of weights, biases, tables"),
    Column(field="code_bytes", title="code", told="bytes of its kernels and all they call; steps share them"),
    Column(field="stack_bound_bytes", title="stack", told="static bound of its kernels' call tree, in bytes"),
)


_COSTS = ("cycles", "cycles_estimate", "instructions", "instructions_predicted", "macs")
"""Fields that tell where time goes, the most telling first."""


def cost_field(steps: Sequence[Step]) -> str:
    """The first of `_COSTS` that is known of every step with work."""
    working = [step for step in steps if step.macs or step.instructions or step.instructions_predicted]
    for field in _COSTS[:-1]:
        if working and all(getattr(step, field) is not None for step in working):
            return field
    return _COSTS[-1]


def step_columns(steps: Sequence[Step]) -> tuple[Column, ...]:
    """Columns of which anything is known."""
    always = ("macs", "workspace_bytes", "constant_bytes")
    return tuple(
        column
        for column in _STEPS
        if column.field in always or any(getattr(step, column.field) is not None for step in steps)
    )


def curve_columns() -> tuple[Column, ...]:
    """Columns of the table of the curve RAM against instructions."""
    return (
        Column(field="peak_bytes", title="RAM", told="bytes of all pools"),
        Column(field="instructions", title="instructions", told="predicted, of an inference"),
        Column(field="extra_percent", title="extra %", told="beyond the fewest instructions, in percent"),
        Column(field="macs_executed", title="MACs", told="multiply-accumulates that run"),
        Column(field="extra_macs", title="extra MACs", told="beyond the model's own"),
    )
