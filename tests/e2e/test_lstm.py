"""UNIDIRECTIONAL_SEQUENCE_LSTM: bit-exact to tflite-micro (float32: within the tolerance of `run`), with a
state that goes on from inference to inference.

Generated layers: a long sequence in one inference is compared with the engine; the same layer over its parts,
one inference after the other, gives the same only if the state goes on.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen import importers
from codegen.driver.build import build
from codegen.driver.inputs.cases import ArraySource, sequence_cases
from codegen.driver.options import Options
from codegen.driver.run import RunConditions, complaints, execute_all
from codegen.importers.tflite.writing.writer import ModelBuilder
from codegen.ir.evaluate import evaluate
from tests import engines

MODELS = 25
ON_TARGET = {"host": range(0, MODELS, 8), "mps2-an386": (1, 2, 3, 5)}
PARTS = 2
SEQUENCES = ("int8", "int16", "float32")
"""Element types of a sequence."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Layer:
    """A layer over a whole sequence, over a part of it, the sequence, and the axis that is time."""

    whole: bytes
    part: bytes
    sequence: np.ndarray
    time: int


def drawn(dtype: str, seed: int) -> Layer:
    """Scales such that gates are neither all open nor all shut; a third of the cell states are clipped."""
    dice = np.random.default_rng([seed, len(dtype)])
    is_float, is_wide = dtype == "float32", dtype == "int16"
    least = -127 if seed % 5 else -128
    batches, steps, inputs, units = (int(dice.integers(1, limit)) for limit in (4, 5, 12, 14))
    time_major, clip = bool(dice.integers(2)), float(dice.choice([0.0, 0.0, 0.75]))
    most = -5.0 if seed % 4 == 3 else -6.6  # above: some scale is one half or more
    scales = [float(np.float32(2.0 ** dice.uniform(-9, most))) for _ in range(10)]
    zeros = [int(dice.integers(-128, 128)) for _ in range(2)]
    cell_scale = 2.0 ** int(dice.integers(-15, -8))
    shapes = [(units, inputs)] * 4 + [(units, units)] * 4
    weights = [dice.integers(least, 128, shape).astype(np.int8) for shape in shapes]
    biases = [dice.integers(-3000, 3000, units).astype("int64" if is_wide else "int32") for _ in range(4)]
    if is_wide:
        scales[8:] = [float(np.float32(scale / 256)) for scale in scales[8:]]
        zeros = [0, 0]
    if seed % 3 == 1:
        # Each factor of a gate is nearly a power of two: its last bit tells float32 from double.
        for at, power in enumerate(dice.integers(14, 19, 8).tolist()):
            base = scales[8] if at < 4 else float(np.float32(scales[9] / 4))
            scales[at] = float(np.float32(2.0 ** -(power + 6 * is_wide) / base))
    if is_float:
        weights = [(data / 100).astype(np.float32) for data in weights]
        biases = [(data / 3000).astype(np.float32) for data in biases]

    def written(count: int) -> bytes:
        model = ModelBuilder()

        def tensor(name: str, shape: tuple[int, ...], kind: str, scale: float, **more: Any) -> int:
            if is_float:
                more.pop("zero_point", None)
                return model.tensor(name, shape, "float32", **more)
            return model.tensor(name, shape, kind, scale=scale, **more)

        lead = (count, batches) if time_major else (batches, count)
        x = tensor("x", (*lead, inputs), dtype, scales[8], zero_point=zeros[0])
        scale, zero_point = scales[9] / 4, zeros[1]
        consts = [
            tensor(f"w{at}", data.shape, "int8", scales[at], data=data) for at, data in enumerate(weights)
        ]
        sums = [
            tensor(f"b{at}", data.shape, str(data.dtype), scales[8] * scales[at], data=data)
            for at, data in enumerate(biases)
        ]
        hidden = tensor("hidden", (batches, units), dtype, scale, variable=True, zero_point=zero_point)
        cell = tensor("cell", (batches, units), "int16", cell_scale, variable=True)
        y = tensor("y", (*lead, units), dtype, scale, zero_point=zero_point)
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
    if is_wide:
        sequence = dice.integers(-32768, 32768, sequence.shape).astype(np.int16)
    if is_float:
        sequence = (sequence / 64).astype(np.float32)
    axis = 0 if time_major else 1
    return Layer(whole=written(PARTS * steps), part=written(steps), sequence=sequence, time=axis)


@dataclass(frozen=True, kw_only=True, slots=True)
class Parts:
    """A layer's model over a part of the sequence; the parts, and what the engine gives for each."""

    model: Path
    arrays: Path


@pytest.fixture(scope="module", name="parts", params=SEQUENCES)
def _parts(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Parts]:
    """Checked in NumPy."""
    layers = [drawn(request.param, seed) for seed in range(MODELS)]
    folder = tmp_path_factory.mktemp("lstm")
    requests = [
        engines.Request(engine=engines.TFLITE_MICRO, model=each.whole, inputs=((each.sequence,),))
        for each in layers
    ]
    values = set[int]()
    made: list[Parts] = []
    for number, (layer, answer) in enumerate(zip(layers, engines.evaluate(requests), strict=True)):
        assert not answer.error, answer.error
        wanted = answer.outputs[0][0]
        values.update(np.unique(wanted).tolist())
        parts, results = (np.split(each, PARTS, layer.time) for each in (layer.sequence, wanted))
        path = folder / f"layer{number}.tflite"
        path.write_bytes(layer.part)
        module = importers.load(path)
        state = np.frombuffer(module.main.states[0].initial, module.main.params[1].type.dtype.numpy)
        for part, expected in zip(parts, results, strict=True):
            found, state = evaluate(module, module.main, [part, state])
            if request.param == "float32":
                assert np.allclose(found, expected, rtol=1e-5, atol=1e-5), number
            else:
                assert np.array_equal(found, expected), number
        made.append(Parts(model=path, arrays=folder / f"layer{number}.npz"))
        np.savez(made[-1].arrays, x0=np.stack(parts), y0=np.stack(results))
    assert len(values) > 200
    return made


@pytest.mark.parametrize("board", ["host", pytest.param("mps2-an386", marks=pytest.mark.qemu)])
@pytest.mark.sampled()
def test_generated_layers_give_the_engines_result(board: str, parts: list[Parts], tmp_path: Path) -> None:
    """As C; with the DSP extension most by its own kernel, those with large scales by the other."""
    taken = [parts[number] for number in ON_TARGET[board]]
    built = build([each.model for each in taken], Options(board=board), tmp_path / "build", emulated=True)
    sources = [ArraySource(path=each.arrays) for each in taken]
    cases = [
        sequence_cases(model.program, source, source, 0)
        for model, source in zip(built.models, sources, strict=True)
    ]
    outcomes = execute_all(built, cases, RunConditions(sequence=True))
    used: set[str] = set()
    for model, own, measured in zip(built.models, cases, outcomes, strict=True):
        assert complaints(model, own, measured, built.image.sizes.stack_bound_bytes) == []
        used |= {prim.symbol for prim in model.program.steps.prim_funcs if prim.is_call}
    assert used <= {"cg_lstm_s16", "cg_lstm_f32", "cg_lstm_s8", "cg_lstm_s8_dsp"}
    assert board == "host" or "cg_lstm_s8" not in used or "cg_lstm_s8_dsp" in used
