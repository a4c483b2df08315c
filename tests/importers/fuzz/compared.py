"""Accepted mutants under the sanitizers: C against the NumPy evaluation, and that against an engine."""

import tempfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import numpy as np
import tflite

from codegen import board as boards
from codegen import emit, toolchain
from codegen.board import MemoryFault, run_poisoned
from codegen.driver.inputs.cases import Case, pattern_case
from codegen.driver.inputs.planned import Planned
from codegen.driver.report.output_check import array, compare
from codegen.driver.run import request
from codegen.ir import Let
from codegen.ir.evaluate import evaluate
from codegen.program.image import RunResult
from tests import engines
from tests.engines import TFLITE_MICRO, TFLITE_RUNTIME, EngineAnswer, Request
from tests.importers.fuzz.examine import Verdict, rendered
from tests.importers.fuzz.mutants import Mutant

_ENGINES = (TFLITE_RUNTIME, TFLITE_MICRO)


@contextmanager
def scratch() -> Generator[Path]:
    """A folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="codegen-mutants-") as folder:
        yield Path(folder)


def verdicts(mutants: Sequence[Mutant]) -> Iterator[tuple[Mutant, Verdict]]:
    """Of each a verdict on its run, and one on the engines' answer."""
    for mutant in mutants:
        with scratch() as folder:
            path = folder / "m.tflite"
            path.write_bytes(mutant.data)
            planned, measured, case = _run(path, folder)
            verdict = _against_reference(planned, measured, case)
            yield mutant, verdict
            if not verdict.is_bad:
                yield mutant, _against_engines(mutant, planned, case)


def _run(path: Path, folder: Path) -> tuple[Planned, RunResult | MemoryFault, Case]:
    planned, sources = rendered(path, "host")
    board = boards.load_board("host")
    emit.write(sources, folder / "build")
    image = toolchain.build(sources, folder / "build", board, sanitize=True)
    case = pattern_case([param.type for param in planned.module.main.params], seed=1)
    with np.errstate(all="ignore"):
        return planned, run_poisoned(image, board, request(planned.program, [case])), case


def _expected(planned: Planned, case: Case) -> list[np.ndarray]:
    return evaluate(planned.reference, planned.reference.main, case.inputs)


def _against_reference(planned: Planned, measured: RunResult | MemoryFault, case: Case) -> Verdict:
    if isinstance(measured, MemoryFault):
        return Verdict(what="bug", detail=f"sanitizer: {measured}")
    (got,) = measured.cases
    wanted = _expected(planned, case)
    for number, (data, expected) in enumerate(zip(got.outputs, wanted, strict=True)):
        kind = planned.program.signature.outputs[number].type
        if not compare(array(data, kind), expected).matches:
            given = array(data, kind).ravel()[:8]
            return Verdict(what="bug", detail=f"output {number}: {given}, NumPy {expected.ravel()[:8]}")
    if not (got.paints_agree and got.guards_intact):
        return Verdict(what="bug", detail="reads or writes bytes that are nobody's")
    return Verdict(what="ran")


def _against_engines(mutant: Mutant, planned: Planned, case: Case) -> Verdict:
    """One of the engines that take the file must agree with the NumPy evaluation."""
    wanted = _expected(planned, case)
    answers = [_answer(name, mutant, case) for name in _ENGINES if name in engines.available()]
    given = [answer.outputs[0] for answer in answers if not answer.error]
    if not given:
        return Verdict(what="no engine takes it")
    if any(_alike(outputs, wanted) for outputs in given):
        return Verdict(what="engine agrees")
    if _overflows(mutant, planned, case):
        return Verdict(what="engines overflow")
    first = [[y.ravel()[:8] for y in outputs] for outputs in given]
    return Verdict(what="bug", detail=f"engines give {first}, NumPy {[y.ravel()[:8] for y in wanted]}")


def _overflows(mutant: Mutant, planned: Planned, case: Case) -> bool:
    """Whether the engines compute this file with numbers that their own types do not hold: they keep the
    padding of a window in an int16, and QUANTIZE casts its quotient to an int32."""
    model = tflite.Model.GetRootAs(mutant.data, 0)
    graph = cast(Any, model.Subgraphs(0))
    for operator in (graph.Operators(index) for index in range(graph.OperatorsLength())):
        table = operator.BuiltinOptions()
        if table is not None and operator.BuiltinOptionsType() == tflite.BuiltinOptions.Pool2DOptions:
            pool = cast(Any, tflite.Pool2DOptions())
            pool.Init(table.Bytes, table.Pos)
            if max(pool.FilterHeight(), pool.FilterWidth()) // 2 > np.iinfo(np.int16).max:
                return True
    return any(_quotient(let, planned, case) > np.iinfo(np.int32).max for let in planned.reference.main.body)


def _quotient(let: Let, planned: Planned, case: Case) -> float:
    """The largest |x / scale| that a QUANTIZE of an input of the network casts; 0 for any other step."""
    params = planned.reference.main.params
    (arg, *_) = let.call.args
    quantization = let.var.type.quantization
    if let.call.op.name != "QUANTIZE" or arg not in params or quantization is None:
        return 0.0
    values = case.inputs[params.index(arg)]
    return float(np.abs(values).max(initial=0) / min(quantization.scales))


def _answer(engine: str, mutant: Mutant, case: Case) -> EngineAnswer:
    (answer,) = engines.evaluate([Request(engine=engine, model=mutant.data, inputs=(case.inputs,))])
    return answer


def _alike(outputs: Sequence[np.ndarray], wanted: Sequence[np.ndarray]) -> bool:
    return len(outputs) == len(wanted) and all(
        y.dtype == expected.dtype and y.shape == expected.shape and compare(y, expected).matches
        for y, expected in zip(outputs, wanted, strict=True)
    )
