"""TFLM's audio front end: operators with state, the whole front end, and with a wake word in one firmware.

Operators with state are compared with tflite-micro over a sequence on one interpreter, in NumPy and, an image
of several, as C on the host.
"""

from collections.abc import Callable
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
from codegen.errors import CodegenError
from codegen.importers.tflite.writing.writer import ModelBuilder
from codegen.ir.evaluate import evaluate
from codegen.program.image import Trace
from tests import engines
from tests.opgen.families.signal import flexible
from tests.testdata import golden, model_path

KEY, WAKE_WORD = "tflm/audio_preprocessor_int8", "wake_word/v2_okay_nabu"
INSTRUCTIONS = 80_000
"""The most of one inference on a Cortex-M4; tflite-micro with CMSIS-NN takes 105,480."""
MODELS = 25
STEPS = 8


def _always(outputs: list[np.ndarray]) -> bool:
    return len(outputs) > 0


def _valid(outputs: list[np.ndarray]) -> bool:
    """What is not valid is whatever was in the memory in tflite-micro."""
    return bool(outputs[1])


@dataclass(frozen=True, kw_only=True, slots=True)
class Drawn:
    """A model of one operator, its inputs, and from which inference on its results are defined."""

    model: bytes
    inputs: np.ndarray
    is_defined: Callable[[list[np.ndarray]], bool]


def _model(
    name: str,
    shape: tuple[int, ...],
    results: list[tuple[tuple[int, ...], str]],
    dtype: str,
    *,
    shown: int = 2,
    **options: int,
) -> bytes:
    """The first `shown` results are outputs of the model."""
    model = ModelBuilder()
    x = model.tensor("x", shape, dtype)
    outputs = [model.tensor(f"y{i}", each, kind) for i, (each, kind) in enumerate(results)]
    model.op("CUSTOM", [x], outputs, custom_code=name, custom_options=flexible(**options))
    model.inputs(x)
    model.outputs(*outputs[:shown])
    return model.build()


def _samples(dice: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return dice.integers(-32768, 32768, (STEPS, *shape)).astype(np.int16)


def subtraction(dice: np.random.Generator) -> Drawn:
    channels, bits = int(dice.integers(1, 20)), int(dice.integers(8, 16))
    one = 1 << bits
    even, odd, least = (int(dice.integers(0, one)) for _ in range(3))
    model = _model(
        "SignalFilterBankSpectralSubtraction",
        (channels,),
        [((channels,), "uint32")] * 2,
        "uint32",
        alternate_one_minus_smoothing=one - odd,
        alternate_smoothing=odd,
        clamping=int(dice.integers(2)),
        min_signal_remaining=least,
        num_channels=channels,
        one_minus_smoothing=one - even,
        smoothing=even,
        smoothing_bits=int(dice.integers(0, 12)),
        spectral_subtraction_bits=bits,
    )
    inputs = dice.integers(0, 1 << int(dice.integers(8, 33)), (STEPS, channels), np.uint64)
    return Drawn(model=model, inputs=inputs.astype(np.uint32), is_defined=_always)


def framer(dice: np.random.Generator) -> Drawn:
    step, frames, is_filled = int(dice.integers(1, 12)), int(dice.integers(1, 4)), bool(dice.integers(2))
    size = step + int(dice.integers(0, 20))
    outer = ((), (1,), (2,))[int(dice.integers(3))]
    shape = (*outer, frames * step)
    options = {"frame_size": size, "frame_step": step, "prefill": int(is_filled)}
    results = [((*outer, frames, size), "int16"), ((), "bool")]
    always = is_filled or size <= step  # then the second result is a constant, which no model may give
    model = _model("SignalFramer", shape, results, "int16", shown=1 if always else 2, **options)
    return Drawn(model=model, inputs=_samples(dice, shape), is_defined=_always if always else _valid)


def stacker(dice: np.random.Generator) -> Drawn:
    channels, left, right = int(dice.integers(1, 10)), int(dice.integers(0, 4)), int(dice.integers(0, 3))
    count = left + right + 1
    step = int(dice.integers(1, count + 1))
    results = [((channels * count,), "int16"), ((), "bool")]
    model = _model(
        "SignalStacker",
        (channels,),
        results,
        "int16",
        num_channels=channels,
        stacker_left_context=left,
        stacker_right_context=right,
        stacker_step=step,
    )
    return Drawn(model=model, inputs=_samples(dice, (channels,)), is_defined=_valid)


def delay(dice: np.random.Generator) -> Drawn:
    shape = (*((), (1,), (3,))[int(dice.integers(3))], int(dice.integers(1, 20)))
    length = int(dice.integers(1, 30))
    model = _model("SignalDelay", shape, [(shape, "int16")], "int16", delay_length=length)
    return Drawn(model=model, inputs=_samples(dice, shape), is_defined=_always)


def circular_buffer(dice: np.random.Generator) -> Drawn:
    """Its result is a variable, as tflite-micro needs it; its second one says whether an inference counts."""
    height, channels, rows = (int(dice.integers(1, most)) for most in (4, 9, 8))
    period = int(dice.integers(1, 4))
    model = ModelBuilder()
    scale, zero = 0.5, int(dice.integers(-128, 128))
    x = model.tensor("x", (1, 1, height, channels), "int8", scale=scale, zero_point=zero)
    y = model.tensor("y", (1, rows, height, channels), "int8", scale=scale, zero_point=zero, variable=True)
    outputs = [y] if period == 1 else [y, model.tensor("counts", (1,), "bool")]
    options = flexible(cycles_max=period)
    model.op("CUSTOM", [x], outputs, custom_code="CIRCULAR_BUFFER", custom_options=options)
    turned = model.tensor("turned", (1, height, rows, channels), "int8", scale=scale, zero_point=zero)
    model.op("TRANSPOSE", [y, model.constant("axes", [0, 2, 1, 3])], [turned])  # state is no output itself
    model.inputs(x)
    model.outputs(turned, *outputs[1:])
    inputs = dice.integers(-128, 128, (STEPS, 1, 1, height, channels)).astype(np.int8)
    return Drawn(model=model.build(), inputs=inputs, is_defined=_always)


def overlap_add(dice: np.random.Generator) -> Drawn:
    size, frames, is_float = int(dice.integers(2, 20)), int(dice.integers(1, 4)), bool(dice.integers(2))
    step = int(dice.integers(1, size + 1))
    outer = ((), (1,), (2,))[int(dice.integers(3))]
    shape = (*outer, frames, size)
    dtype = "float32" if is_float else "int16"
    results = [((*outer, frames * step), dtype)]
    options = {"T": 0 if is_float else 7, "frame_step": step}
    model = _model("SignalOverlapAdd", shape, results, dtype, **options)
    inputs = _samples(dice, shape)
    inputs = inputs.astype(np.float32) / 32 if is_float else inputs
    return Drawn(model=model, inputs=inputs, is_defined=_always)


def _in_sequence(drawn: Drawn, path: Path) -> list[list[np.ndarray]]:
    path.write_bytes(drawn.model)
    module = importers.load(path)
    states = [
        np.frombuffer(state.initial, module.main.params[state.param].type.dtype.numpy).reshape(
            module.main.params[state.param].type.shape
        )
        for state in module.main.states
    ]
    found: list[list[np.ndarray]] = []
    for x in drawn.inputs:
        results = evaluate(module, module.main, [x, *states])
        outputs = len(results) - len(states)
        states = list(results[outputs:])
        found.append(list(results[:outputs]))
    return found


@pytest.mark.parametrize("draw", [subtraction, framer, stacker, delay, overlap_add, circular_buffer])
def test_operators_with_state_give_the_engines_results(
    draw: Callable[[np.random.Generator], Drawn], tmp_path: Path
) -> None:
    """All in NumPy; every fifth as C on the host."""
    models = [draw(np.random.default_rng(seed)) for seed in range(MODELS)]
    requests = [
        engines.Request(
            engine=engines.TFLITE_MICRO,
            model=each.model,
            inputs=tuple((x,) for x in each.inputs),
            is_sequence=True,
        )
        for each in models
    ]
    given: dict[Path, Path] = {}
    defined = 0
    for number, (drawn, answer) in enumerate(zip(models, engines.evaluate(requests), strict=True)):
        assert not answer.error, answer.error
        path = tmp_path / f"model{number}.tflite"
        found = _in_sequence(drawn, path)
        for mine, wanted in zip(found, answer.outputs, strict=True):
            if drawn.is_defined(list(wanted)):
                assert all(np.array_equal(a, b) for a, b in zip(mine, wanted, strict=True)), number
                defined += 1
            else:
                assert np.array_equal(mine[1], wanted[1]), number
        if number % 5 == 0:
            arrays = {f"y{i}": np.stack([each[i] for each in found]) for i in range(len(found[0]))}
            given[path] = tmp_path / f"model{number}.npz"
            np.savez(given[path], x0=drawn.inputs, **arrays)  # type: ignore[arg-type]
    assert defined > MODELS * STEPS // 3
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


@pytest.mark.qemu
def test_the_front_end_takes_few_instructions(tmp_path: Path) -> None:
    """Each case begins with fresh state; the measured peak is the planned one."""
    options, arrays = Options(board="mps2-an386"), tmp_path / "golden.npz"
    built = build([model_path(KEY)], options, tmp_path / "build", emulated=True)
    np.savez(arrays, **golden(KEY))  # type: ignore[arg-type]
    cases: list[Case] = []
    for name in "abc":
        source = {built.models[0].program.name: ArraySource(path=arrays, prefix=name)}
        [own] = model_cases(built, [model_path(KEY)], source, source, options)
        cases.extend(own)
    measured = execute(built, cases, trace=Trace.COST)
    assert complaints(built.models[0], cases, measured, built.image.sizes.stack_bound_bytes) == []
    assert all(case.instructions is not None for case in measured.result.cases)
    assert max(case.instructions or 0 for case in measured.result.cases) <= INSTRUCTIONS


_TFLM_WAKE_WORD_BYTES = 19_268
"""The arena that tflite-micro takes for the wake word alone on a Cortex-M4."""


@pytest.mark.parametrize("board", ["host", pytest.param("mps2-an386", marks=pytest.mark.qemu)])
def test_samples_in_decision_out(board: str, tmp_path: Path) -> None:
    """The front end and a wake word in one firmware: both sequences exact, workspaces shared, state apart."""
    keys, rows = (KEY, WAKE_WORD), 49 if board == "host" else 5
    sources: list[ArraySource] = []
    for key, prefix in zip(keys, ("yes", "real"), strict=True):
        arrays = {
            name: np.asarray(data)[:rows] for name, data in golden(key).items() if name.startswith(prefix)
        }
        arrays = {name: data for name, data in arrays.items() if name.rpartition("_")[2][0] in "xy"}
        path = tmp_path / f"{prefix}.npz"
        np.savez(path, **arrays)  # type: ignore[arg-type]
        sources.append(ArraySource(path=path, prefix=prefix))
    built = build([model_path(key) for key in keys], Options(board=board), tmp_path / "build", emulated=True)
    cases = [
        sequence_cases(model.program, source, source, 0)
        for model, source in zip(built.models, sources, strict=True)
    ]
    assert all(len(own) == rows for own in cases)
    for model, own, measured in zip(
        built.models, cases, execute_all(built, cases, sequence=True), strict=True
    ):
        assert complaints(model, own, measured, built.image.sizes.stack_bound_bytes) == []
    together = sum(pool.size_bytes for pool in built.bundle.pools)
    apart = sum(sum(model.program.memory.peaks.values()) for model in built.models)
    assert together < apart
    assert together < _TFLM_WAKE_WORD_BYTES


def test_a_circular_buffer_that_ends_inferences_is_refused(tmp_path: Path) -> None:
    model, path = ModelBuilder(), tmp_path / "model.tflite"
    x = model.tensor("x", (1, 1, 1, 4), "int8", scale=0.5)
    y = model.tensor("y", (1, 3, 1, 4), "int8", scale=0.5, variable=True)
    model.op("CUSTOM", [x], [y], custom_code="CIRCULAR_BUFFER", custom_options=flexible(cycles_max=2))
    model.inputs(x)
    model.outputs(y)
    path.write_bytes(model.build())
    with pytest.raises(CodegenError, match=r"ends inferences, all but some: steps of a plan always run"):
        importers.load(path)
