"""Runs drawn graphs: TFLite's answer, NumPy's, and those of firmware of several graphs on a board."""

import hashlib
import tempfile
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import codegen.driver.build
from codegen.driver.build import WHOLE_BUILD, Built, Share, build, plan_model
from codegen.driver.inputs.cases import Case
from codegen.driver.inputs.planned import Planned
from codegen.driver.options import Options
from codegen.driver.run import complaints, execute_all
from codegen.errors import CodegenError, ExitCode
from codegen.importers.tflite.translate import import_tflite
from codegen.ir import Board
from codegen.ir.evaluate import evaluate as evaluate_function
from codegen.problem.problem import limited, overfull
from codegen.problem.shortage import DoesNotFit
from codegen.search import board_pools
from tests.engines import TFLITE_RUNTIME, Request, evaluate
from tests.graphs.drawing import graph
from tests.opgen.sketch import Arrays, Drawn

REFUSALS = (ExitCode.MODEL, ExitCode.FIT)


@dataclass(frozen=True, kw_only=True, slots=True)
class Graph:
    """A drawn graph and TFLite's outputs of its cases."""

    seed: int
    drawn: Drawn
    outputs: tuple[Arrays, ...]

    @property
    def digest(self) -> str:
        """16 digits of the SHA-256 of the file and of TFLite's outputs."""
        found = hashlib.sha256(self.drawn.model)
        for array in (array for case in self.outputs for array in case):
            found.update(f"{array.dtype} {array.shape} ".encode() + array.tobytes())
        return found.hexdigest()[:16]


@dataclass(kw_only=True, slots=True)
class Outcome:
    """What became of graphs: how many of which kind, and a line for each that is wrong."""

    counts: Counter[str] = field(default_factory=Counter[str])
    wrong: list[str] = field(default_factory=list[str])


def asked(seeds: Sequence[int], outcome: Outcome) -> list[Graph]:
    """The graphs of `seeds` that TFLite runs, with what it gives."""
    drawn = [graph(seed) for seed in seeds]
    requests = [Request(engine=TFLITE_RUNTIME, model=each.model, inputs=each.inputs) for each in drawn]
    found: list[Graph] = []
    for seed, each, answer in zip(seeds, drawn, evaluate(requests), strict=True):
        if answer.error:
            outcome.counts["refused by TFLite"] += 1
        else:
            found.append(Graph(seed=seed, drawn=each, outputs=answer.outputs))
    return found


def numpy_outputs(drawn: Drawn) -> tuple[Arrays, ...]:
    """NumPy's outputs of each case. Raises CodegenError where the importer refuses the graph."""
    module = import_tflite(drawn.model, "graph.tflite")
    return tuple(tuple(evaluate_function(module, module.main, inputs)) for inputs in drawn.inputs)


@contextmanager
def at_smallest_limits() -> Generator[list[Mapping[str, int]]]:
    """Builds inside give every model the plan of the smallest limits of RAM that E401 names for it. Yields
    the limits, plan after plan."""
    limits: list[Mapping[str, int]] = []
    with mock.patch.object(codegen.driver.build, "plan_model", partial(_smallest_plan, limits)):
        yield limits


def _smallest_plan(
    kept: list[Mapping[str, int]], path: Path, board: Board, options: Options, **words: Any
) -> Planned:
    """As `plan_model`, within the smallest limits. Each model of a build has limits of its own: its program
    gets the pools that it would have without."""
    pools = board_pools(options, board, emulated=words["emulated"])
    plan: Callable[..., Planned] = plan_model
    share: Share = words.get("share", WHOLE_BUILD)

    def within(limits: Mapping[str, int]) -> Planned:
        return plan(path, board, options, **{**words, "share": replace(share, limits=limits)})

    try:
        return within({pool.name: 0 for pool in pools})
    except DoesNotFit as missed:
        limits = {each.pool.name: each.budget_bytes or 0 for each in missed.shortages}
    planned = within(limits)
    memory = planned.program.memory
    if overfull(replace(memory.problem, pools=limited(pools, limits)), memory.plan):
        raise ValueError(f"the plan does not keep {limits}")
    kept.append(limits)
    memory = replace(memory, problem=replace(memory.problem, pools=pools))
    return replace(planned, program=replace(planned.program, memory=memory))


def check(graphs: Sequence[Graph], options: Options, outcome: Outcome) -> None:
    """Build these graphs together for a board and run them; one by one where they do not fit together."""
    try:
        found = list(_complaints(graphs, options))
    except CodegenError as error:
        if len(graphs) > 1:
            for one in graphs:
                check([one], options, outcome)
            return
        kind = "refused" if error.exit_code in REFUSALS else "failed"
        outcome.counts[f"{kind} ({error.messages[0].code})"] += 1
        if kind == "failed":
            outcome.wrong.append(f"graph {graphs[0].seed} on {options.board}: {error}")
        return
    outcome.counts["run"] += len(graphs)
    outcome.wrong += [f"graph {seed} on {options.board}: {text}" for seed, text in found]


def _complaints(graphs: Sequence[Graph], options: Options) -> Iterator[tuple[int, str]]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = [folder / f"graph{one.seed}.tflite" for one in graphs]
        for path, one in zip(paths, graphs, strict=True):
            path.write_bytes(one.drawn.model)
        built = build(paths, options, folder / "build", emulated=True)
        cases = [_cases(one) for one in graphs]
        measured = execute_all(built, cases)
        for one, planned, own, result in zip(graphs, built.models, cases, measured, strict=True):
            for message in complaints(planned, own, result, _stack(built)):
                yield one.seed, str(message)


def _stack(built: Built) -> int | None:
    return built.image.sizes.stack_bound_bytes


def _cases(one: Graph) -> list[Case]:
    return [
        Case(name=f"{number}", inputs=inputs, expected=outputs)
        for number, (inputs, outputs) in enumerate(zip(one.drawn.inputs, one.outputs, strict=True))
    ]


def compare_numpy(graphs: Sequence[Graph], outcome: Outcome) -> list[Graph]:
    """The graphs that are imported; those whose NumPy result is not TFLite's are wrong."""
    found: list[Graph] = []
    for one in graphs:
        try:
            results = numpy_outputs(one.drawn)
        except CodegenError as error:
            outcome.counts[f"refused ({error.messages[0].code})"] += 1
            continue
        found.append(one)
        if not _equal(results, one.outputs):
            outcome.wrong.append(f"graph {one.seed}: NumPy's result is not TFLite's")
    return found


def _equal(ours: Sequence[Arrays], theirs: Sequence[Arrays]) -> bool:
    return all(
        np.array_equal(result, expected)
        for case, answer in zip(ours, theirs, strict=True)
        for result, expected in zip(case, answer, strict=True)
    )


def lively(graphs: Sequence[Graph]) -> Mapping[str, int]:
    """How many of the graphs have an output of more than three values, and several outputs."""
    return {
        "of more than three values": sum(
            any(np.unique(array).size > 3 for array in one.outputs[0]) for one in graphs
        ),
        "of several outputs": sum(len(one.outputs[0]) > 1 for one in graphs),
    }
