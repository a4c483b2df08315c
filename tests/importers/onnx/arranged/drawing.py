"""Draws graphs by number, asks onnxruntime for their outputs, and compares ours."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from codegen.errors import CodegenError
from codegen.importers.onnx import import_onnx, import_with_tensors
from codegen.ir import Var
from codegen.ir.evaluate import evaluate
from codegen.ir.verify import verify
from codegen.settings import Optimize
from tests.importers.onnx.arranged.certified import is_certified, judged
from tests.importers.onnx.arranged.computing import COMPUTING
from tests.importers.onnx.arranged.graph import Graph, Shape, Value
from tests.importers.onnx.arranged.moving import MOVING
from tests.importers.onnx.arranged.quantising import quantised
from tests.importers.onnx.engine import answers
from tests.importers.onnx.one_program import run_together

TOLERANCE = 1e-5
"""Of float32, as a part of the largest number of an output, or of 1 where all are smaller: the inputs are
as large, and a small output may be their difference."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Question:
    """A model, its inputs by name, and onnxruntime's outputs."""

    label: str
    model: Any
    inputs: dict[str, np.ndarray]
    expected: Sequence[np.ndarray]
    quanta: Sequence[float | None]
    """Step of each output's numbers; None for a real output that is not quantised."""

    @property
    def names(self) -> list[str]:
        """Names of the outputs."""
        return [output.name for output in self.model.graph.output]

    @property
    def input_arrays(self) -> list[np.ndarray]:
        """The inputs in the model's order."""
        return [self.inputs[value.name] for value in self.model.graph.input]


def questions(seeds: Sequence[int]) -> list[Question]:
    """Of each number a float32 graph, and the same graph quantised."""
    graphs = [_graph(seed) for seed in seeds]
    inputs = [_inputs(graph, seed) for graph, seed in zip(graphs, seeds, strict=True)]
    computed = [[value.name for value in graph.values[len(graph.inputs) :]] for graph in graphs]
    asked = [
        (graph.model(names), given) for graph, names, given in zip(graphs, computed, inputs, strict=True)
    ]
    made: list[Question] = []
    values = [dict(zip(*pair, strict=True)) for pair in zip(computed, answers(asked), strict=True)]
    rewritten = [quantised(*parts) for parts in zip(graphs, inputs, values, seeds, strict=True)]
    integers = answers([(each.model, each.inputs) for each in rewritten])
    for seed, graph, given, known, integer, outputs in zip(
        seeds, graphs, inputs, values, rewritten, integers, strict=True
    ):
        expected = [known[name] for name in graph.outputs]
        real = Question(
            label=f"{seed} float32",
            model=graph.model(),
            inputs=given,
            expected=expected,
            quanta=[None] * len(expected),
        )
        made += [
            real,
            Question(
                label=f"{seed} quantised",
                model=integer.model,
                inputs=integer.inputs,
                expected=outputs,
                quanta=integer.quanta,
            ),
        ]
    return made


@dataclass(frozen=True, kw_only=True, slots=True)
class Evaluation:
    """How NumPy's results of an imported module compare."""

    lines: tuple[str, ...]
    """One for each output that differs."""
    single_steps: int = 0
    """Elements of layers that the certificate names, one step away: layers behind go on from the engine's."""


def evaluated(question: Question) -> Evaluation:
    """Compare what NumPy computes of the imported module with onnxruntime's outputs."""
    imported = import_with_tensors(question.model.SerializeToString(), "m.onnx")
    module = verify(imported.module)
    names = [result.origin for result in module.main.results if isinstance(result, Var)]
    outputs = evaluate(module, module.main, question.input_arrays)
    lines = tuple(_differences(question, names, outputs, question.expected))
    if not lines or not is_certified(module):
        return Evaluation(lines=lines)
    behind = judged(
        imported, question.model, question.inputs, [value.name for value in question.model.graph.input]
    )
    lines = tuple(_differences(question, names, behind.outputs, question.expected))
    return Evaluation(lines=lines, single_steps=behind.single_steps)


def ran(
    asked: Sequence[Question], folder: Path, board: str = "host", optimize: Optimize = "balanced"
) -> Iterator[str]:
    """Compare what their C, one program for all, computes on a board; `folder` must not exist.

    Where the certificate names a layer, C may give NumPy's outputs, which `evaluated` compares.
    """
    models = [question.model.SerializeToString() for question in asked]
    inputs = [question.input_arrays for question in asked]
    results = run_together(models, inputs, folder, board, optimize=optimize)
    for question, model, result in zip(asked, models, results, strict=True):
        if isinstance(result, CodegenError):
            yield f"{question.label}: no program, {result.messages[0].text}"
            continue
        outputs = result.signature.outputs
        if [output.type.shape for output in outputs] != [expected.shape for expected in question.expected]:
            yield f"{question.label}: C has other shapes"
        names = [output.origin for output in outputs]
        lines = list(_differences(question, names, result.outputs, question.expected))
        module = import_onnx(model, "m.onnx")
        if lines and is_certified(module):
            reference = evaluate(module, module.main, question.input_arrays)
            lines = list(_differences(question, names, result.outputs, reference))
        yield from lines


def _differences(
    question: Question, names: Sequence[str], outputs: Sequence[np.ndarray], right: Sequence[np.ndarray]
) -> Iterator[str]:
    """A line for each output whose name, shape or numbers are not the right ones."""
    if list(names) != question.names:
        yield f"{question.label}: outputs are {names}, the file has {question.names}"
        return
    for name, result, expected, quantum in zip(names, outputs, right, question.quanta, strict=True):
        if (result.shape, result.dtype) != (expected.shape, expected.dtype):
            kinds = [f"{array.dtype}{list(array.shape)}" for array in (result, expected)]
            yield f"{question.label}: {name} is {kinds[0]}, not {kinds[1]}"
            continue
        apart = np.abs(result.astype(np.float64) - expected.astype(np.float64))
        limit = 0.5 * quantum if quantum else TOLERANCE * max(1.0, float(np.abs(expected).max()))
        wrong = int(np.count_nonzero(~(apart <= limit)))
        if wrong:
            count = f"{wrong} of {apart.size} elements"
            yield f"{question.label}: {count} of {name} differ by up to {apart.max():.3g}"


def _inputs(graph: Graph, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng([39, seed])
    return {value.name: rng.normal(size=value.shape).astype(np.float32) for value in graph.inputs}


def _graph(seed: int) -> Graph:
    graph = Graph(np.random.default_rng([38, seed]))
    for _ in range(1 + graph.chance(0.2)):
        graph.input(_input_shape(graph))
    layers = graph.below(14, 3)
    while layers:
        layer = graph.one_of(MOVING if graph.chance(0.5) else COMPUTING)
        layers -= any(layer(graph, value) for value in _candidates(graph))
    graph.finish()
    return graph


def _input_shape(graph: Graph) -> Shape:
    if graph.chance(0.7):
        batch = 2 if graph.chance(0.1) else 1
        return (batch, *(graph.below(7, 2) for _ in range(3)))
    return tuple(graph.below(7, 1) for _ in range(graph.below(4, 2)))


def _candidates(graph: Graph) -> list[Value]:
    """Values that a layer tries to read, in this order. Older ones may stand before the newest, so that most
    values have several readers."""
    tried = [graph.one_of(graph.values) for _ in range(4)]
    tried.insert(graph.below(3), graph.values[-1])
    return tried
