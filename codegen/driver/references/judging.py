"""Decides whether outputs are right: by what was expected, by an engine, or by our own evaluation.

Where the engine differs and ours does not, the board computes what was imported. Then each step of the
import is compared with the engine's: rounding that is stated passes, anything else is a mistake of ours.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from codegen.driver.inputs.cases import Case
from codegen.driver.inputs.planned import Planned
from codegen.driver.references.asking import EngineOutputs
from codegen.driver.references.import_check import ImportCheck
from codegen.driver.references.stepwise import check_import
from codegen.driver.references.stream_references import sequence_references
from codegen.driver.report.output_check import Comparison, ReferenceUsed, compare
from codegen.errors import Message, counted, listed
from codegen.ir import Arg, Function, Var
from codegen.ir.evaluate import evaluate
from codegen.ir.ops import UserAttrs
from codegen.ir.ops.layout import MovingOp
from codegen.ir.ops.npu_layers import NpuAttrs

Arrays = tuple[np.ndarray, ...]
Comparisons = tuple[Comparison, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """Every output of every case against the reference, and which one it was."""

    comparisons: tuple[Comparisons, ...]
    reference: ReferenceUsed


def output_bounds(function: Function) -> tuple[float, ...]:
    """The largest magnitude that each output may have, as of a probability; 0 where nothing bounds it."""
    makers = {let.var.name: let.call for let in function.body}
    bounds: list[float] = []
    for result in function.results:
        at: Arg | None = result
        while isinstance(at, Var) and at.name in makers and isinstance(makers[at.name].op, MovingOp):
            at = makers[at.name].args[0]
        call = makers.get(at.name) if isinstance(at, Var) else None
        bounds.append((call.op.bound if call else None) or 0.0)
    return tuple(bounds)


def numpy_outputs(planned: Planned, case: Case) -> Arrays:
    """Outputs of one inference by our own evaluation."""
    return tuple(evaluate(planned.reference, planned.reference.main, case.inputs))


def judge(
    planned: Planned,
    cases: Sequence[Case],
    outputs: Sequence[Arrays],
    asked: EngineOutputs,
    *,
    is_sequence: bool = False,
    tell: Callable[[int], None] = lambda index: None,
) -> Judged:
    """Compare the board's `outputs`, by case; `tell` hears of each case before it is compared."""
    ours = _Ours(planned, cases, asked.choice.tolerance, is_sequence=is_sequence)
    if all(case.expected is not None for case in cases):
        used = ReferenceUsed(kind="expected")
        return Judged(comparisons=_compared(cases, outputs, [()] * len(cases), ours, tell), reference=used)
    if asked.engine is None:
        used = ReferenceUsed(kind="numpy", reason=asked.reason, advice=asked.advice)
        return Judged(comparisons=_compared(cases, outputs, [()] * len(cases), ours, tell), reference=used)
    name = str(asked.engine)
    if asked.mismatch:
        fault = _fault(f"{name} gives {asked.mismatch}", planned.program.name)
        used = ReferenceUsed(kind="engine", engine=name, faults=(fault,))
        return Judged(comparisons=_compared(cases, outputs, [()] * len(cases), ours, tell), reference=used)
    by_engine = _compared(cases, outputs, asked.outputs, ours, tell)
    used = ReferenceUsed(kind="engine", engine=name)
    differing = [index for index, case in enumerate(by_engine) if not all(one.matches for one in case)]
    if _has_opaque_steps(planned) or not (differing or asked.choice.every_step):
        return Judged(comparisons=by_engine, reference=used)
    by_ours = _compared(cases, outputs, [()] * len(cases), ours, tell)
    if not all(one.matches for case in by_ours for one in case):
        return Judged(comparisons=by_engine, reference=used)
    index = (differing or [0])[0]
    check = check_import(planned, cases, index, asked, is_sequence=is_sequence)
    return _explained(cases[index], by_engine, by_ours, asked, check)


class _Ours:
    """Our own evaluation, made when it is first needed."""

    def __init__(
        self, planned: Planned, cases: Sequence[Case], tolerance: float, *, is_sequence: bool
    ) -> None:
        self._planned, self._cases, self._is_sequence = planned, cases, is_sequence
        self._made: dict[int, Arrays] = {}
        self._tolerance, self._bounds = tolerance, output_bounds(planned.reference.main)

    def compared(self, measured: Arrays, expected: Sequence[np.ndarray]) -> Comparisons:
        """Outputs of one case against what they should be."""
        triples = zip(measured, expected, self._bounds, strict=True)
        return tuple(compare(one, two, self._tolerance, bound=bound) for one, two, bound in triples)

    def outputs(self, index: int) -> Arrays:
        """Outputs of case `index`."""
        if self._is_sequence and not self._made:
            self._made = dict(enumerate(sequence_references(self._planned, self._cases)))
        if index not in self._made:
            self._made[index] = numpy_outputs(self._planned, self._cases[index])
        return self._made[index]


def _compared(
    cases: Sequence[Case],
    outputs: Sequence[Arrays],
    known: Sequence[Sequence[np.ndarray | None]],
    ours: _Ours,
    tell: Callable[[int], None],
) -> tuple[Comparisons, ...]:
    """Outputs against the expected ones, else the `known` ones, else ours."""
    compared: list[Comparisons] = []
    for index, (case, measured) in enumerate(zip(cases, outputs, strict=True)):
        tell(index)
        count = len(measured)
        expected = case.expected or (None,) * count
        other = known[index] or (None,) * count
        right = _filled(expected, other)
        if any(array is None for array in right):
            right = _filled(right, ours.outputs(index))
        whole = [array for array in right if array is not None]
        compared.append(ours.compared(measured, whole))
    return tuple(compared)


def _filled(
    arrays: Sequence[np.ndarray | None], others: Sequence[np.ndarray | None]
) -> list[np.ndarray | None]:
    """`arrays`, with one of `others` in place of each that is None."""
    return [two if one is None else one for one, two in zip(arrays, others, strict=True)]


def _has_opaque_steps(planned: Planned) -> bool:
    """True if the engine's steps are not those of the import: a user's kernels, layers that Vela compiled."""
    return any(isinstance(let.call.attrs, UserAttrs | NpuAttrs) for let in planned.reference.main.body)


def _explained(
    case: Case,
    by_engine: tuple[Comparisons, ...],
    by_ours: tuple[Comparisons, ...],
    asked: EngineOutputs,
    check: ImportCheck,
) -> Judged:
    """The verdict where the board computes what was imported, and the import was checked step by step."""
    engine = str(asked.engine)
    difference = max(one.max_abs_difference for case_comparisons in by_engine for one in case_comparisons)
    if check.wrong:
        faults = import_faults(check, f"case {case.name}, ", engine)
        used = ReferenceUsed(kind="engine", engine=engine, values_compared=check.values, faults=faults)
        return Judged(comparisons=by_engine, reference=used)
    if all(one.matches for case_comparisons in by_engine for one in case_comparisons):
        used = ReferenceUsed(
            kind="engine",
            engine=engine,
            values_by=check.engine,
            values_compared=check.values or None,
            unjudged=check.unjudged,
        )
        return Judged(comparisons=by_engine, reference=used)
    assert asked.engine is not None, "an engine has answered"
    others = asked.ruling.others(asked.engine.name)
    if others and not check.values:
        words = listed([f"{key} ({name})" for key, name in others.items()], 5)
        reason = f"{engine} differs by up to {difference:g}, but does not rule for {words}"
        return Judged(comparisons=by_ours, reference=ReferenceUsed(kind="numpy", reason=reason))
    used = ReferenceUsed(
        kind="engine",
        engine=engine,
        values_by=check.engine,
        values_compared=check.values,
        max_difference=difference,
        unjudged=check.unjudged,
    )
    return Judged(comparisons=by_ours, reference=used)


def import_faults(check: ImportCheck, at: str, engine: str) -> tuple[Message, ...]:
    """E704 with the first step that is not the engine's; `at`: of which case or sizes."""
    if not check.wrong:
        return ()
    first = check.wrong[0]
    one = first.comparison
    more = f"; {counted(len(check.wrong), 'step')} in all" if len(check.wrong) > 1 else ""
    text = (
        f"{one.differing} of {counted(first.elements, 'element')} are not those of {engine} from the same "
        f"arguments, by up to {one.max_abs_difference:g}{more}: the file is imported wrongly, and the board "
        "computes what was imported"
    )
    return (_fault(text, f"{at}{first.where}"),)


def _fault(text: str, where: str) -> Message:
    help_ = "please report this model; --reference numpy compares with what was imported"
    return Message(code="E704", where=where, text=text, help=help_)
