"""How far a quantised model is from its float model, by onnxruntime with all optimisations off."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from codegen.api import Progress
from codegen.tools.quantize.samples import Samples

_DEQUANTISED = "_DequantizeLinear_Output"
"""Suffix of onnxruntime's quantiser for a value that is in real numbers again."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OutputError:
    """Differences of one output's elements over all samples."""

    name: str
    largest: float
    mean: float
    largest_value: float
    """Largest magnitude in the float model: what the differences are to be compared with."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LayerLoss:
    """One node: the error of its result, relative to the float model's (root of the mean squares)."""

    node: str
    op: str
    error: float
    added: float
    """Error that this node adds to the largest of its arguments: the root of the difference of squares."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Evaluation:
    """Comparison of the quantised model with the float one."""

    samples: int
    agreement: float | None
    """Share of samples in which the largest element of the first output is the same; None if it has one."""
    float_accuracy: float | None
    quantised_accuracy: float | None
    """Shares of samples with the right class; None without labels."""
    outputs: tuple[OutputError, ...]
    layers: tuple[LayerLoss, ...]
    """Layers in order of the error that they add, the largest first."""


def session(onnxruntime: Any, model: Any) -> Any:
    """An onnxruntime session without optimisations, on one thread."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def evaluate(onnxruntime: Any, real: Any, quantised: Any, samples: Samples, progress: Progress) -> Evaluation:
    """Run both models, every value of theirs an output, over all samples."""
    names = [value.name for value in real.graph.output]
    pairs = _pairs(real, quantised)
    both = [
        session(onnxruntime, _with_outputs(model, outputs))
        for model, outputs in ((real, list(pairs)), (quantised, list(pairs.values())))
    ]
    inputs = {value.name for value in real.graph.input}
    sums = {name: np.zeros(2) for name in pairs}  # squares of errors, squares of values
    outputs: list[tuple[list[np.ndarray], list[np.ndarray]]] = []
    for index, row in enumerate(samples.rows):
        progress("evaluate", index, len(samples.rows))
        expected, got = (_by_name(model_session, row) for model_session in both)
        expected |= {name: row[name] for name in inputs}
        for name, other in pairs.items():
            exact, rounded = (np.asarray(array, np.float64) for array in (expected[name], got[other]))
            sums[name] += np.sum((exact - rounded) ** 2), np.sum(exact**2)
        outputs.append(([expected[name] for name in names], [got[name] for name in names]))
    errors = {name: _ratio(*sum_) for name, sum_ in sums.items()}
    agreement, accuracies = _classes(outputs, samples.labels)
    return Evaluation(
        samples=len(samples.rows),
        agreement=agreement,
        float_accuracy=accuracies[0],
        quantised_accuracy=accuracies[1],
        outputs=tuple(_differences(name, index, outputs) for index, name in enumerate(names)),
        layers=_losses(real, errors),
    )


def _by_name(one: Any, row: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    names = [output.name for output in one.get_outputs()]
    return dict(zip(names, one.run(names, dict(row)), strict=True))


def _pairs(real: Any, quantised: Any) -> dict[str, str]:
    """Values of the float model -> the same value in the quantised one, in real numbers."""
    made = {name for node in quantised.graph.node for name in node.output}
    names = [value.name for value in real.graph.input]
    names += [name for node in real.graph.node for name in node.output]
    dequantised = {name: name + _DEQUANTISED for name in names if name + _DEQUANTISED in made}
    return {
        name: dequantised.get(name, name) for name in names if name and (name in dequantised or name in made)
    }


def _with_outputs(model: Any, names: Sequence[str]) -> Any:
    copy = type(model)()
    copy.CopyFrom(model)
    known = {value.name for value in (*copy.graph.output, *copy.graph.input)}
    for name in names:
        if name not in known:
            copy.graph.output.add().name = name
    return copy


def _ratio(error: float, value: float) -> float:
    return math.sqrt(error / value) if value else math.sqrt(error)


def _losses(real: Any, errors: Mapping[str, float]) -> tuple[LayerLoss, ...]:
    losses: list[LayerLoss] = []
    for node in real.graph.node:
        error = max((errors[name] for name in node.output if name in errors), default=None)
        if error is not None:
            before = max((errors.get(name, 0.0) for name in node.input), default=0.0)
            added = math.sqrt(max(error**2 - before**2, 0.0))
            label = node.name or next(iter(node.output))
            losses.append(LayerLoss(node=label, op=node.op_type, error=error, added=added))
    return tuple(sorted(losses, key=lambda loss: -loss.added))


Pair = tuple[list[np.ndarray], list[np.ndarray]]


def _differences(name: str, index: int, outputs: Sequence[Pair]) -> OutputError:
    exact, rounded = (
        np.stack([np.asarray(pair[side][index], np.float64) for pair in outputs]) for side in (0, 1)
    )
    differences = np.abs(exact - rounded)
    return OutputError(
        name=name,
        largest=float(differences.max(initial=0.0)),
        mean=float(differences.mean()) if differences.size else 0.0,
        largest_value=float(np.abs(exact).max(initial=0.0)),
    )


def _classes(
    outputs: Sequence[Pair], labels: np.ndarray | None
) -> tuple[float | None, tuple[float | None, float | None]]:
    """Share of equal classes; shares of right ones of both models."""
    if outputs[0][0][0].size < 2:
        return None, (None, None)
    exact, rounded = (np.array([int(np.argmax(pair[side][0])) for pair in outputs]) for side in (0, 1))
    agreement = _share(exact, rounded)
    if labels is None:
        return agreement, (None, None)
    return agreement, (_share(exact, labels), _share(rounded, labels))


def _share(first: np.ndarray, second: np.ndarray) -> float:
    return int(np.count_nonzero(first == second)) / len(first)
