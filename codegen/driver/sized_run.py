"""Runs of a model whose sizes are ranges: at each of some sizes outputs, peaks and instructions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import cast

import numpy as np

from codegen import board as boards
from codegen.documents import to_json
from codegen.driver.build import Built, Planned, document
from codegen.driver.checks.calling import check_sizes
from codegen.driver.inputs.cases import Case, pattern_case
from codegen.driver.inputs.dims import values_at
from codegen.driver.options import Options
from codegen.driver.references import ask
from codegen.driver.report.single import Measured
from codegen.driver.report.size_gaps import peak_picture
from codegen.driver.run import (
    PLAIN_RUN,
    RunConditions,
    StepCheck,
    check_linked,
    check_reference,
    check_steps,
    measure,
    output_complaints,
    request,
    step_complaints,
)
from codegen.errors import Message, Messages
from codegen.program.image import RunRequest, RunResult, Trace
from codegen.program.program import Program
from codegen.program.size_ranges import breakpoints, looked_at, number_at, shape_at
from codegen.progress import Progress, silent


@dataclass(frozen=True, kw_only=True, slots=True)
class AtSizes:
    """Results of a run at certain sizes."""

    values: Mapping[str, int]
    planned: Planned
    """The model there: its outputs have the extents of these sizes."""
    case: Case
    measured: Measured
    planned_bytes: Mapping[str, int]
    """Pool -> its peak by the plan's formula."""
    bound_bytes: Mapping[str, int]
    """Pool -> what no plan goes below, where that was looked at."""


def sizes_asked(planned: Planned, word: str) -> list[dict[str, int]]:
    """The sizes of `--at` of a model: `all`, `breakpoints`, or `T=37`. Raises CodegenError E285 for other
    words."""
    ranges = planned.program.ranges
    if ranges is None:
        raise ValueError(f"{planned.program.name}: all its sizes are fixed")
    if word == "all":
        return looked_at(ranges)
    if word == "breakpoints":
        return breakpoints(ranges)
    return [values_at(word, ranges.symbols)]


def run_at(
    built: Built,
    sizes: Sequence[Mapping[str, int]],
    *,
    seed: int,
    conditions: RunConditions = PLAIN_RUN,
    model: int = 0,
    progress: Progress = silent,
) -> list[AtSizes]:
    """Run a model of a build at each of `sizes`, with made-up inputs, in one boot.

    Raises CodegenError E405 and E226 as `execute` does.
    """
    planned = built.models[model]
    check_linked(built)
    runs: list[AtSizes] = []
    with boards.session(
        built.image, built.board, port=conditions.port, patience=conditions.patience
    ) as target:
        for index, values in enumerate(sizes):
            progress("run at its sizes", index, len(sizes))
            here = member_of(planned, values)
            case = pattern_case([tensor.type for tensor in here.program.signature.inputs], seed + index)
            asked = ask(here, [case], conditions.choice)
            check_reference(here, [case], asked)
            sent = request_at(
                planned.program,
                case,
                values,
                model=model,
                trace=conditions.trace,
                sandboxed=conditions.sandboxed,
            )
            result = _cut(target.run(sent), here.program)
            measured = measure(here, [case], result, asked)
            runs.append(_at(here, planned.program, case, values, measured))
    return runs


def request_at(
    program: Program,
    case: Case,
    values: Mapping[str, int],
    *,
    model: int = 0,
    trace: Trace = Trace.NONE,
    sandboxed: bool = False,
) -> RunRequest:
    """The request to a target for one case at certain sizes."""
    sent = [_sent(program, case, values)]
    asked = request(program, sent, model=model, trace=trace, sandboxed=sandboxed)
    return replace(asked, model=replace(asked.model, step_sizes=_step_sizes(program, values)))


def member_of(planned: Planned, values: Mapping[str, int]) -> Planned:
    """The model at certain sizes: module, inputs and outputs."""
    program, ranges = planned.program, planned.program.ranges
    if ranges is None or planned.at is None:
        raise ValueError(f"{program.name}: all its sizes are fixed")
    inputs, outputs = (
        tuple(
            replace(tensor, type=replace(tensor.type, shape=shape_at(ranges, tensor.type.shape, values)))
            for tensor in tensors
        )
        for tensors in (program.signature.inputs, program.signature.outputs)
    )
    module = planned.at(values)
    signature = replace(program.signature, inputs=inputs, outputs=outputs)
    # Which channels are left does not depend on the sizes.
    reduction = planned.reduction
    return Planned(
        module=module,
        program=replace(program, signature=signature),
        macs=planned.macs,
        reduction=None if reduction is None else replace(reduction, original=module),
        file=None if planned.file is None else planned.file.at(values),
    )


def _step_sizes(program: Program, values: Mapping[str, int]) -> tuple[int, ...]:
    """Bytes that each step's result has at these sizes; a view has none of its own."""
    ranges = program.ranges
    assert ranges is not None
    types = (None if prim.view is not None else prim.let.var.type for prim in program.steps.prim_funcs)
    return tuple(
        0 if type_ is None else type_.dtype.size_bytes * prod(shape_at(ranges, type_.shape, values))
        for type_ in types
    )


def _sent(program: Program, case: Case, values: Mapping[str, int]) -> Case:
    """The case as the test firmware takes it: inputs as long as the largest, then the sizes."""
    inputs: list[np.ndarray] = []
    for data, tensor in zip(case.inputs, program.signature.inputs, strict=True):
        whole = np.zeros(tensor.type.size_bytes, np.uint8)
        data_bytes = np.frombuffer(np.ascontiguousarray(data).tobytes(), np.uint8)
        whole[: data_bytes.size] = data_bytes
        inputs.append(whole)
    ranges = program.ranges
    assert ranges is not None
    dims = np.array([values[symbol.name] for symbol in ranges.symbols], "<u4")
    return replace(case, inputs=(*inputs, dims))


def _cut(result: RunResult, program: Program) -> RunResult:
    """A result with outputs as long as they are at these sizes."""
    sizes = [tensor.type.size_bytes for tensor in program.signature.outputs]
    return replace(
        result,
        cases=tuple(
            replace(
                case,
                outputs=tuple(data[:size] for data, size in zip(case.outputs, sizes, strict=True)),
            )
            for case in result.cases
        ),
    )


def _at(
    here: Planned, program: Program, case: Case, values: Mapping[str, int], measured: Measured
) -> AtSizes:
    ranges = program.ranges
    assert ranges is not None
    planned_bytes = {
        pool: number_at(ranges, formula, values)
        for pool, formula in ranges.pools.items()
        if pool in measured.result.cases[0].pool_peaks
    }
    here_values = tuple(values[symbol.name] for symbol in ranges.symbols)
    bounds = {
        pool: peak.lower_bound_bytes
        for pool in planned_bytes
        for peak in ranges.peaks[pool]
        if peak.values == here_values
    }
    return AtSizes(
        values=values,
        planned=here,
        case=case,
        measured=measured,
        planned_bytes=planned_bytes,
        bound_bytes=bounds,
    )


def _named(values: Mapping[str, int]) -> str:
    """Sizes in words: `H=8, W=9`."""
    return ", ".join(f"{name}={value}" for name, value in values.items())


def complaints_at(runs: Sequence[AtSizes]) -> list[Message]:
    """Everything that does not hold, and at which sizes: outputs (E701, E702), peaks, guards (E80x)."""
    messages: list[Message] = []
    for run in runs:
        at = _named(run.values)
        [got] = run.measured.result.cases
        faults = run.measured.reference.faults
        messages += (replace(fault, where=f"{at}, {fault.where}") for fault in faults)
        [compared] = run.measured.comparisons
        wrong = () if faults else output_complaints(run.planned, run.case, compared, got.outputs)
        messages += (replace(fault, where=f"{at}, {fault.where}") for fault in wrong)
        if not got.paints_agree:
            messages.append(
                Message(
                    code="E702",
                    where=at,
                    text="outputs depend on what the pools held before the run",
                    help="a kernel reads bytes that nothing wrote: please report this model",
                )
            )
        for pool, planned in run.planned_bytes.items():
            if got.pool_peaks[pool] != planned:
                text = f"pool {pool}: measured peak {got.pool_peaks[pool]} bytes, planned {planned}"
                messages.append(Message(code="E801", where=at, text=text))
        if not got.guards_intact:
            messages.append(Message(code="E802", where=at, text="bytes behind a pool were written"))
    return messages


@dataclass(frozen=True, kw_only=True, slots=True)
class ChecksAt:
    """Every step at certain sizes against the reference."""

    values: Mapping[str, int]
    steps: tuple[StepCheck, ...]

    @property
    def wrong(self) -> list[StepCheck]:
        """Steps that differ."""
        return [check for check in self.steps if check.is_wrong]

    @property
    def complaints(self) -> list[Message]:
        """Messages about steps whose results differ."""
        return step_complaints(self.steps, f"{_named(self.values)}, ")


def steps_at(runs: Sequence[AtSizes], progress: Progress = silent) -> list[ChecksAt]:
    """Compare all steps of traced runs."""
    return [
        ChecksAt(
            values=run.values,
            steps=tuple(check_steps(run.planned, run.case, run.measured, progress=progress)),
        )
        for run in runs
    ]


def check_at(
    options: Options, at: str | None, *, models: int, others: Sequence[str], svg: Path | None = None
) -> None:
    """Raise CodegenError E284 for `--at` and `--svg` without `--dim`, and for what does not go together with
    `--dim`: `others`, flags in use, and a picture of several models."""
    if options.has_ranges:
        drawn = svg is not None and models > 1
        check_sizes(options, *others, *([f"a picture of {models} models"] if drawn else []))
        return
    messages = Messages()
    for flag, value in (("--at", at), ("--svg", svg)):
        if value is not None:
            help_ = "say them: --dim T=10..200"
            messages.add("E284", "needs sizes that are ranges", where=f"{flag} {value}", help=help_)
    messages.raise_if_any()


def run_picture(built: Built, runs: Sequence[AtSizes]) -> str:
    """The peaks over all sizes, planned, least, and measured at those at which it ran."""
    [planned] = built.models
    measured = {
        pool: {tuple(run.values.values()): run.measured.result.cases[0].pool_peaks[pool] for run in runs}
        for pool in (runs[0].planned_bytes if runs else ())
    }
    return peak_picture(planned.program, measured)


def sized_document(
    built: Built, options: Options, model_runs: Sequence[Sequence[AtSizes]], checks: Sequence[ChecksAt] = ()
) -> str:
    """report.json of a build, with what the runs of each model gave at each of the sizes, and of one model
    `checks` of its steps."""
    whole = document(built, options)
    runs = [_runs_report(runs_of_model, checks) for runs_of_model in model_runs]
    if built.bundle.is_single:
        return to_json({**whole, "runs_at_sizes": runs[0]})
    models = zip(cast("list[dict[str, object]]", whole["models"]), runs, strict=True)
    return to_json(
        {**whole, "models": [{**model, "runs_at_sizes": model_runs_} for model, model_runs_ in models]}
    )


def _runs_report(runs: Sequence[AtSizes], checks: Sequence[ChecksAt]) -> list[dict[str, object]]:
    steps = {tuple(check.values.values()): check for check in checks}
    return [
        {
            "at": list(run.values.values()),
            "outputs_equal": all(one.matches for one in run.measured.comparisons[0]),
            "reference": run.measured.reference.document,
            "pools": [
                {
                    "name": pool,
                    "planned_bytes": planned,
                    "measured_bytes": run.measured.result.cases[0].pool_peaks[pool],
                    "lower_bound_bytes": run.bound_bytes.get(pool),
                }
                for pool, planned in run.planned_bytes.items()
            ],
            "guards_intact": run.measured.result.cases[0].guards_intact,
            "instructions": run.measured.result.cases[0].instructions,
            **_steps_report(steps.get(tuple(run.values.values()))),
        }
        for run in runs
    ]


def _steps_report(checks: ChecksAt | None) -> dict[str, object]:
    """Which steps differ; nothing where steps were not looked at."""
    if checks is None:
        return {}
    compared = [step for step in checks.steps if step.comparison is not None]
    return {"steps_compared": len(compared), "steps_that_differ": [step.step for step in checks.wrong]}
