"""Run and validate: execute a build, compare with the reference, measure against the plan."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace

import numpy as np

from codegen import board as boards
from codegen.driver.build import Built, Planned
from codegen.driver.checks.calling import check_port
from codegen.driver.inputs.cases import Case, state_inputs
from codegen.driver.options import Options
from codegen.driver.references import EngineOutputs, ask, halves_words, judge, numpy_outputs, ruling_words
from codegen.driver.report.output_check import Comparison, array, compare
from codegen.driver.report.several import used_pools
from codegen.driver.report.single import Measured
from codegen.errors import CodegenError, Message, Messages
from codegen.ir import DType, Let, Var
from codegen.ir.evaluate import steps
from codegen.ir.ops import DEVICE_COPY, UserAttrs
from codegen.program.image import BenchModel, CaseResult, RunRequest, RunResult, Trace
from codegen.program.program import Program
from codegen.progress import Progress, silent
from codegen.settings import ReferenceChoice


@dataclass(frozen=True, kw_only=True, slots=True)
class RunConditions:
    """Conditions under which cases run on a target, and the reference of their outputs."""

    port: str | None = None
    """Serial port of a real board; None: QEMU or this machine."""
    trace: Trace = Trace.NONE
    sandboxed: bool = False
    """Open to each step only its own buffers; needs a build with `Options.sandbox`."""
    sequence: bool = False
    """The cases are inferences one after another: state is kept."""
    patience: boards.Patience = boards.PATIENT
    choice: ReferenceChoice = field(default_factory=ReferenceChoice)


PLAIN_RUN = RunConditions()
"""QEMU or this machine, nothing traced, compared with our own evaluation."""
NOT_ASKED = EngineOutputs()


def request(
    program: Program,
    cases: Sequence[Case],
    *,
    model: int = 0,
    trace: Trace = Trace.NONE,
    sandboxed: bool = False,
    sequence: bool = False,
) -> RunRequest:
    """The request to a target for every case of one model, with both paints."""
    return RunRequest(
        model=_bench_model(program, model),
        cases=tuple(tuple(np.ascontiguousarray(data).tobytes() for data in case.inputs) for case in cases),
        trace=trace,
        sandboxed=sandboxed,
        sequence=sequence,
        states=state_inputs(program) if sequence else (),
    )


def _bench_model(program: Program, number: int) -> BenchModel:
    return BenchModel(
        number=number,
        sha256=program.metadata["sha256"],
        output_sizes=tuple(tensor.type.size_bytes for tensor in program.signature.outputs),
        pools=used_pools(program),
        step_sizes=tuple(
            0 if prim.view is not None else prim.let.var.type.size_bytes for prim in program.steps.prim_funcs
        ),
        silent_steps=program.silent_steps,
    )


def reference(planned: Planned, case: Case) -> tuple[np.ndarray, ...]:
    """Expected outputs: the case's own, else the built-in NumPy evaluation."""
    return case.known_outputs or numpy_outputs(planned, case)


def check_reference(planned: Planned, cases: Sequence[Case], asked: EngineOutputs | None = None) -> None:
    """Raise CodegenError E226 if a case lacks expected outputs and the model calls kernels of the user's;
    not where an engine has answered."""
    if asked is not None and asked.engine is not None:
        return
    if cases and all(case.known_outputs is not None for case in cases):
        return
    messages = Messages()
    for let in planned.reference.main.body:
        if isinstance(let.call.attrs, UserAttrs):
            messages.add(
                "E226",
                f"only the kernel {let.call.attrs.kernel.symbol} of codegen.toml computes this operator: "
                "there is no reference to compare with",
                where=let.where,
                help="compare with outputs from elsewhere: codegen run MODEL --input X.npz --expect Y.npz",
            )
    messages.raise_if_any()


def check_linked(built: Built) -> None:
    """Raise CodegenError E405 if the build has no firmware that could run."""
    if built.left_out:
        raise CodegenError(built.left_out)


def patience_of(options: Options) -> boards.Patience:
    """How long targets may take."""
    return boards.Patience(run_seconds=options.run_timeout_seconds)


def execute(
    built: Built,
    cases: Sequence[Case],
    conditions: RunConditions = PLAIN_RUN,
    *,
    model: int = 0,
    progress: Progress = silent,
) -> Measured:
    """Run every case on the target (QEMU, the host, or a board on a port) and compare every output.

    Raises CodegenError E405 where the build left the firmware out, E226 where only NumPy could say what to
    expect, and cannot.
    """
    planned, choice = built.models[model], conditions.choice
    check_linked(built)
    check_port(built.bundle, conditions.port)
    asked = ask(planned, cases, choice, is_sequence=conditions.sequence)
    check_reference(planned, cases, NOT_ASKED if choice.every_step else asked)
    with _session(built, conditions, progress) as target:
        result = target.run(_request(planned, cases, conditions, model))
    return measure(planned, cases, result, asked, progress)


def execute_all(
    built: Built,
    cases: Sequence[Sequence[Case]],
    conditions: RunConditions = PLAIN_RUN,
    *,
    progress: Progress = silent,
) -> list[Measured]:
    """`execute` of every model, one after the other in one boot; `cases` by model."""
    check_linked(built)
    check_port(built.bundle, conditions.port)
    models = [*zip(built.models, cases, strict=True)]
    answers = [
        ask(planned, one, conditions.choice, is_sequence=conditions.sequence) for planned, one in models
    ]
    for (planned, one), asked in zip(models, answers, strict=True):
        check_reference(planned, one, asked)
    measured: list[Measured] = []
    with _session(built, conditions, progress) as target:
        for index, (planned, one) in enumerate(models):
            result = target.run(_request(planned, one, conditions, index))
            measured.append(measure(planned, one, result, answers[index], progress))
    return measured


def _session(
    built: Built, conditions: RunConditions, progress: Progress
) -> AbstractContextManager[boards.Session]:
    return boards.session(
        built.image, built.board, port=conditions.port, patience=conditions.patience, progress=progress
    )


def _request(planned: Planned, cases: Sequence[Case], conditions: RunConditions, model: int) -> RunRequest:
    return request(
        planned.program,
        cases,
        model=model,
        trace=conditions.trace,
        sandboxed=conditions.sandboxed,
        sequence=conditions.sequence,
    )


def measure(
    planned: Planned,
    cases: Sequence[Case],
    result: RunResult,
    asked: EngineOutputs = NOT_ASKED,
    progress: Progress = silent,
) -> Measured:
    """Compare what a run gave with what was expected, with what an engine answered, else with our own
    evaluation; `progress` hears of every case."""
    outputs = [
        tuple(
            array(data, tensor.type)
            for data, tensor in zip(case.outputs, planned.program.signature.outputs, strict=True)
        )
        for case in result.cases
    ]
    judged = judge(
        planned,
        cases,
        outputs,
        asked,
        is_sequence=result.sequence,
        tell=lambda index: progress("compare with the reference", index, len(cases)),
    )
    return Measured(result=result, comparisons=judged.comparisons, reference=judged.reference)


def complaints(
    planned: Planned,
    cases: Sequence[Case],
    measured: Measured,
    stack_bound: int | None,
    core1_stack_bound: int | None = None,
) -> list[Message]:
    """Everything that does not hold: outputs (E701, E702), peaks, guards, stacks (E80x)."""
    program = planned.program
    messages: list[Message] = list(measured.reference.faults)
    for case, comparisons, got in zip(cases, measured.comparisons, measured.result.cases, strict=True):
        if not measured.reference.faults:
            messages += output_complaints(planned, case, comparisons, got.outputs)
        if not got.paints_agree:
            messages.append(
                Message(
                    code="E702",
                    where=f"case {case.name}",
                    text="outputs depend on what the pools held before the run",
                    help="a kernel reads bytes that nothing wrote: please report this model",
                )
            )
        messages += _peak_complaints(program, case, got)
        stacks = (
            ("stack", got.stack_peak_bytes, stack_bound),
            ("core 1: stack", got.core1_stack_peak_bytes, core1_stack_bound),
        )
        messages += (
            Message(
                code="E803", where=f"case {case.name}", text=f"{what} peak {peak} bytes, static bound {bound}"
            )
            for what, peak, bound in stacks
            if bound is not None and peak is not None and peak > bound
        )
    return messages


def all_complaints(
    built: Built, cases: Sequence[Sequence[Case]], measured: Sequence[Measured]
) -> list[Message]:
    """`complaints` of every model, which are named where there are several."""
    messages_: list[Message] = []
    for planned, model_cases, one in zip(built.models, cases, measured, strict=True):
        sizes = built.image.sizes
        from codegen.emit.model.header import stack_bytes

        bound = stack_bytes(planned.program, sizes)
        messages = complaints(planned, model_cases, one, bound, sizes.core1_stack_bound_bytes)
        name = "" if built.bundle.is_single else f"{planned.program.name}, "
        messages_ += [replace(message, where=f"{name}{message.where}") for message in messages]
    return messages_


def output_complaints(
    planned: Planned, case: Case, comparisons: Sequence[Comparison], outputs: Sequence[bytes]
) -> Iterator[Message]:
    """E701 for every output that differs; of expected ones it says which engine gives the right ones, of
    expected integers how many lie at halves."""
    if all(one.matches for one in comparisons):
        return
    help_ = "`codegen validate` names the first step that differs"
    if case.expected is not None and (words := ruling_words(planned)):
        help_ = f"{words}; {help_}"
    for index, (tensor, one) in enumerate(zip(planned.program.signature.outputs, comparisons, strict=True)):
        if one.matches:
            continue
        expected = None if case.expected is None else case.expected[index]
        halves, rounds = "", ""
        if expected is not None and tensor.type.dtype.is_integer:
            measured = array(outputs[index], tensor.type)
            halves, rounds = halves_words(planned, case, index, measured, expected)
        elif tensor.type.dtype is DType.FLOAT32:
            rounds = "--tolerance states how much is no difference"
        yield Message(
            code="E701",
            where=f'case {case.name}, output "{tensor.field}"',
            text=f"{one.differing} of {tensor.type.elements} elements differ, first at {one.first}, "
            f"by up to {one.max_abs_difference:g}{halves}",
            help=f"{help_}; {rounds}" if rounds else help_,
        )


def _peak_complaints(program: Program, case: Case, got: CaseResult) -> Iterator[Message]:
    where = f"case {case.name}"
    for name in used_pools(program):
        planned, measured = program.memory.peak_bytes(name), got.pool_peaks[name]
        if planned != measured:
            yield Message(
                code="E801",
                where=where,
                text=f"pool {name}: measured peak {measured} bytes, planned {planned}",
            )
    if not got.guards_intact:
        yield Message(code="E802", where=where, text="bytes behind a pool were written")


@dataclass(frozen=True, kw_only=True, slots=True)
class StepCheck:
    """One step of a traced run. `comparison` is None where the step has no bytes of its own to compare."""

    step: int
    name: str
    where: str
    comparison: Comparison | None
    instructions: int | None
    channels: tuple[int, int] | None = None
    """Channels that the reduction left, which were compared, and all channels; None where none was removed.
    """

    @property
    def is_wrong(self) -> bool:
        """True if the step's result differs."""
        return self.comparison is not None and not self.comparison.matches


def step_complaints(checks: Sequence[StepCheck], at: str = "") -> list[Message]:
    """E703 with the first step that differs from the reference; `at`: at which sizes."""
    wrong = [check for check in checks if check.is_wrong]
    if not wrong:
        return []
    first = wrong[0]
    differing = first.comparison.differing if first.comparison else 0
    return [
        Message(
            code="E703",
            where=f"{at}step {first.step}, {first.where}",
            text=f"the first step that differs from the reference: {differing} elements; "
            f"{len(wrong)} steps in all",
            help="please report this model, or check the kernel of that step",
        )
    ]


def _reference_value(program: Program, let: Let) -> str:
    """The value of the reference that a step computes: of a copy what it copies, of a step that runs again
    what the first one computes."""
    sources = {let_.var.name: let_ for let_ in program.steps.function.body}
    name = let.var.name
    while name in sources and sources[name].call.op is DEVICE_COPY:
        [source] = sources[name].call.args
        assert isinstance(source, Var), "constants are not copied"
        name = source.name
    return sources[name].repeats or name if name in sources else name


def check_steps(
    planned: Planned, case: Case, measured: Measured, *, progress: Progress = silent
) -> list[StepCheck]:
    """Every step's result on the target against the reference, in order.

    The reference is not reduced: a reduced step is compared with the channels that it still has.
    """
    reference = planned.reference
    params = (param.name for param in reference.main.params)
    expected = dict(zip(params, case.inputs, strict=True))
    of_steps = steps(reference, reference.main, case.inputs)
    for done, (let, data) in enumerate(of_steps, 1):
        progress("evaluate the reference", done, len(reference.main.body))
        expected[let.var.name] = data
    surviving: Mapping[str, tuple[int, ...]] = planned.reduction.surviving if planned.reduction else {}
    checks: list[StepCheck] = []
    for trace in measured.result.trace:
        prim = planned.program.steps.prim_funcs[trace.step]
        comparison, channels = None, None
        if trace.result is not None:
            value = _reference_value(planned.program, prim.let)
            left, reference_data = surviving.get(value), expected[value]
            kept = reference_data if left is None else np.ascontiguousarray(reference_data[..., left])
            there = replace(prim.let.var.type, shape=kept.shape)  # which may be at other sizes
            comparison = compare(array(trace.result, there), kept)
            channels = None if left is None else (len(left), reference_data.shape[-1])
        checks.append(
            StepCheck(
                step=trace.step,
                name=prim.name,
                where=prim.let.where,
                comparison=comparison,
                instructions=trace.instructions,
                channels=channels,
            )
        )
    return checks
