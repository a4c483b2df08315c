"""UNIDIRECTIONAL_SEQUENCE_LSTM: bit-exact to tflite-micro, state kept from inference to inference.

Generated layers: a long sequence in one inference is compared with the engine; the same layer over its parts,
one inference after the other, gives the same only if the state goes on.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from codegen import importers
from codegen.cli.case_files import model_cases
from codegen.driver.build import build
from codegen.driver.inputs.cases import ArraySource, Case, sequence_cases
from codegen.driver.options import Options
from codegen.driver.run import complaints, execute, execute_all
from codegen.importers.tflite.writing.writer import ModelBuilder
from codegen.ir.evaluate import evaluate
from codegen.program.image import Trace
from tests import engines
from tests.testdata import golden, model_path

KEY = "tflm/trained_lstm_int8"
INSTRUCTIONS = 620_000
"""The most of one inference on a Cortex-M4; tflite-micro with CMSIS-NN takes 576,360."""
MODELS = 25
PARTS = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class Layer:
    """A layer over a whole sequence, over a part of it, the sequence, and the axis that is time."""

    whole: bytes
    part: bytes
    sequence: np.ndarray
    time: int


def drawn(seed: int) -> Layer:
    """Scales such that gates are neither all open nor all shut; a third of the cell states are clipped."""
    dice = np.random.default_rng(seed)
    batches, steps, inputs, units = (int(dice.integers(1, most)) for most in (4, 5, 12, 14))
    time_major, clip = bool(dice.integers(2)), float(dice.choice([0.0, 0.0, 0.75]))
    scales = [float(np.float32(2.0 ** dice.uniform(-9, -5))) for _ in range(10)]
    zeros = [int(dice.integers(-128, 128)) for _ in range(2)]
    cell_scale = 2.0 ** int(dice.integers(-15, -8))
    shapes = [(units, inputs)] * 4 + [(units, units)] * 4
    weights = [dice.integers(-127, 128, shape).astype(np.int8) for shape in shapes]
    biases = [dice.integers(-3000, 3000, units).astype(np.int32) for _ in range(4)]

    def written(count: int) -> bytes:
        model = ModelBuilder()
        lead = (count, batches) if time_major else (batches, count)
        x = model.tensor("x", (*lead, inputs), "int8", scale=scales[8], zero_point=zeros[0])
        scale, zero_point = scales[9] / 4, zeros[1]
        consts = [
            model.tensor(f"w{at}", data.shape, "int8", scale=scales[at], data=data)
            for at, data in enumerate(weights)
        ]
        sums = [
            model.tensor(f"b{at}", data.shape, "int32", scale=scales[8] * scales[at], data=data)
            for at, data in enumerate(biases)
        ]
        hidden = model.tensor(
            "hidden", (batches, units), "int8", variable=True, scale=scale, zero_point=zero_point
        )
        cell = model.tensor("cell", (batches, units), "int16", variable=True, scale=cell_scale)
        y = model.tensor("y", (*lead, units), "int8", scale=scale, zero_point=zero_point)
        no = None
        more = [no, no, no, *sums, no, no, hidden, cell, no, no, no, no]
        inputs_of = [x, *consts, *more]
        name = "UNIDIRECTIONAL_SEQUENCE_LSTM"
        model.op(name, inputs_of, [y], activation="tanh", cell_clip=clip, time_major=time_major)
        model.inputs(x)
        model.outputs(y)
        return model.build()

    lead = (PARTS * steps, batches) if time_major else (batches, PARTS * steps)
    sequence = dice.integers(-128, 128, (*lead, inputs)).astype(np.int8)
    axis = 0 if time_major else 1
    return Layer(whole=written(PARTS * steps), part=written(steps), sequence=sequence, time=axis)


def test_generated_layers_give_the_engines_result(tmp_path: Path) -> None:
    """In NumPy, and five of them as C on the host."""
    layers = [drawn(seed) for seed in range(MODELS)]
    requests = [
        engines.Request(engine=engines.TFLITE_MICRO, model=each.whole, inputs=((each.sequence,),))
        for each in layers
    ]
    values = set[int]()
    given: dict[Path, Path] = {}
    for number, (layer, answer) in enumerate(zip(layers, engines.evaluate(requests), strict=True)):
        assert not answer.error, answer.error
        wanted = answer.outputs[0][0]
        values.update(np.unique(wanted).tolist())
        parts, results = (np.split(each, PARTS, layer.time) for each in (layer.sequence, wanted))
        path = tmp_path / f"layer{number}.tflite"
        path.write_bytes(layer.part)
        module = importers.load(path)
        state = np.frombuffer(module.main.states[0].initial, np.int8)
        for part, expected in zip(parts, results, strict=True):
            found, state = evaluate(module, module.main, [part, state])
            assert np.array_equal(found, expected), number
        if number % 5 == 0:
            given[path] = tmp_path / f"layer{number}.npz"
            np.savez(given[path], x0=np.stack(parts), y0=np.stack(results))
    assert len(values) > 200
    built = build(list(given), Options(board="host"), tmp_path / "build")
    sources = [ArraySource(path=path) for path in given.values()]
    cases = [
        sequence_cases(model.program, source, source, 0)
        for model, source in zip(built.models, sources, strict=True)
    ]
    for model, own, measured in zip(
        built.models, cases, execute_all(built, cases, sequence=True), strict=True
    ):
        assert complaints(model, own, measured, built.image.sizes.stack_bound_bytes) == []


@pytest.mark.parametrize(
    "board",
    [
        "host",
        *(
            pytest.param(board, marks=pytest.mark.qemu)
            for board in ("mps2-an386", "mps2-an385", "mps3-an547", "mps2-an505")
        ),
    ],
)
def test_trained_network(board: str, tmp_path: Path) -> None:
    """Each case begins with fresh state; the measured peak is the planned one."""
    options, arrays = Options(board=board), tmp_path / "golden.npz"
    built = build([model_path(KEY)], options, tmp_path / "build", emulated=True)
    np.savez(arrays, **golden(KEY))  # type: ignore[arg-type]
    cases: list[Case] = []
    for name in ("a", "b", "bar0"):
        source = {built.models[0].program.name: ArraySource(path=arrays, prefix=name)}
        [own] = model_cases(built, [model_path(KEY)], source, source, options)
        cases.extend(own)
    measured = execute(built, cases, trace=Trace.COST)
    assert complaints(built.models[0], cases, measured, built.image.sizes.stack_bound_bytes) == []
    if board == "mps2-an386":
        instructions = measured.result.cases[0].instructions
        assert instructions is not None and instructions <= INSTRUCTIONS
