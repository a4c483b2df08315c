"""Single layers of `tests.opgen` through Vela and the functional model, against their stored outputs.

    python -m tests.tools.npu.layers --device ethos-u55-128 --every 4

Prints how many are equal, differ as Vela rewrites the layer (`vela_rewrites`), differ otherwise, end in a
fault, keep an operator on the core, or are left to it by Vela.
"""

import argparse
import re
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np
from tflite.TensorType import TensorType as TypeCode

from codegen.api import CodegenError, FileTensor, read_tflite
from codegen.ir.ops.base.fixed_point import round_half_away_array
from codegen.tools.npu.vela_file import NpuOperator, read_vela_file, run_operator
from tests import opgen
from tests.tools.npu.vela_batch import compile_all
from tests.tools.npu.vela_rewrites import is_misread, rewritten

REWRITTEN = "differ as Vela rewrites"
_EDGES = frozenset({"QUANTIZE", "DEQUANTIZE"})
"""Operators at the edges of a network of int8 that takes and gives numbers."""
_TYPES = re.compile(r".*_u?int(8|16)(_|$)")
_LEFT_OUT = re.compile(r"hybrid|int4|int32|int64|f32|float")
"""Of operators whose names say that they are none of integers of 8 and 16 bits alone."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Layer:
    """A model of one layer, and inputs with the right outputs."""

    name: str
    model: bytes
    inputs: tuple[tuple[np.ndarray, ...], ...]
    expected: tuple[tuple[np.ndarray, ...], ...]


def is_integer(name: str) -> bool:
    """True for layers whose names say that they are of integers of 8 or 16 bits alone."""
    return bool(_TYPES.match(name)) and not _LEFT_OUT.search(name)


def outcomes(layers: Sequence[Layer], device: str) -> dict[str, str]:
    """Name of a layer -> what became of it, in a word or two."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = [folder / f"{layer.name}.tflite" for layer in layers]
        for path, layer in zip(paths, layers, strict=True):
            path.write_bytes(layer.model)
        compile_all(paths, device, folder)
        return {layer.name: outcome_of(layer, folder / f"{layer.name}_vela.tflite") for layer in layers}


def recorded(case: opgen.OpCase) -> Layer:
    """A layer whose outputs an engine once gave."""
    return Layer(name=case.name, model=case.model, inputs=case.inputs, expected=case.expected)


def outcome_of(layer: Layer, compiled: Path) -> str:
    """What became of a layer that Vela has compiled, or has not."""
    if not compiled.exists():
        return "Vela fails"
    try:
        vela = read_vela_file(compiled)
    except CodegenError:
        return "on the core"
    if len(vela.operators) != 1 or not _EDGES.issuperset(vela.others):
        return "partly on the core"
    try:
        return _compared(layer, vela.alone() if not vela.others else vela.operators[0], compiled)
    except CodegenError:
        return "fault"


def _compared(layer: Layer, operator: NpuOperator, compiled: Path) -> str:
    tensors = read_tflite(compiled.read_bytes(), compiled.name).tensors
    answers = {"equal"}
    for inputs, outputs in zip(layer.inputs, layer.expected, strict=True):
        stored = [
            _stored(array, tensors[value.tensor])
            for array, value in zip(inputs, operator.inputs, strict=True)
        ]
        results = zip(run_operator(operator, stored), operator.outputs, outputs, strict=True)
        for array, value, right in results:
            real = _real(array, tensors[value.tensor]) if right.dtype == np.float32 else array
            answers.add(_answer(layer, inputs, real, np.asarray(right)))
    return min(answers)


def _stored(array: np.ndarray, tensor: FileTensor) -> np.ndarray:
    """Numbers as a QUANTIZE on the core stores them."""
    if array.dtype != np.float32:
        return array
    scale, zero = tensor.quantization.scales[0], tensor.quantization.zero_points[0]
    dtype = np.int16 if tensor.type_code == TypeCode.INT16 else np.int8
    limits = np.iinfo(dtype)
    return np.clip(round_half_away_array(array / scale) + zero, limits.min, limits.max).astype(dtype)


def _real(array: np.ndarray, tensor: FileTensor) -> np.ndarray:
    """What a DEQUANTIZE on the core makes of int8."""
    scale, zero = tensor.quantization.scales[0], tensor.quantization.zero_points[0]
    return ((array.astype(np.int64) - zero) * np.float64(scale)).astype(np.float32)


def _answer(layer: Layer, inputs: Sequence[np.ndarray], array: np.ndarray, right: np.ndarray) -> str:
    if np.array_equal(array.reshape(-1), right.reshape(-1)):
        return "equal"
    predicted = rewritten(layer.name, layer.model, inputs, right)
    if is_misread(layer.name, layer.model) or (
        predicted is not None and np.array_equal(array.reshape(-1), predicted.reshape(-1))
    ):
        return REWRITTEN
    return "differ"


def main() -> None:
    """Print the counts, and the names of layers that are not equal."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--device", default="ethos-u55-128", help="configuration as Vela names it")
    parser.add_argument("--every", type=int, default=4, help="take every N-th layer")
    arguments = parser.parse_args()
    cases = [case for case in opgen.cases() if is_integer(case.name)]
    answers = outcomes([recorded(case) for case in cases[:: arguments.every]], arguments.device)
    for name, answer in answers.items():
        if answer in {"differ", "fault", REWRITTEN}:
            click.echo(f"{answer}: {name}")
    counts = Counter(answers.values())
    click.echo(", ".join(f"{count} {answer}" for answer, count in sorted(counts.items())))


if __name__ == "__main__":
    main()
