"""Own networks are what tests need of a network: results differ by case, and nothing degenerates."""

import numpy as np
import pytest

from codegen import importers
from codegen.engines import ONNXRUNTIME
from codegen.ir import Function
from codegen.ir.evaluate import evaluate, steps
from codegen.ir.function import StateValue
from tests.engines import available
from tests.networks import (
    CASES,
    NAMES,
    ONNX_NAMES,
    PRUNED,
    WHOLE_NAMES,
    calibration_inputs,
    drawn,
    engine_of,
    golden,
    model_path,
)
from tests.networks.asking import engine_outputs
from tests.networks.whole import WHOLE
from tests.opgen.sketch import Arrays

SATURATED_SHARE = 0.1
"""Of a value's elements over all cases, at the upper end of its type."""
ENOUGH_ELEMENTS = 256
"""For a share to say something: of two scores one is often the largest."""
CONSTANT_SHARE = 0.04
"""Of a value's channels, the same in every case and place."""


def _outputs(name: str) -> list[Arrays]:
    arrays = golden(name)
    return [tuple(data for key, data in arrays.items() if key.startswith(f"{case}_y")) for case in CASES]


def _assert_equal(ours: np.ndarray, engine: np.ndarray) -> None:
    if ours.dtype == np.float32:
        np.testing.assert_allclose(ours, engine, rtol=0, atol=1e-5 * float(np.abs(engine).max()))
    else:
        np.testing.assert_array_equal(ours, engine)


def _first(state: StateValue, function: Function) -> np.ndarray:
    kind = function.params[state.param].type
    return np.frombuffer(state.initial, kind.dtype.numpy).reshape(kind.shape)


@pytest.mark.parametrize("name", (*NAMES, *ONNX_NAMES, *WHOLE_NAMES))
@pytest.mark.sampled(8)
def test_references_hold_and_the_installed_engine_gives_them(name: str) -> None:
    module, references = importers.load(model_path(name)), _outputs(name)
    begun = [_first(state, module.main) for state in module.main.states]
    states = begun
    for inputs, outputs in zip(drawn(name).inputs, references, strict=True):
        is_next = name in WHOLE and WHOLE[name].is_sequence
        results = evaluate(module, module.main, [*inputs, *(states if is_next else begun)])
        states = results[len(outputs) :]
        for ours, engine in zip(results[: len(outputs)], outputs, strict=True):
            _assert_equal(ours, engine)
    if engine_of(name) not in (*available(), ONNXRUNTIME):
        return
    for now, then in zip(engine_outputs([name])[name], references, strict=True):
        for got, recorded in zip(now, then, strict=True):
            _assert_equal(got, recorded)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.sampled(5)
def test_outputs_vary_and_values_neither_die_nor_saturate(name: str) -> None:
    outputs = {b"".join(data.tobytes() for data in case) for case in _outputs(name)}
    assert len(outputs) == len(CASES) or name in PRUNED
    for step, data in _values(name).items():
        channels = data.reshape(-1, data.shape[-1])
        constant = np.all(channels == channels[0], axis=0)
        dead = f"{step}: {constant.sum()} of {constant.size} channels"
        assert name in PRUNED or constant.mean() <= CONSTANT_SHARE, dead
        if data.dtype.kind in "iu" and data.size >= ENOUGH_ELEMENTS:
            full = float((data == np.iinfo(data.dtype).max).mean())
            assert full <= SATURATED_SHARE, f"{step}: {full:.1%} saturated"


def _values(name: str) -> dict[str, np.ndarray]:
    """What every step gives for all cases and calibration inputs, along the batch."""
    module = importers.load(model_path(name))
    values: dict[str, list[np.ndarray]] = {}
    for inputs in drawn(name).inputs + calibration_inputs(name):
        for let, result in steps(module, module.main, inputs):
            values.setdefault(let.where, []).append(result)
    return {name: np.concatenate(results) for name, results in values.items()}
