"""The reference engines' part of the fuzz: the files they are asked with, and that a difference is seen."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from codegen.importers import load
from codegen.ir import DType, Var
from codegen.ir.evaluate import evaluate
from codegen.ir.ops import Padding2D
from tests.engines import TFLITE_MICRO, available
from tests.fuzz.layers import drawn, dtypes_of
from tests.fuzz.models import asked, engine_for
from tests.fuzz.record import LAYERS, SPARE
from tests.fuzz.reference import APPROXIMATE, Name, Reference, ask, difference, digest, read, write
from tests.fuzz.rounded import kernels_of_kind
from tests.fuzz.sweep import share_of
from tests.kernels.builders import CASES
from tests.kernels.layers import Layer

CONV = Name(op="CONV_2D", dtype="int8", seed=4)
CONV_ENGINE = engine_for(drawn(CONV.op, DType.INT8, CONV.seed))


@pytest.mark.parametrize(("op", "dtype"), CASES, ids=[f"{op}-{dtype.value}" for op, dtype in CASES])
@pytest.mark.sampled(76)
def test_files_hold_the_layer(op: str, dtype: DType, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Imported again they give NumPy's result, with paddings that the format has no word for."""
    path = tmp_path / "layer.tflite"
    has_window = op in {"CONV_2D", "DEPTHWISE_CONV_2D", "AVERAGE_POOL_2D", "MAX_POOL_2D"}
    padded = 0
    for seed in range(25 if has_window or request.config.getoption("--long") else 10):
        layer = drawn(op, dtype, seed)
        if not any(isinstance(arg, Var) for arg in layer.let.call.args):
            continue  # constants only: a file without inputs is none of ours
        question = asked(layer)
        path.write_bytes(question.request.model)
        module = load(path)
        outputs = evaluate(module, module.main, question.request.inputs[0])
        assert digest(question.joined(tuple(outputs))) == digest(layer.expected), seed
        padded += getattr(layer.let.call.attrs, "padding", Padding2D()) != Padding2D()
    assert padded > 5 or not has_window


def test_every_exact_layer_that_a_kernel_is_given_is_recorded() -> None:
    """A kernel for all layers is given numbers without a hole; one for few goes on to further ones."""
    recorded: dict[tuple[str, str], set[int]] = {}
    for name in read():
        recorded.setdefault((name.op, name.dtype), set()).add(name.seed)
    for op, dtype in CASES:
        seeds = recorded.get((op, dtype.value), set())
        if op in APPROXIMATE and dtype is DType.FLOAT32:
            assert not seeds
        elif op != "RESHAPE":  # a view: nothing runs
            share = min(share_of(kernel, LAYERS) for kernel in kernels_of_kind(op)) + SPARE
            assert seeds >= set(range(-(-share // len(dtypes_of(op))))), (op, dtype)


def test_digests_read_back_as_written(tmp_path: Path) -> None:
    digests = {CONV: 2**32 - 1, replace(CONV, seed=0): 0, Name(op="ADD", dtype="int16", seed=65535): 7}
    write(digests, tmp_path / "r.npz")
    assert read(tmp_path / "r.npz") == digests


def test_a_digest_is_of_type_shape_and_elements() -> None:
    ones = np.ones((2, 3), np.int8)
    others = [ones.T, ones.astype(np.int16), ones.astype(np.uint8), ones * 2]
    assert digest(ones) == digest(np.ones((2, 3), np.int8)) not in {digest(other) for other in others}


def test_a_result_that_is_not_the_recorded_one_is_named() -> None:
    layer = drawn(CONV.op, DType.INT8, CONV.seed)
    wrong = layer.expected.copy()
    wrong.flat[-1] ^= 1
    reference = Reference({CONV: digest(layer.expected)})
    reference.check(CONV, layer, layer.expected)
    reference.check(CONV, layer, layer.expected)
    assert (reference.finish(), reference.compared) == ([], 1)
    reference = Reference({CONV: digest(layer.expected)})
    reference.check(CONV, layer, wrong)
    [line] = reference.finish()
    assert line.startswith("CONV_2D:int8:4: NumPy's result is not what the engine gave")


@pytest.mark.skipif(CONV_ENGINE not in available(), reason=f"{CONV_ENGINE} is not installed")
def test_a_layer_that_is_not_recorded_is_put_to_the_engine() -> None:
    layer = drawn(CONV.op, DType.INT8, CONV.seed)
    wrong = layer.expected.copy()
    wrong.flat[0] ^= 1
    for expected, lines in (
        (layer.expected, []),
        (wrong, ["CONV_2D:int8:4: NumPy's result is not the engine's"]),
    ):
        reference = Reference({})
        reference.check(CONV, layer, expected)
        assert (reference.finish(), reference.compared) == (lines, 1)


def test_without_engines_a_layer_that_is_not_recorded_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.fuzz.reference.available", lambda: frozenset[str]())
    layer = drawn(CONV.op, DType.INT8, CONV.seed)
    reference = Reference({})
    reference.check(CONV, layer, layer.expected)
    assert (reference.finish(), reference.compared, reference.unasked) == ([], 0, 1)


def test_an_engine_that_is_not_installed_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """On Python 3.13 there is tflite-micro and no tflite-runtime, which was asked all the same: its answers
    were `No module named 'tflite_runtime'`, and five tests failed."""
    asked_for: list[str] = []

    def answers(layers: Sequence[Layer]) -> list[np.ndarray | str]:
        asked_for.extend(engine_for(layer) for layer in layers)
        return [layer.expected for layer in layers]

    monkeypatch.setattr("tests.fuzz.reference.available", lambda: frozenset({TFLITE_MICRO}))
    monkeypatch.setattr("tests.fuzz.reference.ask", answers)
    reference = Reference({})
    for seed in range(40):
        layer = drawn(CONV.op, DType.INT8, seed)
        reference.check(replace(CONV, seed=seed), layer, layer.expected)
    assert reference.finish() == []
    assert set(asked_for) == {TFLITE_MICRO}
    assert reference.compared == len(asked_for)
    assert reference.unasked == 40 - len(asked_for) > 0


def test_floats_may_be_a_tolerance_away_only_where_engines_round_otherwise() -> None:
    result = np.array([1.0, -4.0], np.float32)
    near, far = result + np.float32(3e-5), result + np.float32(1e-3)
    tanh, add = Name(op="TANH", dtype="float32", seed=0), Name(op="ADD", dtype="float32", seed=0)
    layer = drawn("TANH", DType.FLOAT32, 0)
    assert not difference(tanh, layer, result, near)
    assert "away, more than" in difference(tanh, layer, result, far)
    assert "not the engine's" in difference(add, layer, result, near)
    assert "gives float32" in difference(tanh, layer, result, result[:1])
    assert "refuses the layer: crash" in difference(tanh, layer, "crash", result)


def test_terms_that_cancel_count_in_a_mean() -> None:
    """MEAN:float32:1455 has a result of 0.00001 from terms around 0.7: engine and NumPy were 0.0015 of it
    apart, less than the rounding of one term."""
    name = Name(op="MEAN", dtype="float32", seed=1455)
    layer = drawn(name.op, DType.FLOAT32, name.seed)
    size = float(np.abs(layer.expected).max())
    terms = layer.values[0]
    assert terms is not None and size < 0.01 * np.abs(terms).mean()
    assert not difference(name, layer, layer.expected + np.float32(2e-3 * size), layer.expected)
    assert "away" in difference(name, layer, layer.expected + np.float32(1e-4), layer.expected)


@pytest.mark.skipif(not available(), reason="no reference engine (CODEGEN_ENGINE_PYTHON)")
def test_the_engines_still_give_what_is_recorded() -> None:
    """One layer of thirty, of those whose engine is installed; `python -m tests.fuzz.record`
    asks for all."""
    recorded = read()
    layers = {name: drawn(name.op, DType(name.dtype), name.seed) for name in sorted(recorded)[::30]}
    here = {name: layer for name, layer in layers.items() if engine_for(layer) in available()}
    assert here
    for name, answer in zip(here, ask(list(here.values())), strict=True):
        assert not isinstance(answer, str), f"{name}: {answer}"
        assert digest(answer) == recorded[name], name
