"""SVDF: bit-exact to tflite-micro over sequences (float32: within the tolerance of `run`)."""

from dataclasses import dataclass
from pathlib import Path

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
"""Of each type of state."""
INVOCATIONS = 9
STATES = ("int8", "int16", "float32")
"""Element types of what is held."""
ON_TARGET = slice(0, None, 12)


@dataclass(frozen=True, kw_only=True, slots=True)
class Layer:
    """A model of one layer and what it is given, inference by inference."""

    model: bytes
    inputs: tuple[np.ndarray, ...]
    is_float: bool


def drawn(state: str, seed: int) -> Layer:
    """Scales such that features and results saturate now and then; zero points anywhere."""
    dice = np.random.default_rng([seed, len(state)])
    batches, inputs, memory, units, rank = (int(dice.integers(1, most)) for most in (3, 14, 8, 9, 4))
    is_float, filters = state == "float32", units * rank
    model = ModelBuilder()

    def scale(low: float, high: float) -> float:
        return float(np.float32(2.0 ** dice.uniform(low, high)))

    def tensor(name: str, shape: tuple[int, ...], dtype: str, size: float, **more: object) -> int:
        if is_float:
            return model.tensor(name, shape, "float32", **more)  # type: ignore[arg-type]
        return model.tensor(name, shape, dtype, scale=size, **more)  # type: ignore[arg-type]

    def numbers(shape: tuple[int, ...], dtype: str, largest: int) -> np.ndarray:
        if is_float:
            return dice.normal(size=shape).astype(np.float32)
        return dice.integers(-largest, largest + 1, shape).astype(dtype)

    sizes = [scale(-6, -4), scale(-8, -6), scale(-6, -4) if state == "int8" else scale(-12, -10)]
    sizes.append(scale(-8, -6) if state == "int8" else scale(-16, -14))
    zeros = [0 if is_float else int(dice.integers(-128, 128)) for _ in range(2)]
    x = tensor("x", (batches, inputs), "int8", sizes[0], zero_point=zeros[0])
    features = tensor(
        "features", (filters, inputs), "int8", sizes[1], data=numbers((filters, inputs), "int8", 127)
    )
    largest = 127 if state == "int8" else 32767
    time = tensor("time", (filters, memory), state, sizes[3], data=numbers((filters, memory), state, largest))
    bias = tensor("bias", (units,), "int32", sizes[2] * sizes[3], data=numbers((units,), "int32", 3000))
    zero = 10 * (seed - 12) if state == "int8" and seed % 3 == 0 else 0
    held = tensor("held", (batches, memory * filters), state, sizes[2], variable=True, zero_point=zero)
    y = tensor("y", (batches, units), "int8", scale(-6, -4), zero_point=zeros[1])
    activation = str(dice.choice(["none", "relu"]))
    model.op("SVDF", [x, features, time, bias, held], [y], rank=rank, activation=activation)
    model.inputs(x)
    model.outputs(y)
    given = tuple(numbers((batches, inputs), "int8", 127) for _ in range(INVOCATIONS))
    return Layer(model=model.build(), inputs=given, is_float=is_float)


@pytest.fixture(scope="module", name="layers", params=STATES)
def _layers(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> list[tuple[Path, Path]]:
    """Files of models and of arrays; the results in NumPy are those of the engine."""
    folder = tmp_path_factory.mktemp("svdf")
    layers = [drawn(request.param, seed) for seed in range(MODELS)]
    requests = [
        engines.Request(
            engine=engines.TFLITE_MICRO,
            model=each.model,
            inputs=tuple((one,) for one in each.inputs),
            is_sequence=True,
        )
        for each in layers
    ]
    values = set[float]()
    found: list[tuple[Path, Path]] = []
    for number, (layer, answer) in enumerate(zip(layers, engines.evaluate(requests), strict=True)):
        assert not answer.error, answer.error
        wanted = np.stack([outputs[0] for outputs in answer.outputs])
        path, arrays = folder / f"layer{number}.tflite", folder / f"layer{number}.npz"
        path.write_bytes(layer.model)
        np.savez(arrays, x0=np.stack(layer.inputs), y0=wanted)
        module = importers.load(path)
        state = module.main.params[1].type
        held = np.frombuffer(module.main.states[0].initial, state.dtype.numpy).reshape(state.shape)
        for value, expected in zip(layer.inputs, wanted, strict=True):
            result, held = evaluate(module, module.main, [value, held])
            if layer.is_float:
                assert np.allclose(result, expected, rtol=1e-5, atol=1e-5), number
            else:
                assert np.array_equal(result, expected), number
        values.update(np.unique(wanted).tolist())
        found.append((path, arrays))
    assert len(values) > 200
    return found


@pytest.mark.parametrize("board", ["host", pytest.param("mps2-an386", marks=pytest.mark.qemu)])
@pytest.mark.sampled()
def test_generated_layers_give_the_engines_results(
    board: str, layers: list[tuple[Path, Path]], tmp_path: Path
) -> None:
    """As C, state kept between inferences; the window is in the plan once."""
    taken = layers[ON_TARGET]
    built = build([model for model, _ in taken], Options(board=board), tmp_path / "build", emulated=True)
    cases = [
        sequence_cases(model.program, ArraySource(path=arrays), ArraySource(path=arrays), 0)
        for model, (_, arrays) in zip(built.models, taken, strict=True)
    ]
    outcomes = execute_all(built, cases, RunConditions(sequence=True))
    for model, own, measured in zip(built.models, cases, outcomes, strict=True):
        assert complaints(model, own, measured, built.image.sizes.stack_bound_bytes) == []
        assert not model.program.copied_states
