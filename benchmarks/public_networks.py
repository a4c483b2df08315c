"""Networks of a folder that the project does not hold: how many build and run exactly, and why others do not.

python benchmarks/public_networks.py FOLDER                      # every .tflite below it, on this machine
python benchmarks/public_networks.py FOLDER --board mps2-an386 --seconds 200 --done done.jsonl

Each runs four inferences in sequence, state kept, on made-up inputs; integers must equal the reference
engine's in every bit, floats within the bounds of `run`. tflite-micro rules for networks with state, else
tflite-runtime, and the other one where the first has no answer or another one. Where neither has one NumPy's
counts (`NumPy alone`). `--done` takes a line a network; those that have one are not run again, so a long list
is run in portions.
"""

import argparse
import hashlib
import json
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # this checkout, not the installed one

from codegen.driver.build import Built, build
from codegen.driver.inputs.cases import Case, sequence_cases, state_inputs, state_outputs
from codegen.driver.options import Options
from codegen.driver.run import RunConditions, complaints, execute
from codegen.errors import CodegenError
from codegen.ir import Var
from codegen.ir.ops import GatherAttrs
from tests.engines import TFLITE_MICRO, TFLITE_RUNTIME, Arrays, Request, evaluate

INFERENCES, SEED = 4, 3
SAME_NUMBERS = ("CAST", "RESHAPE")
"""Operators behind which indices are still those of an input."""


def verdict(path: Path, board: str, folder: Path) -> str:
    """Of one network: exact, by which reference, or what is wrong in one line."""
    try:
        done = build([path], Options(board=board), folder / "build", emulated=True)
    except CodegenError as error:
        return f"refused: {error.messages[0].text}"
    program = done.models[0].program
    cases = [within_tables(done, case) for case in sequence_cases(program, None, None, SEED)[:INFERENCES]]
    own = set(state_inputs(program))
    given = tuple(tuple(x for at, x in enumerate(case.inputs) if at not in own) for case in cases)
    first, second = (TFLITE_MICRO, TFLITE_RUNTIME) if own else (TFLITE_RUNTIME, TFLITE_MICRO)
    wrong = ""
    for engine in (first, second):
        request = Request(engine=engine, model=path.read_bytes(), inputs=given, is_sequence=bool(own))
        [answer] = evaluate([request])
        if answer.error:
            continue
        wrong = compared(done, [expecting(done, *each) for each in zip(cases, answer.outputs, strict=True)])
        if not wrong:
            return f"exact: {engine}"
    return wrong or compared(done, cases) or "exact: NumPy alone"


def within_tables(done: Built, case: Case) -> Case:
    """The case with indices that the table has where they are looked up: beyond it engines have no answer."""
    program = done.models[0].program
    at = {program.steps.function.params[i].name: i for i in range(len(case.inputs))}
    inputs = list(case.inputs)
    for let in program.steps.function.body:
        args = [arg.name if isinstance(arg, Var) else "" for arg in let.call.args]
        if let.call.op.name in SAME_NUMBERS and args[0] in at:
            at[let.var.name] = at[args[0]]
        if isinstance(let.call.attrs, GatherAttrs) and args[1] in at:
            table = let.call.types[0]
            assert table is not None, "the operator has a table"
            inputs[at[args[1]]] = np.abs(inputs[at[args[1]]]) % table.shape[let.call.attrs.axis]
    return replace(case, inputs=tuple(inputs))


def expecting(done: Built, case: Case, outputs: Arrays) -> Case:
    """The case with an engine's outputs; NumPy says what state becomes."""
    program = done.models[0].program
    own, answers = set(state_outputs(program)), iter(outputs)
    expected = tuple(
        None if at in own else next(answers).reshape(tensor.type.shape)
        for at, tensor in enumerate(program.signature.outputs)
    )
    return Case(name=case.name, inputs=case.inputs, expected=expected)


def compared(done: Built, cases: list[Case]) -> str:
    """What is wrong with a run, or nothing."""
    try:
        measured = execute(done, cases, RunConditions(sequence=True))
    except CodegenError as error:
        return f"failed: {error.messages[0].text}"
    found = complaints(done.models[0], cases, measured, done.image.sizes.stack_bound_bytes)
    return f"differs: {found[0].text}" if found else ""


def main() -> int:
    """Run and print."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--board", default="host")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no network after them")
    parser.add_argument("--done", type=Path, help="lines of networks that were run, read and added to")
    wanted = parser.parse_args()
    end, found = time.monotonic() + wanted.seconds, dict[str, str]()
    if wanted.done and wanted.done.exists():
        found = dict(json.loads(line) for line in wanted.done.read_text(encoding="utf-8").splitlines())
    for path in sorted(wanted.folder.rglob("*.tflite"), key=lambda path: path.stat().st_size):
        key = hashlib.sha256(path.read_bytes()).hexdigest()
        if key in found or time.monotonic() > end:
            continue
        with tempfile.TemporaryDirectory(prefix="codegen-networks-") as name, np.errstate(all="ignore"):
            found[key] = verdict(path, wanted.board, Path(name))
        print(f"{path.name}: {found[key]}", flush=True)
        if wanted.done:
            with wanted.done.open("a", encoding="utf-8") as file:
                file.write(json.dumps([key, found[key]]) + "\n")
    for text, count in Counter(found.values()).most_common():
        print(f"{count:6}  {text}")
    return int(any(text.startswith(("failed", "differs")) for text in found.values()))


if __name__ == "__main__":
    sys.exit(main())
